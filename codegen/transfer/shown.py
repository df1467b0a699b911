"""The overall transfer equation as text and as LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.transfer.equation import Element, Factor, Row, Term, TransferEquation

LONGEST = 9  # factors of a product that is written out


def lines(of: TransferEquation) -> list[str]:
    """Row by row, one block a line."""
    states = [_state(of.root, "O"), *(_state(tip, "I") for tip in of.tips)]
    found = ["U_all z_all = 0", f"z_all = [{'; '.join(states)}]"]
    for r, row in enumerate(of.rows):
        found.append(f"row {r + 1}, {_about(row)}")
        for c, state in enumerate(states):
            terms = of.blocks.get((r, c), ())
            found.append(f"    {_sum(terms, _plain) if terms else '0'}   {state}")
    return found


def latex(of: TransferEquation) -> str:
    """U_all z_all = 0 with its blocks."""
    columns = 1 + len(of.tips)
    rows = []
    for r in range(len(of.rows)):
        cells = [
            _sum(terms, _tex) if (terms := of.blocks.get((r, c), ())) else r"\mathbf{0}"
            for c in range(columns)
        ]
        rows.append(" & ".join(cells))
    states = [_tex_state(of.root, "O"), *(_tex_state(tip, "I") for tip in of.tips)]
    body = " \\\\\n".join(rows)
    stacked = r" \\ ".join(states)
    return (
        f"\\left[\\begin{{array}}{{{'c' * columns}}}\n{body}\n\\end{{array}}\\right]\n"
        f"\\left[\\begin{{array}}{{c}} {stacked} \\end{{array}}\\right] = \\mathbf{{0}}"
    )


def legend(of: TransferEquation) -> list[tuple[str, str, str]]:
    """Number, name and role of each element; of the middle of a long chain nothing."""
    found = [(str(e.number), e.name, _role(e)) for e in of.elements]
    if len(found) > 6 * LONGEST:
        left = len(found) - 4 * LONGEST
        return [*found[: 2 * LONGEST], ("...", f"{left} more", ""), *found[-2 * LONGEST :]]
    return found


def _role(of: Element) -> str:
    if of.kind == "inputs":
        return f"body with {of.count} inputs"
    if of.kind == "joints":
        return f"the {of.count} joints that hang on it"
    return "body" if of.kind == "body" else of.joint


def _about(row: Row) -> str:
    if row.of is None:
        return "from the tips to the root"
    return f"where input {row.number} of {row.of.name} is, and no moment there"


def _sum(terms: Sequence[Term], spell) -> str:
    parts: list[str] = []
    # what all products end with is written once
    common = _common(terms) if len(terms) > 1 else 0
    for term in terms:
        factors = term.factors[: len(term.factors) - common] if common else term.factors
        text = spell(factors)
        sign = "-" if term.sign < 0 else "+" if parts else ""
        parts.append(f"{sign} {text}" if parts else f"{sign}{text}")
    if not common:
        return " ".join(parts)
    return f"({' '.join(parts)}) {spell(terms[0].factors[-common:])}"


def _common(terms: Sequence[Term]) -> int:
    count = 0
    for same in zip(*(reversed(term.factors) for term in terms), strict=False):
        if any(f != same[0] for f in same):
            break
        count += 1
    return min(count, *(len(term.factors) - 1 for term in terms))


def _plain(factors: Sequence[Factor]) -> str:
    return " ".join(_cut(factors, _plain_factor, "...")) or "-I"[1:]


def _tex(factors: Sequence[Factor]) -> str:
    return r" ".join(_cut(factors, _tex_factor, r"\cdots")) or r"\mathbf{I}"


def _cut(factors: Sequence[Factor], spell, dots: str) -> Iterator[str]:
    if len(factors) <= LONGEST:
        yield from map(spell, factors)
        return
    yield from map(spell, factors[: LONGEST // 2])
    yield dots
    yield from map(spell, factors[-(LONGEST // 2) :])


def _plain_factor(of: Factor) -> str:
    n = of.element.number
    if of.matrix == "H_out":
        return f"H[O1,I{of.number}]"
    if of.matrix == "H_in":
        return "H[a,m]"
    if of.element.kind == "inputs":
        return f"U[{n},I1-I{of.element.count}]"
    return f"U[{n},I{of.number}]" if of.element.kind == "joints" else f"U[{n}]"


def _tex_factor(of: Factor) -> str:
    n = of.element.number
    if of.matrix == "H_out":
        return rf"\mathbf{{H}}_{{O_1,I_{of.number}}}"
    if of.matrix == "H_in":
        return r"\mathbf{H}_{\ddot{r},m}"
    if of.element.kind == "inputs":
        return rf"\mathbf{{U}}_{{{n},I_1-I_{of.element.count}}}"
    if of.element.kind == "joints":
        return rf"\hat{{\mathbf{{U}}}}_{{{n},I_{of.number}}}"
    return rf"\mathbf{{U}}_{{{n}}}"


def _state(of: Element, side: str) -> str:
    return f"z[{of.number},{side}]"


def _tex_state(of: Element, side: str) -> str:
    return rf"\mathbf{{z}}_{{{of.number},{side}}}"
