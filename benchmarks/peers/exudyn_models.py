"""Exudyn: redundant coordinates, implicit generalised-alpha with index-2 constraints."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from peers.exact import at_reference, chain_angle, largest_gap, reference
from peers.row import Row

INSTALL = "pip install exudyn"


class Plane:
    """A planar mechanism in Exudyn, built body by body."""

    def __init__(self) -> None:
        import exudyn
        import exudyn.itemInterface as items

        self.exudyn, self.items = exudyn, items
        container = exudyn.SystemContainer()
        self.container, self.system = container, container.AddSystem()
        self.ground = self.system.AddObject(items.ObjectGround())

    def body(self, mass, inertia, pose, rate) -> int:
        """A rigid body: pose and rate are x, y, angle of its centre."""
        node = self.system.AddNode(
            self.items.NodeRigidBody2D(
                referenceCoordinates=list(pose), initialVelocities=list(rate)
            )
        )
        made = self.system.AddObject(
            self.items.ObjectRigidBody2D(physicsMass=mass, physicsInertia=inertia, nodeNumber=node)
        )
        marker = self.system.AddMarker(self.items.MarkerBodyMass(bodyNumber=made))
        self.system.AddLoad(
            self.items.LoadMassProportional(markerNumber=marker, loadVector=[0, -9.81, 0])
        )
        return made

    def marker(self, body: int, at) -> int:
        return self.system.AddMarker(
            self.items.MarkerBodyRigid(bodyNumber=body, localPosition=[*at, 0])
        )

    def pin(self, a: int, at_a, b: int, at_b) -> None:
        self.system.AddObject(
            self.items.ObjectJointRevolute2D(
                markerNumbers=[self.marker(a, at_a), self.marker(b, at_b)]
            )
        )

    def slide(self, body: int) -> None:
        """On the ground's x axis, without turning."""
        self.system.AddObject(
            self.items.ObjectJointPrismatic2D(
                markerNumbers=[self.marker(self.ground, (0, 0)), self.marker(body, (0, 0))],
                axisMarker0=[1, 0, 0], normalMarker1=[0, 1, 0], constrainRotation=True,
            )
        )  # fmt: skip

    def solver(self, step_s: float, angle_of: int, start: float) -> tuple[Callable, Callable]:
        """`run(n)` and `angles(n)` of a body that stands at `start`, from there each time."""
        exudyn, system = self.exudyn, self.system
        sensor = system.AddSensor(
            self.items.SensorBody(
                bodyNumber=angle_of, storeInternal=True, writeToFile=False,
                outputVariableType=exudyn.OutputVariableType.Rotation,
            )
        )  # fmt: skip
        run, values = solver(exudyn, system, sensor, step_s)
        return run, lambda n: start + np.unwrap(values(n))


def solver(
    exudyn,
    system,
    sensor,
    step_s: float,
    *,
    linear: str = "EigenSparse",
    tolerance: float = 1e-8,
) -> tuple[Callable, Callable]:
    """`run(n)`, and `values(n)` of a sensor, from the start each time."""
    system.Assemble()
    settings = exudyn.SimulationSettings()
    solution, integration = settings.solutionSettings, settings.timeIntegration
    solution.writeSolutionToFile = False
    settings.displayStatistics = settings.displayComputationTime = False
    integration.verboseMode = 0
    integration.generalizedAlpha.spectralRadius = 0.9  # at 1 it stops at the flat positions
    integration.adaptiveStep = False
    integration.newton.useModifiedNewton = True
    integration.newton.relativeTolerance = tolerance
    settings.linearSolverType = getattr(exudyn.LinearSolverType, linear)
    settings.parallel.numberOfThreads = 1

    def solve(n: int, *, stored: bool) -> float:
        integration.numberOfSteps, integration.endTime = n, n * step_s
        solution.sensorsWritePeriod = step_s if stored else 1e9
        begin = time.perf_counter()
        system.SolveDynamic(settings)
        return time.perf_counter() - begin

    def values(n: int) -> np.ndarray:
        solve(n, stored=True)
        return system.GetSensorStoredData(sensor)[-n:, -1]

    return lambda n: solve(n, stored=False), values


def chain(n_bars: int) -> Row:
    """N four-bar, 1 ms."""
    plane = Plane()
    links = [
        plane.body(1.0, 1.0 / 12.0, (k, 0.5, math.pi / 2), (0.5, 0.0, -1.0))
        for k in range(n_bars + 1)
    ]
    for k, link in enumerate(links):
        plane.pin(plane.ground, (k, 0), link, (-0.5, 0))
    for k in range(n_bars):
        coupler = plane.body(1.0, 1.0 / 12.0, (k + 0.5, 1.0, 0.0), (1.0, 0.0, 0.0))
        plane.pin(links[k], (0.5, 0), coupler, (-0.5, 0))
        plane.pin(links[k + 1], (0.5, 0), coupler, (0.5, 0))
    run, angles = plane.solver(1e-3, links[0], math.pi / 2)

    def error() -> float:
        exact = chain_angle(n_bars, 10.0)
        return largest_gap(angles(10000)[19::20], exact[19::20])

    return Row(f"{n_bars} four-bar", "Exudyn, generalised-alpha", run, error, steps=400)


def slider_crank() -> Row:
    """Free slider-crank, 0.1 ms: at 1 ms its error is 5e-2 rad."""
    exact = reference("slider_crank_free")
    angle, rate, r, length = math.pi / 4, 20.0, 0.12, 0.25
    lean = -math.asin(r / length * math.sin(angle))
    lean_rate = -r * math.cos(angle) * rate / (length * math.cos(lean))
    pin = np.array([r * math.cos(angle), r * math.sin(angle)])
    pin_rate = rate * np.array([-pin[1], pin[0]])
    along = length * np.array([math.cos(lean), math.sin(lean)])
    along_rate = lean_rate * np.array([-along[1], along[0]])
    plane = Plane()
    crank = plane.body(0.75, 0.0009, (*pin / 2, angle), (*pin_rate / 2, rate))
    rod = plane.body(
        1.56, 0.008125, (*(pin + along / 2), lean), (*(pin_rate + along_rate / 2), lean_rate)
    )
    end = pin + along
    block = plane.body(1.2, 1.0, (end[0], 0.0, 0.0), ((pin_rate + along_rate)[0], 0.0, 0.0))
    plane.pin(plane.ground, (0, 0), crank, (-r / 2, 0))
    plane.pin(crank, (r / 2, 0), rod, (-length / 2, 0))
    plane.pin(rod, (length / 2, 0), block, (0, 0))
    plane.slide(block)
    run, angles = plane.solver(1e-4, crank, angle)

    def error() -> float:
        found = at_reference(angles(50000), exact["t"], 1e-4)
        return largest_gap(found, exact["theta"][1:])

    return Row("slider-crank", "Exudyn, generalised-alpha", run, error, steps=400, per_ms=10.0)
