"""Arithmetic of a block's inputs as C, in the order in which it is written.

It does not go through the generator's graph: that one merges and reorders terms for speed, `u - u` would
lose a NaN, and rounding would not be what the text says. So the C text has the operations of the text, in
its order, and gives the same bits as the same arithmetic in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from codegen.system.arithmetic import CONSTANTS
from codegen.system.syntax import SyntaxMistake, parsed
from rig_configs.mistakes import near
from rig_configs.numbers import LARGEST, number_problem

# function → its name in C and how many arguments it takes
FUNCTIONS: Mapping[str, tuple[str, int]] = {
    "sin": ("sin", 1), "cos": ("cos", 1), "tan": ("tan", 1), "atan2": ("atan2", 2),
    "sqrt": ("sqrt", 1), "abs": ("fabs", 1), "exp": ("exp", 1), "log": ("log", 1), "tanh": ("tanh", 1),
    "min": ("rigloop_min", 2), "max": ("rigloop_max", 2), "sign": ("rigloop_sign", 1),
}  # fmt: skip
OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
}  # fmt: skip
MOST_POWER = 12


class ExpressionMistake(ValueError):
    """A text that is not arithmetic of the inputs; the message names the part at fault."""


def c_text(text: str, names: Collection[str]) -> str:
    """C text of an expression over `in->NAME`.

    Raises
    ------
    ExpressionMistake
        Not an expression, too long or deep, an unknown name or function, or anything but arithmetic.
    """
    try:
        return _walk(parsed(text), names)
    except SyntaxMistake as error:
        raise ExpressionMistake(str(error)) from None


def _walk(node: ast.expr, names: Collection[str]) -> str:
    # as deep as `parsed` allows
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _constant(number)
        case ast.Name(id=name):
            if name in names:
                return f"in->{name}"
            if name in CONSTANTS:
                return CONSTANTS[name].hex()
            raise ExpressionMistake(f"unknown name {name!r} ({near(name, [*names, *CONSTANTS])})")
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
            sign = "-" if isinstance(op, ast.USub) else "+"
            return f"({sign}{_walk(operand, names)})"
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            if isinstance(power, bool) or not 1 <= power <= MOST_POWER:
                raise ExpressionMistake(f"a power must be 1 to {MOST_POWER}")
            return f"rigloop_power({_walk(left, names)}, {power})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return f"({_walk(left, names)} {OPERATORS[type(op)]} {_walk(right, names)})"
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name not in FUNCTIONS:
                raise ExpressionMistake(f"unknown function {name!r} ({near(name, FUNCTIONS)})")
            function, count = FUNCTIONS[name]
            if len(args) != count:
                raise ExpressionMistake(f"{name}() takes {count} argument{'s' * (count > 1)}")
            return f"{function}({', '.join(_walk(arg, names) for arg in args)})"
    what = f"{ast.unparse(node)[:80]!r} is not arithmetic of the inputs"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor | ast.Pow):
        what += f" (a power is written u1**2, with a whole number from 1 to {MOST_POWER})"
    raise ExpressionMistake(what)


def _constant(number: float) -> str:
    if isinstance(number, int) and abs(number) > LARGEST:  # perhaps more than any float
        raise ExpressionMistake(f"a number is beyond the limit of {LARGEST:g}")
    if problem := number_problem(number):
        raise ExpressionMistake(f"a number {problem}")
    return float(number).hex()


# NaN in gives NaN out; a power is its factors, one after the other
SUPPORT = """\
static inline double rigloop_min(double a, double b) { return a < b || a != a ? a : b; }
static inline double rigloop_max(double a, double b) { return a > b || a != a ? a : b; }
static inline double rigloop_sign(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }
static inline double rigloop_power(double a, int n)
{
    double made = a;
    for (int i = 1; i < n; i++) made *= a;
    return made;
}
"""
