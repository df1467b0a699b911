"""The driveline as a flexible multibody system: the plant of `rigloop bench driveline`.

A thin steel tube lies between two cardan joints in Z arrangement and carries a yoke at each end. Its modes are those of
Craig and Bampton, with 1 % damping each: beside the static shapes of both ends, those of the tube between fixed ends,
four of bending and one of torsion. The motor's currents are those of `DrivelineModel`; they and the mechanism
exchange torque and rate once a step, as the published plant does.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.description.builder import MechanismBuilder
from estimators.augmented.driveline_model import DrivelineModel
from rigloop.api.mechanism import mechanism

Array = NDArray[np.float64]

LENGTH_M, OUTER_M, WALL_M = 0.486, 0.0435, 0.28e-3
YOUNGS_PA, SHEAR_PA, DENSITY_KG_M3 = 2.1e11, 8e10, 7850.0
YOKE_KG, YOKE_KG_M2 = 0.15, 6e-5
FIXED_MODES, DAMPING_RATIO = 5, 0.01
ENDS = ("motor", "load")


def stiffness_nm_rad() -> float:
    """Return the torque by which the tube twists one radian."""
    inner = OUTER_M - 2.0 * WALL_M
    return SHEAR_PA * math.pi / 32.0 * (OUTER_M**4 - inner**4) / LENGTH_M


def driveline(motor: dict[str, Any]) -> MechanismBuilder:
    """Describe motor and load, each with the pin of its fork, and the tube along x between them.

    Parameters
    ----------
    motor : dict
        Keys of `DrivelineModel`: inertias and the bend of each joint are taken.
    """
    bend = motor["bend_rad"]
    axis = (math.cos(bend), -math.sin(bend), 0.0)
    made = MechanismBuilder("flexible_driveline", gravity_m_s2=(0.0, 0.0, 0.0))
    for end in ENDS:
        made.angle(end).unit_vector(f"{end}_pin", direction=(0.0, 0.0, 1.0))
        made.perpendicular(f"{end}_shaft", vectors=(f"{end}_pin", axis))
        made.rotation(end, angle=end, axis=axis, zero=(0.0, 0.0, 1.0), vector=f"{end}_pin")
        made.inertia(end, angle=end, inertia_kg_m2=motor[f"{end}_kg_m2"])
        made.force(end, angle=end, torque_nm={"input": 0.0})
        made.output(f"{end}/angle_rad", end).output(f"{end}/rate_rad_s", f"{end}.rate")
        made.output(f"{end}/acceleration_rad_s2", f"{end}.acceleration")
    made.unit_vector("tube_way", direction=(0.0, 1.0, 0.0))
    made.perpendicular("tube_way", vectors=("tube_way", (1.0, 0.0, 0.0)))
    yoke = {"mass_kg": YOKE_KG, "inertia_kg_m2": (YOKE_KG_M2,) * 3}
    made.flexible_body(
        "tube", points=[(0.0, 0.0, 0.0)], vectors=["tube_way"], axis=(1.0, 0.0, 0.0), frame=("motor", "load"),
        interfaces=["motor", "load"], modes=FIXED_MODES, damping_ratio=DAMPING_RATIO,
        beam={
            "line_m": [(0.0, 0.0, 0.0), (LENGTH_M, 0.0, 0.0)], "across": (0.0, 1.0, 0.0),
            "density_kg_m3": DENSITY_KG_M3, "youngs_pa": YOUNGS_PA, "shear_pa": SHEAR_PA,
            "diameter_m": OUTER_M, "bore_m": OUTER_M - 2.0 * WALL_M, "elements": 12,
            "nodes": {"motor": 0.0, "load": 1.0}, "masses": dict.fromkeys(ENDS, yoke),
        },
    )  # fmt: skip
    for end in ENDS:
        made.perpendicular(f"{end}_cross", vectors=(f"{end}_pin", f"tube_{end}_y"))
    return made


def move(
    motor: dict[str, Any],
    load: Callable[[float], float],
    supply_v: Array,
    period_s: float,
    count: int,
    substeps: int,
) -> Array:
    """Move the plant from rest, and read its sensors at the begin of each period.

    Parameters
    ----------
    motor : dict
        Keys of `DrivelineModel`.
    load : callable
        Torque of the load at a time, N m.
    supply_v : ndarray, shape (2,)
    period_s : float
    count, substeps : int
        Periods, and steps of the plant in each.

    Returns
    -------
    ndarray, shape (count, 6)
        Both stator currents, angle, rate and acceleration of the motor, acceleration of the load.
    """
    h = period_s / substeps
    with tempfile.TemporaryDirectory() as folder:
        body = mechanism(driveline(motor).save(Path(folder)), step_s=h)
    electric = DrivelineModel(**motor)
    gain = motor["pole_pairs"] * motor["mutual_h"]
    x, samples = np.zeros(9), np.empty((count, 6))
    out = dict.fromkeys(body.outputs, 0.0)
    for k in range(count):
        samples[k] = (
            x[0], x[1], out["motor/angle_rad"], out["motor/rate_rad_s"], out["motor/acceleration_rad_s2"],
            out["load/acceleration_rad_s2"],
        )  # fmt: skip
        for part in range(substeps):
            # currents by Runge's rule at the rate that the motor has; their torque in the middle turns it
            x[5] = out["motor/rate_rad_s"]
            middle = x + 0.5 * h * electric.derivative(x, supply_v)
            x[:4] += h * electric.derivative(middle, supply_v)[:4]
            out = body.step(
                {
                    "input/force/motor/torque_nm": gain
                    * (middle[0] * middle[3] - middle[1] * middle[2]),
                    "input/force/load/torque_nm": -load(k * period_s + (part + 0.5) * h),
                }
            )
    return samples
