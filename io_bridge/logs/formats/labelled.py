"""Rows whose cells bring their names, as `t:12,enc:345` of a serial plotter or `{"t": 12}`, and rows between brackets.

The names become those of the columns, and brackets around a whole row go. The time that a serial monitor writes before
each line, as in `09:08:07.123 -> 12,345`, becomes a column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

CELL = re.compile(
    r"(?<![\w\"])\"?([A-Za-z_]\w{0,40})\"?\s{0,4}[:=]\s{0,4}(?=[+-]?\.?\d|nan\b|NaN\b|null\b)"
)
ENCLOSED = re.compile(r"\s*(?:\[(.*)\]|\((.*)\)|\{(.*)\})[,;]?\s*\Z")
MONITOR = re.compile(r"\s*(\d\d:\d\d:\d\d\.\d{1,6})\s*->\s*(.*)\Z")
MONITOR_NAME = "monitor_time"
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


def are_monitored(lines: Sequence[str]) -> bool:
    """Tell lines before most of which a serial monitor wrote the time."""
    sample = _sample(lines)
    return sum(bool(MONITOR.match(line)) for line in sample) > LEAST_SHARE * len(sample)


def without_monitor(lines: Sequence[str]) -> tuple[list[str], list[str | None]]:
    """Return lines without the time before each, and these times; None where there is none."""
    matches = [MONITOR.match(line) for line in lines]
    plain = [m[2] if m else line for m, line in zip(matches, lines, strict=True)]
    return plain, [m[1] if m else None for m in matches]


def with_monitor(
    lines: Sequence[str], stamps: Sequence[str | None], delimiter: str, n_columns: int
) -> list[str]:
    """Return lines that begin with a cell of time: its name before a row of names, and nothing before a remark."""
    found = []
    for line, stamp in zip(lines, stamps, strict=True):
        cells = line.split() if delimiter == " " else line.split(delimiter)
        are_names = len(cells) == n_columns and not any(sign.isdigit() for sign in line)
        if are_names:
            stamp = MONITOR_NAME
        is_row = stamp is not None or len(cells) == n_columns
        found.append(f"{stamp or 'nan'}{delimiter}{line}" if is_row else line)
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
