"""Rows whose cells bring their names, as `t:12,enc:345` of a serial plotter: the names become those of the columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

CELL = re.compile(r"(?<!\w)([A-Za-z_]\w{0,40})\s{0,4}[:=]\s{0,4}(?=[+-]?\.?\d|nan\b|NaN\b)")
SAMPLE = 400  # lines that are looked at
LEAST_SHARE = 0.6  # of them, that have the same names
LEAST_NAMES = 2


def labels_of(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the names that most lines bring with their cells; none if they do not."""
    step = max(1, len(lines) // SAMPLE)
    sample = [line for line in lines[::step] if line.strip()]
    known = Counter(tuple(CELL.findall(line)) for line in sample)
    names, n = known.most_common(1)[0] if known else ((), 0)
    return names if len(names) >= LEAST_NAMES and n >= LEAST_SHARE * len(sample) else ()


def without_labels(lines: Sequence[str], names: tuple[str, ...]) -> list[str]:
    """Return lines without the names in their cells; those with other names stay as they are."""
    return [CELL.sub("", line) if tuple(CELL.findall(line)) == names else line for line in lines]
