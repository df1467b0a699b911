"""Modes are let go by a factor of all that they resist or by Woodbury's identity: the same motion, the cheaper text."""

from itertools import count

import numpy as np
import pytest
from mechanisms.flexible_chains import space_chain
from mechanisms.tree_accelerations import difference, somewhere, values

from codegen.expressions.dag import evaluate
from codegen.spatial import bent
from codegen.tree.mechanism import in_joint_coordinates
from codegen.tree.recursion import accelerations

BENT_M = 0.01


@pytest.fixture
def take(monkeypatch):
    """take(name): every body lets its modes go that way."""

    def chosen(name):
        # ways are counted in the order "explicit", "woodbury"
        falling = count(0, -1) if name == "woodbury" else count()
        monkeypatch.setattr(bent, "operations", lambda found, given: next(falling))

    return chosen


@pytest.fixture
def counted(monkeypatch):
    """counted(mechanism): operations of each body by way."""
    seen = []
    let_go = bent.Bent.let_go

    def watched(self, *args):
        left = let_go(self, *args)
        seen.append(self.operations)
        return left

    monkeypatch.setattr(bent.Bent, "let_go", watched)

    def found(mechanism):
        seen.clear()
        tree = in_joint_coordinates(mechanism)
        accelerations(tree.chain, tree.loads)
        return list(seen)

    return found


def accelerated(mechanism, seed):
    tree = in_joint_coordinates(mechanism)
    z, zd = somewhere(tree, seed, BENT_M)
    found = accelerations(tree.chain, tree.loads)
    at = values(tree.made.system, z, zd)
    return np.array([evaluate(found[i], at) for i in range(len(z))])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_both_ways_find_the_accelerations_of_natural_coordinates(kind, take):
    mechanism = space_chain(2, modes=3, kind=kind).build()
    found = {}
    for name in ("explicit", "woodbury"):
        take(name)
        # condition of the dense reference: 1e-12 to 1e-11
        assert difference(mechanism, 4, BENT_M) < 1e-10
        found[name] = accelerated(mechanism, 4)
    size = np.abs(found["explicit"]).max()
    assert np.abs(found["woodbury"] - found["explicit"]).max() < 1e-11 * size


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "modes", "explicit", "woodbury"),
    [
        ("revolute", 5, 964, 1301),
        ("revolute", 10, 2894, 2735),
        ("spherical", 5, 659, 473),
    ],
)
def test_the_cheaper_way_follows_from_counts(kind, modes, explicit, woodbury, counted):
    """The rank of what a node carries, six or less, against the number of modes: counts of the middle body of three."""
    _, middle, _ = counted(space_chain(3, modes=modes, kind=kind).build())
    # eigenvectors of other versions of LAPACK have round-off in other places
    assert middle["explicit"] == pytest.approx(explicit, rel=0.1)
    assert middle["woodbury"] == pytest.approx(woodbury, rel=0.1)


def test_a_body_that_carries_nothing_on_its_nodes_has_one_way(counted):
    (only,) = counted(space_chain(1, modes=2).build())
    assert set(only) == {"explicit"}
