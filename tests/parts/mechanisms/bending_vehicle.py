"""A vehicle's body as a frame that bends in its plane, with unknown forces on both axles and on the roof.

Its mass (1012 kg), inertia (1252 kg m2) and first frequencies (3.34, 4.65, 5.89 Hz) are near the published ones: 1000
kg, 1261 kg m2, and 3.42, 4.66, 5.75 Hz of a finite-element model that was not printed.
"""

from __future__ import annotations

import numpy as np

from codegen.description.builder import MechanismBuilder

LINE_M = (
    (-1.9, 0.35, 0.0), (-0.7, 0.0, 0.0), (0.9, 0.0, 0.0), (1.9, 0.3, 0.0), (0.9, 0.75, 0.0), (0.3, 1.15, 0.0),
    (-0.9, 1.1, 0.0),
)  # fmt: skip
SECOND_MOMENTS_M4 = (8.118e-8, 6.899e-6, 2.707e-6, 4.089e-6, 2.956e-6, 3.181e-8)
MASSES_KG = (30.15, 257.26, 81.84, 131.42, 107.88, 187.18, 8.84)
REAR, FRONT, ROOF = LINE_M[1], LINE_M[2], LINE_M[5]
CENTRE_M = (0.2761, 0.4402, 0.0)
FORCES = tuple(
    f"wrench/{at}/force_{axis}_n" for at in ("front", "rear", "roof") for axis in ("x", "y")
)
GAUGES_AT = (0.15, 0.24, 0.3, 0.36, 0.45, 0.53, 0.6, 0.68, 0.75, 0.85)
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
    nodes = dict(zip(("tail", "rear", "front", "nose", "pillar", "roof", "hatch"), at, strict=True))
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
        "body", points=["O"], vectors=["e"], axis=(0, 0, 1), mass_kg=1012.0, centre_m=CENTRE_M, inertia_kg_m2=1251.5
    )  # fmt: skip
    made.body_point("seat", body="body", position_m=CENTRE_M)
    return pushed(made, dict.fromkeys(("front", "rear", "roof"), "body"))
