"""Every change of a module in one build of it: a number in the environment says which one acts.

To compile takes longer than to test. So a statement with changes becomes a choice between them:

    if CHANGE == 3: x = a - b        while (a <= b if CHANGE == 5 else a < b):
    else: x = a + b                      ...
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from places import Mutation, apply_mutation, statements

VARIABLE = "RIGLOOP_MUTATION"
NONE = -1
HEADER = f'import os as _os\ncdef int _CHANGE = int(_os.environ.get("{VARIABLE}", "{NONE}"))\n'
CONDITIONS = ("if", "elif", "while")
# their expression stands once for many turns, or they belong to a block: compiled one by one
OTHERS = ("for", "else", "with", "try", "except", "finally", "class", "def", "cpdef")


class Woven(NamedTuple):
    """A source with a choice at each change, and the number of each change that is in it."""

    text: str
    numbers: dict[Mutation, int]


def weave(text: str, mutations: Iterable[Mutation], left_out: Iterable[int] = ()) -> Woven:
    """Put as many mutations of a .pyx as possible into it; those of the lines `left_out` are not tried."""
    left = set(left_out)
    waiting = sorted(mutations)
    numbers: dict[Mutation, int] = {}
    lines = text.splitlines()
    found = list(statements(text))
    for statement in reversed(found):
        first, last = statement[0], statement[-1]
        rows = range(first.start[0], last.end[0] + 1)
        of = [m for m in waiting if m.line in rows and m.begin >= _column(first, m)]
        if not of or left & set(rows):
            continue
        chosen = {len(numbers) + i: m for i, m in enumerate(of)}
        new = _choice(text, lines, statement, chosen)
        if new:
            lines[rows[0] - 1 : rows[-1]] = new
            numbers |= {m: k for k, m in chosen.items()}
    begin = found[0][0].start[0] - 1
    lines[begin:begin] = HEADER.splitlines()
    return Woven("\n".join(lines) + "\n", numbers)


def wrong_lines(woven: Woven, errors: str) -> set[int]:
    """Return the lines of the source whose changes the compiler refuses, by what it says of the woven one."""
    lines = woven.text.splitlines()
    by_number = {k: m.line for m, k in woven.numbers.items()}
    wrong = set()
    for place in re.findall(r"\.pyx:(\d+):\d+:", errors):
        # the choice that the line belongs to begins above it
        for line in reversed(lines[: int(place)]):
            if numbers := re.findall(r"_CHANGE == (\d+)", line):
                wrong |= {by_number[int(k)] for k in numbers}
                break
    return wrong


def _column(first: tokenize.TokenInfo, mutation: Mutation) -> int:
    return first.start[1] if mutation.line == first.start[0] else 0


def _choice(
    text: str,
    lines: Sequence[str],
    statement: Sequence[tokenize.TokenInfo],
    chosen: dict[int, Mutation],
) -> list[str]:
    """Return the lines in place of the statement, or none when it cannot hold a choice."""
    first, last = statement[0], statement[-1]
    rows = slice(first.start[0] - 1, last.end[0])
    old = lines[rows]
    if old[0][: first.start[1]].strip() or first.string in OTHERS or first.string == "@":
        return []
    changed = {k: apply_mutation(text, m).splitlines()[rows] for k, m in chosen.items()}
    if first.string in CONDITIONS:
        if last.string != ":":
            return []
        # `not` makes truth values of both sides, of whatever types they are
        return _in_expression(old, changed, first.end[1] + 1, last.start, "not ")
    if first.string == "cdef":
        depth, begin = 0, 0
        for token in statement:
            depth += (token.string in "([{") - (token.string in ")]}") if token.string else 0
            if depth == 0 and token.string == "," and begin:
                return []
            if depth == 0 and token.string == "=" and not begin:
                begin = token.end[1] + 1
                if token.start[0] != first.start[0]:
                    return []
        return _in_expression(old, changed, begin, last.end) if begin else []
    indent = old[0][: first.start[1]]
    new = []
    for word, (k, block) in zip(("if", *["elif"] * len(changed)), changed.items(), strict=False):
        new += [f"{indent}{word} _CHANGE == {k}:", *(f"    {line}" for line in block)]
    return [*new, f"{indent}else:", *(f"    {line}" for line in old)]


def _in_expression(
    old: Sequence[str],
    changed: dict[int, list[str]],
    begin: int,
    end: tuple[int, int],
    prefix: str = "",
) -> list[str]:
    """Make the expression from `begin` of the first line to `end` a choice in parentheses."""

    def expression(block: Sequence[str]) -> str:
        # a change moves the end of its own line only
        tail = len(old[-1]) - end[1]
        inner = [*block[:-1], block[-1][: len(block[-1]) - tail]]
        inner[0] = inner[0][begin:]
        return f"({prefix}(" + "\n".join(line.partition("  #")[0] for line in inner) + "))"

    choices = "".join(f"{expression(b)} if _CHANGE == {k} else " for k, b in changed.items())
    tail = old[-1][end[1] :]
    return f"{old[0][:begin]}{prefix}({choices}{expression(old)}){tail}".split("\n")
