"""The driveline with a shaft that bends and twists: the plant that the filter, whose shaft has no mass, is tried on.

A thin steel tube between two cardan joints in Z arrangement, by Craig and Bampton, 1 % damping of each mode; it carries
a yoke at each end. Motor and currents are those of `DrivelineModel`, and exchange torque and rate with the mechanism at
each of its steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.description.builder import MechanismBuilder
from estimators.augmented.driveline_model import DrivelineModel
from rigloop.api.mechanism import mechanism

Array = NDArray[np.float64]

LENGTH_M, OUTER_M, WALL_M = 0.486, 0.0435, 0.28e-3  # across
SHEAR_PA, YOUNGS_PA, DENSITY_KG_M3 = 8e10, 2.1e11, 7850.0
YOKE_KG, YOKE_KG_M2 = 0.15, 6e-5
DAMPING_RATIO = 0.01


def stiffness_nm_rad() -> float:
    """Return the torque of a twist of 1 rad of the tube that rests."""
    outer, inner = OUTER_M, OUTER_M - 2.0 * WALL_M
    return SHEAR_PA * math.pi / 32.0 * (outer**4 - inner**4) / LENGTH_M


def driveline(motor: dict[str, Any]) -> MechanismBuilder:
    """Both shafts lie along x; the pins of motor and load begin along z, as those of the lumped model."""
    bend = motor["bend_rad"]
    along, pin = np.array([math.cos(bend), math.sin(bend), 0.0]), (math.sin(bend), -math.cos(bend), 0.0)  # fmt: skip
    made = MechanismBuilder("flexible_driveline", gravity_m_s2=(0.0, 0.0, 0.0))
    for end, vector in (("motor", "v1"), ("load", "v3")):
        made.angle(end).unit_vector(vector, direction=(0.0, 0.0, 1.0))
        made.perpendicular(f"{end}_pin", vectors=(vector, (1.0, 0.0, 0.0)))
        made.rotation(end, angle=end, axis=(1.0, 0.0, 0.0), zero=(0.0, 0.0, 1.0), vector=vector)
        made.inertia(end, angle=end, inertia_kg_m2=motor[f"{end}_kg_m2"])
        made.force(end, angle=end, torque_nm={"input": 0.0})
        made.output(f"{end}/angle_rad", end).output(f"{end}/rate_rad_s", f"{end}.rate")
        made.output(f"{end}/acceleration_rad_s2", f"{end}.acceleration")
    made.unit_vector("v2", direction=pin)
    made.perpendicular("carried", vectors=("v2", tuple(along)))
    yoke = {"mass_kg": YOKE_KG, "inertia_kg_m2": (YOKE_KG_M2,) * 3}
    made.flexible_body(
        "shaft", points=[(0.0, 0.0, 0.0)], vectors=["v2"], axis=tuple(along), frame=("a", "b"), interfaces=["b"],
        modes=5, damping_ratio=DAMPING_RATIO,
        beam={
            "line_m": [(0.0, 0.0, 0.0), tuple(LENGTH_M * along)], "across": pin, "density_kg_m3": DENSITY_KG_M3,
            "youngs_pa": YOUNGS_PA, "shear_pa": SHEAR_PA, "diameter_m": OUTER_M, "bore_m": OUTER_M - 2.0 * WALL_M,
            "elements": 12, "nodes": {"a": 0.0, "b": 1.0}, "masses": {"a": yoke, "b": yoke},
        },
    )  # fmt: skip
    made.perpendicular("first", vectors=("v1", "v2"))
    return made.perpendicular("second", vectors=("shaft_b_y", "v3"))


def move(
    folder: Path,
    motor: dict[str, Any],
    load: Callable[[float], float],
    supply_v: Array,
    period_s: float,
    count: int,
    substeps: int,
) -> Array:
    """Move the plant from rest; returns what the sensors read at the begin of each period, shape (count, 6)."""
    h = period_s / substeps
    body = mechanism(driveline(motor).save(folder), step_s=h)
    electric = DrivelineModel(**motor)
    pairs, mutual = motor["pole_pairs"], motor["mutual_h"]
    x, samples = np.zeros(9), np.empty((count, 6))
    shown: dict[str, float] = dict.fromkeys(
        f"{end}/{value}"
        for end in ("motor", "load")
        for value in ("angle_rad", "rate_rad_s", "acceleration_rad_s2")
    )  # type: ignore[assignment]
    shown = dict.fromkeys(shown, 0.0)
    for k in range(count):
        samples[k] = (
            x[0], x[1], shown["motor/angle_rad"], shown["motor/rate_rad_s"], shown["motor/acceleration_rad_s2"],
            shown["load/acceleration_rad_s2"],
        )  # fmt: skip
        for part in range(substeps):
            # currents by Runge's second-order rule at the rate that the motor has
            x[5] = shown["motor/rate_rad_s"]
            middle = x.copy()
            middle[:4] += 0.5 * h * electric.derivative(x, supply_v)[:4]
            x[:4] += h * electric.derivative(middle, supply_v)[:4]
            torque = pairs * mutual * (middle[0] * middle[3] - middle[1] * middle[2])
            shown = body.step(
                {
                    "input/force/motor/torque_nm": torque,
                    "input/force/load/torque_nm": -load(k * period_s + (part + 0.5) * h),
                }
            )
    return samples
