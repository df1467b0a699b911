"""The use that a run makes of the doctor's checks: a strict one refuses, a degraded one names the missing rights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rigloop.run_folder.not_started import NotStartedError
from rt_core.doctor.check import Check, Level, by_severity


def refuse_if_red(checks: Iterable[Check]) -> None:
    """End a strict run before it begins.

    Raises
    ------
    NotStartedError
        Something is red; the message has a line for each, with its remedy.
    """
    red = [check for check in checks if check.level is Level.RED]
    if red:
        lines = [
            f"{check.name}: {check.found}; {check.cause}; {' '.join(check.remedy.splitlines())}"
            for check in red
        ]
        raise NotStartedError("\n".join(["--mode strict: not started", *lines]))


def with_rights(checks: Iterable[Check], rights: Iterable[Mapping[str, Any]]) -> list[Check]:
    """Put what the cycle process did not get in the place of what was expected of it."""
    missing = {right["name"]: right for right in rights if right["needed"] and not right["held"]}
    return by_severity(
        replace(
            check,
            level=Level.RED,
            found=missing[check.name]["why"],
            remedy=missing[check.name]["remedy"],
        )
        if check.name in missing
        else check
        for check in checks
    )
