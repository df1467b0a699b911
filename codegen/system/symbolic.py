"""User-written expressions of a mechanism's coordinates: the same safe arithmetic as parameters,
over coordinates and `rate(...)`, their time derivative.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from codegen.expressions import smooth
from codegen.expressions.dag import Expr, Graph
from codegen.system.arithmetic import CONSTANTS, ArithmeticMistake
from codegen.system.syntax import SyntaxMistake, parsed
from rig_configs.mistakes import near

if TYPE_CHECKING:
    from codegen.system.system import System

FUNCTIONS: dict[str, Callable[[Graph, Expr], Expr]] = {
    "sin": lambda graph, x: graph.call("sin", x),
    "cos": lambda graph, x: graph.call("cos", x),
    "sqrt": lambda graph, x: graph.call("sqrt", x),
    "abs": lambda graph, x: graph.call("abs", x),
    "exp": lambda graph, x: smooth.exp(x),
    "tanh": lambda graph, x: smooth.tanh(x),
    "deg": lambda graph, x: x * (math.pi / 180.0),
}


def expression(
    key: str, text: str, system: System, extra: Mapping[str, Expr] | None = None
) -> Expr:
    """An expression of coordinates by name (`rack`, `PL_x`), `rate(name)`, numbers of
    `[parameters]`, arithmetic, integer powers, the functions above, and whatever else is given. A
    mistake is noted and zero returned.
    """
    known: dict[str, Any] = {c.name: c.q for c in system.coordinates}
    known |= {name: value for name, value in system.names.items() if isinstance(value, float)}
    known |= CONSTANTS | dict(extra or {})
    try:
        return system.graph.lift(_walk(parsed(text), known, system))
    except (SyntaxMistake, ArithmeticMistake) as error:
        system.mistake(key, text, str(error), "correct the expression")
    except (ZeroDivisionError, OverflowError, ValueError, RecursionError) as error:
        system.mistake(key, text, f"has no value ({error})", "correct the expression")
    return system.graph.zero


def _walk(node: ast.expr, known: Mapping[str, Any], system: System) -> Expr:
    graph = system.graph
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            value = float(number)
            if not math.isfinite(value):
                raise ArithmeticMistake("is not finite")
            return graph.const(value)
        case ast.Name(id=name):
            if name not in known:
                if system.is_excused(name):
                    return graph.var("unknown")
                raise ArithmeticMistake(f"unknown name {name!r} ({near(name, known)})")
            return graph.lift(known[name])
        case ast.Attribute():
            name = ast.unparse(node)  # a value of an element
            if name not in known:
                if ".".join(name.split(".")[:2]) in system.failed:
                    return graph.var("unknown")
                raise ArithmeticMistake(f"unknown value {name!r} ({near(name, known)})")
            return graph.lift(known[name])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_walk(operand, known, system)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            if not 1 <= power <= 12:
                raise ArithmeticMistake("a power must be 1 to 12")
            base = made = _walk(left, known, system)
            for _ in range(power - 1):
                made = made * base
            return made
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _walk(left, known, system), _walk(right, known, system)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a * graph.reciprocal(b)
        case ast.Call(func=ast.Name(id="rate"), args=[inner], keywords=[]):
            return _rate(_walk(inner, known, system), system)
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]):
            if name not in FUNCTIONS:
                raise ArithmeticMistake(
                    f"unknown function {name!r} ({near(name, [*FUNCTIONS, 'rate'])})"
                )
            return FUNCTIONS[name](graph, _walk(inner, known, system))
    raise ArithmeticMistake(f"{ast.unparse(node)!r} is not arithmetic of coordinates")


def _rate(inner: Expr, system: System) -> Expr:
    still = {c.q for c in system.coordinates} | {p.var for p in system.parameters}
    if any(var not in still and var.name != "unknown" for var in system.graph.variables(inner)):
        raise ArithmeticMistake("rate() takes coordinates, no rates, forces or input signals")
    return system.rate(inner)
