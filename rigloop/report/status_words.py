"""Status numbers of kernels and observers, with the word of each beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from codegen.options.statuses import NAMES, STATUSES
from rig_configs.schema import Rig
from rigloop.compose.blocks import paths

KINDS = ("mechanism", "observer")
GOOD = "good"


def status_words(rig: Rig, signals: Mapping[str, float]) -> dict[str, str]:
    """Return number and word of each block's status at the end of a run, by the signal's path."""
    found = {}
    for name, block in rig.blocks.items():
        path = paths(name, block)[1].get("status") if block.kind in KINDS else None
        if path is not None and math.isfinite(signals.get(path, math.nan)):
            found[path] = in_words(int(signals[path]))
    return found


def in_words(status: int) -> str:
    """Return "3 not_converged"."""
    words = (GOOD, *NAMES)
    return f"{status} {words[status] if 0 <= status < len(words) else 'unknown'}"


def status_figures(found: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return the rows that the terminal and the report show."""
    meaning = {in_words(number): words for number, words in STATUSES.items()}
    meaning[in_words(0)] = "the last step was good"
    return [(path, words, meaning.get(words, "")) for path, words in found.items()]
