"""Rods on ball joints: a chain from the ground to a body with several inputs, and chains on that; ours and Exudyn's."""

from __future__ import annotations

import time
from dataclasses import dataclass
from string import Template

import numpy as np

INSTALL = "pip install exudyn"
LENGTH_M, MASS_KG, ACROSS, ALONG = 0.1, 0.1, 1e-4, 2e-5  # of a rod; inertia about its centre
HEAD = "gravity_m_s2 = [0, 0, -9.81]\n"
WAYS = ((0.0, 0.6, -0.8), (0.6, 0.0, -0.8), (0.36, 0.48, -0.8))  # of the chains below the hub
DOWN = (0.28, 0.0, -0.96)
BODY = """
[${row}unit_vector."${name}u${k}"]
direction = [1, 0, 0]
[${row}unit_vector."${name}v${k}"]
direction = [0, 1, 0]
[${row}unit_vector."${name}w${k}"]
direction = [0, 0, 1]
[${row}point."${name}p${k}"]
position_m = [${at}]
[${row}rigid_body."${name}${k}"]
points = ["${name}p${k}"]
vectors = ["${name}u${k}", "${name}v${k}", "${name}w${k}"]
mass_kg = ${mass}
centre_m = [${centre}]
inertia_kg_m2 = [${inertia}]
axes = [${axes}]
[${row}spherical."${name}j${k}"]
bodies = ["${name}${k}", "${before}"]
point_m = [${at}]
"""


@dataclass(frozen=True)
class Branches:
    """A system by its numbers of rods: between ground and hub, and on each input of the hub."""

    root: int
    inputs: tuple[int, ...]

    @property
    def bodies(self) -> int:
        return self.root + 1 + sum(self.inputs)


def text(of: Branches, written: int, *, shows: bool) -> str:
    """The mechanism file; with `shows` it has outputs that need the forces of all joints.

    Of a row of more than `written` rods only these are in the file's pose, and the rest hangs on the last of them.
    """
    end = np.array(DOWN) * LENGTH_M * min(of.root, written)
    found = [HEAD, _row("a", of.root, np.zeros(3), DOWN, "ground"), _hub(of, end)]
    for n, count in enumerate(of.inputs):
        found.append(_row(f"c{n}x", count, _arm(of, end, n), WAYS[n % 3], "hub_1"))
    if shows:
        keys = ("fx_n", "fy_n", "fz_n", "tx_nm", "ty_nm", "tz_nm")
        found.append("[outputs]\n" + "".join(f'"root/{k}" = "spherical.aj1.{k}"\n' for k in keys))
    else:
        tip = f"c0xp{of.inputs[0]}"
        found.append("[outputs]\n" + "".join(f'"tip/{x}_m" = "{tip}_{x}"\n' for x in "xyz"))
    return "".join(found)


def _arm(of: Branches, end: np.ndarray, n: int) -> np.ndarray:
    """The place of an input of the hub."""
    share = (n + 0.5) / len(of.inputs) - 0.5
    return end + np.array([0.0, LENGTH_M * share, 0.0])


def _axes(way) -> tuple[np.ndarray, np.ndarray]:
    along = np.array(way)
    first = np.cross(along, [0.0, 1.0, 0.3])
    first /= np.linalg.norm(first)
    return first, np.cross(along, first)


def _filled(row: str, name: str, k: str, before: str, at: str, centre: str, way) -> str:
    axes = ", ".join("[" + ", ".join(f"{v:.15g}" for v in axis) + "]" for axis in _axes(way))
    return Template(BODY).substitute(
        row=row, name=name, k=k, at=at, centre=centre, before=before, axes=axes,
        mass=MASS_KG, inertia=f"{ACROSS}, {ACROSS}, {ALONG}",
    )  # fmt: skip


def _row(name: str, count: int, begin: np.ndarray, way, before: str) -> str:
    def along(shift: float) -> str:
        return ", ".join(
            f'"{b:.15g} + ({d * LENGTH_M:.15g}) * (k - {shift})"' for b, d in zip(begin, way, strict=True)
        )  # fmt: skip

    # what hangs on the end of a long row is placed as on one of six
    pose = "pose_count = 6\n" if count > 6 else ""
    head = f'[repeat.{name}]\ncount = {count}\n{pose}before = {{ {name}0 = "{before}" }}\n'
    return head + _filled(
        f"repeat.{name}.", name, "{k}", name + "{k-1}", along(1.0), along(0.5), way
    )


def _hub(of: Branches, end: np.ndarray) -> str:
    at = ", ".join(f"{v:.15g}" for v in end)
    return _filled("", "hub", "_1", f"a{of.root}", at, at, (0.0, 1.0, 0.0))


def exudyn_tip(of: Branches, step_s: float, duration_s: float) -> tuple[np.ndarray, float]:
    """The place of the last joint of the first chain at the end, and the time of an implicit step in s."""
    import exudyn
    import exudyn.itemInterface as items

    container = exudyn.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(items.ObjectGround())
    origin = system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground))

    def body(centre, way) -> int:
        first, second = _axes(way)
        turn = np.column_stack([first, second, np.cross(first, second)])
        parameters = exudyn.utilities.RotationMatrix2EulerParameters(turn)
        node = system.AddNode(
            items.NodeRigidBodyEP(
                referenceCoordinates=[*centre, *parameters], initialVelocities=[0.0] * 7
            )
        )
        made = system.AddObject(
            items.ObjectRigidBody(
                physicsMass=MASS_KG,
                physicsInertia=[ACROSS, ACROSS, ALONG, 0, 0, 0],
                nodeNumber=node,
            )
        )
        mass = system.AddMarker(items.MarkerBodyMass(bodyNumber=made))
        system.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=[0, 0, -9.81]))
        return made

    def marker(number: int, centre, way, at) -> int:
        first, second = _axes(way)
        turn = np.column_stack([first, second, np.cross(first, second)])
        local = turn.T @ (np.asarray(at) - np.asarray(centre))
        return system.AddMarker(items.MarkerBodyRigid(bodyNumber=number, localPosition=local))

    def join(a: int, b: int) -> None:
        system.AddObject(items.SphericalJoint(markerNumbers=[a, b]))

    def chain(count, begin, way, outer) -> tuple[int, tuple]:
        way = np.array(way)
        for k in range(count):
            at, centre = begin + way * LENGTH_M * k, begin + way * LENGTH_M * (k + 0.5)
            made = body(centre, way)
            join(marker(made, centre, way, at), outer)
            outer = marker(made, centre, way, at + way * LENGTH_M)
        return made, (centre, way, at)

    import exudyn.utilities

    root, (centre, way, _) = chain(of.root, np.zeros(3), DOWN, origin)
    end = np.array(DOWN) * LENGTH_M * of.root
    across = (0.0, 1.0, 0.0)
    hub = body(end, across)
    join(marker(hub, end, across, end), marker(root, centre, way, end))
    tips = [
        chain(count, _arm(of, end, n), WAYS[n % 3], marker(hub, end, across, _arm(of, end, n)))
        for n, count in enumerate(of.inputs)
    ]
    last, (centre, way, at) = tips[0]
    first, second = _axes(way)
    turn = np.column_stack([first, second, np.cross(first, second)])
    sensor = system.AddSensor(
        items.SensorBody(
            bodyNumber=last, localPosition=turn.T @ (at - centre), storeInternal=True,
            outputVariableType=exudyn.OutputVariableType.Position, writeToFile=False,
        )
    )  # fmt: skip
    system.Assemble()
    settings = exudyn.SimulationSettings()
    integration = settings.timeIntegration
    integration.numberOfSteps, integration.endTime = round(duration_s / step_s), duration_s
    integration.verboseMode = 0
    integration.adaptiveStep = False
    integration.generalizedAlpha.spectralRadius = 0.9
    integration.newton.useModifiedNewton = True
    integration.newton.relativeTolerance = 1e-6
    settings.displayStatistics = settings.displayComputationTime = False
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = duration_s
    settings.linearSolverType = exudyn.LinearSolverType.EigenSparse
    settings.parallel.numberOfThreads = 1
    begin = time.perf_counter()
    system.SolveDynamic(settings)
    spent_s = time.perf_counter() - begin
    place = np.array(system.GetSensorValues(sensor))
    return place, spent_s / integration.numberOfSteps
