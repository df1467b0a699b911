"""Ten particles have the mass, centre, second moments and kinetic energy of a body, whatever its points are."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MECHANISMS, MechanismError, load
from codegen.expressions.dag import evaluate
from codegen.pose.built import built_pose
from codegen.system.particles import PAIRS, is_flat, particle_masses

SEEDS = st.integers(0, 2**32 - 1)
FLATNESS = st.floats(0.02, 1.0)


def drawn(seed, flatness):
    """Four points, some nearly in a plane; and six point masses."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(4, 3)) * (1.0, 1.0, flatness)
    return points, rng.uniform(0.01, 3.0, 6), rng.normal(size=(6, 3)), rng.normal(size=6)


def particle_positions(points):
    """Positions of the ten particles in the order of their masses: the points, then the middles of the pairs."""
    at = np.asarray(points, float)
    return np.array([*at, *((at[i] + at[j]) / 2.0 for i, j in PAIRS)])


def second_moment(masses, places):
    """Integral of x x^T dm of point masses."""
    at = np.column_stack([np.ones(len(places)), places])
    return np.einsum("k,ki,kj->ij", masses, at, at)


def roundoff(points):
    """Relative error that the weights of nearly flat points have."""
    return 1e-13 * np.linalg.cond(np.column_stack([np.ones(4), points])) ** 2


@given(seed=SEEDS, flatness=FLATNESS)
def test_ten_particles_meet_the_ten_conditions(seed, flatness):
    points, masses, spots, _ = drawn(seed, flatness)
    assume(not is_flat(points))
    wanted = second_moment(masses, spots)
    found = second_moment(particle_masses(wanted, points), particle_positions(points))
    np.testing.assert_allclose(found, wanted, atol=roundoff(points) * np.abs(wanted).max())


@given(seed=SEEDS, flatness=FLATNESS)
def test_the_mass_matrix_on_four_points_has_the_energy_of_every_rigid_motion(seed, flatness):
    points, masses, spots, motion = drawn(seed, flatness)
    assume(not is_flat(points))
    velocity, omega = motion[:3], motion[3:]
    exact = sum(
        m * np.sum((velocity + np.cross(omega, x)) ** 2) / 2
        for m, x in zip(masses, spots, strict=True)
    )
    each = particle_masses(second_moment(masses, spots), points)
    mass = np.diag(each[:4])
    for m, (i, j) in zip(each[4:], combinations(range(4), 2), strict=True):
        mass[np.ix_([i, j], [i, j])] += m / 4.0
    rates = np.array([velocity + np.cross(omega, x) for x in points])
    size = masses.sum() * np.sum(motion**2) * 10.0
    assert np.sum(rates * (mass @ rates)) / 2 == pytest.approx(exact, abs=roundoff(points) * size)


def test_four_points_in_a_plane_are_flat():
    assert is_flat([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 1e-9)])
    assert not is_flat([(0, 0, 0), (1e-3, 0, 0), (0, 1e-3, 0), (0, 0, 1e-3)])


@pytest.mark.parametrize("path", sorted(MECHANISMS.glob("*.toml")), ids=lambda p: p.stem)
def test_every_body_that_ships_moves_with_the_energy_of_its_particles(path):
    """In motions that the rows allow, the constant mass matrix gives the energy of ten particles a body, and of the
    masses that belong to no body."""
    system = load(path).system
    if system.flexible:
        pytest.skip(
            f"{path.stem} has a body that bends, whose masses are not those of a rigid body"
        )
    jac, mass = built_pose(system)
    _, singular, rows = np.linalg.svd(np.vstack([jac, np.zeros(len(mass))]))
    free = rows[np.sum(singular > 1e-8 * max(singular.max(), 1.0)) :]
    rates = free.T @ np.random.default_rng(3).normal(size=len(free))
    at = {c.q.name: c.initial for c in system.coordinates}
    at |= {c.qd.name: rate for c, rate in zip(system.coordinates, rates, strict=True)}
    at |= {p.var.name: p.default for p in [*system.parameters, *system.signals, *system.internals]}

    def velocity(point):
        return np.array([evaluate(system.rate(component), at) for component in point])

    energy = 0.0
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
    for name, parts in system.masses.of_bodies.items():
        body = system.bodies[name]
        if np.linalg.matrix_rank(body.built) < 4:
            pytest.skip(f"{name} has no orientation about itself")
        moment = sum(np.asarray(m) * evaluate(var, at) for var, m in parts)
        for m, place in zip(
            particle_masses(moment, points), particle_positions(points), strict=True
        ):
            energy += m * np.sum(velocity(body.point(system.graph, tuple(place))) ** 2) / 2
    for point, m in system.masses.of_points:
        energy += evaluate(m, at) * np.sum(velocity(point) ** 2) / 2
    for (a, b), m in system.masses.of_rods:
        va, vb = velocity(a), velocity(b)
        energy += evaluate(m, at) * (va @ va + va @ vb + vb @ vb) / 6
    for coordinate, m in system.masses.of_scalars:
        energy += evaluate(m, at) * at[coordinate.qd.name] ** 2 / 2
    assert energy == pytest.approx(rates @ mass @ rates / 2, rel=1e-9)


def test_the_option_gives_the_mass_matrix_of_the_moments(spatial_body):
    _, moments = built_pose(spatial_body("moments").build().system)
    _, particles = built_pose(spatial_body("particles").build().system)
    rates = np.random.default_rng(2).normal(size=(len(moments), 5))
    np.testing.assert_allclose(rates.T @ particles @ rates, rates.T @ moments @ rates, rtol=1e-12)


def test_the_option_follows_a_parameter_of_the_mass(spatial_body):
    _, light = built_pose(spatial_body("particles", mass_kg=1.0).build().system)
    system = spatial_body("particles", mass_kg=1.0).build().system
    at = {p.var.name: p.default for p in system.parameters}
    mass = next(name for name in at if "mass_kg" in name)
    heavy = np.zeros_like(light)
    for (i, j), entry in system.mass.items():
        heavy[i, j] = heavy[j, i] = evaluate(entry, at | {mass: 3.0})
    _, wanted = built_pose(spatial_body("moments", mass_kg=3.0).build().system)
    rates = np.random.default_rng(2).normal(size=(len(light), 5))
    np.testing.assert_allclose(rates.T @ heavy @ rates, rates.T @ wanted @ rates, rtol=1e-12)


@pytest.mark.parametrize("flat", [True, False])
def test_the_option_without_four_points_in_space_is_refused_by_name(flat, spatial_body):
    with pytest.raises(MechanismError, match=r"rigid_body\.b\.mass.*plane"):
        spatial_body("particles", places=4 if flat else 3, flat=flat).build()


@pytest.fixture
def spatial_body():
    """A body of four points, of fewer, or of four in a plane."""
    spots = [(0, 0, 0), (1, 0.1, 0), (0.2, 0.8, 0.1), (0.1, 0.2, 0.9)]

    def made(mass, mass_kg=3.0, places=4, flat=False):
        builder = MechanismBuilder("m")
        if flat or places < 4:
            builder.unit_vector("v", direction=(0, 0, 1))
        for k, (x, y, z) in enumerate(spots[:places]):
            builder.point(f"P{k}", position_m=(x, y, 0 if flat else z))
        return builder.rigid_body(
            "b",
            points=[f"P{k}" for k in range(places)],
            vectors=["v"] if flat or places < 4 else [],
            mass=mass,
            mass_kg=mass_kg,
            centre_m=(0.2, -0.1, 0.3),
            inertia_kg_m2=(0.5, 0.4, 0.3, 0.02, -0.03, 0.01),
        )

    return made
