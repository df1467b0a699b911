"""The settings of a scope: signals, trigger, times, mode."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

MOST_SIGNALS = 1000
MOST_CAPTURES = 1000
LONGEST_S = 3600.0  # of a capture; it is kept in memory

Mode = Literal["single", "normal", "auto"]
Word = Annotated[str, Meta(min_length=1, max_length=200)]
Seconds = Annotated[float, Meta(ge=0.0, le=LONGEST_S)]


class SetupError(ValueError):
    """Settings that a scope cannot have; the message says which, and what is allowed."""


class Setup(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings of a scope.

    A `single` scope ends after its first capture, a `normal` one waits for the trigger again and again, and an `auto`
    one captures also when the trigger has not come for `auto_after_s`.
    """

    signals: Annotated[tuple[Word, ...], Meta(min_length=1, max_length=MOST_SIGNALS)]
    trigger: Annotated[str, Meta(max_length=2000)] = "now"
    pre_s: Seconds = 0.1
    post_s: Seconds = 0.5
    mode: Mode = "single"
    auto_after_s: Annotated[float, Meta(gt=0.0, le=LONGEST_S)] = 1.0
    count: Annotated[int, Meta(ge=0, le=MOST_CAPTURES)] = 0
    """The scope ends after this many captures; 0: never by itself, unless it is `single`."""

    @property
    def most(self) -> int:
        """Captures until it ends; 0: it does not end by itself."""
        return 1 if self.mode == "single" else self.count


def checked(setup: Setup) -> Setup:
    """Return settings that were made by a program, once their limits hold.

    Raises
    ------
    SetupError
    """
    try:
        found = msgspec.convert(msgspec.to_builtins(setup), Setup)
    except msgspec.ValidationError as error:
        raise SetupError(f"settings of the scope: {error}") from None
    if found.pre_s + found.post_s == 0.0:
        raise SetupError("settings of the scope: pre_s and post_s are both 0; give one of them")
    if len(set(found.signals)) != len(found.signals):
        raise SetupError("settings of the scope: a signal is given twice")
    return found
