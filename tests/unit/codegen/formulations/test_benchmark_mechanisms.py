"""Mechanisms of the benchmark literature, with default options and no tuning, against an independent
solution: minimal coordinates, exact loop closure, scipy's DOP853.

Orders of convergence are those of halving the step; 2 is what the integrator promises for positions
and rates. Every error limit is what second order leaves at that step, with a margin of about two.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import load
from codegen.pose.assembly import assemble

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


@pytest.mark.slow
def test_andrews_squeezer_meets_its_published_values(kernel, twin):
    times = np.array([0.01, 0.02, 0.03])
    q, qd = motion(squeezer_inertial, [-0.0617138900142764358], [0.0], times, squeezer_energy)
    assert q[-1, 0] == pytest.approx(SQUEEZER_END["crank_angle"], abs=1e-7)  # the reference itself
    assert qd[-1, 0] == pytest.approx(SQUEEZER_END["rate"], abs=1e-5)
    modules = [twin("squeezer", step_s=2e-5), kernel("squeezer", step_s=1e-5)]
    (error, rate_error), _ = compared(
        modules, ["crank_angle"], times, list(zip(q, qd, strict=True))
    )
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

BRICARD_BARS = np.diff(
    [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], axis=0
)
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
        jac = (
            np.array([self.open(angles + 1e-7 * e) - open_there for e in np.eye(5)[1:]]).real / 1e-7
        )
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
        return np.concatenate([rod(1.0, a, b) for a, b in itertools.pairwise(place)])

    def energy(self, q):
        place = self.places(q[0])
        return 9.81 * sum((a[1] + b[1]) / 2.0 for a, b in itertools.pairwise(place))


@pytest.mark.slow
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


# flyball governor: spin and opening as coordinates


def governor_places(q):
    """Balls, sleeve height; the arms open by q[1], the spindle has turned by q[0]."""
    out = np.array([np.cos(q[0]), np.sin(q[0]), 0.0])
    arm = np.sin(q[1]) * out + np.array([0.0, 0.0, -1.0]) * np.cos(q[1])
    other = -np.sin(q[1]) * out + np.array([0.0, 0.0, -1.0]) * np.cos(q[1])
    return arm, other, -np.cos(q[1])


def governor_inertial(q):
    right, left, sleeve = governor_places(q)
    parts = [*rod(1.0, np.zeros(3), right), *rod(1.0, np.zeros(3), left)]
    parts += [*(math.sqrt(5.0) * right), *(math.sqrt(5.0) * left)]
    return np.array([*parts, math.sqrt(3.0) * sleeve, math.sqrt(0.02) * q[0]])


def governor_energy(q):
    _, _, sleeve = governor_places(q)
    weight = 9.81 * (2 * (5.0 + 0.5) * -np.cos(q[1]) + 3.0 * sleeve)
    return weight + 4e5 * (-sleeve - math.cos(math.radians(30))) ** 2


def governor_damper(q, qd):
    slope = math.sin(q[1])
    return np.array([0.0, -4e4 * slope**2 * qd[1]])


@pytest.mark.slow
def test_stiff_governor_opens_as_it_should(kernel, twin):
    assert assemble(load("governor")).dof == 2
    times = np.array([0.05, 0.2, 0.5])
    start = [0.0, math.radians(30)]
    q, qd = motion(
        governor_inertial, start, [2 * math.pi, 0.0], times, governor_energy, governor_damper
    )
    modules = [twin("governor", step_s=2e-3), kernel("governor", step_s=1e-3)]

    def place(z):
        return np.array([z[0], governor_places(z)[2], *governor_places(z)[0]])

    places = [(place(a), rates(place, a, b)) for a, b in zip(q, qd, strict=True)]
    names = ["spin", "sleeve_z", "right_x", "right_y", "right_z"]
    (error, rate_error), _ = compared(modules, names, times, places)
    assert error < 5e-5  # rad of spin; the sleeve's spring makes 245 rad/s
    assert rate_error < 1e-3


# spatial slider-crank: a crank across the slider's line, a slender coupler on two ball joints


def crank_places(q):
    pin = np.array([0.0, 0.1 - 0.08 * np.sin(q[0]), 0.12 + 0.08 * np.cos(q[0])])
    slider = np.array([np.sqrt(0.09 - pin[1] ** 2 - pin[2] ** 2), 0.0, 0.0])
    return pin, slider


def crank_inertial(q):
    pin, slider = crank_places(q)
    half = np.array([0.0, 0.1, 0.12]) / 2 + pin / 2
    along = slider - pin
    parts = [*(math.sqrt(0.12) * half), 0.01 * q[0]]
    parts += [*(math.sqrt(0.5) * (pin + slider) / 2), *(math.sqrt(0.004) / 0.3 * along)]
    return np.array([*parts, *(math.sqrt(2.0) * slider)])


def spatial_slider_crank():
    made = MechanismBuilder("spatial_crank", gravity_m_s2=(0, 0, -9.81))
    made.parameter("pin", [0, 0.1, 0.2]).parameter("slider", ["sqrt(0.09 - 0.05)", 0, 0])
    made.parameter("n", "unit(slider - pin)").parameter("side", "unit(cross(n, (1, 0, 0)))")
    made.point("P", position_m="pin", moves="yz").point("S", position_m="slider", moves="x")
    made.angle("crank", initial_rate_rad_s=6.0)
    body = {"axis": (1, 0, 0), "angle": "crank"}
    made.rigid_body(
        "wheel", points=[(0, 0.1, 0.12), "P"], mass_kg=0.12, centre_m=(0, 0.1, 0.16),
        inertia_kg_m2=1e-4, **body,
    )  # fmt: skip
    made.rigid_body(
        "coupler", points=["P", "S"], mass_kg=0.5, centre_m="(pin + slider) / 2",
        inertia_kg_m2=(0, 0.004, 0.004), axes=("n", "side"),
    )  # fmt: skip
    return made.mass("S", point="S", mass_kg=2.0).output("energy_j", "energy")


@pytest.mark.slow
def test_spatial_slider_crank(twin, tmp_path):
    made = spatial_slider_crank()
    assert assemble(made.build()).dof == 1
    times = np.array([0.2, 0.5, 1.0])

    def energy(q):
        pin, slider = crank_places(q)
        return 9.81 * (0.12 * (0.06 + pin[2] / 2) + 0.25 * (pin[2] + slider[2]))

    q, qd = motion(crank_inertial, [0.0], [6.0], times, energy)
    modules = [twin(made.save(tmp_path), step_s=h) for h in (1e-3, 5e-4)]

    def place(z):
        return np.array([z[0], crank_places(z)[1][0]])

    places = [(place(a), rates(place, a, b)) for a, b in zip(q, qd, strict=True)]
    (error, rate_error), drift = compared(modules, ["crank", "S_x"], times, places)
    assert error < 2e-4
    assert rate_error < 2e-3
    assert drift < 1e-4


# six-bar of Stephenson: a four-bar whose coupler point moves a second rocker


def six_bar_places(q):
    a = 0.3 * np.array([np.cos(q[0]), np.sin(q[0])])
    b = circles(a, 0.9, np.array([1.0, 0.0]), 0.8, 1.0)
    along = (b - a) / 0.9
    c = a + 0.45 * along + 0.35 * np.array([-along[1], along[0]])
    d = circles(c, 1.1, np.array([1.6, 0.4]), 0.8, 1.0)
    return a, b, c, d


def six_bar_inertial(q):
    a, b, c, d = six_bar_places(q)
    o = np.array([0.0, 0.0])
    coupler = [*(math.sqrt(2.0) * (a + b + c) / 3.0), math.sqrt(0.08) * angle_of(b - a)]
    bars = [
        (3.0, o, a),
        (1.5, np.array([1.0, 0.0]), b),
        (1.0, c, d),
        (1.2, np.array([1.6, 0.4]), d),
    ]
    return np.array([*coupler, *(x for m, p, r in bars for x in rod(m, p, r))])


def six_bar_energy(q):
    a, b, c, d = six_bar_places(q)
    return 9.81 * (
        2.0 * (a + b + c)[1] / 3 + 1.5 * a[1] + 0.75 * b[1] + 0.5 * (c + d)[1] + 0.6 * (d[1] + 0.4)
    )


@pytest.mark.slow
def test_six_bar_turns_through(twin, tmp_path):
    a, b, c, d = (np.array([*p, 0.0]) for p in six_bar_places(np.array([0.4])))
    made = MechanismBuilder("six_bar", gravity_m_s2=(0, -9.81, 0))
    for name, at in (("A", a), ("B", b), ("C", c), ("D", d)):
        made.point(name, position_m=at, moves="xy")
    made.angle("crank", initial_rad=0.4, initial_rate_rad_s=9.0)
    made.rotation(
        "crank", angle="crank", point="A", centre_m=(0, 0, 0), axis=(0, 0, 1), zero=(1, 0, 0)
    )
    made.rigid_body(
        "coupler", points=["A", "B", "C"], axis=(0, 0, 1), mass_kg=2.0,
        centre_m=(a + b + c) / 3, inertia_kg_m2=0.08,
    )  # fmt: skip
    for name, mass, ends in (
        ("crank", 3.0, [(0, 0, 0), "A"]), ("rocker", 1.5, [(1, 0, 0), "B"]),
        ("link", 1.0, ["C", "D"]), ("output", 1.2, [(1.6, 0.4, 0), "D"]),
    ):  # fmt: skip
        made.constant_distance(name, points=ends).uniform_rod(name, points=ends, mass_kg=mass)
    made.output("energy_j", "energy")
    found = assemble(made.build())
    assert (found.dof, found.redundant) == (1, ())
    times = np.array([0.3, 0.8, 1.5])
    q, qd = motion(six_bar_inertial, [0.4], [9.0], times, six_bar_energy)

    def place(z):
        return np.array([z[0], *six_bar_places(z)[3]])

    places = [(place(x), rates(place, x, v)) for x, v in zip(q, qd, strict=True)]
    modules = [twin(made.save(tmp_path), step_s=h) for h in (1e-3, 5e-4)]
    (error, rate_error), drift = compared(modules, ["crank", "D_x", "D_y"], times, places)
    assert error < 1e-3
    assert rate_error < 2e-2
    assert drift < 5e-3


# a platform on three parallel legs, six hinges of general bodies


@pytest.mark.slow
def test_platform_on_six_parallel_hinges(twin, tmp_path):
    def general(made, name, at, mass, inertia):
        made.point(name, position_m=at)
        for letter, direction in (("u", (1, 0, 0)), ("v", (0, 1, 0)), ("w", (0, 0, 1))):
            made.unit_vector(f"{name}_{letter}", direction=direction)
        made.rigid_body(
            name, points=[name], vectors=[f"{name}_{k}" for k in "uvw"], mass_kg=mass,
            centre_m=at, inertia_kg_m2=inertia,
        )  # fmt: skip

    made = MechanismBuilder("platform", gravity_m_s2=(0, -9.81, 0))
    tilt, length = 0.7, 0.8
    down = length * np.array([math.sin(tilt), -math.cos(tilt), 0])
    feet = [np.array(p) for p in ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.4, 0.0, 0.9))]
    general(made, "plate", np.mean(feet, axis=0) + down, 4.0, (0.3, 0.2, 0.4))
    for k, foot in enumerate(feet):
        # a leg that is as heavy along every axis across it: its own axis does not matter here
        general(made, f"leg{k}", foot + down / 2, 1.5, (0.08, 0.08, 0.08))
        axis = {"axis": (0, 0, 1)}
        made.revolute(f"foot{k}", bodies=[f"leg{k}", "ground"], point_m=foot, **axis)
        made.revolute(f"top{k}", bodies=["plate", f"leg{k}"], point_m=foot + down, **axis)
    made.output("energy_j", "energy")
    found = assemble(made.build())
    assert found.dof == 1
    # 4 bodies with 6 freedoms, 6 hinges of 5 rows: -6 by counting, 1 in truth
    assert len(found.redundant) == 7
    assert all("revolute/" in redundant.row for redundant in found.redundant)

    def inertial(q):
        leg = length * np.array([np.sin(q[0]), -np.cos(q[0])])
        parts = [*(math.sqrt(3 * 1.5) * leg / 2), math.sqrt(3 * 0.08) * q[0], *(2.0 * leg)]
        return np.array(parts)

    def energy(q):
        return -9.81 * length * np.cos(q[0]) * (4.0 + 3 * 1.5 / 2)

    times = np.array([0.5, 1.0, 2.0])
    q, qd = motion(inertial, [tilt], [0.0], times, energy)

    def place(z):
        return np.mean(feet, axis=0) + length * np.array([np.sin(z[0]), -np.cos(z[0]), 0 * z[0]])

    places = [(place(x), rates(place, x, v)) for x, v in zip(q, qd, strict=True)]
    path = made.save(tmp_path)
    modules = [twin(path, step_s=h) for h in (4e-3, 2e-3)]
    names = ["plate_x", "plate_y", "plate_z"]
    (error, rate_error), drift = compared(modules, names, times, places)
    assert error < 1e-4
    assert rate_error < 1e-3
    assert drift < 1e-3


# an arm of four general bodies whose hinges stand across each other

ARM_LINK, ARM_MASS = np.array([0.4, 0.1, 0.0]), 1.3
ARM_AXES = np.array([(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0.6, 0.8)])
ARM_CENTRE, ARM_INERTIA = np.array([0.2, 0.08, -0.05]), np.array([0.02, 0.05, 0.06])


def arm_inertial(q):
    turns, place = chain(q, ARM_AXES, [ARM_LINK] * 4)
    second = np.sum(ARM_INERTIA) / 2.0 - ARM_INERTIA
    parts = []
    for rotation, at in zip(turns, place, strict=False):
        parts.append(math.sqrt(ARM_MASS) * (at + rotation @ ARM_CENTRE))
        parts += list((rotation * np.sqrt(second)).T)
    return np.concatenate(parts)


def arm_energy(q):
    turns, place = chain(q, ARM_AXES, [ARM_LINK] * 4)
    return (
        9.81
        * ARM_MASS
        * sum((at + rotation @ ARM_CENTRE)[2] for rotation, at in zip(turns, place, strict=False))
    )


@pytest.mark.slow
def test_spatial_arm_of_general_bodies(twin, tmp_path):
    made = MechanismBuilder("arm", gravity_m_s2=(0, 0, -9.81))
    before = "ground"
    for k in range(4):
        at = k * ARM_LINK
        made.point(
            f"P{k}", position_m=at + np.array([0.1, 0, 0])
        )  # not the hinge: all rows are needed
        for letter, direction in (("u", (1, 0, 0)), ("v", (0, 1, 0)), ("w", (0, 0, 1))):
            made.unit_vector(f"{letter}{k}", direction=direction)
        made.rigid_body(
            f"b{k}", points=[f"P{k}"], vectors=[f"u{k}", f"v{k}", f"w{k}"], mass_kg=ARM_MASS,
            centre_m=at + ARM_CENTRE, inertia_kg_m2=ARM_INERTIA,
        )  # fmt: skip
        made.angle(f"a{k}", initial_rate_rad_s=[1.0, -2.0, 0.5, 3.0][k])
        made.revolute(
            f"h{k}", bodies=[f"b{k}", before], point_m=at, axis=ARM_AXES[k], angle=f"a{k}"
        )
        before = f"b{k}"
    made.output("energy_j", "energy")
    found = assemble(made.build())
    assert (found.dof, found.redundant) == (4, ())
    times = np.array([0.2, 0.5])
    q, qd = motion(
        arm_inertial, np.zeros(4), np.array([1.0, -2.0, 0.5, 3.0]), times, arm_energy, rtol=1e-8
    )
    modules = [twin(made.save(tmp_path), step_s=h) for h in (2e-3, 1e-3)]
    names = [f"a{k}" for k in range(4)]
    (error, rate_error), drift = compared(modules, names, times, list(zip(q, qd, strict=True)))
    assert error < 2e-4
    assert rate_error < 4e-3
    assert drift < 2e-3


@pytest.mark.parametrize("count", [2, 30])
@pytest.mark.slow
def test_chains_of_rods(twin, tmp_path, count):
    length = 1.0 / count
    made = MechanismBuilder(f"chain_{count}", gravity_m_s2=(0, -9.81, 0))
    for k in range(count):
        made.point(f"P{k}", position_m=((k + 1) * length, 0, 0), moves="xy")
        ends = [f"P{k - 1}" if k else (0, 0, 0), f"P{k}"]
        made.constant_distance(f"rod{k}", points=ends).uniform_rod(
            f"rod{k}", points=ends, mass_kg=0.1
        )
    made.output("energy_j", "energy")

    def joints(q):
        steps = length * np.array([np.cos(q), np.sin(q)])
        return np.concatenate([np.zeros((2, 1)), np.cumsum(steps, axis=1)], axis=1)

    def inertial(q):
        place = joints(q)
        middle, along = (place[:, 1:] + place[:, :-1]) / 2, place[:, 1:] - place[:, :-1]
        return np.concatenate([math.sqrt(0.1) * middle, math.sqrt(0.1 / 12) * along]).ravel()

    def energy(q):
        place = joints(q)
        return 0.981 * np.sum(place[1, 1:] + place[1, :-1]) / 2

    times = np.array([0.1, 0.2, 0.3])
    q, qd = motion(inertial, np.zeros(count), np.zeros(count), times, energy, rtol=1e-8)
    names = [f"P{count - 1}_x", f"P{count - 1}_y"]
    places = [
        (joints(a)[:, -1], rates(lambda z: joints(z)[:, -1], a, b))
        for a, b in zip(q, qd, strict=True)
    ]
    path = made.save(tmp_path)
    modules = [twin(path, step_s=h) for h in (1e-3, 5e-4)]
    (error, rate_error), drift = compared(modules, names, times, places)
    assert error < 1e-4
    assert rate_error < 5e-3
    assert drift < 1e-3
