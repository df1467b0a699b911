"""Serial chains: torques against Lagrange's equations of the chain as it is, the printed matrix of
a planar arm, and recursive Newton-Euler.
"""

import ctypes
import math
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.serial_chain.chain import Joint, dynamics, identifiable, link
from codegen.serial_chain.text import c_text, numpy_text

TINY = 1e-30
G = 9.81


def module_of(made, name="chain"):
    found = {}
    exec(compile(numpy_text(made, name), f"{name}.py", "exec"), found)
    return found


def torques_of(made, p, q, qd, qdd):
    module = module_of(made)
    np.testing.assert_array_equal(module["C"], made.C)
    return module["torques"](q, qd, qdd, module["constants"](made.mu(p)))


def planar(a1=0.7, a2=0.4):
    return dynamics([Joint("hinge", length_m=a1), Joint("hinge", length_m=a2)], (-G, 0, 0))


def rotation_about_z(angle):
    c, s, zero, one = np.cos(angle), np.sin(angle), 0 * angle, 1 + 0 * angle
    return np.array([[c, -s, zero], [s, c, zero], [zero, zero, one]])


def rotation_about_x(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def frames(joints, q):
    """Rotation and origin of each link's frame, and of the ground."""
    rotation, origin = np.eye(3), np.zeros(3)
    found = [(rotation, origin)]
    for joint, move in zip(joints, q, strict=True):
        theta = joint.theta_rad + (move if joint.kind == "hinge" else 0.0)
        offset = joint.offset_m + (move if joint.kind == "slide" else 0.0)
        origin = origin + offset * rotation[:, 2]
        turned = rotation @ rotation_about_z(theta)
        origin = origin + joint.length_m * turned[:, 0]
        rotation = turned @ rotation_about_x(joint.twist_rad)
        found.append((rotation, origin))
    return found


class Cloud:
    """Links as clouds of mass points, so that nothing about inertia is assumed."""

    def __init__(self, joints, rng, count=5):
        self.joints = joints
        self.masses = rng.uniform(0.1, 2.0, (len(joints), count))
        self.points = rng.uniform(-0.5, 0.5, (len(joints), count, 3))

    def parameters(self):
        found = []
        for m, r in zip(self.masses, self.points, strict=True):
            x, y, z = r.T
            found += [m @ (x * x), m @ (y * y), m @ (z * z), m @ (x * y), m @ (x * z), m @ (y * z)]
            found += [m @ x, m @ y, m @ z, m.sum()]
        return np.array(found)

    def places(self, q):
        made = frames(self.joints, q)[1:]
        return [o + r @ rotation.T for (rotation, o), r in zip(made, self.points, strict=True)]

    def kinetic(self, q, qd):
        """Velocities from the joints' axes: analytic in q."""
        made = frames(self.joints, q)
        energy = 0.0
        for body, places in enumerate(self.places(q)):
            velocity = 0 * places
            for k in range(body + 1):
                rotation, origin = made[k]
                axis = rotation[:, 2]
                if self.joints[k].kind == "hinge":
                    velocity = velocity + qd[k] * np.cross(axis, places - origin)
                else:
                    velocity = velocity + qd[k] * axis
            energy = energy + self.masses[body] @ np.sum(velocity * velocity, axis=1) / 2.0
        return energy

    def potential(self, q, gravity):
        return -sum(
            m @ (r @ np.array(gravity)) for m, r in zip(self.masses, self.places(q), strict=True)
        )

    def lagrange(self, q, qd, qdd, gravity):
        """d/dt dL/dqd - dL/dq. L is quadratic in the rates, so dL/dqd is a difference; time and
        position derivatives by complex step.
        """
        n = len(q)
        tau = np.zeros(n)
        for k, unit in enumerate(np.eye(n)):
            t = 1j * TINY
            now, rate = q + t * qd, qd + t * qdd
            moment = (
                self.kinetic(now, rate + unit) - self.kinetic(now, rate) - self.kinetic(now, unit)
            )
            moved = q + t * unit
            slope = self.kinetic(moved, qd) - self.potential(moved, gravity)
            tau[k] = (moment.imag - slope.imag) / TINY
        return tau


def test_planar_arm_has_the_printed_matrix():
    a1, a2 = 0.7, 0.4
    made = planar(a1, a2)
    # I xx, I yy, S x, S y, m of both links; the other columns are zero
    shown = [0, 1, 6, 7, 9, 10, 11, 16, 17, 19]
    printed = np.array([
        [1, 1, 2 * a1, 0, a1**2, 1, 1, 2 * a2, 0, a1**2 + a2**2],
        [0, 0, 0, 0, 0, 1, 1, 2 * a2, 0, a2**2],
        [0, 0, 0, 0, 0, 0, 0, 2 * a1, 0, 2 * a1 * a2],
        [0, 0, 0, 0, 0, 0, 0, 0, -2 * a1, 0],
        [0, 0, G, 0, a1 * G, 0, 0, 0, 0, a1 * G],
        [0, 0, 0, -G, 0, 0, 0, 0, 0, 0],
    ])  # fmt: skip
    np.testing.assert_allclose(made.C[:, shown], printed, atol=1e-15)
    assert not np.delete(made.C, shown, axis=1).any()


@pytest.mark.parametrize("seed", range(5))
def test_planar_arm_meets_lagrange_and_the_closed_form(seed):
    rng = np.random.default_rng(seed)
    a1 = rng.uniform(0.3, 1.0)
    made = planar(a1, rng.uniform(0.3, 1.0))
    cloud = Cloud(made.joints, rng)
    q, qd, qdd = rng.uniform(-3, 3, (3, 2))
    tau = torques_of(made, cloud.parameters(), q, qd, qdd)
    size = np.max(np.abs(tau))
    np.testing.assert_allclose(tau, cloud.lagrange(q, qd, qdd, (-G, 0, 0)), atol=1e-12 * size)
    a, b, d, e, g, n = made.mu(cloud.parameters())
    (c1, c2), (s1, s2), gg = np.cos(q), np.sin(q), G / (2 * a1)
    (r1, r2), (w1, w2) = qd, qdd
    first = (
        a * w1 + b * w2 + c2 * (d * w1 + d / 2 * w2 + e * r1 * r2 + e / 2 * r2**2)
        + s2 * (e * w1 + e / 2 * w2 - d * r1 * r2 - d / 2 * r2**2) + c1 * n - s1 * g
        + gg * (c1 * c2 * e - c1 * s2 * d - s1 * c2 * d - s1 * s2 * e)
    )  # fmt: skip
    second = (
        b * w1 + b * w2 + c2 * (d / 2 * w1 - e / 2 * r1**2) + s2 * (e / 2 * w1 + d / 2 * r1**2)
        + gg * (c1 * c2 * e - c1 * s2 * d - s1 * c2 * d - s1 * s2 * e)
    )  # fmt: skip
    np.testing.assert_allclose(tau, [first, second], atol=1e-12 * size)


def test_what_cannot_be_told_apart_drops_out():
    found = identifiable(planar())
    assert len(found.kept) == 6
    names = ("xx", "yy", "zz", "xy", "xz", "yz", "x", "y", "z", "m")
    idle = {names[j % 10] for j in found.without_effect}
    assert idle == {"zz", "xy", "xz", "yz", "z"}
    # masses act through first and second moments only
    assert {9, 19} <= set(found.grouped)
    rng = np.random.default_rng(4)
    p = rng.uniform(0.5, 1.0, 20)
    reduced = np.zeros(20)
    reduced[list(found.kept)] = p[list(found.kept)] + found.share @ p[list(found.grouped)]
    q, qd, qdd = rng.uniform(-2, 2, (3, 2))
    made = planar()
    np.testing.assert_allclose(
        torques_of(made, reduced, q, qd, qdd), torques_of(made, p, q, qd, qdd), atol=1e-12
    )


def test_a_link_is_given_by_its_centre_and_inertia():
    rng = np.random.default_rng(1)
    cloud = Cloud([Joint("hinge")], rng)
    m, r = cloud.masses[0], cloud.points[0]
    centre = m @ r / m.sum()
    gaps = r - centre
    inertia = sum(w * (g @ g * np.eye(3) - np.outer(g, g)) for w, g in zip(m, gaps, strict=True))
    np.testing.assert_allclose(link(m.sum(), centre, inertia), cloud.parameters(), atol=1e-13)


def newton_euler(joints, cloud, q, qd, qdd, gravity):
    """Recursive Newton-Euler in the frame of the ground, with centre and inertia of each link."""
    made = frames(joints, q)
    omega, alpha, acceleration = np.zeros(3), np.zeros(3), -np.array(gravity, dtype=float)
    forces = []
    for k, (joint, places) in enumerate(zip(joints, cloud.places(q), strict=True)):
        axis, before, here = made[k][0][:, 2], made[k][1], made[k + 1][1]
        if joint.kind == "hinge":
            alpha = alpha + qdd[k] * axis + np.cross(omega, qd[k] * axis)
            omega = omega + qd[k] * axis
        arm = here - before
        acceleration = acceleration + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        if joint.kind == "slide":
            acceleration = acceleration + qdd[k] * axis + 2.0 * np.cross(omega, qd[k] * axis)
        m = cloud.masses[k]
        centre = m @ places / m.sum()
        gaps = places - centre
        inertia = sum(
            w * (g @ g * np.eye(3) - np.outer(g, g)) for w, g in zip(m, gaps, strict=True)
        )
        lever = centre - here
        at_centre = acceleration + np.cross(alpha, lever) + np.cross(omega, np.cross(omega, lever))
        moment = inertia @ alpha + np.cross(omega, inertia @ omega)
        forces.append((m.sum() * at_centre, moment, centre))
    tau = np.zeros(len(q))
    for k, joint in enumerate(joints):
        axis, origin = made[k][0][:, 2], made[k][1]
        outer = forces[k:]
        if joint.kind == "slide":
            tau[k] = axis @ sum(f for f, _, _ in outer)
        else:
            tau[k] = axis @ sum(m + np.cross(c - origin, f) for f, m, c in outer)
    return tau


MILLI = st.integers(-900, 900).map(lambda value: value / 1000.0)
JOINT = st.builds(
    Joint,
    st.sampled_from(["hinge", "slide"]),
    length_m=MILLI,
    twist_rad=st.sampled_from([0.0, math.pi / 2, -math.pi / 2, 0.4]),
    offset_m=MILLI,
    theta_rad=MILLI,
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(joints=st.lists(JOINT, min_size=1, max_size=3), seed=st.integers(0, 10**6))
def test_random_chains_meet_newton_and_euler(joints, seed):
    rng = np.random.default_rng(seed)
    gravity = rng.uniform(-10, 10, 3)
    cloud = Cloud(joints, rng)
    q, qd, qdd = rng.uniform(-2, 2, (3, len(joints)))
    made = dynamics(joints, gravity)
    tau = torques_of(made, cloud.parameters(), q, qd, qdd)
    exact = newton_euler(joints, cloud, q, qd, qdd, gravity)
    np.testing.assert_allclose(tau, exact, atol=1e-11 * (1.0 + np.max(np.abs(exact))))
    # no row of C follows from the others
    assert len(made.C) == 0 or np.linalg.matrix_rank(
        made.C / np.linalg.norm(made.C, axis=1, keepdims=True), tol=1e-9
    ) == len(made.C)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_c_text_is_the_same_function(tmp_path):
    joints = [Joint("hinge", twist_rad=math.pi / 2), Joint("slide", 0.2, 0.3), Joint("hinge", 0.5)]
    made, rng = dynamics(joints, (1, 2, -G)), np.random.default_rng(3)
    for name, text in c_text(made, "arm").items():
        (tmp_path / name).write_text(text)
    subprocess.run(
        ["gcc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "arm.c",
         "-o", "arm.so", "-lm"],
        cwd=tmp_path, check=True, timeout=60,
    )  # fmt: skip
    library = ctypes.CDLL(str(tmp_path / "arm.so"))
    p = Cloud(joints, rng).parameters()
    module = module_of(made)
    k = module["constants"](made.mu(p))
    q, qd, qdd = rng.uniform(-2, 2, (3, 3))

    def cells(values):
        return np.ascontiguousarray(values, dtype=float).ctypes.data_as(ctypes.c_void_p)

    mu, found_k, tau = made.mu(p), np.zeros(len(k)), np.zeros(3)
    library.arm_constants(cells(mu), found_k.ctypes.data_as(ctypes.c_void_p))
    library.arm_torques(*map(cells, (q, qd, qdd, found_k)), tau.ctypes.data_as(ctypes.c_void_p))
    np.testing.assert_allclose(found_k, k, rtol=1e-15)
    np.testing.assert_allclose(tau, module["torques"](q, qd, qdd, k), rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="C identifier"):
        c_text(made, "my arm")


def test_a_chain_without_joints_or_numbers_is_refused():
    for joints in ([], [Joint("hinge", length_m=math.nan)]):
        with pytest.raises(ValueError, match="one joint or more"):
            dynamics(joints, (0, 0, -G))
