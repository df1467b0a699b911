"""A body that bends in the sweeps: its modes are let go in the way that has the fewer operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from codegen.expressions.dag import Expr, Graph
from codegen.spatial.algebra import NO_WRENCH, Inertia, Value, Wrench
from codegen.spatial.innovations import Explicit, Hung
from codegen.spatial.modes import Modes
from codegen.spatial.node import NodeMotion
from codegen.spatial.woodbury import Woodbury
from codegen.system.vectors import Vector, dot


class Bent:
    """The modes of one link, and what hangs on its nodes.

    Attributes
    ----------
    operations : dict of str to int
        Of letting the modes go and finding their accelerations, by way: "explicit" and, of a body with one node that
        carries something, "woodbury". There once the modes are let go.
    """

    def __init__(self, modes: Modes, omega: Vector, forces: Mapping[int, Expr]) -> None:
        self.graph, self._modes = modes.graph, modes
        resisting = modes.resisting(omega)
        self._force: list[Value] = [
            forces.get(i, self.graph.zero) - held
            for i, held in zip(modes.indices, resisting, strict=True)
        ]
        self._hung: list[Hung] = []
        self._pulls: list[Wrench] = []
        self._way: Explicit | Woodbury = Explicit(modes, (), ())
        self.operations: dict[str, int] = {}

    def hang(self, node: NodeMotion, inertia: Inertia, pull: Wrench) -> None:
        """Add what hangs on a node: its inertia about the node and its wrench, in the axes of the frame."""
        zero = self.graph.zero
        if any(self.graph.lift(e) is not zero for e in _entries(inertia, NO_WRENCH)):
            self._hung.append((node, inertia))
        self._pulls.append(node.shift.wrench_out(pull))
        for i, (turn, move) in enumerate(node.ways):
            self._force[i] = self._force[i] - (dot(turn, pull.moment) + dot(move, pull.force))

    def let_go(self, inertia: Inertia, pull: Wrench) -> tuple[Inertia, Wrench]:
        """Let the amplitudes follow: returns the inertia and the wrench that the link has left."""
        for hung in self._pulls:
            pull = pull.plus(hung)
        ways: dict[str, Explicit | Woodbury] = {
            "explicit": Explicit(self._modes, self._hung, self._force)
        }
        if len(self._hung) == 1 and Woodbury.takes(self._modes):
            ways["woodbury"] = Woodbury(self._modes, self._hung[0], self._force)
        left = {name: way.let_go(inertia, pull) for name, way in ways.items()}
        given = self._given(inertia, pull)
        for name, way in ways.items():
            found = _entries(*left[name]) + way.accelerations(*_any(self.graph))
            self.operations[name] = operations(found, given)
        best = min(ways, key=lambda name: self.operations[name])
        self._way = ways[best]
        return left[best]

    def accelerations(self, alpha: Vector, a: Vector) -> list[Expr]:
        """Accelerations of the amplitudes, from those of the frame."""
        return self._way.accelerations(alpha, a)

    def _given(self, inertia: Inertia, pull: Wrench) -> set[Expr]:
        """Expressions that both ways begin with."""
        found: list[Value] = [*_entries(inertia, pull), *self._force]
        for push in self._modes.pushes:
            found += [*push.moment, *push.force]
        for node, carried in self._hung:
            found += _entries(carried, Wrench(node.shift.origin, node.shift.origin))
            found += [e for turn, move in node.ways for e in (*turn, *move)]
        return {e for e in found if isinstance(e, Expr)}


def operations(found: Iterable[Value], given: set[Expr]) -> int:
    """Count products, sums and quotients that lead from some expressions to others."""
    stack = [e for e in found if isinstance(e, Expr)]
    seen: set[Expr] = set()
    count = 0
    while stack:
        e = stack.pop()
        if e in seen or e in given or not e.args:
            continue
        seen.add(e)
        stack += e.args
        scaled = sum(abs(c) != 1.0 for c in e.coefs) if e.op == "sum" else 0
        count += max(1, len(e.args) - 1 + scaled)
    return count


def _entries(inertia: Inertia, pull: Wrench) -> list[Value]:
    parts: Sequence[Sequence[Sequence[Value]]] = (inertia.turning, inertia.coupling, inertia.moving)
    return [e for part in parts for row in part for e in row] + [*pull.moment, *pull.force]


def _any(graph: Graph) -> tuple[Vector, Vector]:
    """An acceleration of which nothing is known."""
    x, y, z, u, v, w = (graph.var(f"any acceleration {k}") for k in range(6))
    return (x, y, z), (u, v, w)
