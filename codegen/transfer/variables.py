"""Variables of one link's text: components of its record, what it is given, and values that later sweeps read."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.expressions.dag import Expr, Graph
from codegen.spatial.algebra import Matrix, Value
from codegen.system.vectors import Vector
from codegen.transfer.pattern import Pattern

ROWS, OMEGA, ALPHA, A, RECORD = 0, 9, 12, 15, 18  # components of a record that children read
HAND = 27  # S (6, 9, 6), and moment and force of e
SYMMETRIC = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class Variables:
    """Variables of one link, bound to `own[]`, `up[]`, `given[]` and other arrays.

    Attributes
    ----------
    kept : list of (Expr, Expr)
        Variables for values that a later sweep may read, in the order in which they were found.
    """

    def __init__(self, graph: Graph, pattern: Pattern) -> None:
        self.graph, self.pattern = graph, pattern
        self.bind: dict[Expr, str] = {}
        self.kept: list[tuple[Expr, Expr]] = []

    def keep(self, value: Value) -> Expr:
        """A value that a later sweep may read, as a variable of the record; a number stays what it is."""
        e = self.graph.lift(value)
        if e.is_const:
            return e
        var = self.graph.var(f"kept {len(self.kept)}")
        self.kept.append((var, e))
        return var

    def keep_vector(self, v: Vector) -> Vector:
        """The same of three."""
        return triple([self.keep(e) for e in v])

    def component(self, array: str, k: int) -> Expr:
        """A component of the link's record, or of its parent's."""
        value = self.pattern.record[k]
        if value is not None:
            return self.graph.const(value)
        var = self.graph.var(f"{array} {k}")
        self.bind[var] = f"{array}[{self.pattern.place[k]}]"
        return var

    def given(self, k: int) -> Expr:
        """A component of S and e that the links on this one hand on."""
        value = self.pattern.hand[k]
        if value is not None:
            return self.graph.const(value)
        var = self.graph.var(f"given {k}")
        if k in self.pattern.handed:
            self.bind[var] = f"given[{self.pattern.handed[k]}]"
        return var

    def var(self, name: str, array: str, number: int) -> Expr:
        """An element of another array."""
        var = self.graph.var(f"{name} {number}")
        self.bind[var] = f"{array}[{number}]"
        return var


def rows_of(record: Sequence[Value]) -> tuple[Vector, Vector, Vector]:
    """The axes of the ground in those of a link."""
    return triple(record[0:]), triple(record[3:]), triple(record[6:])


def full(entries: Sequence[Value]) -> Matrix:
    """A symmetric matrix from the entries of its upper triangle."""
    made: Matrix = [[0.0] * 3 for _ in range(3)]
    for (i, j), e in zip(SYMMETRIC, entries, strict=True):
        made[i][j] = made[j][i] = e
    return made


def triple(values: Sequence[Value]) -> Vector:
    """The first three of some values."""
    return (values[0], values[1], values[2])
