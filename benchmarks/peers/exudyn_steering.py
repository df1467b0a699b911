"""Exudyn: the spatial steering, of rotors where an axis is fixed and rigid bodies for tie rods."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from peers.exact import GRAVITY, at_reference, largest_gap, reference
from peers.exudyn_models import solver
from peers.row import Row
from peers.steering_parts import TORQUE_HZ, TORQUE_NM, WORK, Side, steering

SPIN = 1e-6  # kg m^2, of a slender rod about itself
RACK = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # its x is along y


class Space:
    """A system of Exudyn whose bodies are triples: number, origin, axes as columns."""

    def __init__(self) -> None:
        import exudyn
        import exudyn.itemInterface as items

        self.exudyn, self.items = exudyn, items
        self.container = exudyn.SystemContainer()
        self.system = self.container.AddSystem()
        ground = self.system.AddNode(items.NodePointGround())
        self.ground = self.coordinate(ground)

    def coordinate(self, node: int) -> int:
        return self.system.AddMarker(self.items.MarkerNodeCoordinate(nodeNumber=node, coordinate=0))

    def rotor(self, inertia: float, at: np.ndarray, axis: np.ndarray) -> tuple[int, tuple]:
        """Node and body that turns about a fixed axis."""
        node, axes = self.system.AddNode(self.items.Node1D()), _axes(axis)
        made = self.system.AddObject(
            self.items.ObjectRotationalMass1D(
                physicsInertia=inertia, nodeNumber=node, referencePosition=list(at),
                referenceRotation=axes,
            )
        )  # fmt: skip
        return node, (made, at, axes)

    def point(self, body: tuple, at: np.ndarray) -> int:
        """Marker of a body at a point of space."""
        number, origin, axes = body
        return self.system.AddMarker(
            self.items.MarkerBodyPosition(
                bodyNumber=number, localPosition=list(axes.T @ (at - origin))
            )
        )

    def cardan(self, a: tuple, pin_a: np.ndarray, b: tuple, pin_b: np.ndarray, at) -> None:
        """Pins stay perpendicular: their ends, 1 m from the joint, stay sqrt(2) m apart."""
        ends = [self.point(a, at + pin_a), self.point(b, at + pin_b)]
        self.system.AddObject(
            self.items.ObjectConnectorDistance(markerNumbers=ends, distance=math.sqrt(2.0))
        )

    def ball(self, a: tuple, b: tuple, at: np.ndarray) -> None:
        self.system.AddObject(
            self.items.ObjectJointSpherical(
                markerNumbers=[self.point(a, at), self.point(b, at)], constrainedAxes=[1, 1, 1]
            )
        )

    def symbolic(self, item, name: str, function: Callable) -> object:
        """Exudyn's own tree of a Python function, so that Python takes no part in a step."""
        from exudyn.advancedUtilities import CreateSymbolicUserFunction

        made = CreateSymbolicUserFunction(self.system, function, name, item)
        self.system.variables[f"{name} {item}"] = made  # or it would go
        return made


def row() -> Row:
    """Torque-driven, 1 ms: 18 coordinates, 15 rows. Torque and friction are symbolic functions.
    Newton stops at 1e-6: at 1e-8, its default, the error is 7.2e-6 rad, with a third more iterations.
    """
    s, space = steering(), Space()
    items, system, sine = space.items, space.system, space.exudyn.symbolic.sin
    wheel, column = space.rotor(s.column.inertia_kg_m2, s.C1, s.a1)
    _, shaft = space.rotor(s.intermediate.inertia_kg_m2, s.C1, s.a2)
    gear, pinion = space.rotor(s.pinion.inertia_kg_m2, s.C2, s.a3)
    space.cardan(column, s.p1, shaft, s.p2, s.C1)
    space.cardan(shaft, s.p2_lower, pinion, s.p3, s.C2)

    travel = system.AddNode(items.Node1D())
    mass = items.ObjectMass1D(
        physicsMass=s.rack_kg, nodeNumber=travel, referencePosition=list(s.rack_centre),
        referenceRotation=RACK,
    )  # fmt: skip
    rack = (system.AddObject(mass), s.rack_centre, RACK)
    meshing = [space.coordinate(travel), space.coordinate(gear)]
    system.AddObject(items.ObjectConnectorCoordinate(markerNumbers=meshing, factorValue1=s.r_p))
    for side in s.sides:
        _side(space, side, rack)

    def torque(mbs, t, load):
        return load * sine(2.0 * math.pi * TORQUE_HZ * t)

    driver = system.AddLoad(
        items.LoadCoordinate(markerNumber=space.coordinate(wheel), load=TORQUE_NM)
    )
    system.SetLoadParameter(
        driver, "loadUserFunction", space.symbolic(driver, "loadUserFunction", torque)
    )
    sensor = system.AddSensor(
        items.SensorNode(
            nodeNumber=wheel, storeInternal=True, writeToFile=False,
            outputVariableType=space.exudyn.OutputVariableType.Coordinates,
        )
    )  # fmt: skip
    run, angles = solver(space.exudyn, system, sensor, 1e-3, linear="EXUdense", tolerance=1e-6)
    exact = reference("steering_torque_driven")

    def error() -> float:
        return largest_gap(at_reference(angles(5000), exact["t"], 1e-3), exact["theta"][1:])

    return Row(WORK, "Exudyn, generalised-alpha", run, error, steps=2000)


def _side(space: Space, side: Side, rack: tuple) -> None:
    """Knuckle and tie rod."""
    s, items, system, tanh = steering(), space.items, space.system, space.exudyn.symbolic.tanh
    part, arm = side.knuckle, side.knuckle.centre_m - side.lower
    from_axis = arm @ arm - (arm @ side.axis) ** 2
    inertia = side.axis @ (part.inertia_kg_m2 * side.axis) + part.mass_kg * from_axis
    node, knuckle = space.rotor(inertia, side.lower, side.axis)
    weight = items.LoadForceVector(
        markerNumber=space.point(knuckle, part.centre_m),
        loadVector=[0.0, 0.0, -GRAVITY * part.mass_kg],
    )
    system.AddLoad(weight)

    def moment(mbs, t, item, displacement, velocity, stiffness, damping, offset):
        dry = s.coulomb * tanh(velocity * (1.0 / s.transition_speed))
        return stiffness * displacement + damping * velocity + dry

    kingpin = system.AddObject(
        items.ObjectConnectorCoordinateSpringDamper(
            markerNumbers=[space.ground, space.coordinate(node)],
            stiffness=s.stiffness, damping=s.viscous,
        )
    )  # fmt: skip
    name = "springForceUserFunction"
    system.SetObjectParameter(kingpin, name, space.symbolic(kingpin, name, moment))

    middle, along, length = side.rod
    axes, across = _axes(along), s.rod_kg * length**2 / 12.0
    pose = items.NodeRigidBodyRxyz(referenceCoordinates=[*middle, *_rxyz(axes)])
    body = items.ObjectRigidBody(
        physicsMass=s.rod_kg, physicsInertia=[across, across, SPIN, 0.0, 0.0, 0.0],
        nodeNumber=system.AddNode(pose),
    )  # fmt: skip
    rod = (system.AddObject(body), middle, axes)
    whole = system.AddMarker(items.MarkerBodyMass(bodyNumber=rod[0]))
    system.AddLoad(items.LoadMassProportional(markerNumber=whole, loadVector=[0.0, 0.0, -GRAVITY]))
    space.ball(rack, rod, side.inner)
    space.ball(knuckle, rod, side.outer)


def _axes(z: np.ndarray) -> np.ndarray:
    """Right-handed axes as columns, the last along z."""
    other = [0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0]
    x = np.cross(z, other)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _rxyz(axes: np.ndarray) -> list[float]:
    """Angles about x, then y, then z, each of the turned body."""
    return [
        math.atan2(-axes[1, 2], axes[2, 2]),
        math.asin(axes[0, 2]),
        math.atan2(-axes[0, 1], axes[0, 0]),
    ]
