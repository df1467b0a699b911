"""A property is proved when no values fulfil its preconditions and not it."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from bitwuzla import Bitwuzla, Kind, Option, Options, Result, Term
from c_symbolic import COMPARE, Contract, Program
from terms import Terms, Value
from tools import Answer

LONGEST_S = 120.0


class Question(NamedTuple):
    """Assumptions and what shall follow; the values to show when it does not."""

    assumed: Sequence[Term]
    goal: Term
    shown: Mapping[str, Value]


class Property(NamedTuple):
    """A property of functions of one header, in words; `ask` makes the question of a program."""

    name: str
    source: str
    words: str
    ask: Callable[[Program], Question]
    contracts: Mapping[str, Contract] = {}  # in place of these functions


def prove(
    wanted: Property, changed: Mapping[str, str] | None = None, longest_s: float = LONGEST_S
) -> Answer:
    """Try to prove a property, of the source as it is or of a changed one."""
    begin = time.monotonic()
    program = Program(wanted.source, changed)
    program.contracts.update(wanted.contracts)
    question = wanted.ask(program)
    known = _known_of(program, [*question.assumed, question.goal])
    question = question._replace(assumed=[*question.assumed, *known])
    result, said = _check(program.terms, question, longest_s)
    outcome = {Result.UNSAT: "proved", Result.SAT: "false"}.get(result, "open")
    return Answer(wanted.name, "bitwuzla", outcome, time.monotonic() - begin, said)


def _known_of(program: Program, terms: Sequence[Term]) -> list[Term]:
    """Return what is known of the symbols that these terms reach; the rest would only burden the solver."""
    reached: set[int] = set()
    waiting, left, found = list(terms), list(program.known_of), []
    while waiting:
        while waiting:
            term = waiting.pop()
            if term.id() not in reached:
                reached.add(term.id())
                waiting += term.children()
        new = [law for symbol, law in left if symbol.id() in reached]
        left = [pair for pair in left if pair[0].id() not in reached]
        found += new
        waiting += new
    return found


def _check(terms: Terms, question: Question, longest_s: float) -> tuple[Result, str]:
    options = Options()
    options.set(Option.PRODUCE_MODELS, True)
    options.set(Option.TIME_LIMIT_PER, int(1000 * longest_s))
    solver = Bitwuzla(terms.manager, options)
    for term in question.assumed:
        solver.assert_formula(term)
    solver.assert_formula(terms.not_(question.goal))
    result = solver.check_sat()
    if result != Result.SAT:
        return result, ""
    return result, ", ".join(
        f"{name} = {_shown(solver, value)}" for name, value in question.shown.items()
    )


def _shown(solver: Bitwuzla, value: Value) -> str:
    found = solver.get_value(value.term)
    if value.kind == "double":
        return repr(struct.unpack(">d", int(found.value(2, False), 2).to_bytes(8, "big"))[0])
    if value.kind == "bool":
        return str(found.is_true())
    number = int(found.value(10))
    width = found.sort().bv_size()
    return str(number - (1 << width) if number >> (width - 1) else number)


class Words:
    """Comparisons of values, as terms."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    def compare(self, op: str, a: Value | float, b: Value | float) -> Term:
        a, b = self._both(a, b)
        found = self.terms.of(COMPARE[op][a.kind == "double"], a.term, b.term)
        return self.terms.not_(found) if op == "!=" else found

    def _both(self, a: Value | float, b: Value | float) -> tuple[Value, Value]:
        kind = a.kind if isinstance(a, Value) else b.kind if isinstance(b, Value) else "double"
        if kind == "bool":
            kind = "int"
        return self._value(a, kind), self._value(b, kind)

    def _value(self, a: Value | float, kind: str) -> Value:
        if isinstance(a, Value):
            return self.terms.cast(a, kind)
        return (
            self.terms.real(repr(float(a)))
            if kind == "double"
            else self.terms.integer(int(a), kind)
        )

    def le(self, a: Value | float, b: Value | float) -> Term:
        return self.compare("<=", a, b)

    def lt(self, a: Value | float, b: Value | float) -> Term:
        return self.compare("<", a, b)

    def eq(self, a: Value | float, b: Value | float) -> Term:
        return self.compare("==", a, b)

    def ne(self, a: Value | float, b: Value | float) -> Term:
        return self.compare("!=", a, b)

    def within(self, low: Value | float, a: Value, high: Value | float) -> Term:
        return self.all(self.le(low, a), self.le(a, high))

    def one_of(self, a: Value, *numbers: int) -> Term:
        return self.any(*(self.eq(a, number) for number in numbers))

    def true(self, a: Value) -> Term:
        return self.terms.truth(a)

    def all(self, *parts: Term) -> Term:
        return self.terms.and_(*parts)

    def any(self, *parts: Term) -> Term:
        return self.terms.or_(*parts)

    def no(self, part: Term) -> Term:
        return self.terms.not_(part)

    def implies(self, a: Term, b: Term) -> Term:
        return self.terms.implies(a, b)

    def finite(self, a: Value) -> Term:
        return self.terms.is_finite(a.term)

    def size(self, a: Value) -> Value:
        return Value("double", self.terms.of(Kind.FP_ABS, a.term))

    def same(self, a: Value, b: Value) -> Term:
        """Return whether they are the same bits, or the same kind of NaN."""
        return self.terms.of(Kind.EQUAL, a.term, b.term)

    def by_cases(self, a: Value, law: Callable[[Value], Term]) -> Term:
        """Return a law of each of the values that a value is chosen from: they share their terms with the path."""
        if a.term.kind() != Kind.ITE:
            return law(a)
        condition, *chosen = a.term.children()
        one, other = (self.by_cases(Value(a.kind, term), law) for term in chosen)
        return self.all(self.implies(condition, one), self.implies(self.no(condition), other))

    def minus(self, a: Value) -> Value:
        return Value("double", self.terms.of(Kind.FP_NEG, a.term))

    def sum(self, a: Value, b: Value) -> Value:
        return Value("double", self.terms.of(Kind.FP_ADD, self.terms.nearest, a.term, b.term))

    def difference(self, a: Value, b: Value) -> Value:
        return Value("double", self.terms.of(Kind.FP_SUB, self.terms.nearest, a.term, b.term))

    def needs(self, program: Program, but: str = "nothing") -> Term:
        """Return whether all of what was met has defined behaviour, but for needs of this name."""
        return self.all(*(need.term for need in program.needs if not need.place.startswith(but)))
