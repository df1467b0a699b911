"""A vehicle's body as a frame that bends in its plane, with unknown forces on both axles and on the roof.

The line runs from the tail over the rear axle, the sill, the front axle and the nose back along hood, roof and hatch.
Both axles are mounted 0.35 m above the sill, so that forces along the road bend it and do not only stretch it. Its mass
(1002 kg), inertia (1260 kg m2) and first frequencies (3.41, 4.66, 5.78 Hz) are near the published ones: 1000 kg, 1261
kg m2, and 3.42, 4.66, 5.75 Hz of a finite-element model that was not printed.
"""

from __future__ import annotations

import numpy as np

from codegen.description.builder import MechanismBuilder

LINE_M = (
    (-1.9, 0.45, 0.0), (-1.3, 0.35, 0.0), (-0.9, 0.0, 0.0), (0.8, 0.0, 0.0), (1.2, 0.35, 0.0), (1.9, 0.3, 0.0),
    (0.8, 0.8, 0.0), (0.3, 1.15, 0.0), (-0.9, 1.1, 0.0),
)  # fmt: skip
NODES = ("tail", "rear", "sill", "toe", "front", "nose", "pillar", "roof", "hatch")
SECOND_MOMENTS_M4 = (1.796e-6, 1.043e-7, 2.387e-5, 1.404e-5, 2.557e-6, 3.04e-6, 2.901e-6, 2.435e-8)
MASSES_KG = (91.02, 28.24, 311.75, 45.08, 31.45, 32.0, 25.03, 221.55, 3.46)
REAR, FRONT, ROOF = LINE_M[1], LINE_M[4], LINE_M[7]
MASS_KG, INERTIA_KG_M2, CENTRE_M = 1002.37, 1259.73, (-0.2242, 0.4470, 0.0)
FORCES = tuple(
    f"wrench/{at}/force_{axis}_n" for at in ("front", "rear", "roof") for axis in ("x", "y")
)
# where all six together leave the least doubt about the worst of them
GAUGES_AT = (0.15, 0.35, 0.37, 0.39, 0.41, 0.43, 0.49, 0.57, 0.85, 0.91)
GAUGES = {f"g{n}": at for n, at in enumerate(GAUGES_AT, 1)}


def frame(name: str) -> MechanismBuilder:
    """The motion of the body in its plane: a point, a direction, and its angle."""
    made = MechanismBuilder(name, gravity_m_s2=(0.0, -9.81, 0.0))
    made.angle("turn").point("O", position_m=CENTRE_M, moves="xy")
    made.unit_vector("e", direction=(1, 0, 0))
    return made.rotation("turn", angle="turn", axis=(0, 0, 1), zero=(1, 0, 0), vector="e")


def pushed(made: MechanismBuilder, bodies: dict[str, str]) -> MechanismBuilder:
    """Forces as inputs, along the global axes, on both axles and on the roof."""
    for name, place in (("front", FRONT), ("rear", REAR), ("roof", ROOF)):
        force = [{"input": 0.0}, {"input": 0.0}, 0.0]
        made.wrench(name, body=bodies[name], point_m=place, force_n=force)
    return made


def vehicle(*, is_reference: bool) -> MechanismBuilder:
    """The body that bends: 64 free-free modes as reference, or three with nine residual attachment modes."""
    pieces = np.linalg.norm(np.diff(np.array(LINE_M), axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(pieces)]) / pieces.sum()
    nodes = dict(zip(NODES, at, strict=True))
    reduction = {"modes": 64} if is_reference else {"modes": 3, "interfaces": ["front", "rear", "roof"]}  # fmt: skip
    made = frame("vehicle_64" if is_reference else "vehicle_12")
    made.flexible_body(
        "body",
        points=["O"],
        vectors=["e"],
        axis=(0, 0, 1),
        frame="mean",
        reduction="free_free",
        damping_ratio=0.02,
        stiffening=False,
        **reduction,
        beam={
            "line_m": LINE_M,
            "density_kg_m3": 15000.0,  # a smeared one: 30 kg/m
            "youngs_pa": 2.1e11,
            "area_m2": 2e-3,
            "second_moment_m4": SECOND_MOMENTS_M4,
            "elements": 24,
            "nodes": {name: float(min(x, 1.0)) for name, x in nodes.items()},
            "masses": {
                name: {"mass_kg": m} for name, m in zip(nodes, MASSES_KG, strict=True)
            },
            "gauges": {name: {"at": x, "offset_m": (0.0, 0.05, 0.0)} for name, x in GAUGES.items()},
        },
    )  # fmt: skip
    for name in GAUGES:
        made.output(f"strain/{name}", f"flexible_body.body.strain_{name}")
    for name in ("front", "rear"):
        made.output(f"{name}/y_m", f"flexible_body.body.{name}_y_m")
        made.output(f"{name}/vy_m_s", f"flexible_body.body.{name}_vy_m_s")
    return pushed(made, {name: f"body_{name}" for name in ("front", "rear", "roof")})


def rigid() -> MechanismBuilder:
    """The same body without bending."""
    made = frame("vehicle_rigid")
    made.rigid_body(
        "body", points=["O"], vectors=["e"], axis=(0, 0, 1), mass_kg=MASS_KG, centre_m=CENTRE_M,
        inertia_kg_m2=INERTIA_KG_M2,
    )  # fmt: skip
    made.body_point("seat", body="body", position_m=CENTRE_M)
    return pushed(made, dict.fromkeys(("front", "rear", "roof"), "body"))
