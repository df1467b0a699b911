"""Units inside a formula: what is added or compared is alike, and what comes out is what the rig says.

A number in a formula may have any unit (a stiffness, a threshold), and so may all that is multiplied by one. What
nobody knows is not checked.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction

from codegen.system.syntax import SyntaxMistake, parsed
from rig_configs.units import ONE, Unit, parse
from rigloop.blocks.compiled.expression import MOST_POWER
from rt_core.settings import Refusal

RAD = parse("rad")
ALIKE = ("min", "max", "atan2")
OF_AN_ANGLE = ("sin", "cos", "tan")
OF_A_NUMBER = ("exp", "log", "tanh")


class UnitClash(ValueError):
    """A part of a formula whose units do not fit; the message names both."""


def formula_clash(text: str, units: Mapping[str, Unit | None], wanted: Unit | None) -> str:
    """Return what is wrong with the units of a formula; empty: nothing that is known.

    Parameters
    ----------
    units : mapping of input to unit
        Of what is wired; None where nobody knows it.
    wanted : Unit, optional
        Of the block's output.
    """
    try:
        found = _unit(parsed(text), units)
    except UnitClash as clash:
        return str(clash)
    except SyntaxMistake:  # said by those who compile it
        return ""
    if found is None or wanted is None or found == wanted:
        return ""
    return f"it gives {found}, and the block's unit is {wanted}"


def _unit(node: ast.expr, units: Mapping[str, Unit | None]) -> Unit | None:
    # as deep as `parsed` allows
    match node:
        case ast.Name(id=name):
            return units.get(name)
        case ast.UnaryOp(operand=operand):
            return _unit(operand, units)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            base = _unit(left, units)
            # a larger power is refused by those who compile it, and would fill the memory with its scale
            return base**power if base is not None and 1 <= power <= MOST_POWER else None
        case ast.BinOp(left=left, op=op, right=right):
            one, other = _unit(left, units), _unit(right, units)
            if isinstance(op, ast.Add | ast.Sub):
                return _alike(node, one, other)
            if one is None or other is None:
                return None
            return one * other if isinstance(op, ast.Mult) else one / other
        case ast.Call(func=ast.Name(id=name), args=args):
            return _of_call(node, name, [_unit(arg, units) for arg in args])
    return None


def _of_call(node: ast.expr, name: str, given: list[Unit | None]) -> Unit | None:
    if name in ALIKE and len(given) == 2:
        same = _alike(node, *given)
        return RAD if name == "atan2" else same
    if name in OF_AN_ANGLE or name in OF_A_NUMBER:
        allowed = {"rad": RAD, "a number": ONE} if name in OF_AN_ANGLE else {"a number": ONE}
        for unit in given:
            if unit is not None and unit not in allowed.values():
                raise UnitClash(f"{_shown(node)} takes {' or '.join(allowed)}, not {unit}")
        return ONE
    if name == "sign":
        return ONE
    if name == "sqrt" and given[0] is not None:
        try:
            return given[0] ** Fraction(1, 2)
        except Refusal:
            return None
    return given[0] if name == "abs" else None


def _alike(node: ast.expr, one: Unit | None, other: Unit | None) -> Unit | None:
    if one is not None and other is not None and one != other:
        raise UnitClash(f"{_shown(node)} adds or compares {one} and {other}")
    return other if one is None else one


def _shown(node: ast.expr) -> str:
    return repr(ast.unparse(node)[:80])
