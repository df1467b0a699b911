"""The rigid bodies of a system, where they stand, and the freedom that each pair of them has.

Nothing is read of the joints as tables: bodies also hang together by points and vectors that they share. What
one body may do beside another one follows from the rates of all coordinates that either of them is made of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.expressions.dag import Expr, evaluate
from codegen.system.body import OFF_SPAN, Body, make
from codegen.system.system import System
from codegen.system.vectors import Vector, cross, minus
from codegen.topology.families import Families
from codegen.topology.linear import SMALL, column_space, equations_of, null_space, rigid_pose

GROUND = "ground"


@dataclass(frozen=True)
class Piece:
    """A body as it stands in the assembled pose.

    Attributes
    ----------
    pose : ndarray, shape (4, 4)
        Takes (1, x) of the file's pose to the assembled one; directions have a 0 in front.
    uses : frozenset of Expr
        Coordinates that its points and vectors are made of.
    equations : list of (dict of Expr to float, ndarray of shape (6,))
        Rates of the coordinates with these weights are this function of the body's twist [omega; velocity of
        what is at the origin], one for each component of a generator.
    """

    name: str
    body: Body
    pose: np.ndarray
    uses: frozenset[Expr]
    equations: list[tuple[dict[Expr, float], np.ndarray]]


@dataclass(frozen=True)
class Freedom:
    """Twists that a body may have beside another one that stands still.

    Attributes
    ----------
    twists : ndarray, shape (6, f)
        [omega; velocity at the origin], orthonormal.
    scalars : dict of Expr to ndarray of shape (6,)
        Rate of each angle or distance between the two, as a function of the twist.
    """

    twists: np.ndarray
    scalars: dict[Expr, np.ndarray]

    @property
    def count(self) -> int:
        return self.twists.shape[1]


class Graph:
    """Bodies and rows of a system as numbers, in its assembled pose."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._at = {c.q.name: c.initial for c in system.coordinates}
        self._at |= {p.var.name: p.default for p in (*system.parameters, *system.signals)}
        for guide in system.guides:
            self._at[guide.inputs[0].name] = guide.coordinate.initial
        self.scalars = {c.q for c in system.scalars.values()}
        self.owned = {c.q for c in system.coordinates}
        self.families = Families(system)
        self.shapeless: list[str] = []
        self.pieces = {
            name: made
            for name, body in system.bodies.items()
            if (made := self._piece(name, body)) is not None
        }
        self.carriers = {key: set(names) for key, names in system.carriers.items()}
        for name in self.families.nodes:
            if name in self.pieces:
                self.carriers.setdefault(("point", system.points[name]), set()).add(name)
        self._rods: dict[str, str] = {}
        for name, ends in system.rods.items():
            self._rod(name, ends)
        guided = {guide.row for guide in system.guides}
        # rows of what the user cuts are no joint's of the tree
        self.cut = {
            r for r, row in enumerate(system.rows) if row.label.partition(" ")[0] in system.cuts
        }
        defining = {r for _, r in system.defined.values()}
        self.rows = [
            (r, frozenset(v for v in system.graph.variables(self._phi(r)) if v in self.owned))
            for r in range(len(system.rows))
            if r not in guided | defining
        ]
        self._slopes: dict[int, dict[Expr, float]] = {}
        # rows that only keep a body's own shape: no joint of others, though they share its points
        bodies = {f"rigid_body/{name}": name for name in self.pieces}
        bodies |= {f"flexible_body/{name}": name for name in self.families.bodies}
        bodies |= {f"constant_distance/{name}": taken for name, taken in self._rods.items()}
        self._shape = {
            r: bodies[element]
            for r, _ in self.rows
            if (element := system.rows[r].label.partition(" ")[0]) in bodies
        }

    def value(self, e: Expr | float) -> float:
        """A number in the assembled pose."""
        return evaluate(e, self._at) if isinstance(e, Expr) else float(e)

    def mass(self, body: str) -> float:
        """Mass of a body in kg."""
        parts = self.system.masses.of_bodies.get(body, [])
        return sum(self.value(var) * float(moment[0, 0]) for var, moment in parts)

    def slopes(self, row: int) -> dict[Expr, float]:
        """Gradient of a row in the assembled pose."""
        if row not in self._slopes:
            graph, phi = self.system.graph, self._phi(row)
            self._slopes[row] = {
                v: self.value(graph.diff(phi, v)) for v in graph.variables(phi) if v in self.owned
            }
        return self._slopes[row]

    def _phi(self, row: int) -> Expr:
        """A row, with amplitudes held."""
        return self.system.graph.lift(self.families.fixed(self.system.rows[row].phi))

    def pairs(self) -> list[tuple[str, str]]:
        """Bodies that share coordinates or rows, each once, and each body with the ground."""
        users: dict[Expr, list[str]] = {}
        for name, piece in self.pieces.items():
            for var in sorted(piece.uses, key=lambda e: e.serial):
                users.setdefault(var, []).append(name)
        order = {name: n for n, name in enumerate(self.pieces)}
        found: dict[tuple[str, str], None] = {}

        def join(names: set[str]) -> None:
            listed = sorted(names, key=order.__getitem__)
            for k, first in enumerate(listed):
                for second in listed[k + 1 :]:
                    found[first, second] = None

        for var in sorted(users, key=lambda e: e.serial):
            join(set(users[var]))
        for r, inside in self.rows:
            if r in self.cut:
                continue
            # of a coordinate that many bodies share, those that the row is about are all of them
            join({name for var in inside for name in users.get(var, ())})
        return [*((name, GROUND) for name in self.pieces), *found]

    def freedom(self, first: str, second: str) -> Freedom:
        """The freedom of the first body beside the second one, or the ground: of all motions of both that
        their rows allow, so that what one of them owes to a third body is no joint of these two.
        """
        one = self.pieces[first]
        both = [one] if second == GROUND else [one, self.pieces[second]]
        inside = frozenset().union(*(piece.uses for piece in both))
        rows = [
            (r, members)
            for r, members in self.rows
            if r not in self.cut
            and members & one.uses
            and members <= inside | self.scalars
            and self._shape.get(r, first) in (first, second)
        ]
        scalars = sorted(
            {v for _, members in rows for v in members - inside}, key=lambda e: e.serial
        )
        variables = [*sorted(inside, key=lambda e: e.serial), *scalars]
        places = {v: 12 + n for n, v in enumerate(variables)}
        lines = []
        for number, piece in enumerate(both):
            for weights, twist in piece.equations:
                line = np.zeros(12 + len(places))
                line[6 * number : 6 * number + 6] = -twist
                for var, weight in weights.items():
                    line[places[var]] += weight
                lines.append(line)
        if second == GROUND:
            lines += list(np.eye(6, 12 + len(places), 6))
        for r, _ in rows:
            line = np.zeros(12 + len(places))
            for var, slope in self.slopes(r).items():
                line[places[var]] += slope
            lines.append(line)
        motions = null_space(np.array(lines))
        beside = motions[:6] - motions[6:12]
        back = np.linalg.pinv(beside, rcond=SMALL)
        slopes = {v: motions[places[v]] @ back for v in scalars}
        return Freedom(
            column_space(beside),
            {
                v: slope
                for v, slope in slopes.items()
                if np.max(np.abs(slope @ beside - motions[places[v]]), initial=0.0) < SMALL
            },
        )

    def _rod(self, name: str, ends: tuple[Vector, Vector]) -> None:
        """A line of constant length whose ends move in one plane is a body, unless both are on one already."""
        kinds = [("point", end) for end in ends]
        if self.carriers.get(kinds[0], set()) & self.carriers.get(kinds[1], set()):
            return
        still = [
            k
            for k in range(3)
            if not any(isinstance(end[k], Expr) and not end[k].is_const for end in ends)
        ]
        arm = minus(ends[1], ends[0])
        if len(still) != 1 or abs(self.value(arm[still[0]])) > OFF_SPAN:
            return
        normal: Vector = (float(still[0] == 0), float(still[0] == 1), float(still[0] == 2))
        generators = (ends[0], arm, cross(normal, arm), normal)
        built = [[float(k == 0), *(self.value(c) for c in g)] for k, g in enumerate(generators)]
        taken = name if name not in self.pieces else f"{name}_rod"
        made = self._piece(taken, make(generators, built))
        if made is not None:
            self.pieces[taken] = made
            self._rods[name] = taken
            for kind in kinds:
                self.carriers.setdefault(kind, set()).add(taken)

    def _piece(self, name: str, body: Body) -> Piece | None:
        pose = self._pose(name, body)
        equations = pose is not None and equations_of(body, self.families.fixed, self.value)
        if pose is None or not equations:
            self.shapeless.append(name)
            return None
        uses = frozenset(v for weights, _ in equations for v in weights)
        return Piece(name, body, pose, uses, equations)

    def _pose(self, name: str, body: Body) -> np.ndarray | None:
        """Displacement from the file's pose; that of a node is its frame's, whatever bends."""
        if name in self.families.nodes:
            return self._pose("", self.families.nodes[name][0].frame.body)
        now = np.array([[self.value(c) for c in g] for g in body.generators]).T
        return rigid_pose(body.built, np.vstack([body.built[0], now]))
