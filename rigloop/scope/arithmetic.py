"""Conditions over arrays: a syntax tree of comparisons and arithmetic, checked once, computed for many cycles at once.

Its functions are those of the `expression` block, with the same result for NaN.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.system.arithmetic import CONSTANTS
from rig_configs.mistakes import near
from rig_configs.numbers import LARGEST
from rigloop.blocks.compiled.expression import MOST_POWER

Value = NDArray[Any] | float

FUNCTIONS: Mapping[str, tuple[Callable[..., Any], int]] = {
    "sin": (np.sin, 1), "cos": (np.cos, 1), "tan": (np.tan, 1), "atan2": (np.arctan2, 2),
    "sqrt": (np.sqrt, 1), "abs": (np.abs, 1), "exp": (np.exp, 1), "log": (np.log, 1), "tanh": (np.tanh, 1),
    "min": (np.minimum, 2), "max": (np.maximum, 2), "sign": (np.sign, 1),
}  # fmt: skip
OPERATORS: Mapping[type[ast.operator], Callable[..., Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide,
}  # fmt: skip
COMPARISONS: Mapping[type[ast.cmpop], Callable[..., Any]] = {
    ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal,
    ast.Eq: np.equal, ast.NotEq: np.not_equal,
}  # fmt: skip


class ArithmeticMistake(ValueError):
    """A tree that is not a condition on the names; the message names the part at fault."""


def checked_tree(tree: ast.expr, names: Sequence[str]) -> None:
    """Check that a tree is a condition on these names, and nothing else.

    Raises
    ------
    ArithmeticMistake
    """
    _check_condition(tree, names)


def values_of(tree: ast.expr, names: Mapping[str, NDArray[np.float64]]) -> Value:
    """Compute a checked tree, shape (n,) of the arrays; a comparison with NaN does not hold."""
    with np.errstate(all="ignore"):
        return _computed(tree, names)


def _check_condition(node: ast.expr, names: Sequence[str]) -> None:
    match node:
        case ast.BoolOp(values=values):
            for value in values:
                _check_condition(value, names)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            _check_condition(operand, names)
        case ast.Compare(left=left, ops=ops, comparators=others):
            if any(type(op) not in COMPARISONS for op in ops):
                raise ArithmeticMistake(
                    f"{ast.unparse(node)[:80]!r} is not a comparison of numbers"
                )
            for part in (left, *others):
                _check_number(part, names)
        case _:
            raise ArithmeticMistake(f"{ast.unparse(node)[:80]!r} is not a comparison")


def _check_number(node: ast.expr, names: Sequence[str]) -> None:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            if not abs(number) <= LARGEST:
                raise ArithmeticMistake(f"a number is beyond the limit of {LARGEST:g}")
        case ast.Name(id=name):
            if name not in names and name not in CONSTANTS:
                raise ArithmeticMistake(f"unknown name {name!r} ({near(name, CONSTANTS)})")
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check_number(operand, names)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            if isinstance(power, bool) or not 1 <= power <= MOST_POWER:
                raise ArithmeticMistake(f"a power must be 1 to {MOST_POWER}")
            _check_number(left, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            _check_number(left, names)
            _check_number(right, names)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name not in FUNCTIONS:
                raise ArithmeticMistake(f"unknown function {name!r} ({near(name, FUNCTIONS)})")
            if len(args) != FUNCTIONS[name][1]:
                raise ArithmeticMistake(f"{name}() takes {FUNCTIONS[name][1]} arguments")
            for argument in args:
                _check_number(argument, names)
        case _:
            raise ArithmeticMistake(f"{ast.unparse(node)[:80]!r} is not arithmetic of signals")


def _computed(node: ast.expr, names: Mapping[str, NDArray[np.float64]]) -> Value:
    match node:
        case ast.BoolOp(op=op, values=values):
            joined = np.logical_and if isinstance(op, ast.And) else np.logical_or
            return reduce(joined, [_computed(value, names) for value in values])
        case ast.UnaryOp(op=op, operand=operand):
            found = _computed(operand, names)
            if isinstance(op, ast.Not):
                return np.logical_not(found)
            return -found if isinstance(op, ast.USub) else found
        case ast.Compare(left=left, ops=ops, comparators=others):
            parts = [_computed(part, names) for part in (left, *others)]
            pairs = zip(ops, parts, parts[1:], strict=False)
            return reduce(np.logical_and, [COMPARISONS[type(op)](a, b) for op, a, b in pairs])
        case ast.Constant(value=number):
            return float(number)  # type: ignore[arg-type]
        case ast.Name(id=name):
            return names[name] if name in names else CONSTANTS[name]
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            return _computed(left, names) ** power
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](_computed(left, names), _computed(right, names))
        case ast.Call(func=ast.Name(id=name), args=args):
            return FUNCTIONS[name][0](*(_computed(arg, names) for arg in args))
    raise AssertionError(ast.unparse(node))
