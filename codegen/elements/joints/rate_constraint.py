"""A user-written constraint on rates alone, linear in them: `"rate(x) * sin(yaw) - rate(y) * cos(yaw)"` stays zero."""

from __future__ import annotations

from codegen.expressions.dag import evaluate
from codegen.system import fields
from codegen.system.symbolic import expression
from codegen.system.system import System


class Entry(fields.Entry):
    expression: str


def add(entry: Entry, name: str, system: System) -> None:
    known = len(system.mistakes)
    whole = expression("expression", entry.expression, system)
    if len(system.mistakes) > known:
        return
    graph, inside = system.graph, set(system.graph.variables(whole))
    moving = [c for c in system.coordinates if c.qd in inside]
    slopes = [graph.diff(whole, c.qd) for c in moving]
    rates = {c.qd for c in system.coordinates}
    rest = graph.substitute(whole, {c.qd: graph.zero for c in moving})
    if not moving or not rest.is_zero or any(rates & set(graph.variables(e)) for e in slopes):
        problem = "is not linear in rates, with a rate in each term"
        remedy = "write sums of rate(name) times expressions of coordinates"
        system.mistake("expression", entry.expression, problem, remedy)
        return
    at = {c.q.name: c.initial for c in system.coordinates} | {"unknown": 0.0}
    try:
        size = max(abs(evaluate(e, at)) for e in slopes)
    except (ZeroDivisionError, ValueError, OverflowError):
        size = 0.0
    if not 1e-9 < size < 1e9:
        problem = "holds no rate in the file's pose"
        remedy = "let a factor of a rate be other than zero there"
        system.mistake("expression", entry.expression, problem, remedy)
        return
    number = system.rate_row("", whole / size)
    system.show_reactions(number)
