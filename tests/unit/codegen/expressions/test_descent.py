"""Expressions as deep as a model is long go through every walk, in the order of plain recursion."""

import numpy as np
import pytest

from codegen.description.mechanism import MechanismError, parse
from codegen.equations.precomputed import parameter_only
from codegen.equations.program import Routine
from codegen.expressions.dag import Graph, evaluate
from codegen.expressions.descent import descend
from codegen.expressions.emit import NUMPY, Assign, C, Emitter
from codegen.expressions.folding import folded
from codegen.expressions.gather import Gatherer
from codegen.expressions.roll import runs
from codegen.kernels.generate import generate
from codegen.options.options import KernelOptions

DEPTH = 1500


def test_steps_come_in_the_order_of_recursion():
    seen = []

    def walk(n):
        seen.append(n)
        total = n
        for inner in range(n):
            total += yield walk(inner)
        return total

    def plain(n):
        order.append(n)
        return n + sum(plain(inner) for inner in range(n))

    order = []
    assert descend(walk(6)) == plain(6)
    assert seen == order


def deep(kind):
    graph = Graph()
    x, y = graph.var("x"), graph.var("y")
    e = x
    for k in range(DEPTH):
        if kind == "sum":
            e = graph.total([(1.0, e), (0.5 + k % 7, y), (0.25, x)])
        elif kind == "mul":
            e = 0.999 * e * y + x if k % 2 else e * y
        else:
            e = graph.reciprocal(e + 2.0)
    return graph, x, y, e


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sum", "mul", "inv"])
def test_deep_expressions_are_walked(kind):
    graph, x, y, e = deep(kind)
    bind = {x: "w->q[0]", y: "w->q[1]"}
    assert np.isfinite(evaluate(e, {"x": 0.5, "y": 0.25}))
    slope = graph.diff(e, x)
    assert np.isfinite(evaluate(slope, {"x": 0.5, "y": 0.25}))
    assert graph.substitute(e, {x: y, y: x}) is not e
    assert folded(e, 2.0) is not None
    for syntax in (C, NUMPY):
        lines, _ = Emitter(syntax, bind).run([Assign("w->r[0]", e)])
        assert lines
    assert runs([Assign("w->r[0]", e)], bind, {}, {}, is_ordered=False, is_split=False)
    Gatherer([Assign("w->r[0]", e)], bind, {}, {})
    assert parameter_only([Routine("evaluate", "", [Assign("w->r[0]", e)])], {x, y}) == [e]


def chain(n):
    """n pendulums in a row, with the energy that goes through all of them."""
    ends = ["[0, 0, 0]", *(f'"P{k}"' for k in range(n))]
    lines = ["gravity_m_s2 = [0, -9.81, 0]"]
    for k in range(n):
        ends_k = f"points = [{ends[k]}, {ends[k + 1]}]"
        lines += [f"[point.P{k}]", f"position_m = [{0.1 * (k + 1)!r}, 0, 0]", 'moves = "xy"']
        lines += [f"[constant_distance.r{k}]", ends_k]
        lines += [f"[uniform_rod.r{k}]", ends_k, "mass_kg = 1.0"]
    lines += ["[outputs]", '"energy_j" = "energy"', '"kinetic_j" = "energy.kinetic"']
    return "\n".join(lines)


@pytest.mark.slow
def test_a_chain_of_210_pendulums_with_its_energy_is_generated():
    # more than Python's parser takes of brackets within each other
    made = generate(parse(chain(210), "chain.toml"), KernelOptions())
    compile(made.reference, "reference.py", "exec")


@pytest.mark.parametrize(
    "text",
    ["(" * 3000 + "1" + ")" * 3000, "-" * 3900 + "1", "1" + "+1" * 1900, "sqrt(" * 700 + "1" + ")" * 700,
     "1" * 4001, "[" * 1500, "\0", "x.y" * 900, "2 ** 9e999", "9" * 3999 + "**" + "9"],
)  # fmt: skip
def test_expressions_deeper_than_anyone_writes_are_refused(text):
    quoted = text.replace("\0", "\\u0000")
    for key in ("mass_kg", "output"):
        body = chain(1)
        if key == "mass_kg":
            body = body.replace("mass_kg = 1.0", f'mass_kg = "{quoted}"')
        else:
            body += f'\n"x_m" = "={quoted}"'
        with pytest.raises(MechanismError, match=r"expression|longer|deep|finite|value|arithmetic"):
            parse(body, "chain.toml")
