"""Four published cases of beams in mechanisms, within the small strains and turns that a body with modes is for.

Bauchau, Betsch, Cardona, Gerstmayr, Jonker, Masarati and Sonneville, Validation of flexible multibody dynamics beam
formulations using benchmark problems, 2016: eight codes agree there. A beam whose deflection is large is a row of
bodies, each turning with its own frame, so that only the turn within one of them is small.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_bvp, solve_ivp
from scipy.linalg import eigh
from scipy.optimize import brentq

import rigloop
from codegen.description.builder import MechanismBuilder

Array = NDArray[np.float64]

# Princeton: tip displacements in m along and across the force's plane of least stiffness, by angle of the force, as
# ANSYS has them with beams and with solids (Obrezkov et al., Nonlinear Dynamics 109, 2022) and Exudyn in its tests
ANGLES_DEG = (0, 15, 30, 45, 60, 75, 90)
FORCES_N = (8.896, 13.345)
PRINTED_M: dict[float, dict[str, tuple[tuple[float, ...], ...]]] = {
    8.896: {
        "y": (
            (0.010714, 0.010613, 0.010112, 0.008837, 0.006605, 0.003539, 0.0),
            (0.010698, 0.010572, 0.009938, 0.008687, 0.006500, 0.003482, 0.0),
            (0.010702, 0.010630, 0.010186, 0.008953, 0.006718, 0.003608, 0.0),
        ),
        "z": (
            (0.0, 0.042082, 0.079395, 0.108988, 0.129888, 0.142194, 0.146246),
            (0.0, 0.041012, 0.076967, 0.105976, 0.127251, 0.139595, 0.143849),
            (0.0, 0.042137, 0.079443, 0.108970, 0.129788, 0.142032, 0.146061),
        ),
    },
    13.345: {
        "y": (
            (0.016064, 0.016458, 0.016659, 0.015186, 0.011578, 0.006249, 0.0),
            (0.016037, 0.016370, 0.016404, 0.014851, 0.011272, 0.006062, 0.0),
            (0.016045, 0.016547, 0.016932, 0.015549, 0.011900, 0.006433, 0.0),
        ),
        "z": (
            (0.0, 0.064358, 0.117736, 0.156467, 0.181862, 0.196097, 0.200678),
            (0.0, 0.062707, 0.113752, 0.153554, 0.179979, 0.192972, 0.197670),
            (0.0, 0.064622, 0.117982, 0.156521, 0.181717, 0.195834, 0.200374),
        ),
    },
}
PRINCETON = {"length_m": 0.508, "height_m": 12.3777e-3, "width_m": 3.2024e-3, "youngs_pa": 71.7e9}
PRINCETON_TORSION = 0.198  # torsion constant over the polar moment of area


def row_of_bodies(
    made: MechanismBuilder, count: int, length_m: float, section: dict[str, Any], **keys: Any
) -> str:
    """Add a beam along x, clamped at the origin, as bodies in a row; returns the name of the last one's tip."""
    before = "ground"
    for n in range(count):
        at, end = n * length_m / count, (n + 1) * length_m / count
        made.point(f"P{n}", position_m=(at, 0.0, 0.0))
        for letter, way in (("x", (1, 0, 0)), ("y", (0, 1, 0)), ("z", (0, 0, 1))):
            made.unit_vector(f"e{letter}{n}", direction=way)
        made.flexible_body(
            f"b{n}", points=[f"P{n}"], vectors=[f"ex{n}", f"ey{n}", f"ez{n}"], frame="root", interfaces=["tip"],
            modes=1,
            beam=section | {
                "line_m": [(at, 0.0, 0.0), (end, 0.0, 0.0)], "across": (0.0, 1.0, 0.0), "elements": 4,
                "nodes": {"root": 0.0, "tip": 1.0},
            },
            **keys,
        )  # fmt: skip
        made.rigid(f"weld{n}", bodies=[f"b{n}", before], point_m=(at, 0.0, 0.0))
        before = f"b{n}_tip"
    return before


def pushed_beam(
    name: str, count: int, length_m: float, section: dict[str, Any], **keys: Any
) -> MechanismBuilder:
    """A clamped beam with a force on its tip as input, and the tip's place as output."""
    made = MechanismBuilder(name, gravity_m_s2=(0.0, 0.0, 0.0))
    tip = row_of_bodies(made, count, length_m, section, **keys)
    force = [{"input": 0.0}, {"input": 0.0}, {"input": 0.0}]
    made.wrench("tip", body=tip, point_m=(length_m, 0.0, 0.0), force_n=force)
    for axis in "xyz":
        made.output(f"tip/{axis}_m", f"flexible_body.b{count - 1}.tip_{axis}_m")
    return made


def princeton_section() -> dict[str, Any]:
    """The section of the Princeton beam, high along y."""
    h, w = PRINCETON["height_m"], PRINCETON["width_m"]
    first, second = w * h**3 / 12.0, h * w**3 / 12.0
    youngs = PRINCETON["youngs_pa"]
    return {
        "density_kg_m3": 2800.0, "youngs_pa": youngs, "shear_pa": youngs / 2.62, "area_m2": h * w,
        "second_moment_m4": first, "second_moment_2_m4": second, "torsion_m4": PRINCETON_TORSION * (first + second),
    }  # fmt: skip


def settled(body: Any, force: Array, ramp_s: float, hold_s: float) -> dict[str, float]:
    """Raise a force (3,) slowly, hold it, and return the mean of what the tip does meanwhile."""
    t = body.step_s * np.arange(1, round((ramp_s + hold_s) / body.step_s) + 1)
    share = np.where(t < ramp_s, 0.5 - 0.5 * np.cos(np.pi * t / ramp_s), 1.0)
    names = [f"input/wrench/tip/force_{axis}_n" for axis in "xyz"]
    body.reset(dict.fromkeys(names, 0.0))
    motion = body.run({name: f * share for name, f in zip(names, force, strict=True)})
    held = t >= ramp_s
    return {port: float(np.mean(motion[port][held])) for port in body.outputs}


def princeton(folder: Path, count: int = 6) -> dict[str, float]:
    """Return the distance of tip displacements from the spread of the printed ones, percent of the largest."""
    length = PRINCETON["length_m"]
    # without the stretch of a body, whose frequencies are higher than that
    made = pushed_beam(
        "princeton", count, length, princeton_section(), damping_ratio=0.02, highest_hz=15500.0
    )
    path = made.save(folder)
    body = rigloop.mechanism(path, formulation="articulated", integrator="rk4", step_s=1e-5)
    found = {}
    for force in FORCES_N:
        outside = 0.0
        for k, degrees in enumerate(ANGLES_DEG):
            at = math.radians(degrees)
            push = force * np.array([0.0, -math.cos(at), math.sin(at)])
            shown = settled(body, push, 1.5, 1.0)
            for axis, sign in (("y", -1.0), ("z", 1.0)):
                printed = [values[k] for values in PRINTED_M[force][axis]]
                largest = max(max(values) for values in PRINTED_M[force][axis])
                value = sign * shown[f"tip/{axis}_m"]
                miss = max(0.0, value - max(printed), min(printed) - value)
                outside = max(outside, 100.0 * miss / largest)
        found[f"princeton_{force:.0f}n_percent"] = outside
    return found


BUCKLING = {"length_m": 1.0, "EI_1": 60830.0, "EI_2": 608.3, "GJ": 877.2}
ASIDE = 1e-4  # of the load, across it


def buckling(folder: Path, count: int = 8) -> dict[str, float]:
    """Return by how many percent the load that bends a deep beam aside as far as an exact one is too high."""
    youngs, shear, area = 73e9, 28.08e9, 1e-3
    section = {
        "density_kg_m3": 2680.0, "youngs_pa": youngs, "shear_pa": shear, "area_m2": area,
        "second_moment_m4": BUCKLING["EI_1"] / youngs, "second_moment_2_m4": BUCKLING["EI_2"] / youngs,
        "torsion_m4": BUCKLING["GJ"] / shear,
    }  # fmt: skip
    made = pushed_beam("buckling", count, BUCKLING["length_m"], section, damping_ratio=0.02)
    body = rigloop.mechanism(made.save(folder), formulation="articulated", integrator="rk4", step_s=5e-6)  # fmt: skip
    critical, worst = turned_over_n(), 0.0
    for share in (0.4, 0.6, 0.8):
        push = share * critical * np.array([0.0, -1.0, ASIDE])
        aside = settled(body, push, 2.0, 1.0)["tip/z_m"]
        # the load under which the exact beam goes aside as far
        same = brentq(lambda x: aside_m(x * critical) - aside, 0.1, 0.97)  # noqa: B023
        worst = max(worst, abs(same / share - 1.0))
    return {"buckling_percent": 100.0 * worst}


def _softer() -> tuple[float, float]:
    """Bending aside and torsion as they are beside the deflection before (Hodges and Peters 1975)."""
    first, second, twist = BUCKLING["EI_1"], BUCKLING["EI_2"], BUCKLING["GJ"]
    return second / (1.0 - second / first), twist / (1.0 - twist / first)


def turned_over_n() -> float:
    """Return the load that turns the beam over (Timoshenko and Gere 1961, chapter 6.4)."""
    return 4.0126 / BUCKLING["length_m"] ** 2 * math.sqrt(math.prod(_softer()))


def aside_m(load: float) -> float:
    """Return how far the tip goes aside: GJ b'' = -(P s)^2 (b + ASIDE) / EI, v'' = P s (b + ASIDE) / EI, s = L - x."""
    bend, twist = _softer()
    length = BUCKLING["length_m"]

    def slopes(x: Array, y: Array) -> Array:
        arm = load * (length - x)
        moment = arm * (y[0] + ASIDE) / bend
        return np.array([y[1], -arm * moment / twist, y[3], moment])

    x = np.linspace(0.0, length, 200)
    done = solve_bvp(
        slopes,
        lambda a, b: np.array([a[0], b[1], a[2], a[3]]),
        x,
        np.zeros((4, len(x))),
        tol=1e-8,
    )
    return float(done.y[2, -1])


SHAFT = {"length_m": 6.0, "EA": 313.4e6, "EI": 354.5e3, "GJ": 272.7e3, "mass_kg_m": 11.64}
DISC_KG, DISC_KG_M2, ASIDE_M, GRAVITY_M_S2 = 70.573, (2.0325, 1.0163, 1.0163), 0.05, 9.81
SHAFT_S = 2.5


def shaft_rate(t: Array) -> tuple[Array, Array, Array]:
    """Angle, rate and acceleration of the shaft's end: beneath its critical speed, and then beyond it."""
    first, second, omega = 0.8, 1.2, 60.0
    t1, t2, t3 = 0.5, 1.0, 1.25
    angle, rate, pushed = np.zeros_like(t), np.zeros_like(t), np.zeros_like(t)
    for begin, end, low, high in ((0.0, t1, 0.0, first), (t2, t3, first, second)):
        a, size, span = np.pi / (end - begin), (high - low) * omega, end - begin
        since = np.clip(t - begin, 0.0, span)
        inside = (t >= begin) & (t <= end)
        angle += size * (0.5 * since - 0.5 * np.sin(a * since) / a) + size * np.maximum(t - end, 0.0)  # fmt: skip
        rate += size * (0.5 - 0.5 * np.cos(a * since))
        pushed += np.where(inside, 0.5 * size * a * np.sin(a * since), 0.0)
    return angle, rate, pushed


def shaft(modes: int = 3) -> MechanismBuilder:
    """A shaft on two bearings with a disc beside its middle, its end guided."""
    area, density = 1.5e-3, SHAFT["mass_kg_m"] / 1.5e-3
    youngs = SHAFT["EA"] / area
    shear = youngs / 2.6
    half = SHAFT["length_m"] / 2.0
    made = MechanismBuilder("rotating_shaft", gravity_m_s2=(0.0, 0.0, -GRAVITY_M_S2)).angle("end")
    made.point("spoke", position_m=(0.0, 0.0, 1.0), moves="yz")
    made.rotation("end", angle="end", axis=(1, 0, 0), zero=(0, 0, 1), point="spoke", centre_m=(0, 0, 0))  # fmt: skip
    made.flexible_body(
        "shaft", points=[(0, 0, 0), "spoke"], axis=(1, 0, 0), frame=("left", "right"), interfaces=["mid"], modes=modes,
        highest_hz=300.0,
        beam={
            "line_m": [(0, 0, 0), (2.0 * half, 0, 0)], "across": (0, 0, 1), "density_kg_m3": density,
            "youngs_pa": youngs, "shear_pa": shear, "area_m2": area, "second_moment_m4": SHAFT["EI"] / youngs,
            "second_moment_2_m4": SHAFT["EI"] / youngs, "torsion_m4": SHAFT["GJ"] / shear, "elements": 12,
            "nodes": {"left": 0.0, "mid": 0.5, "right": 1.0},
        },
    )  # fmt: skip
    made.point("middle", position_m=(half, 0.0, 0.0))
    for letter, way in (("x", (1, 0, 0)), ("y", (0, 1, 0)), ("z", (0, 0, 1))):
        made.unit_vector(f"disc_{letter}", direction=way)
    made.rigid_body(
        "disc", points=["middle"], vectors=["disc_x", "disc_y", "disc_z"], mass_kg=DISC_KG,
        centre_m=(half, 0.0, ASIDE_M), inertia_kg_m2=DISC_KG_M2,
    )  # fmt: skip
    made.rigid("disc", bodies=["disc", "shaft_mid"], point_m=(half, 0.0, 0.0))
    for axis in "yz":
        made.output(f"mid/{axis}_m", f"flexible_body.shaft.mid_{axis}_m")
    return made.guide("end", coordinate="end")


def rotating_shaft(folder: Path) -> dict[str, float]:
    """Largest difference of the middle's whirl to that of linear rotor dynamics, percent of the largest."""
    body = rigloop.mechanism(shaft().save(folder), step_s=2e-4)
    t = body.step_s * np.arange(1, round(SHAFT_S / body.step_s) + 1)
    ports = [f"guide/end/{name}" for name in ("position_rad", "rate_rad_s", "acceleration_rad_s2")]
    guide = dict(zip(ports, shaft_rate(t), strict=True))
    body.reset(dict.fromkeys(ports, 0.0))
    motion = body.run(guide)
    found = np.array([motion["mid/y_m"], motion["mid/z_m"]])
    exact = whirl(t)
    return {
        "shaft_percent": 100.0 * float(np.max(np.abs(found - exact)) / np.max(np.abs(exact))),
        "shaft_largest_m": float(np.max(np.hypot(*exact))),
    }


def whirl(t: Array, elements: int = 16) -> Array:
    """Middle of the shaft by linear rotor dynamics in fixed axes, shape (2, n): finite elements of bending, the disc
    with its turn, and the twist of the half that drives it.
    """
    a = SHAFT["length_m"] / elements
    k = SHAFT["EI"] / a**3 * np.array(
        [[12, 6 * a, -12, 6 * a], [6 * a, 4 * a**2, -6 * a, 2 * a**2],
         [-12, -6 * a, 12, -6 * a], [6 * a, 2 * a**2, -6 * a, 4 * a**2]]
    )  # fmt: skip
    m = SHAFT["mass_kg_m"] * a / 420.0 * np.array(
        [[156, 22 * a, 54, -13 * a], [22 * a, 4 * a**2, 13 * a, -3 * a**2],
         [54, 13 * a, 156, -22 * a], [-13 * a, -3 * a**2, -22 * a, 4 * a**2]]
    )  # fmt: skip
    n = 2 * (elements + 1)
    stiffness, mass, weight = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    for e in range(elements):
        here = slice(2 * e, 2 * e + 4)
        stiffness[here, here] += k
        mass[here, here] += m
        weight[here] += SHAFT["mass_kg_m"] * a * np.array([0.5, a / 12.0, 0.5, -a / 12.0])
    free = [i for i in range(n) if i not in (0, n - 2)]
    squares, shapes = eigh(stiffness[np.ix_(free, free)], mass[np.ix_(free, free)])
    squares, shapes = squares[:5], shapes[:, :5]
    mid, load = shapes[free.index(elements)], shapes.T @ weight[free]
    half = SHAFT["length_m"] / 2.0
    polar = DISC_KG_M2[0] + DISC_KG * ASIDE_M**2
    twist = SHAFT["GJ"] / half

    def slopes(time: float, x: Array) -> Array:
        bent, rate = x[:10].reshape(2, 5), x[10:20].reshape(2, 5)
        turned, turning = x[20], x[21]
        given = float(shaft_rate(np.array([time]))[0][0])
        # the disc stands upwards at first and turns about x: from z towards -y
        e = np.array([-math.sin(turned), math.cos(turned)])
        side = np.array([-math.cos(turned), -math.sin(turned)])
        whole = np.zeros((11, 11))
        right = np.zeros(11)
        for axis in range(2):
            part = slice(5 * axis, 5 * axis + 5)
            whole[part, part] = np.eye(5) + DISC_KG * np.outer(mid, mid)
            whole[part, 10] = whole[10, part] = DISC_KG * ASIDE_M * side[axis] * mid
            right[part] = -squares * bent[axis] + DISC_KG * ASIDE_M * turning**2 * e[axis] * mid
        right[5:10] -= GRAVITY_M_S2 * (load + DISC_KG * mid)
        whole[10, 10] = polar
        right[10] = twist * (given - turned) - DISC_KG * GRAVITY_M_S2 * ASIDE_M * side[1]
        found = np.linalg.solve(whole, right)
        return np.concatenate([rate.ravel(), found[:10], [turning, found[10]]])

    done = solve_ivp(slopes, (0.0, t[-1]), np.zeros(22), t_eval=t, rtol=1e-8, atol=1e-10)
    return np.array([mid @ done.y[:5], mid @ done.y[5:10]])
