"""Frames and nodes of bodies that bend as bodies of a tree.

Bodies and rows are looked at with the amplitudes held: a body that bends and its nodes are then one rigid body, and
what hangs on it has the freedom of its joint.
"""

from __future__ import annotations

from codegen.expressions.dag import Expr
from codegen.flexible.motion import Bending
from codegen.flexible.reduced import ReducedNode
from codegen.system.system import System


class Families:
    """Frames and nodes among the bodies of a system.

    Attributes
    ----------
    held : dict of Expr to Expr
        Coordinates at held amplitudes: those are numbers, and their products with axes are directions.
    nodes : dict of str to (Bending, ReducedNode)
        By the name of the node's body.
    """

    def __init__(self, system: System) -> None:
        graph = system.graph
        self.bodies: dict[str, Bending] = dict(system.flexible)
        self.nodes: dict[str, tuple[Bending, ReducedNode]] = {
            f"{name}_{label}": (body, node)
            for name, body in self.bodies.items()
            for label, node in body.modes.nodes.items()
        }
        self.held: dict[Expr, Expr] = {}
        for body in self.bodies.values():
            for c in body.amplitudes:
                owner = system.owner(c.q)
                assert owner is not None
                self.held[c.q] = graph.const(owner.initial)
        self.held |= {v: graph.substitute(e, self.held) for v, (e, _) in system.defined.items()}
        self._system = system

    def fixed(self, e: Expr | float) -> Expr | float:
        """An expression at held amplitudes."""
        if not self.held or not isinstance(e, Expr):
            return e
        return self._system.graph.substitute(e, self.held)

    def head(self, name: str) -> str:
        """The body whose frame or node this is, or the body itself."""
        return self.nodes[name][0].name if name in self.nodes else name
