"""A run of units whose shapes repeat, as one loop.

An index that grows evenly is written as `a + b * k`; others, and constants that differ, come from
static tables. A value that the same or the next pass reads back stays in a local, `carry`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codegen.expressions.carry import Access, kept
from codegen.expressions.dag import Expr, Graph
from codegen.expressions.emit import Assign, C, Cost, Emitter
from codegen.expressions.index_tables import even_index, static_table
from codegen.expressions.roll import Run, Unit, columns


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


def _loop(name: str, group: Run, times: int) -> tuple[list[str], list[str], Cost]:
    numbers = [[number for unit in units for number in unit.numbers] for units in group]
    arrays = [cell[0] for unit in group[0] for cell in unit.cells]
    indices = columns(group)
    # constants that are equal in every pass share a column
    values = [tuple(row[n] for row in numbers) for n in range(len(numbers[0]))]
    varying = sorted({values.index(v) for v in values if len(set(v)) > 1})
    column_of = [values.index(v) for v in values]
    accesses = _accesses(group[0], arrays, indices)
    this, last = kept([access for access, _ in accesses]) if times > 1 else ({}, {})
    # a read that finds its value in a local needs no index
    read = {n for number, (_, n) in enumerate(accesses) if number not in {**this, **last}}
    uneven = [
        n for n, column in enumerate(indices) if n in read and even_index(column, "k") is None
    ]

    def place(n: int) -> str:
        if n in uneven:
            return f"{arrays[n]}[at[{uneven.index(n)}]]"
        return f"{arrays[n]}[{even_index(indices[n], 'k')}]"

    rebuilt = _Rebuilt(Graph(), {}, [place(n) for n in range(len(indices))], this, last)
    first_cell = first_number = 0
    for unit in group[0]:
        rebuilt.add(unit, first_cell, column_of[first_number:], varying)
        first_cell += len(unit.cells)
        first_number += len(unit.numbers)
    first_pass = Emitter(C, rebuilt.bind)
    lines, cost = first_pass.run(rebuilt.assigns)
    if last:
        # the value of the pass before arrives as late as it does here: sums wait for it last
        late = {f"last_{write}": first_pass.ready[f"this_{write}"] for write in last.values()}
        lines, _ = Emitter(C, rebuilt.bind, ready=late).run(rebuilt.assigns)
    if times == 1:
        return [], ["{", *(f"    {line}" for line in lines), "}"], cost
    tables, head = [], []
    if uneven:
        rows = [[indices[n][k] for n in uneven] for k in range(times)]
        tables.append(_rows("int", f"AT_{name}", rows))
        head.append(f"const int *at = AT_{name}[k];")
    if varying:
        constants = [[row[n] for n in varying] for row in numbers]
        tables.append(_rows("double", f"C_{name}", constants))
        head.append(f"const double *c = C_{name}[k];")
    begin, end = [], []
    for number, write in sorted(last.items()):
        n = accesses[number][1]
        local = f"double last_{write} = {arrays[n]}[{indices[n][0]}];"
        if local not in begin:
            begin.append(local)
            end.append(f"last_{write} = this_{write};")
    body = [f"    {line}" for line in head + lines + end]
    loop = [f"for (int k = 0; k < {times}; k++) {{", *body, "}"]
    if begin:
        loop = ["{", *(f"    {line}" for line in begin + loop), "}"]
    return tables, loop, cost


def _accesses(
    units: list[Unit], arrays: list[str], indices: list[list[int]]
) -> list[tuple[Access, int]]:
    """Reads and writes of a pass in their order, each with the number of its cell."""
    found = []
    first = 0
    for unit in units:
        for kind, *rest in unit.shape:
            at = rest[0] if kind == "to" else (kind, *rest)
            if at[0] == "cell":
                n = first + at[2]
                found.append((Access(arrays[n], tuple(indices[n]), kind == "to"), n))
        first += len(unit.cells)
    return found


@dataclass
class _Rebuilt:
    """Assignments of one pass over variables for its cells and varying constants.

    `places` has the text of each cell; `this` and `last` the reads that find their value in a local.
    """

    graph: Graph
    bind: dict[Expr, str]
    places: list[str]
    this: Mapping[int, int]
    last: Mapping[int, int]
    assigns: list[Assign] = field(default_factory=list)
    accesses: int = 0  # so far

    def add(self, unit: Unit, first: int, column_of: list[int], varying: list[int]) -> None:
        graph = self.graph
        made: list[Expr] = []

        def number(n: int) -> Expr:
            column = column_of[n]
            if column not in varying:
                return graph.const(unit.numbers[n])
            return self._var(f"c {column}", f"c[{varying.index(column)}]")

        for kind, *rest in unit.shape:
            if kind == "to":
                target, root = rest
                if target[0] == "cell":
                    self._write(first + target[2], made[root])
                else:
                    self.assigns.append(Assign(target[1], made[root]))
                made.append(made[root])
            elif kind == "cell":
                made.append(self._read(first + rest[1]))
            elif kind == "text":
                made.append(self._var(rest[0], rest[0]))
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

    def _var(self, name: str, text: str) -> Expr:
        var = self.graph.var(name)
        self.bind[var] = text
        return var

    def _read(self, n: int) -> Expr:
        number = self.accesses
        self.accesses += 1
        if number in self.this:
            local = f"this_{self.this[number]}"
            return self._var(local, local)
        if number in self.last:
            local = f"last_{self.last[number]}"
            return self._var(local, local)
        # earlier units of the same pass may have written it: a name per unit
        return self._var(f"cell {n}", self.places[n])

    def _write(self, n: int, e: Expr) -> None:
        number = self.accesses
        self.accesses += 1
        if number in {*self.this.values(), *self.last.values()}:
            local = f"this_{number}"
            self.assigns.append(Assign(f"const double {local}", e))
            e = self._var(local, local)
        self.assigns.append(Assign(self.places[n], e))


def _rows(kind: str, name: str, rows: list[list]) -> str:
    texts = ["{" + ", ".join(map(repr, row)) + "}" for row in rows]
    return static_table(kind, name, texts, width=len(rows[0]))
