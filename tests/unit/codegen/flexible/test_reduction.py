"""Modes of structures beside their frames."""

import numpy as np
import pytest
from mechanisms.crooked_beam import crooked

from codegen.flexible.reduction import Wanted, frame_conditions, reduce
from codegen.flexible.structure import StructureError

WAYS = {
    "node": Wanted(("a",), (), 6),
    "line": Wanted(("a", "b"), (), 6),
    "mean": Wanted((), (), 6),
    "craig_bampton": Wanted(("a",), ("b",), 6),
    "free_free": Wanted(("a",), ("b",), 6, free_free=True),
    "mean_of_free_free": Wanted((), ("a", "b"), 6, free_free=True),
}


@pytest.mark.parametrize("way", WAYS)
def test_modes_are_orthogonal_and_have_no_rigid_motion(way):
    structure, wanted = crooked(), WAYS[way]
    made = reduce(structure, wanted)
    shapes = made.shapes
    mass, stiffness = shapes.T @ structure.mass @ shapes, shapes.T @ structure.stiffness @ shapes
    of = np.sqrt(np.outer(np.diag(mass), np.diag(mass)))
    assert np.abs(mass / of - np.eye(len(mass))).max() < 1e-8
    of = np.sqrt(np.outer(np.diag(stiffness), np.diag(stiffness)))
    assert np.abs(stiffness / of - np.eye(len(mass))).max() < 1e-6
    held = frame_conditions(structure, wanted.frame) @ shapes
    assert np.abs(held).max() < 1e-8
    assert np.all(np.diff(made.frequency_hz) > 0.0)


def test_effective_masses_of_all_modes_are_the_mass_that_the_frame_does_not_hold():
    structure = crooked()
    made = reduce(structure, Wanted(("a",), (), len(structure.mass)))
    held = structure.mass[:6, :6]
    lacking = made.rigid[:3] - made.effective[:, :3].sum(axis=0)
    assert np.all(lacking > -1e-9)
    assert np.all(lacking < 3.0 * np.diag(held)[:3])


@pytest.mark.parametrize("way", ["craig_bampton", "free_free", "mean_of_free_free"])
def test_interface_shapes_make_the_compliance_at_an_interface_exact(way):
    structure = crooked()
    made = reduce(structure, WAYS[way])
    held = frame_conditions(structure, ("a",))
    free = np.linalg.svd(held)[2][len(held) :].T
    force = np.eye(len(structure.mass))[structure.nodes["b"].freedoms[2]]
    full = free @ np.linalg.solve(free.T @ structure.stiffness @ free, free.T @ force)
    # of a free frame: beside the node a
    shapes = made.shapes - structure.motions @ np.linalg.solve(
        held @ structure.motions, held @ made.shapes
    )
    loaded = shapes @ ((shapes.T @ force) / made.stiffness)
    assert force @ loaded == pytest.approx(force @ full, rel=1e-6)


def test_shapes_above_a_frequency_are_dropped_and_reported():
    structure = crooked()
    all_of_them = reduce(structure, Wanted(("a",), ("b",), 6))
    between = float(all_of_them.frequency_hz[3:5].mean())
    made = reduce(structure, Wanted(("a",), ("b",), 6, highest_hz=between))
    assert len(made.frequency_hz) == 4
    assert made.dropped_hz == pytest.approx(list(all_of_them.frequency_hz[4:]))


def test_refused_frames():
    structure = crooked()
    with pytest.raises(StructureError, match="is not a node") as error:
        reduce(structure, Wanted(("z",), (), 3))
    assert error.value.remedy == "nodes are a, m, b"
    with pytest.raises(StructureError, match="is not a node"):
        reduce(structure, Wanted(("a",), ("z",), 3))
    with pytest.raises(StructureError, match="leaves no mode"):
        reduce(structure, Wanted(("a",), (), 3, highest_hz=0.1))
