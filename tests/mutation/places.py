"""Where a source can be changed so that a good test must notice: tokens of Python and Cython, nothing compiled."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SWAPS = {
    "<": ("<=",),
    "<=": ("<",),
    ">": (">=",),
    ">=": (">",),
    "==": ("!=",),
    "!=": ("==",),
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "+=": ("-=",),
    "-=": ("+=",),
    "|=": ("=",),
    "and": ("or",),
    "or": ("and",),
    "min": ("max",),
    "max": ("min",),
    "True": ("False",),
    "False": ("True",),
}
OPERANDS = (tokenize.NAME, tokenize.NUMBER)
WORDS = {"and", "or", "not", "if", "elif", "while", "return", "in", "is", "else", "lambda"}
# lines that declare, and so do nothing
HEADS = {
    *("cdef", "cpdef", "ctypedef", "cimport", "import", "from", "def", "class", "struct", "enum"),
    *("@", "global", "async", "raise", "assert", "pass", "except", "finally", "try", "with"),
}


class Mutation(NamedTuple):
    """One change of a source: the text from `begin` to `end` (of one line) becomes `new`."""

    line: int
    begin: int
    end: int
    kind: str
    old: str
    new: str


def find_mutations(text: str) -> list[Mutation]:
    """Return every mutation of a source, in order of place.

    Parameters
    ----------
    text
        A module in Python or Cython (.py, .pyx, .pxd).
    """
    lines = text.splitlines()
    found: list[Mutation] = []
    declared_from = -1  # the column of a struct or enum whose members are being passed over
    for statement in statements(text):
        words = {token.string for token in statement}
        column = statement[0].start[1]
        if column <= declared_from:
            declared_from = -1
        if statement[0].string in HEADS and words & {"struct", "enum", "extern", "class"}:
            declared_from = -1 if "class" in words else column
        if declared_from >= 0 or (
            statement[0].string in HEADS and not _has_body_on_the_line(statement)
        ):
            continue
        found += _in_statement(statement)
        found += _deletion(statement, lines)
    return sorted(found)


def apply_mutation(text: str, mutation: Mutation) -> str:
    """Return the source with one mutation in it."""
    lines = text.splitlines(keepends=True)
    line = lines[mutation.line - 1]
    lines[mutation.line - 1] = line[: mutation.begin] + mutation.new + line[mutation.end :]
    return "".join(lines)


def name_mutations(text: str, mutations: Sequence[Mutation]) -> dict[Mutation, str]:
    """Return a name of each mutation that stays when lines come or go elsewhere in the source."""
    lines = text.splitlines()
    seen: dict[str, int] = {}
    names = {}
    for m in sorted(mutations):
        line = lines[m.line - 1]
        name = f"{line.strip()} @{m.begin} {m.kind} {m.old} -> {m.new}"
        seen[name] = seen.get(name, 0) + 1
        names[m] = f"{name} #{seen[name]}"
    return names


def statements(text: str) -> Iterator[list[tokenize.TokenInfo]]:
    """Yield the tokens of each logical line, without comments and doc strings."""
    statement: list[tokenize.TokenInfo] = []
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            if statement and any(t.type != tokenize.STRING for t in statement):
                yield statement
            statement = []
        elif token.type not in skipped:
            statement.append(token)


def _has_body_on_the_line(statement: Sequence[tokenize.TokenInfo]) -> bool:
    """Tell whether a declaration also computes: `cdef bint arm = p.arm[0] > 0.5`."""
    return statement[0].string in ("cdef", "with") and any(t.string == "=" for t in statement)


def _in_statement(statement: Sequence[tokenize.TokenInfo]) -> Iterator[Mutation]:
    declared = statement[0].string in ("cdef", "cpdef")
    begin = next((i for i, t in enumerate(statement) if t.string == "="), 0) if declared else 0
    casts = _casts(statement)
    for i in range(begin, len(statement)):
        token = statement[i]
        if i in casts:
            continue
        before = statement[i - 1] if i else None
        binary = before is not None and (
            (before.type in OPERANDS and before.string not in WORDS) or before.string in (")", "]")
        )
        if token.string == "not":
            # "not in" and "is not" are one operator each
            after = statement[i + 1].string if i + 1 < len(statement) else ""
            if after != "in" and not (before is not None and before.string == "is"):
                yield _change(token, "negation", "")
        elif token.string == "-" and not binary:
            yield _change(token, "sign", "+")
        elif token.string in SWAPS:
            if token.type == tokenize.OP and not binary:
                continue
            if token.string in ("min", "max") and not _is_called(statement, i):
                continue
            for new in SWAPS[token.string]:
                yield _change(token, "swap", new)
        elif token.type == tokenize.NUMBER and not (before is not None and before.string == "["):
            yield _change(token, "number", _next_number(token.string))


def _casts(statement: Sequence[tokenize.TokenInfo]) -> set[int]:
    """Return the places of `<`, `>` and what stands between them in the casts of Cython."""
    found: set[int] = set()
    for i, token in enumerate(statement):
        if token.string != "<" or (
            i
            and (
                (statement[i - 1].type in OPERANDS and statement[i - 1].string not in WORDS)
                or statement[i - 1].string in (")", "]")
            )
        ):
            continue
        for j in range(i + 1, len(statement)):
            if statement[j].string == ">":
                found |= set(range(i, j + 1))
                break
            if statement[j].type != tokenize.NAME and statement[j].string not in ("*", "."):
                break
    return found


def _is_called(statement: Sequence[tokenize.TokenInfo], i: int) -> bool:
    return i + 1 < len(statement) and statement[i + 1].string == "("


def _next_number(text: str) -> str:
    if text.isdigit():
        return "0" if text == "1" else str(int(text) + 1)
    if text.lower().startswith("0x"):
        return f"{text} + 1"
    return f"{text} * 2" if text not in ("0.0", "0.") else "1.0"


def _change(token: tokenize.TokenInfo, kind: str, new: str) -> Mutation:
    row, column = token.start
    return Mutation(row, column, token.end[1], kind, token.string, new)


def _deletion(statement: Sequence[tokenize.TokenInfo], lines: Sequence[str]) -> Iterator[Mutation]:
    """Yield the deletion of an assignment to a field, an element, or of a call on one line."""
    first, last = statement[0], statement[-1]
    if first.start[0] != last.end[0] or first.type != tokenize.NAME:
        return
    if first.string in WORDS | HEADS | {"for", "elif", "else", "return", "yield"}:
        return
    if [t.string for t in statement[1:2]] == [":"] and "=" not in {t.string for t in statement}:
        return  # a field that is declared
    before = lines[first.start[0] - 1][: first.start[1]]
    if before.strip():
        return  # the rest of a line such as `if x: y = 1`
    row, column = first.start
    old = lines[row - 1][column : last.end[1]]
    yield Mutation(row, column, last.end[1], "deletion", old, "pass")
