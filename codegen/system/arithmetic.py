"""Arithmetic in mechanism files: numbers, 3-vectors and a few functions, never Python's own eval.

`"unit(cross(a1, a2))"` is parsed by `ast` and walked; any node that is not listed here is refused.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from typing import Any

from codegen.system.syntax import SyntaxMistake, parsed
from codegen.system.vectors import Vector, cross, dot, minus, plus, times
from rig_configs.mistakes import near

Value = float | Vector


class ArithmeticMistake(ValueError):
    """An expression that has no value; the message names the part at fault."""


def _is_vector(value: Any) -> bool:
    return isinstance(value, tuple)


def _norm(a: Vector) -> float:
    return math.sqrt(dot(a, a))


def _unit(a: Vector) -> Vector:
    return times(1.0 / _norm(a), a)


def _mirror_y(a: Vector) -> Vector:
    return (a[0], -a[1], a[2])


# name -> (function, kinds of its arguments: "n"umber or "v"ector)
FUNCTIONS: dict[str, tuple[Callable[..., Value], str]] = {
    "unit": (_unit, "v"),
    "norm": (_norm, "v"),
    "dot": (dot, "vv"),
    "cross": (cross, "vv"),
    "mirror_y": (_mirror_y, "v"),
    "x": (lambda a: a[0], "v"),
    "y": (lambda a: a[1], "v"),
    "z": (lambda a: a[2], "v"),
    # other units are turned into SI where they are written
    "deg": (math.radians, "n"),
    "rpm": (lambda turns: turns * math.pi / 30.0, "n"),
    "mm": (lambda length: length / 1000.0, "n"),
    "sqrt": (math.sqrt, "n"),
    "sin": (math.sin, "n"),
    "cos": (math.cos, "n"),
    "tan": (math.tan, "n"),
    "atan2": (math.atan2, "nn"),
    "abs": (abs, "n"),
}
# ending of a name that is not in SI -> the ending to write
NOT_SI = {"_deg": "deg", "_rpm": "rpm", "_mm": "mm"}
CONSTANTS: dict[str, float] = {"pi": math.pi}


def evaluate(text: str, names: Mapping[str, Value]) -> Value:
    """Value of an arithmetic expression.

    Parameters
    ----------
    text : str
        For instance ``"deg(12) + norm(B - A) / 2"``.
    names : mapping of str to float or 3-tuple
        Values of the identifiers.

    Raises
    ------
    ArithmeticMistake
        Not an expression, an unknown name or function, mixed kinds, or no finite value.
    """
    try:
        tree = parsed(text)
    except SyntaxMistake as error:
        raise ArithmeticMistake(str(error)) from None
    try:
        value = _walk(tree, names)
        parts = value if _is_vector(value) else (value,)
        finite = all(math.isfinite(p) for p in parts)  # type: ignore[arg-type, union-attr]
    except (ZeroDivisionError, OverflowError, ValueError, RecursionError) as error:
        if isinstance(error, ArithmeticMistake):
            raise
        raise ArithmeticMistake(f"has no value ({error})") from None
    if not finite:
        raise ArithmeticMistake("is not finite")
    return value


def _walk(node: ast.expr, names: Mapping[str, Value]) -> Value:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name):
            return _lookup(name, names)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
            value = _walk(operand, names)
            if isinstance(op, ast.UAdd):
                return value
            return times(-1.0, value) if isinstance(value, tuple) else -value
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, _walk(left, names), _walk(right, names))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return _call(name, [_walk(arg, names) for arg in args])
        case ast.Tuple(elts=[x, y, z]) | ast.List(elts=[x, y, z]):
            parts = tuple(_walk(part, names) for part in (x, y, z))
            if any(isinstance(part, tuple) for part in parts):
                raise ArithmeticMistake("a vector's components must be numbers")
            return parts  # type: ignore[return-value]
    raise ArithmeticMistake(f"{ast.unparse(node)!r} is not arithmetic")


def _lookup(name: str, names: Mapping[str, Value]) -> Value:
    if name in names:
        return names[name]
    if name in CONSTANTS:
        return CONSTANTS[name]
    raise ArithmeticMistake(f"unknown name {name!r} ({near(name, [*names, *CONSTANTS])})")


def _binary(op: ast.operator, a: Value, b: Value) -> Value:
    a_vector, b_vector = isinstance(a, tuple), isinstance(b, tuple)
    if isinstance(op, ast.Add | ast.Sub) and a_vector == b_vector:
        if isinstance(a, tuple) and isinstance(b, tuple):
            return plus(a, b) if isinstance(op, ast.Add) else minus(a, b)
        return a + b if isinstance(op, ast.Add) else a - b  # type: ignore[operator]
    if isinstance(op, ast.Mult) and not (a_vector and b_vector):
        if isinstance(a, tuple):
            return times(b, a)
        return times(a, b) if isinstance(b, tuple) else a * b
    if isinstance(op, ast.Div) and not isinstance(b, tuple):
        return times(1.0 / b, a) if isinstance(a, tuple) else a / b
    if isinstance(op, ast.Pow) and not isinstance(a, tuple) and not isinstance(b, tuple):
        power = a**b
        if isinstance(power, complex):
            raise ArithmeticMistake("has no real value")
        return power
    kinds = f"{'vector' if a_vector else 'number'} and {'vector' if b_vector else 'number'}"
    raise ArithmeticMistake(f"{type(op).__name__.lower()} is not defined for {kinds}")


def _call(name: str, args: list[Value]) -> Value:
    if name not in FUNCTIONS:
        raise ArithmeticMistake(f"unknown function {name!r} ({near(name, FUNCTIONS)})")
    function, kinds = FUNCTIONS[name]
    given = "".join("v" if _is_vector(arg) else "n" for arg in args)
    if given != kinds:
        spelled = ", ".join("vector" if kind == "v" else "number" for kind in kinds)
        raise ArithmeticMistake(f"{name}() takes ({spelled})")
    return function(*args)
