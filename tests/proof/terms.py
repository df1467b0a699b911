"""Terms of bitwuzla as values of C: integers of a width, doubles, truth."""

from __future__ import annotations

from typing import NamedTuple

from bitwuzla import Kind, RoundingMode, Sort, Term, TermManager

WIDTHS = {"int": 32, "int64_t": 64, "int32_t": 32, "int16_t": 16, "uint16_t": 16}
UNSIGNED = {"uint16_t"}


class Value(NamedTuple):
    """A value: its type of C (`bool`: a comparison, not yet an int), its term, and its number where it is known."""

    kind: str
    term: Term
    number: int | None = None


class Terms:
    """A term manager, with constants folded where it is easy."""

    def __init__(self) -> None:
        self.manager = TermManager()
        self.double = self.manager.mk_fp_sort(11, 53)
        self.nearest = self.manager.mk_rm_value(RoundingMode.RNE)
        self.down = self.manager.mk_rm_value(RoundingMode.RTN)
        self.to_zero = self.manager.mk_rm_value(RoundingMode.RTZ)
        self.true = self.manager.mk_true()
        self.false = self.manager.mk_false()
        self.count = 0

    def of(self, kind: Kind, *args: Term, indices: tuple[int, ...] = ()) -> Term:
        return self.manager.mk_term(kind, list(args), list(indices))

    def sort(self, kind: str) -> Sort:
        return self.double if kind == "double" else self.manager.mk_bv_sort(WIDTHS[kind])

    def fresh(self, kind: str, name: str) -> Value:
        self.count += 1
        return Value(kind, self.manager.mk_const(self.sort(kind), f"{name}!{self.count}"))

    def integer(self, number: int, kind: str = "int") -> Value:
        number &= (1 << WIDTHS[kind]) - 1
        term = self.manager.mk_bv_value(self.sort(kind), number)
        if kind not in UNSIGNED and number >> (WIDTHS[kind] - 1):
            number -= 1 << WIDTHS[kind]
        return Value(kind, term, number)

    def real(self, text: str) -> Value:
        if "." not in text and "e" not in text.lower():
            text += ".0"
        mantissa, _, exponent = text.lower().partition("e")
        if not exponent:
            return Value("double", self.manager.mk_fp_value(self.double, self.nearest, mantissa))
        whole, _, part = mantissa.partition(".")
        power = int(exponent) - len(part)
        top, below = int(whole + part) * 10 ** max(power, 0), 10 ** max(-power, 0)
        return Value(
            "double", self.manager.mk_fp_value(self.double, self.nearest, str(top), str(below))
        )

    def nan(self) -> Value:
        return Value("double", self.manager.mk_fp_nan(self.double))

    def not_(self, a: Term) -> Term:
        if a.is_true():
            return self.false
        return self.true if a.is_false() else self.of(Kind.NOT, a)

    def and_(self, *parts: Term) -> Term:
        if any(part.is_false() for part in parts):
            return self.false
        kept = [part for part in parts if not part.is_true()]
        if not kept:
            return self.true
        return kept[0] if len(kept) == 1 else self.of(Kind.AND, *kept)

    def or_(self, *parts: Term) -> Term:
        return self.not_(self.and_(*(self.not_(part) for part in parts)))

    def implies(self, a: Term, b: Term) -> Term:
        return self.or_(self.not_(a), b)

    def ite(self, condition: Term, a: Term, b: Term) -> Term:
        if condition.is_true() or a.id() == b.id():
            return a
        return b if condition.is_false() else self.of(Kind.ITE, condition, a, b)

    def choose(self, condition: Term, a: Value, b: Value) -> Value:
        if condition.is_true():
            return a
        if condition.is_false():
            return b
        if a.kind != b.kind:
            raise TypeError(f"{a.kind} and {b.kind} are not chosen between")
        return Value(a.kind, self.ite(condition, a.term, b.term))

    def truth(self, value: Value) -> Term:
        """Return whether a value counts as true."""
        if value.kind == "bool":
            return value.term
        if value.number is not None:
            return self.true if value.number else self.false
        if value.kind == "double":
            return self.not_(self.of(Kind.FP_EQUAL, value.term, self.real("0.0").term))
        return self.not_(self.of(Kind.EQUAL, value.term, self.integer(0, value.kind).term))

    def is_finite(self, x: Term) -> Term:
        return self.and_(
            self.not_(self.of(Kind.FP_IS_NAN, x)), self.not_(self.of(Kind.FP_IS_INF, x))
        )

    def cast(self, value: Value, kind: str) -> Value:
        """Return a value as one of another type; the caller has the range of a double seen to."""
        if value.kind == kind:
            return value
        if value.number is not None and kind in WIDTHS:
            return self.integer(value.number, kind)
        if value.number is not None and kind == "double":
            return self.real(f"{value.number}.0")
        if value.kind == "bool":
            if kind == "bool":
                return value
            one, zero = self.integer(1), self.integer(0)
            return self.cast(Value("int", self.ite(value.term, one.term, zero.term)), kind)
        if kind == "bool":
            return Value("bool", self.truth(value))
        if value.kind == "double":
            return Value(
                kind, self.of(Kind.FP_TO_SBV, self.to_zero, value.term, indices=(WIDTHS[kind],))
            )
        if kind == "double":
            sign = Kind.FP_TO_FP_FROM_UBV if value.kind in UNSIGNED else Kind.FP_TO_FP_FROM_SBV
            return Value(kind, self.of(sign, self.nearest, value.term, indices=(11, 53)))
        wider = WIDTHS[kind] - WIDTHS[value.kind]
        if wider > 0:
            extend = Kind.BV_ZERO_EXTEND if value.kind in UNSIGNED else Kind.BV_SIGN_EXTEND
            return Value(kind, self.of(extend, value.term, indices=(wider,)))
        if wider < 0:
            return Value(kind, self.of(Kind.BV_EXTRACT, value.term, indices=(WIDTHS[kind] - 1, 0)))
        return Value(kind, value.term)
