"""Pinocchio: joint coordinates, loops closed by constrained forward dynamics, fourth-order
Runge-Kutta written here; the loop over steps is Python's, some microseconds a step of its own.

The N four-bar is left out: its loops have a row too many across the plane, and with the proximal
settings that were tried it turns over in its first flat position.
"""

from __future__ import annotations

import math
import time

import numpy as np

from peers.exact import at_reference, largest_gap, reference
from peers.row import Row

INSTALL = "pip install pin"


class Tree:
    """A planar tree in the x-y plane with loops, stepped by Runge-Kutta."""

    def __init__(self) -> None:
        import pinocchio

        self.pin = pinocchio
        self.model = pinocchio.Model()
        self.model.gravity.linear = np.array([0.0, -9.81, 0.0])
        self.loops = pinocchio.StdVec_RigidConstraintModel()

    def place(self, x: float, y: float = 0.0):
        return self.pin.SE3(np.eye(3), np.array([x, y, 0.0]))

    def hinge(self, parent: int, at, mass: float, inertia: float, centre: float) -> int:
        """A body that turns about z; its centre lies on its x axis."""
        joint = self.model.addJoint(parent, self.pin.JointModelRZ(), self.place(*at), "")
        self._mass(joint, mass, inertia, centre)
        return joint

    def slider(self, mass: float) -> int:
        joint = self.model.addJoint(0, self.pin.JointModelPX(), self.place(0.0), "")
        self._mass(joint, mass, 1.0, 0.0)
        return joint

    def _mass(self, joint: int, mass: float, inertia: float, centre: float) -> None:
        about = np.diag([1e-9, inertia, inertia])
        made = self.pin.Inertia(mass, np.array([centre, 0.0, 0.0]), about)
        self.model.appendBodyToJoint(joint, made, self.pin.SE3.Identity())

    def loop(self, a: int, at_a, b: int, at_b) -> None:
        kind = self.pin.ContactType.CONTACT_3D
        self.loops.append(
            self.pin.RigidConstraintModel(
                kind, self.model, a, self.place(*at_a), b, self.place(*at_b),
                self.pin.ReferenceFrame.LOCAL,
            )
        )  # fmt: skip

    def stepper(self, q_0, v_0, step_s: float):
        """`run(n)` and `angles(n)` of the first joint."""
        pin, model = self.pin, self.model
        data = model.createData()
        loops = self.loops
        loop_data = pin.StdVec_RigidConstraintData()
        loop_data.extend(c.createData() for c in loops)
        pin.initConstraintDynamics(model, data, loops, loop_data)
        # across the plane a loop has a row too many
        settings = pin.ProximalSettings(1e-12, 1e-9, 10)
        torque = np.zeros(model.nv)
        h = step_s

        def bent(q, v):
            return pin.constraintDynamics(
                model, data, q, v, torque, loops, loop_data, settings
            ).copy()

        def one(q, v):
            a1 = bent(q, v)
            v2 = v + h / 2 * a1
            a2 = bent(q + h / 2 * v, v2)
            v3 = v + h / 2 * a2
            a3 = bent(q + h / 2 * v2, v3)
            v4 = v + h * a3
            a4 = bent(q + h * v3, v4)
            return q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)

        def run(n: int) -> float:
            q, v = np.array(q_0), np.array(v_0)
            begin = time.perf_counter()
            for _ in range(n):
                q, v = one(q, v)
            return time.perf_counter() - begin

        def angles(n: int) -> np.ndarray:
            q, v = np.array(q_0), np.array(v_0)
            found = np.empty(n)
            for k in range(n):
                q, v = one(q, v)
                found[k] = q[0]
            return found

        return run, angles


def slider_crank() -> Row:
    """Free slider-crank, 1 ms."""
    exact = reference("slider_crank_free")
    angle, rate, r, length = math.pi / 4, 20.0, 0.12, 0.25
    lean = -math.asin(r / length * math.sin(angle))
    lean_rate = -r * math.cos(angle) * rate / (length * math.cos(lean))
    tree = Tree()
    crank = tree.hinge(0, (0, 0), 0.75, 0.0009, r / 2)
    rod = tree.hinge(crank, (r, 0), 1.56, 0.008125, length / 2)
    block = tree.slider(1.2)
    tree.loop(rod, (length, 0), block, (0, 0))
    end = r * math.cos(angle) + length * math.cos(lean)
    end_rate = -r * math.sin(angle) * rate - length * math.sin(lean) * lean_rate
    run, angles = tree.stepper([angle, lean - angle, end], [rate, lean_rate - rate, end_rate], 1e-3)

    def error() -> float:
        found = at_reference(angles(5000), exact["t"], 1e-3)
        return largest_gap(found, exact["theta"][1:])

    return Row("slider-crank", "pinocchio RK4, Python loop", run, error, steps=100)
