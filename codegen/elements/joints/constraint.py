"""A user-written constraint: an expression of coordinates stays zero, for instance `"lift - 0.01 * sin(2 * cam)"`."""

from __future__ import annotations

from codegen.expressions.dag import evaluate
from codegen.system import fields
from codegen.system.symbolic import expression
from codegen.system.system import System


class Entry(fields.Entry):
    expression: str


def add(entry: Entry, name: str, system: System) -> None:
    known = len(system.mistakes)
    phi = expression("expression", entry.expression, system)
    if len(system.mistakes) > known:
        return
    graph, inside = system.graph, set(system.graph.variables(phi))
    if any(c.qd in inside for c in system.coordinates):
        remedy = "write it of coordinates alone, or as a rate_constraint"
        system.mistake("expression", entry.expression, "contains a rate", remedy)
        return
    at = {c.q.name: c.initial for c in system.coordinates} | {"unknown": 0.0}
    try:
        slopes = [
            evaluate(graph.diff(phi, c.q), at) for c in system.coordinates if c.q in inside
        ]  # fmt: skip
    except (ZeroDivisionError, ValueError, OverflowError):
        slopes = []
    size = max(map(abs, slopes), default=0.0)
    if not 1e-9 < size < 1e9:
        problem = "does not change with any coordinate in the file's pose"
        remedy = "let it contain a coordinate, with a slope there; no squares that vanish"
        system.mistake("expression", entry.expression, problem, remedy)
        return
    # gradients are of order one
    system.show_reactions(system.row("", phi / size))
