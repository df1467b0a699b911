"""A body that moves in space, on any mix of points and unit vectors; forces of a mechanism."""

from functools import partial

import numpy as np
import pytest

from codegen.expressions.dag import evaluate


@pytest.fixture
def solid():
    """Mass and inertia of the body."""
    return {
        "mass_kg": 3.0,
        "centre_m": (0.2, -0.1, 0.3),
        "inertia_kg_m2": (0.5, 0.4, 0.3, 0.02, -0.03, 0.01),
    }


@pytest.fixture
def spatial(solid):
    """Add a body to a mechanism: builder, name, number of moving points and of moving unit vectors."""
    return partial(add_spatial, solid)


def add_spatial(solid, made, name, points, vectors):
    places = [(0, 0, 0), (1, 0.1, 0), (0.2, 0.8, 0.1), (0.1, 0.2, 0.9)]
    directions = [(0, 0, 1), (0, 0.6, 0.8), (0.8, 0.0, 0.6)]
    for k in range(points):
        made.point(f"{name}P{k}", position_m=places[k])
    for k in range(vectors):
        made.unit_vector(f"{name}v{k}", direction=directions[k])
    made.rigid_body(
        name,
        points=[f"{name}P{k}" for k in range(points)],
        vectors=[f"{name}v{k}" for k in range(vectors)],
        **solid,
    )
    return made


@pytest.fixture
def force_on():
    """Take generalised forces of a builder at coordinates, rates and inputs."""
    return force_of


def force_of(made, q=(), qd=(), **inputs):
    """Generalised forces at given coordinates and rates."""
    system = made.build().system
    at = {c.q.name: c.initial for c in system.coordinates} | {
        c.qd.name: 0.0 for c in system.coordinates
    }
    at |= {p.var.name: p.default for p in [*system.parameters, *system.signals, *system.internals]}
    at |= {system.step_s.name: 1e-3}
    for c, value in zip(system.coordinates, q, strict=False):
        at[c.q.name] = value
    for c, value in zip(system.coordinates, qd, strict=False):
        at[c.qd.name] = value
    at |= {held.var.name: evaluate(held.value, at) for held in system.held}
    return np.array(
        [evaluate(system.force.get(c.index, system.graph.zero), at) for c in system.coordinates]
    )
