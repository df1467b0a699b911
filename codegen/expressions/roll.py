"""Repetitions in a long straight-line routine.

The rows of two links of a mechanism with many like parts differ only in array indices and
constants. Consecutive assignments are cut into units, units that differ only in indices and
constants have the same shape, and a run of units whose shapes repeat with a short period becomes
one loop, `loop_text`. Order never changes, so this is safe for factorisations too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from codegen.expressions.dag import Expr
from codegen.expressions.descent import Steps, descend
from codegen.expressions.emit import Assign
from codegen.expressions.index_tables import even_index

PERIODS = 8  # longest repeating group of units
SHORTEST = 3  # repetitions that are worth a loop
CELL = re.compile(r"(.*)\[(\w+)\]$")


@dataclass
class Unit:
    """Assignments that share their parts, without their indices and constants.

    `shape` is the form that remains; `cells` are (array, index) and `numbers` the constants, in the
    order in which the shape meets them.
    """

    assigns: list[Assign]
    shape: tuple
    cells: list[tuple[str, int]]
    numbers: list[float]


Run = list[list[Unit]]  # the units of each pass of a loop; one pass: no loop


def runs(
    assigns: list[Assign],
    bind: Mapping[Expr, str],
    known: Mapping[Expr, str],
    places: Mapping[str, int],
    *,
    is_ordered: bool,
    is_split: bool,
) -> list[Run]:
    """A routine cut into loops; `places` has the number of each named index."""
    groups = [[assign] for assign in assigns] if is_split else _groups(assigns)
    units = [_unit(group, bind, known, places) for group in groups]
    if not is_ordered:
        first = {unit.shape: n for n, unit in reversed(list(enumerate(units)))}
        units.sort(key=lambda unit: first[unit.shape])
    found: list[Run] = []
    at = 0
    while at < len(units):
        period, times = _run(units, at)
        if times < SHORTEST:
            period, times = 1, 1
        found.append([units[at + k * period : at + (k + 1) * period] for k in range(times)])
        at += period * times
    return found


def length(found: list[Run]) -> int:
    """Operands and operations that the text of some loops has."""
    return sum(len(unit.shape) for run in found for unit in run[0])


def _groups(assigns: list[Assign]) -> list[list[Assign]]:
    """Consecutive assignments under the same label; those without a label stand alone."""
    groups: list[list[Assign]] = []
    for assign in assigns:
        if groups and assign.label and groups[-1][0].label == assign.label:
            groups[-1].append(assign)
        else:
            groups.append([assign])
    return groups


def _unit(assigns, bind, known, places) -> Unit:
    unit = Unit(assigns, (), [], [])
    cells: dict[tuple[str, int], int] = {}
    memo: dict[Expr, int] = {}
    shape: list[tuple] = []

    def cell(text: str) -> tuple:
        found = CELL.match(text)
        if found is None:
            return ("text", text)
        array, index = found.groups()
        key = (array, places[index] if index in places else int(index))
        if key not in cells:
            cells[key] = len(cells)
            unit.cells.append(key)
        return ("cell", array, cells[key])

    def number(value: float) -> tuple:
        unit.numbers.append(value)
        return ("number", len(unit.numbers) - 1)

    def walk(e: Expr) -> Steps[int]:
        if e not in memo:
            made = yield describe(e)
            shape.append(made)
            memo[e] = len(shape) - 1
        return memo[e]

    def describe(e: Expr) -> Steps[tuple]:
        if e in known:
            return cell(known[e])
        if e.op == "var":
            return cell(bind[e])
        if e.op == "const":
            return number(e.value)
        parts: list[object] = []
        if e.op == "sum":
            for c, a in zip(e.coefs, e.args, strict=True):
                sign = 1.0 if c > 0.0 else -1.0
                size = None if abs(c) == 1.0 else number(abs(c))
                parts.append((sign, size, (yield walk(a))))
        else:
            for a in e.args:
                parts.append((yield walk(a)))
        return (e.op, *parts)

    for assign in assigns:
        root = descend(walk(assign.expr))
        shape.append(("to", cell(assign.target), root))
    unit.shape = tuple(shape)
    return unit


def _run(units: list[Unit], at: int) -> tuple[int, int]:
    """Period and repetitions of the run of shapes from here: of those that cover most, up to a part
    of a pass, the one that needs fewest tables.
    """
    found = [(1, 1)]
    for period in range(1, PERIODS + 1):
        times = 1
        while True:
            begin = at + times * period
            if begin + period > len(units) or any(
                units[at + k].shape != units[begin + k].shape for k in range(period)
            ):
                break
            times += 1
        if times >= SHORTEST:
            found.append((period, times))
    most = max(period * times for period, times in found)
    wide = [(period, times) for period, times in found if period * times > most - period]

    def tables(candidate: tuple[int, int]) -> float:
        period, times = candidate
        passes = [units[at + k * period : at + (k + 1) * period] for k in range(times)]
        uneven = sum(even_index(column, "k") is None for column in columns(passes))
        return uneven / period

    return min(wide, key=lambda candidate: (tables(candidate), candidate[0]))


def columns(group: Run) -> list[list[int]]:
    """The index of each cell in every pass."""
    cells = [[cell for unit in units for cell in unit.cells] for units in group]
    return [[row[n][1] for row in cells] for n in range(len(cells[0]))]
