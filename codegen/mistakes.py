"""What is wrong with a mechanism file: collected, then reported all at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """One mistake of a file: where, what was found, why it is wrong and what to write instead."""

    file: str
    key: str
    value: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        shown = f" = {self.value}" if self.value else ""
        return f"{self.file}: {self.key}{shown}: {self.problem}; {self.remedy}"


class MechanismError(ValueError):
    """A mechanism file cannot be used; `mistakes` has every reason, `str()` one per line."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes: list[Mistake] = list(mistakes)
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))


def nearest(word: str, known: Iterable[str]) -> str:
    """Remedy for an unknown name: the likeliest one meant, or the list of those there are."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return "known: " + (", ".join(names) if names else "none")
