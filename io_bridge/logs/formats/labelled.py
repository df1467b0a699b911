"""Rows whose cells bring their names, as `t:12,enc:345` of a serial plotter or `{"t": 12}`, and rows between brackets.

The names become those of the columns, and brackets around a whole row go.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

CELL = re.compile(
    r"(?<![\w\"])\"?([A-Za-z_]\w{0,40})\"?\s{0,4}[:=]\s{0,4}(?=[+-]?\.?\d|nan\b|NaN\b|null\b)"
)
ENCLOSED = re.compile(r"\s*(?:\[(.*)\]|\((.*)\)|\{(.*)\})[,;]?\s*\Z")
SAMPLE = 400  # lines that are looked at
LEAST_SHARE = 0.6  # of them, that have the same names
LEAST_NAMES = 2


def are_enclosed(lines: Sequence[str]) -> bool:
    """Tell lines of which most stand between brackets."""
    sample = _sample(lines)
    return sum(bool(ENCLOSED.match(line)) for line in sample) > LEAST_SHARE * len(sample)


def without_brackets(lines: Sequence[str]) -> list[str]:
    """Return lines without the brackets around each; those without any stay as they are."""
    found = []
    for line in lines:
        match = ENCLOSED.match(line)
        found.append(next(g for g in match.groups() if g is not None) if match else line)
    return found


def labels_of(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the names that most lines bring with their cells; none if they do not."""
    sample = _sample(lines)
    known = Counter(tuple(CELL.findall(line)) for line in sample)
    names, n = known.most_common(1)[0] if known else ((), 0)
    return names if len(names) >= LEAST_NAMES and n >= LEAST_SHARE * len(sample) else ()


def without_labels(lines: Sequence[str], names: tuple[str, ...]) -> list[str]:
    """Return lines without the names in their cells; those with other names stay as they are."""
    return [CELL.sub("", line) if tuple(CELL.findall(line)) == names else line for line in lines]


def _sample(lines: Sequence[str]) -> list[str]:
    step = max(1, len(lines) // SAMPLE)
    return [line for line in lines[::step] if line.strip()]
