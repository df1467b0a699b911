"""Bodies of points and vectors against rigid-body mechanics."""

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError
from codegen.pose.assembly import assemble
from codegen.pose.built import built_pose


def rigid_rates(system, velocity, omega):
    """Coordinates' rates in a rigid motion about the origin."""
    rates = np.zeros(len(system.coordinates))
    for group, base in ((system.points, velocity), (system.vectors, (0, 0, 0))):
        for vector in group.values():
            place = [system.initial(c) for c in vector]
            speed = np.array(base) + np.cross(omega, place)
            for component, value in zip(vector, speed, strict=True):
                owner = system.owner(component)
                if owner is not None:
                    rates[owner.index] = value
    return rates


MIXES = [(2, 2), (3, 1), (1, 3), (4, 0)]


@pytest.mark.parametrize(("points", "vectors"), MIXES)
def test_kinetic_energy_is_that_of_the_rigid_body(points, vectors, spatial, solid):
    system = spatial(MechanismBuilder("m"), "b", points, vectors).build().system
    jac, mass = built_pose(system)
    i = solid["inertia_kg_m2"]
    inertia = np.array([[i[0], i[3], i[4]], [i[3], i[1], i[5]], [i[4], i[5], i[2]]])
    rng = np.random.default_rng(1)
    for _ in range(3):
        velocity, omega = rng.normal(size=3), rng.normal(size=3)
        rates = rigid_rates(system, velocity, omega)
        at_centre = velocity + np.cross(omega, solid["centre_m"])
        exact = (solid["mass_kg"] * at_centre @ at_centre + omega @ inertia @ omega) / 2.0
        assert rates @ mass @ rates / 2.0 == pytest.approx(exact, rel=1e-12)
        # a rigid motion meets no constraint
        np.testing.assert_allclose(jac @ rates, 0.0, atol=1e-12)


@pytest.mark.parametrize(("points", "vectors"), [*MIXES, (2, 3), (4, 1), (4, 3)])
def test_a_free_body_has_six_freedoms_and_no_redundant_row(points, vectors, spatial):
    found = assemble(spatial(MechanismBuilder("m"), "b", points, vectors).build())
    assert found.dof == 6
    assert found.redundant == ()


@pytest.mark.parametrize("second", ["point", "vector"])
def test_planar_body_has_the_planar_energy(second):
    made = MechanismBuilder("m").point("P", position_m=(0, 0, 0), moves="xy")
    if second == "point":
        made.point("R", position_m=(0.5, 0.2, 0), moves="xy")
        named = {"points": ["P", "R"]}
    else:
        made.unit_vector("v", direction=(0.6, 0.8, 0))
        named = {"points": ["P"], "vectors": ["v"]}
    made.rigid_body(
        "b", **named, axis=(0, 0, 1), mass_kg=2.0, centre_m=(0.3, 0.1, 0), inertia_kg_m2=0.07
    )
    built = made.build()
    jac, mass = built_pose(built.system)
    velocity, omega = np.array([0.4, -0.7, 0.0]), np.array([0.0, 0.0, 1.3])
    rates = rigid_rates(built.system, velocity, omega)
    at_centre = velocity + np.cross(omega, [0.3, 0.1, 0.0])
    exact = (2.0 * at_centre @ at_centre + 0.07 * 1.3**2) / 2.0
    assert rates @ mass @ rates / 2.0 == pytest.approx(exact, rel=1e-12)
    np.testing.assert_allclose(jac @ rates, 0.0, atol=1e-12)
    assert assemble(built).dof == 3


def test_a_body_outside_its_span_is_refused():
    made = MechanismBuilder("m")
    made.point("P", position_m=(0, 0, 0)).point("R", position_m=(1, 0, 0))
    made.rigid_body(
        "rod", points=["P", "R"], mass_kg=1, centre_m=(0.5, 0, 0), inertia_kg_m2=(0.1, 0.1, 0.1)
    )
    with pytest.raises(MechanismError, match="extends beyond what the body's points"):
        made.build()


def test_a_wrench_has_the_power_of_its_force_and_torque(spatial, force_on):
    made = spatial(MechanismBuilder("m"), "b", 2, 2)
    made.wrench(
        "w",
        body="b",
        point_m=(0.5, 0.4, 0.3),
        force_n=[1, -2, {"input": 3.0}],
        torque_nm=[0.4, 0, -0.7],
    )
    system = made.build().system
    rng = np.random.default_rng(2)
    velocity, omega = rng.normal(size=3), rng.normal(size=3)
    rates = rigid_rates(system, velocity, omega)
    power = np.array([1, -2, 3]) @ (velocity + np.cross(omega, (0.5, 0.4, 0.3)))
    power += np.array([0.4, 0, -0.7]) @ omega
    assert force_on(made) @ rates == pytest.approx(power, rel=1e-12)
