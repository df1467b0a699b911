"""A list of what may be changed while a rig runs: its live values and stimuli with their limits."""

from __future__ import annotations

from collections.abc import Callable

from rig_configs.schema import Rig
from rigloop.protocol.answers import LiveRow

Newest = Callable[[str], float | None]


def live_rows(rig: Rig, newest: Newest) -> list[LiveRow]:
    """Return live values, then stimuli, in the order of the file.

    Parameters
    ----------
    rig : Rig
    newest : callable
        Newest value of a signal by its path; None where no run goes on.
    """
    found = []
    for name, one in rig.live.items():
        now = newest(f"{name}/value")
        found.append(
            LiveRow(name, "value", one.unit, one.lower, one.upper, one.who, one.group or "", now)
        )
    for name, stimulus in rig.stimuli.items():
        limit, now = stimulus.limit, newest(f"{name}/added")
        found.append(LiveRow(name, "stimulus", stimulus.unit, -limit, limit, stimulus.who, "", now))
    return found
