"""The cases of a free flexible body: elastic modes, unknown forces, strains, gyroscope, accelerometers."""

import numpy as np
import pytest

from estimators.closed_loop.observability import undetermined
from rigloop.bench.flexible.gate import CASES


def body(modes, forces, strains, gyro, accelerometers, seed=0):
    """Slopes of accelerations and of readings in [x, y, theta, modes, their rates, forces], and how many forces."""
    rng = np.random.default_rng(seed)
    n = 3 + modes
    mass = np.diag([1000.0, 1000.0, 1261.0, *np.ones(modes)])
    omega = 2 * np.pi * np.linspace(3.42, 20.0, modes) if modes else np.zeros(0)
    stiffness = np.diag([0.0, 0.0, 0.0, *omega**2])
    damping = np.diag([0.0, 0.0, 0.0, *(0.02 * omega)])
    # where a force acts, and along what: it pushes, turns and bends
    place, angle = rng.uniform(-2.0, 2.0, (forces, 2)), rng.uniform(0.0, 2 * np.pi, forces)
    push = np.array([np.cos(angle), np.sin(angle)])
    turn = place[:, 0] * push[1] - place[:, 1] * push[0]
    load = np.vstack([push, turn, rng.normal(size=(modes, forces))])
    a = np.zeros((2 * n + forces, 2 * n + forces))
    a[:n, n : 2 * n] = np.eye(n)
    inverse = np.linalg.inv(mass)
    a[n : 2 * n] = np.hstack([-inverse @ stiffness, -inverse @ damping, inverse @ load])
    rows = [
        np.concatenate([[0, 0, 0], rng.normal(size=modes), np.zeros(n + forces)])
        for _ in range(strains)
    ]
    if gyro:
        rows.append(
            np.concatenate([np.zeros(n), [0, 0, 1], 0.1 * rng.normal(size=modes), np.zeros(forces)])
        )
    for k in range(accelerometers):
        felt = np.concatenate([np.eye(3)[k], 0.1 * rng.normal(size=modes)])
        rows.append(felt @ a[n : 2 * n])
    return a[n : 2 * n], np.array(rows), forces


def is_determined(slopes, h, forces):
    """True: the readings determine each of the forces."""
    return bool(np.linalg.norm(undetermined(slopes, h, forces)[-forces:]) < 1e-6)


@pytest.mark.parametrize(
    ("modes", "forces", "strains", "gyro", "accelerometers", "expected"),
    CASES,
)
def test_forces_on_a_free_body(modes, forces, strains, gyro, accelerometers, expected):
    assert is_determined(*body(modes, forces, strains, gyro, accelerometers)) is expected


def test_positions_of_a_free_body_stay_unobservable():
    lost = undetermined(*body(12, 6, 10, 1, 0))
    # x, y, theta and the rates of x and y, and nothing else
    assert lost.shape[1] == 5
    free = [0, 1, 2, 15, 16]
    assert np.linalg.norm(np.delete(lost, free, axis=0)) < 1e-9


def test_units_of_readings_do_not_matter():
    slopes, h, forces = body(12, 6, 6, 0, 0)
    assert is_determined(slopes, 1e-9 * h, forces)


def test_a_force_that_two_masses_share_is_found_beside_a_stiff_spring():
    # 1000 kg that hang free on 556 Hz: entries of A ten powers of ten apart hide no force from the gate
    m, w = 1000.0, 2 * np.pi * 556.0
    slopes = np.zeros((2, 5))
    slopes[:, :2] = w * w * np.array([[-1.0, 1.0], [1.0, -1.0]])
    slopes[0, 4] = 1.0 / m
    stretched = [[1.0, -1.0, 0.0, 0.0, 0.0]]
    assert np.all(undetermined(slopes, stretched, 1)[4] == 0.0)
    # the place of both stays open, and a gauge that reads nothing shows no force
    assert undetermined(slopes, stretched, 1).shape[1] >= 1
    assert np.any(undetermined(slopes, np.zeros((1, 5)), 1)[4] != 0.0)
