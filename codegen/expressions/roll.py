"""Long straight-line routines as loops over index tables: the same text once per shape.

A routine of a mechanism with many like parts repeats itself: the rows of two links differ only in
array indices and constants. Consecutive assignments are cut into units, units that differ only in
indices and constants have the same shape, and a run of units whose shapes repeat with a short
period becomes one loop. Order never changes, so this is safe for factorisations too. An index that
grows evenly is written as `a + b * k`; others, and constants that differ, come from static tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from codegen.expressions.dag import Expr, Graph
from codegen.expressions.emit import Assign, C, Cost, Emitter

PERIODS = 8  # longest repeating group of units
SHORTEST = 3  # repetitions that are worth a loop
CELL = re.compile(r"(.*)\[(\w+)\]$")


@dataclass
class Unit:
    """Assignments that share their parts, without their indices and constants.

    `shape` is what is left of them; `cells` are (array, index) and `numbers` the constants, in the
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


def rolled(name: str, found: list[Run]) -> tuple[list[str], list[list[str]], Cost]:
    """Static tables, lines in blocks of their own, and cost of loops."""
    tables: list[str] = []
    blocks: list[list[str]] = []
    begun = 0  # lines so far
    cost = Cost()
    for run in found:
        more, body, spent = _loop(f"{name}_{begun}", run, len(run))
        tables += more
        blocks.append(body)
        begun += len(body)
        cost = cost.plus(spent, len(run))
    return tables, blocks, cost


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
    memo: dict[Expr, object] = {}
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

    def walk(e: Expr) -> object:
        if e not in memo:
            made = describe(e)
            shape.append(made)
            memo[e] = len(shape) - 1
        return memo[e]

    def describe(e: Expr) -> tuple:
        if e in known:
            return cell(known[e])
        if e.op == "var":
            return cell(bind[e])
        if e.op == "const":
            return number(e.value)
        if e.op == "sum":
            parts = []
            for c, a in zip(e.coefs, e.args, strict=True):
                sign = 1.0 if c > 0.0 else -1.0
                size = None if abs(c) == 1.0 else number(abs(c))
                parts.append((sign, size, walk(a)))
            return ("sum", *parts)
        return (e.op, *(walk(a) for a in e.args))

    for assign in assigns:
        root = walk(assign.expr)
        shape.append(("to", cell(assign.target), root))
    unit.shape = tuple(shape)
    return unit


def _run(units: list[Unit], at: int) -> tuple[int, int]:
    """Period and repetitions of the run of shapes that covers most from here."""
    best = (1, 1)
    for period in range(1, PERIODS + 1):
        times = 1
        while True:
            begin = at + times * period
            if begin + period > len(units) or any(
                units[at + k].shape != units[begin + k].shape for k in range(period)
            ):
                break
            times += 1
        if times >= SHORTEST and period * times > best[0] * best[1]:
            best = (period, times)
    return best


def _loop(name: str, group: list[list[Unit]], times: int) -> tuple[list[str], list[str], Cost]:
    cells = [[cell for unit in units for cell in unit.cells] for units in group]
    numbers = [[number for unit in units for number in unit.numbers] for units in group]
    columns = [[row[n][1] for row in cells] for n in range(len(cells[0]))]
    uneven = [n for n, column in enumerate(columns) if not _is_even(column)]
    # constants that are equal in every pass share a column
    values = [tuple(row[n] for row in numbers) for n in range(len(numbers[0]))]
    varying = sorted({values.index(v) for v in values if len(set(v)) > 1})
    column_of = [values.index(v) for v in values]

    def place(n: int) -> str:
        array = cells[0][n][0]
        if n in uneven:
            return f"{array}[at[{uneven.index(n)}]]"
        begin = columns[n][0]
        stride = columns[n][1] - begin if times > 1 else 0
        if stride == 0:
            return f"{array}[{begin}]"
        step = "k" if abs(stride) == 1 else f"{abs(stride)} * k"
        return f"{array}[{begin} {'+' if stride > 0 else '-'} {step}]"

    graph = Graph()
    bind: dict[Expr, str] = {}
    assigns: list[Assign] = []
    first_cell = first_number = 0
    for unit in group[0]:
        assigns += _rebuilt(graph, unit, first_cell, column_of[first_number:], place, varying, bind)
        first_cell += len(unit.cells)
        first_number += len(unit.numbers)
    lines, cost = Emitter(C, bind).run(assigns)
    if times == 1:
        return [], ["{", *(f"    {line}" for line in lines), "}"], cost
    tables, head = [], []
    if uneven:
        rows = [[columns[n][k] for n in uneven] for k in range(times)]
        tables.append(_table("int", f"AT_{name}", rows))
        head.append(f"const int *at = AT_{name}[k];")
    if varying:
        constants = [[row[n] for n in varying] for row in numbers]
        tables.append(_table("double", f"C_{name}", constants))
        head.append(f"const double *c = C_{name}[k];")
    body = [f"    {line}" for line in head + lines]
    return tables, [f"for (int k = 0; k < {times}; k++) {{", *body, "}"], cost


def _is_even(column: list[int]) -> bool:
    stride = column[1] - column[0] if len(column) > 1 else 0
    return all(value == column[0] + stride * k for k, value in enumerate(column))


def _rebuilt(graph, unit, first_cell, column_of, place, varying, bind) -> list[Assign]:
    """The unit's assignments over variables for its cells and varying constants."""
    made: list[Expr] = []
    assigns: list[Assign] = []

    def cell(n: int) -> Expr:
        # earlier units of the same pass may have written it: a name per unit
        var = graph.var(f"cell {first_cell + n}")
        bind[var] = place(first_cell + n)
        return var

    def number(n: int) -> Expr:
        column = column_of[n]
        if column not in varying:
            return graph.const(unit.numbers[n])
        var = graph.var(f"c {column}")
        bind[var] = f"c[{varying.index(column)}]"
        return var

    def leaf(described: tuple) -> Expr:
        if described[0] == "cell":
            return cell(described[2])
        var = graph.var(described[1])
        bind[var] = described[1]
        return var

    for kind, *rest in unit.shape:
        if kind == "to":
            target, root = rest
            text = place(first_cell + target[2]) if target[0] == "cell" else target[1]
            assigns.append(Assign(text, made[root]))
            made.append(made[root])
        elif kind in ("cell", "text"):
            made.append(leaf((kind, *rest)))
        elif kind == "number":
            made.append(number(rest[0]))
        elif kind == "sum":
            terms = []
            for sign, size, arg in rest:
                term = made[arg] if size is None else number(size[1]) * made[arg]
                terms.append((sign, term))
            made.append(graph.total(terms))
        elif kind == "mul":
            made.append(made[rest[0]] * made[rest[1]])
        elif kind == "inv":
            made.append(graph.reciprocal(made[rest[0]]))
        elif kind == "where":
            made.append(graph.where_less(*(made[a] for a in rest)))
        else:
            made.append(graph.call(kind, made[rest[0]]))
    return assigns


def _table(kind: str, name: str, rows: list[list]) -> str:
    width = len(rows[0])
    texts = ["{" + ", ".join(map(repr, row)) + "}" for row in rows]
    lines, line = [], "   "
    for text in texts:
        if len(line) + len(text) > 100 and line.strip():
            lines.append(line)
            line = "   "
        line += f" {text},"
    lines.append(line)
    body = "\n".join(lines)
    return f"static const {kind} {name}[{len(rows)}][{width}] = {{\n{body}\n}};"
