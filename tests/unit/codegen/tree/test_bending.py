"""Trees of bodies that bend against the file's own equations in natural coordinates, at equal states."""

import pytest

from tests.parts.mechanisms.flexible_chains import laden_tree, plane_chain, space_chain
from tests.parts.mechanisms.tree_accelerations import composite_difference, difference

# rods of 0.5 m: their nodes turn by up to 0.05 rad
BENT_M = 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        plane_chain(3),
        space_chain(2, kind="spherical"),
        space_chain(3, modes=3),
        laden_tree(),
    ],
    ids=["plane", "balls", "pins", "laden"],
)
def test_trees_accelerate_as_in_natural_coordinates(made):
    mechanism = made.build()
    # condition of the dense reference: 1e-12 to 1e-11
    assert difference(mechanism, 3, BENT_M) < 1e-9
    assert composite_difference(mechanism, 3, BENT_M) < 1e-9
