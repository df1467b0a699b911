"""Mechanisms of the benchmark literature, with default options and no tuning, against an independent
solution: minimal coordinates, exact loop closure, scipy's DOP853.

Orders of convergence are those of halving the step; 2 is what the integrator promises for positions
and rates. Every error limit is what second order leaves at that step, with a margin of about two.
"""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from codegen.assembly import assemble
from codegen.builder import MechanismBuilder
from codegen.mechanism import load

TINY = 1e-30


def motion(inertial, q, qd, times, energy=None, applied=None, rtol=1e-10):
    """Exact motion in minimal coordinates.

    `inertial(q)` are Cartesian coordinates times the root of their mass, so that T = |x'|^2 / 2;
    first derivatives by complex step, the second along the motion by central differences of those.
    """
    n = len(q)

    def along(q, direction):
        return inertial(q + 1j * TINY * direction).imag / TINY

    def rhs(_, state):
        q, qd = state[:n], state[n:]
        jac = np.array([along(q, direction) for direction in np.eye(n)])
        d = 1e-3 / (1e-9 + np.max(np.abs(qd)))
        near, far = (along(q + k * d * qd, qd) - along(q - k * d * qd, qd) for k in (1, 2))
        push = -jac @ ((8.0 * near - far) / (12.0 * d))
        if energy is not None:
            push -= [energy(q + 1j * TINY * direction).imag / TINY for direction in np.eye(n)]
        if applied is not None:
            push += applied(q, qd)
        return np.concatenate([qd, np.linalg.solve(jac @ jac.T, push)])

    start = np.concatenate([q, qd]).astype(float)
    solved = solve_ivp(
        rhs, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=rtol, atol=rtol
    )
    assert solved.success
    return solved.y[:n].T, solved.y[n:].T


def rates(place, q, qd):
    return place(q + 1j * TINY * qd).imag / TINY


def run(module, names, times):
    """Coordinates and rates of a kernel or twin at given times, and the energy's largest drift."""
    at = {name: i for i, (name, _) in enumerate(module.model_info()["coordinates"])}
    chosen, h = [at[name] for name in names], module.model_info()["step_s"]
    stepper = module.Kernel()
    assert stepper.reset() == 0
    begin, drift, steps, found = stepper.outputs["energy_j"], 0.0, 0, []
    for t in times:
        while steps < round(t / h):
            assert stepper.step() == 0
            steps += 1
        drift = max(drift, abs(stepper.outputs["energy_j"] - begin))
        found.append([np.array(stepper.q)[chosen], np.array(stepper.qd)[chosen]])
        assert stepper.residual < 1e-8
    return np.array(found), drift


def compared(modules, names, times, places):
    """Errors of positions and rates for a step and its half, both of second order."""
    exact = np.array(places)
    found, drifts = [], []
    for module in modules:
        mine, drift = run(module, names, times)
        found.append(np.abs(mine - exact).max(axis=(0, 2)))
        drifts.append(drift)
    orders = np.log2(found[0] / found[1])
    assert np.all(orders > 1.85), (orders, found)
    assert np.all(orders < 2.8), (orders, found)
    return found[1], drifts[1]


def circles(first, radius, second, other_radius, side):
    """Where two planar circles meet; complex numbers allowed in the coordinates."""
    gap = second - first
    far = np.sqrt(gap[0] ** 2 + gap[1] ** 2)
    along = (far**2 + radius**2 - other_radius**2) / (2.0 * far)
    across = np.sqrt(radius**2 - along**2)
    return first + (along * gap + side * across * np.array([-gap[1], gap[0]])) / far


def angle_of(direction):
    """Angle of a planar direction, analytic where real arctan2 is not."""
    real = math.atan2(direction[1].real, direction[0].real)
    cross = math.cos(real) * direction[1] - math.sin(real) * direction[0]
    dot = math.cos(real) * direction[0] + math.sin(real) * direction[1]
    return real + np.arctan(cross / dot)


def rod(mass, begin, end):
    """A slender uniform rod."""
    begin, end = np.asarray(begin), np.asarray(end)
    return [*(math.sqrt(mass) * (begin + end) / 2.0), *(math.sqrt(mass / 12.0) * (end - begin))]


# Andrews' squeezer: data and reference of the test set for initial value problems

SQUEEZER_END = {"crank_angle": 15.81077119629904, "rate": 1139.920302151208}
SQUEEZER_ANGLES = {"gamma": 0.04082224013073101, "delta": 0.5244099658805304}


def squeezer_points(beta):
    a, b = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273])
    f = 0.007 * np.array([np.cos(beta), np.sin(beta)])
    e = circles(f, 0.028, b, 0.035, 1.0)
    g = circles(a, 0.04, e, 0.02, 1.0)
    h = circles(a, 0.04, e, 0.02, -1.0)
    return a, b, f, e, g, h


def squeezer_inertial(q):
    a, b, f, e, g, h = squeezer_points(q[0])
    bodies = []

    def planar(mass, inertia, begin, end, along, across):
        u = (end - begin) / np.sqrt((end - begin) @ (end - begin))
        centre = begin + along * u + across * np.array([-u[1], u[0]])
        bodies.extend(math.sqrt(mass) * centre)
        bodies.append(math.sqrt(inertia) * angle_of(u))

    planar(0.04325, 2.194e-6, np.zeros(2), f, 0.00092, 0.0)
    planar(0.00365, 4.410e-7, f, e, 0.0115, 0.0)
    planar(0.02373, 5.255e-6, b, e, 0.01874, 0.01043)
    planar(0.00706, 5.667e-7, g, e, 0.00579, 0.0)
    planar(0.07050, 1.169e-5, a, g, 0.02308, 0.00916)
    planar(0.00706, 5.667e-7, h, e, 0.00579, 0.0)
    planar(0.05498, 1.912e-5, a, h, 0.01228, -0.00449)
    return np.array(bodies)


def squeezer_energy(q):
    _, b, _, e, _, _ = squeezer_points(q[0])
    right = (e - b) / 0.035
    d = b + 0.018 * right + 0.02 * np.array([-right[1], right[0]])
    gap = d - np.array([0.014, 0.072])
    return 2265.0 * (np.sqrt(gap @ gap) - 0.07785) ** 2 - 0.033 * q[0]


def test_andrews_squeezer_meets_its_published_values(kernel):
    times = np.array([0.01, 0.02, 0.03])
    q, qd = motion(squeezer_inertial, [-0.0617138900142764358], [0.0], times, squeezer_energy)
    assert q[-1, 0] == pytest.approx(SQUEEZER_END["crank_angle"], abs=1e-7)  # the reference itself
    assert qd[-1, 0] == pytest.approx(SQUEEZER_END["rate"], abs=1e-5)
    modules = [kernel("squeezer", step_s=h) for h in (2e-5, 1e-5)]
    (error, rate_error), _ = compared(modules, ["crank_angle"], times, list(zip(q, qd, strict=True)))
    assert error < 2e-4  # of 15.8 rad
    assert rate_error < 0.04  # of 1140 rad/s
    stepper = modules[1].Kernel()
    stepper.reset()
    for _ in range(3000):
        stepper.step()
    at = {name: i for i, (name, _) in enumerate(modules[1].model_info()["coordinates"])}
    e, g = (np.array([stepper.q[at[f"{p}_{axis}"]] for axis in "xy"]) for p in "EG")
    shield = e - [-0.03635, 0.03273]
    arm = g - [-0.06934, -0.00227]
    assert math.atan2(shield[0], -shield[1]) == pytest.approx(SQUEEZER_ANGLES["gamma"], abs=1e-5)
    assert math.atan2(arm[1], arm[0]) == pytest.approx(SQUEEZER_ANGLES["delta"], abs=1e-5)


# Bricard: a chain of six hinges closed by Newton, analytic in its only freedom

BRICARD_BARS = np.diff([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], axis=0)
BRICARD_HINGES = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)])


def turn(axis, angle):
    x, y, z = axis
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew


def chain(angles, axes, links):
    """Turns of the bodies and places of the hinges of an open chain of hinges."""
    place, rotation = [np.zeros(3)], np.eye(3)
    turns = []
    for angle, axis, link in zip(angles, axes, links, strict=True):
        rotation = rotation @ turn(axis, angle)
        turns.append(rotation)
        place.append(place[-1] + rotation @ link)
    return turns, place


class Bricard:
    def __init__(self):
        self.guess = np.zeros(4)

    def open(self, angles):
        turns, place = chain(angles, BRICARD_HINGES[:5], BRICARD_BARS)
        gap = [place[5] - [0, 0, 1], turns[4] @ BRICARD_HINGES[5] - BRICARD_HINGES[5]]
        return np.concatenate(gap)

    def places(self, first):
        """Hinges for the angle of the first bar, near those of the call before."""
        angles = np.array([first, *self.guess.astype(complex)])
        open_there = self.open(angles)
        jac = np.array([self.open(angles + 1e-7 * e) - open_there for e in np.eye(5)[1:]]).real / 1e-7
        inverse = np.linalg.pinv(jac.T)
        for _ in range(30):
            step = inverse @ self.open(angles)
            angles[1:] -= step
            if np.abs(step.real).max() < 1e-14 and np.abs(step.imag).max() < 1e-14 * TINY:
                break
        self.guess = angles[1:].real
        return chain(angles, BRICARD_HINGES[:5], BRICARD_BARS)[1]

    def inertial(self, q):
        place = self.places(q[0])
        return np.concatenate([rod(1.0, a, b) for a, b in zip(place, place[1:], strict=False)])

    def energy(self, q):
        place = self.places(q[0])
        return 9.81 * sum((a[1] + b[1]) / 2.0 for a, b in zip(place, place[1:], strict=False))


def test_bricard_moves_though_its_rows_are_redundant(twin):
    found = assemble(load("bricard"))
    assert found.dof == 1
    (redundant,) = found.redundant
    assert redundant.row.startswith("rigid_body/bar_4")
    exact = Bricard()
    times = np.linspace(0.25, 1.5, 6)
    q, qd = motion(exact.inertial, [0.0], [0.0], times, exact.energy, rtol=1e-9)
    places = []
    exact.guess = np.zeros(4)
    for begin, (angle,), rate in zip([0.0, *q[:-1, 0]], q, qd, strict=True):
        for part in np.linspace(begin, angle, 5):
            place = exact.places(part)[3].real
        places.append((place, rates(lambda z: exact.places(z[0])[3], np.array([angle]), rate)))
    modules = [twin("bricard", step_s=h) for h in (2e-3, 1e-3)]
    names = ["P3_x", "P3_y", "P3_z"]
    (error, rate_error), drift = compared(modules, names, times, places)
    assert error < 5e-5
    assert rate_error < 5e-4
    assert drift < 1e-3  # of some 40 J
