"""The nine cases of the observability gate, on the modes of the vehicle's body: which forces may a filter be asked for?

The body is linearised where it rests without loads, in the mean frame: rigid motions, modes, forces on nodes.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from codegen.flexible.reduced import Reduced
from estimators.closed_loop.observability import UnobservableError, require_observable
from rigloop.bench.flexible.vehicle import FORCES, LINE_M, vehicle

Array = NDArray[np.float64]

# elastic modes, forces, strain gauges, gyroscopes, accelerometers, observable
CASES = (
    (12, 6, 10, 1, 0, True),
    (12, 6, 6, 0, 0, True),
    (12, 6, 5, 0, 0, False),
    (12, 6, 5, 1, 0, True),
    (12, 6, 3, 1, 2, True),
    (5, 6, 10, 0, 0, False),
    (5, 6, 10, 1, 0, True),
    (0, 3, 0, 1, 2, True),
    (0, 4, 0, 1, 2, False),
)
# a case with fewer takes the first of these: horizontal forces on both axles lie on one line, and a gauge beyond the
# last force has nothing to tell of forces
FORCES_FIRST = (1, 3, 4, 0, 2, 5)
GAUGES_FIRST = ("g2", "g4", "g7", "g9", "g5", "g8", "g3", "g6", "g1", "g10")


class Case(msgspec.Struct, frozen=True):
    """A case: what there is, what is expected, and the gate's answer, empty where it lets the observer pass."""

    modes: int
    forces: int
    strains: int
    gyroscopes: int
    accelerometers: int
    observable: bool
    refusal: str

    @property
    def held(self) -> bool:
        """Return whether the gate is right; a refusal names a force and what would do."""
        if self.observable:
            return not self.refusal
        return "wrench/" in self.refusal and "add a sensor" in self.refusal


def cases() -> list[Case]:
    """Ask the gate all nine."""
    body = vehicle(is_reference=False).build().system.flexible["body"].modes
    return [Case(*case, _refusal(body, case)) for case in CASES]


def settled_strains() -> Array:
    """Return the strain of each gauge by one newton of each force that lasts, shape (10, 6), under inertia relief."""
    body = vehicle(is_reference=False).build().system.flexible["body"].modes
    turn = _axes(body)
    load = np.array(
        [
            turn.T[:, 0 if "_x_" in name else 1] @ body.nodes[name.split("/")[1]].shape[:3]
            for name in FORCES
        ]
    )
    rows = np.array(list(body.gauges.values()))
    return rows @ (load / body.stiffness).T


def _refusal(body: Reduced, case: tuple[Any, ...]) -> str:
    a, h, unknown = _linear(body, case)
    n_z = (len(a) - len(unknown)) // 2
    found = {"status": 0, "zdd_x": a[n_z : 2 * n_z], "y_x": h}
    names = ["O_x", "O_y", "turn", *(f"body_mode{i + 1}" for i in range(case[0]))]
    info = {
        "name": "vehicle",
        "unknown": unknown,
        "state_names": [*names, *(f"{name}.rate" for name in names), *unknown],
        "sensor_names": [f"s{i}" for i in range(len(h))],
    }
    try:
        require_observable(lambda x: found, info, [0.0] * len(a))
    except UnobservableError as error:
        return str(error)
    return ""


def _linear(body: Reduced, case: tuple[Any, ...]) -> tuple[Array, Array, list[str]]:
    """Slopes of state and readings over [x, y, turn, modes, rates, forces]."""
    modes, n_forces, n_strains, n_gyros, n_felt, _ = case
    unknown = [FORCES[k] for k in FORCES_FIRST[:n_forces]]
    n = 3 + modes
    mass = body.total_mass
    middle = (
        body.gram[1:3, 0] / mass
    )  # along the structure's axes, whose origin is the first point of its line
    inertia = float(np.trace(body.gram[1:3, 1:3]) - mass * middle @ middle)
    turn = _axes(body)
    inverse = np.diag(1.0 / np.array([mass, mass, inertia, *body.mass[:modes]]))
    stiffness = np.diag([0.0, 0.0, 0.0, *body.stiffness[:modes]])
    load = np.zeros((n, n_forces))
    for k, name in enumerate(unknown):
        node = body.nodes[name.split("/")[1]]
        push = turn.T @ np.eye(3)[0 if "_x_" in name else 1]
        arm = node.position[:2] - middle
        load[:2, k] = push[:2]
        load[2, k] = arm[0] * push[1] - arm[1] * push[0]
        load[3:, k] = push @ node.shape[:3, :modes]
    a = np.zeros((2 * n + n_forces, 2 * n + n_forces))
    a[:n, n : 2 * n] = np.eye(n)
    damping = 0.02 * 2.0 * np.sqrt(stiffness @ np.linalg.inv(inverse))
    a[n : 2 * n] = np.hstack([-inverse @ stiffness, -inverse @ damping, inverse @ load])
    rows = []
    for name in GAUGES_FIRST[:n_strains]:
        row = body.gauges[name]
        rows.append(np.concatenate([np.zeros(3), row[:modes], np.zeros(n + n_forces)]))
    node = body.nodes["rear"]
    if n_gyros:
        turned = node.shape[5, :modes]
        rows.append(np.concatenate([np.zeros(n), [0.0, 0.0, 1.0], turned, np.zeros(n_forces)]))
    arm = node.position[:2] - middle
    for k in range(n_felt):
        swept = (-arm[1], arm[0])[k]
        felt = np.concatenate([np.eye(2)[k], [swept], node.shape[k, :modes]])
        rows.append(felt @ a[n : 2 * n])
    return a, np.array(rows).reshape(len(rows), len(a)), unknown


def _axes(body: Reduced) -> Array:
    """Axes of the structure as columns, in the plane: it lies with its first node at the line's first point."""
    first, second = body.nodes["tail"].position, body.nodes["rear"].position
    local = (second - first) / np.linalg.norm(second - first)
    along = np.array(LINE_M[1]) - np.array(LINE_M[0])
    along = along / np.linalg.norm(along)
    c = local[0] * along[0] + local[1] * along[1]
    s = local[0] * along[1] - local[1] * along[0]
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
