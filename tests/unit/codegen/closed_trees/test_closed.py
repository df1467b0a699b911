"""Loops over the coordinates of their trees: accelerations as the file's own equations have them, without a tree."""

import pytest
from mechanisms.file_equations import difference
from mechanisms.wishbones import wishbone_axle

from codegen.closed_trees.closed import closed_tree
from codegen.description.mechanism import MechanismError, load

SLOW = pytest.mark.slow


@pytest.mark.parametrize(("name", "count"), [
    ("slider_crank", 2), ("governor", 4), ("steering_rack", 5),
    pytest.param("four_bar", 3, marks=SLOW), pytest.param("bricard", 5, marks=SLOW),
    pytest.param("squeezer", 7, marks=SLOW),
])  # fmt: skip
def test_loops_accelerate_as_in_natural_coordinates(name, count):
    mechanism = load(name)
    assert len(closed_tree(mechanism).made.system.coordinates) == count
    # redundant rows of a pose that is closed to 1e-13 leave some digits
    assert difference(mechanism) < 1e-9


def test_a_wishbone_axle_accelerates_as_in_natural_coordinates():
    mechanism = wishbone_axle().build()
    system = closed_tree(mechanism).made.system
    assert len(system.coordinates) < len(mechanism.system.coordinates)
    assert difference(mechanism) < 1e-9


def test_inertia_that_only_the_mass_matrix_knows_is_named():
    mechanism = wishbone_axle().build()
    c = mechanism.system.coordinates[0]
    mechanism.system.add_mass(c, c, mechanism.system.graph.var("strange/part/inertia_kg_m2"))
    with pytest.raises(MechanismError, match=r"strange\.part.*has inertia"):
        closed_tree(mechanism)
