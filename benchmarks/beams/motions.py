"""A beam that is spun up and the rod of a slider-crank, beside their exact solutions."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np

import rigloop
from codegen.description.builder import MechanismBuilder

REFERENCES = Path(__file__).parents[2] / "tests" / "data" / "references"
BEAM: dict[str, Any] = {
    "line_m": [(0, 0, 0), (10, 0, 0)], "density_kg_m3": 3000.0, "youngs_pa": 7e10, "area_m2": 4e-4,
    "second_moment_m4": 2e-7, "nodes": {"root": 0.0, "tip": 1.0},
}  # fmt: skip
SPIN_RAD_S, SPUN_UP_S = 6.0, 15.0


def reference(name: str) -> dict[str, Any]:
    """Columns of an exact solution."""
    with (REFERENCES / f"{name}.csv").open() as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


def hub(name: str, **keys: Any) -> MechanismBuilder:
    """A beam of 10 m in a plane on a hub that is guided."""
    made = MechanismBuilder(name).angle("turn").point("P", position_m=(1, 0, 0), moves="xy")
    made.rotation("turn", angle="turn", axis=(0, 0, 1), zero=(1, 0, 0), point="P", centre_m=(0, 0, 0))  # fmt: skip
    made.flexible_body("beam", points=[(0, 0, 0), "P"], axis=(0, 0, 1), frame="root", beam=BEAM, **keys)  # fmt: skip
    for k, letter in ((1, "u"), (2, "w")):
        made.output(f"tip/{letter}_m", f"flexible_body.beam.tip_bent{k}_m")
    return made.guide("hub", coordinate="turn")


def profile(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angle, rate and acceleration of the hub."""
    a, w = 2.0 * math.pi / SPUN_UP_S, SPIN_RAD_S / SPUN_UP_S
    rising = t <= SPUN_UP_S
    risen = w * (t * t / 2.0 - (1.0 - np.cos(a * t)) / a**2)
    turned = np.where(rising, risen, SPIN_RAD_S * (t - SPUN_UP_S / 2.0))
    rate = np.where(rising, w * (t - np.sin(a * t) / a), SPIN_RAD_S)
    return turned, rate, np.where(rising, w * (1.0 - np.cos(a * t)), 0.0)


def spun_up(folder: Path) -> float:
    """Largest error of the tip of the beam that is spun up to 6 rad/s, m."""
    body = rigloop.mechanism(hub("spin_up", modes=5).save(folder), step_s=1e-3)
    exact = reference("spin_up_fast")
    t = 1e-3 * np.arange(1, round(exact["t"][-1] * 1e3) + 1)
    return _worst(body, "hub", profile(t), t, exact, ("tip/w_m", "w_tip"))


def stretched(folder: Path) -> float:
    """Return the distance of the stretch of that beam by its spin from the closed form, percent.

    Five modes of bending have none, so here are static shapes of its tip beside them, of which one stretches the beam.
    The square of the spin shortens it by its bending too, which has ended by then, but for what still swings.
    """
    path = hub("stretched_beam", modes=9, interfaces=["tip"], damping_ratio=0.05).save(folder)
    body = rigloop.mechanism(path, step_s=1e-3)
    t = 1e-3 * np.arange(1, 30001)
    guide = profile(t)
    ports = [f"guide/hub/{name}" for name in ("position_rad", "rate_rad_s", "acceleration_rad_s2")]
    body.reset(dict.fromkeys(ports, 0.0))
    found = body.run(dict(zip(ports, guide, strict=True)))["tip/u_m"][25000:]
    mass = BEAM["density_kg_m3"] * BEAM["area_m2"]
    exact = mass * SPIN_RAD_S**2 * 1000.0 / (3.0 * BEAM["youngs_pa"] * BEAM["area_m2"])
    return 100.0 * abs(float(np.mean(found)) / exact - 1.0)


def cranked(folder: Path) -> float:
    """Largest error of the middle of the crank's rod, m."""
    made = MechanismBuilder("flexible_crank").angle("theta", initial_rate_rad_s=150.0)
    made.point("A", position_m=(0.15, 0, 0), moves="xy").point("B", position_m=(0.45, 0, 0), moves="x")  # fmt: skip
    made.rigid_body(
        "crank", points=[(0, 0, 0), "A"], axis=(0, 0, 1), angle="theta", mass_kg=0.36, centre_m=(0, 0, 0),
        inertia_kg_m2=0.002727,
    )  # fmt: skip
    made.mass("slider", point="B", mass_kg=0.075552)
    made.flexible_body(
        "rod", points=["A", "B"], axis=(0, 0, 1), frame=("a", "b"), modes=3, stiffening=False,
        beam={"line_m": [(0.15, 0, 0), (0.45, 0, 0)], "density_kg_m3": 7870.0, "youngs_pa": 2e11, "area_m2": 6.4e-5,
              "second_moment_m4": 3.413333333333334e-10, "nodes": {"a": 0.0, "mid": 0.5, "b": 1.0}},
    )  # fmt: skip
    made.output("rod/w_mid_m", "flexible_body.rod.mid_bent2_m").guide("drive", coordinate="theta")
    body = rigloop.mechanism(made.save(folder), step_s=5e-5)
    exact = reference("flexible_crank_guided")
    t = 5e-5 * np.arange(1, round(exact["t"][-1] / 5e-5) + 1)
    guide = (150.0 * t, np.full(len(t), 150.0), np.zeros(len(t)))
    return _worst(body, "drive", guide, t, exact, ("rod/w_mid_m", "w_mid"))


def _worst(body: Any, of: str, guide: Any, t: Any, exact: Any, shown: tuple[str, str]) -> float:
    names = ("position_rad", "rate_rad_s", "acceleration_rad_s2")
    ports = {f"guide/{of}/{name}": values for name, values in zip(names, guide, strict=True)}
    rate = guide[1][0] if of == "drive" else 0.0
    body.reset(dict(zip(ports, (0.0, rate, 0.0), strict=True)))
    found = body.run(ports)[shown[0]]
    at = np.round(exact["t"][1:] / (t[1] - t[0])).astype(int) - 1
    return float(np.max(np.abs(found[at] - exact[shown[1]][1:])))
