"""The published four-bar mechanism with one crooked pin, whose bars must bend and twist to turn; beside Exudyn.

Bauchau and others 2016, second case: bars of steel of 0.12, 0.24 and 0.12 m, 16 mm square and the last 8 mm, on pins
across their plane, but the one between the second and the third bar is 5 degrees off. The crank turns slowly, so
that the peer needs equilibria alone: geometrically exact beams, as those of the eight codes.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rigloop
from codegen.description.builder import MechanismBuilder

Array = NDArray[np.float64]

PLACES: dict[str, tuple[float, float, float]] = {
    "a": (0.0, 0.0, 0.0), "b": (0.0, 0.12, 0.0), "c": (0.24, 0.12, 0.0), "d": (0.24, 0.0, 0.0),
}  # fmt: skip
BARS = {"first": ("a", "b", 16e-3), "second": ("b", "c", 16e-3), "third": ("d", "c", 8e-3)}
YOUNGS_PA, SHEAR_PA, DENSITY_KG_M3 = 207e9, 207e9 / 2.6, 7800.0
# per side^2 and side^4, as printed: 16.88 MN and 733.5 N m2 of the thick bars
SHEAR_SHARE, TORSION_SHARE = 0.828, 0.1406
CROOKED = math.radians(5.0)
UPRIGHT, OFF = (0.0, 0.0, 1.0), (math.sin(CROOKED), 0.0, math.cos(CROOKED))
PINS = (("a", UPRIGHT), ("b", UPRIGHT), ("c", OFF), ("d", UPRIGHT))
TURN_RAD, TURN_S = math.radians(-60.0), 4.0
COMPARED = tuple(np.radians([-15.0, -30.0, -45.0, -60.0]))


def four_bar() -> MechanismBuilder:
    """The mechanism with a body for each bar, its crank guided."""
    made = MechanismBuilder("crooked_four_bar", gravity_m_s2=(0.0, 0.0, 0.0)).angle("crank")
    for name, (first, last, side) in BARS.items():
        made.point(f"{name}_end", position_m=PLACES[first])
        for letter, way in (("x", (1, 0, 0)), ("y", (0, 1, 0)), ("z", (0, 0, 1))):
            made.unit_vector(f"{name}_e{letter}", direction=way)
        made.flexible_body(
            name, points=[f"{name}_end"], vectors=[f"{name}_ex", f"{name}_ey", f"{name}_ez"], frame="near",
            interfaces=["far"], modes=1, damping_ratio=0.05,
            beam={
                "line_m": [PLACES[first], PLACES[last]], "across": UPRIGHT, "density_kg_m3": DENSITY_KG_M3,
                "youngs_pa": YOUNGS_PA, "shear_pa": SHEAR_PA, "area_m2": side**2, "second_moment_m4": side**4 / 12.0,
                "second_moment_2_m4": side**4 / 12.0, "torsion_m4": TORSION_SHARE * side**4,
                "shear_area_m2": SHEAR_SHARE * side**2, "elements": 6, "nodes": {"near": 0.0, "far": 1.0},
            },
        )  # fmt: skip
    made.revolute("a", bodies=["first", "ground"], point_m=PLACES["a"], axis=UPRIGHT, angle="crank")
    made.revolute("b", bodies=["second", "first_far"], point_m=PLACES["b"], axis=UPRIGHT)
    made.revolute("c", bodies=["third_far", "second_far"], point_m=PLACES["c"], axis=OFF)
    made.revolute("d", bodies=["third", "ground"], point_m=PLACES["d"], axis=UPRIGHT)
    for axis in "xyz":
        made.output(f"c/{axis}_m", f"flexible_body.second.far_{axis}_m")
    return made.guide("crank", coordinate="crank")


def ours(folder: Path) -> Array:
    """Return the places of the end of the second bar at the angles that are compared, shape (n, 3)."""
    body = rigloop.mechanism(four_bar().save(folder), step_s=1e-3)
    t = 1e-3 * np.arange(1, round(TURN_S * 1e3) + 1)
    a = np.pi / TURN_S
    ports = [f"guide/crank/{name}" for name in ("position_rad", "rate_rad_s", "acceleration_rad_s2")]  # fmt: skip
    turned = TURN_RAD * (0.5 - 0.5 * np.cos(a * t))
    rates = (0.5 * TURN_RAD * a * np.sin(a * t), 0.5 * TURN_RAD * a**2 * np.cos(a * t))
    body.reset(dict.fromkeys(ports, 0.0))
    motion = body.run(dict(zip(ports, (turned, *rates), strict=True)))
    shown = np.array([motion[f"c/{axis}_m"] for axis in "xyz"])
    order = np.argsort(turned)
    return np.array([[np.interp(at, turned[order], s[order]) for s in shown] for at in COMPARED])


def peer(elements: int = 8) -> Array:
    """The same by Exudyn's geometrically exact beams, in equilibrium at each angle."""
    import exudyn as exu
    from exudyn.itemInterface import (
        GenericJoint,
        MarkerBodyRigid,
        MarkerNodeRigid,
        NodeRigidBodyEP,
        ObjectBeamGeometricallyExact,
        ObjectGround,
    )
    from exudyn.rigidBodyUtilities import RotationMatrix2EulerParameters, RotationMatrixZ

    made = exu.SystemContainer().AddSystem()
    ends: dict[tuple[str, str], tuple[int, Array]] = {}
    for name, (first, last, side) in BARS.items():
        begin, end = np.array(PLACES[first]), np.array(PLACES[last])
        length = float(np.linalg.norm(end - begin))
        along = (end - begin) / length
        turn = np.array([along, np.cross(UPRIGHT, along), UPRIGHT]).T
        section = _section(exu, side)
        nodes = []
        for k in range(elements + 1):
            place = begin + (end - begin) * k / elements
            given = [*place, *RotationMatrix2EulerParameters(turn)]
            nodes.append(made.AddNode(NodeRigidBodyEP(referenceCoordinates=given)))
            if k:
                made.AddObject(
                    ObjectBeamGeometricallyExact(
                        nodeNumbers=nodes[-2:], physicsLength=length / elements, sectionData=section
                    )
                )
        ends[name, first] = made.AddMarker(MarkerNodeRigid(nodeNumber=nodes[0])), turn
        ends[name, last] = made.AddMarker(MarkerNodeRigid(nodeNumber=nodes[-1])), turn
        if name == "second":
            shown = nodes[-1]
    earth = made.AddObject(ObjectGround())
    ground = {
        at: (made.AddMarker(MarkerBodyRigid(bodyNumber=earth, localPosition=list(PLACES[at]))), np.eye(3))
        for at in "ad"
    }  # fmt: skip
    pairs = {
        "a": (ground["a"], ends["first", "a"]), "b": (ends["first", "b"], ends["second", "b"]),
        "c": (ends["second", "c"], ends["third", "c"]), "d": (ground["d"], ends["third", "d"]),
    }  # fmt: skip
    joints = {}
    for at, axis in PINS:
        side = np.cross(axis, (1.0, 0.0, 0.0))
        side /= np.linalg.norm(side)
        frame = np.array([np.cross(side, axis), side, axis]).T
        (one, one_turn), (other, other_turn) = pairs[at]
        joints[at] = made.AddObject(
            GenericJoint(
                markerNumbers=[one, other], constrainedAxes=[1, 1, 1, 1, 1, int(at == "a")],
                rotationMarker0=one_turn.T @ frame, rotationMarker1=other_turn.T @ frame,
            )
        )  # fmt: skip
    made.Assemble()
    settings = exu.SimulationSettings()
    settings.solutionSettings.writeSolutionToFile = False
    settings.staticSolver.verboseMode = 0
    settings.staticSolver.numberOfLoadSteps = 1
    settings.staticSolver.newton.relativeTolerance = 1e-9
    found = []
    angles = np.linspace(0.0, TURN_RAD, 61)[1:]
    for angle in angles:
        held = RotationMatrixZ(float(angle))
        made.SetObjectParameter(joints["a"], "rotationMarker0", held)
        made.SolveStatic(settings, updateInitialValues=True)
        if np.min(np.abs(np.array(COMPARED) - angle)) < 1e-9:
            found.append(made.GetNodeOutput(shown, exu.OutputVariableType.Position))
    return np.array(found)


def _section(exu: Any, side: float) -> Any:
    area, second = side**2, side**4 / 12.0
    made = exu.BeamSection()
    shear = SHEAR_PA * SHEAR_SHARE * area
    bend = YOUNGS_PA * second
    twist = SHEAR_PA * TORSION_SHARE * side**4
    made.stiffnessMatrix = np.diag([YOUNGS_PA * area, shear, shear, twist, bend, bend])
    made.inertia = DENSITY_KG_M3 * second * np.diag([2.0, 1.0, 1.0])
    made.massPerLength = DENSITY_KG_M3 * area
    return made


def difference_percent(folder: Path) -> dict[str, float]:
    """Return the distance of the end of the second bar from the peer's, percent of its largest way out of the plane
    across that, and m in it.

    In the plane, bars whose ends are bent aside by w are too long by w^2 / 2 L or so, for nodes are linear in
    amplitudes; the mechanism, which is near its stretched pose, makes the triple of that.
    """
    here, there = ours(folder), peer()
    aside = float(np.max(np.abs(there[:, 2])))
    gap = np.max(np.abs(here - there), axis=0)
    return {
        "four_bar_percent": 100.0 * float(gap[2]) / aside,
        "four_bar_aside_m": aside,
        "four_bar_in_plane_m": float(np.max(gap[:2])),
    }
