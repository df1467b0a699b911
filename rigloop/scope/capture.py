"""A capture: the cycles of some signals around a trigger, with everything that is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from io_bridge.exports.measured import Group, Happening, Measured
from io_bridge.recording.record import TIME_FIELD
from rig_configs.mistakes import near
from rigloop.scope.rows import Gap

Why = Literal["trigger", "auto", "now"]
NS = 1e-9


@dataclass(frozen=True)
class Capture:
    """Cycles around a trigger.

    Attributes
    ----------
    rig : str
        Its name.
    origin : str
        The run that it is of, as its folder.
    trigger : str
        As it was written.
    why : str
        "trigger" came, "auto": it did not in time, "now": there was none to wait for.
    trigger_ns : int
        Nominal time of the cycle of the trigger, since the run's first one.
    pre_s, post_s : float
        As asked for.
    groups : tuple of Group
        By task: rows with `t_ns`, the count of cycles and the signals; `paths` are those that were asked for.
    number : int
        Of the captures of its scope, from 1.
    complete : bool
        False: the run ended before `post_s` was over.
    gaps : mapping of str to tuple of Gap
        Holes of each task, those at its two ends too; empty of one without any.
    """

    rig: str
    origin: str
    trigger: str
    why: Why
    trigger_ns: int
    pre_s: float
    post_s: float
    groups: tuple[Group, ...]
    number: int = 1
    complete: bool = True
    gaps: Mapping[str, tuple[Gap, ...]] = field(default_factory=dict)

    @property
    def trigger_s(self) -> float:
        """Time of the trigger since the run's first cycle, s."""
        return self.trigger_ns * NS

    @property
    def units(self) -> dict[str, str]:
        """Unit of each signal; "" where nobody knows it."""
        return {
            path: unit for g in self.groups for path, unit in zip(g.paths, g.units, strict=True)
        }

    @property
    def lost(self) -> int:
        """Cycles that the loop executed and that are not here, of all tasks."""
        return sum(gap.lost for gaps in self.gaps.values() for gap in gaps)

    def group_of(self, path: str) -> Group:
        """Return the group of a signal.

        Raises
        ------
        KeyError
            The capture has no such signal.
        """
        for group in self.groups:
            if path in group.paths:
                return group
        raise KeyError(f"the capture has no signal {path!r}: {near(path, self.units)}")

    def trace(self, path: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a signal: times in s from the trigger on, and values, shape (n,) each.

        Raises
        ------
        KeyError
            As `group_of`.
        """
        rows = self.group_of(path).rows
        return (rows["t_ns"] - self.trigger_ns) * NS, np.array(rows[path])

    def cropped(self, from_s: float, to_s: float) -> Capture:
        """Return what of it lies from one moment on and before another, s from the trigger on; the trigger stays 0."""
        begin_ns, end_ns = (self.trigger_ns + round(t_s / NS) for t_s in (from_s, to_s))
        groups = []
        for group in self.groups:
            t_ns = group.rows[TIME_FIELD]
            low, high = np.searchsorted(t_ns, (begin_ns, max(begin_ns, end_ns)))
            groups.append(replace(group, rows=group.rows[low:high]))
        gaps = {
            task: tuple(gap for gap in found if begin_ns <= gap.t_ns < end_ns)
            for task, found in self.gaps.items()
        }
        return replace(self, groups=tuple(groups), gaps=gaps)

    def measured(self) -> Measured:
        """Return it as `rigloop.export` writes it: times count from the run's first cycle on."""
        words = f"trigger: {self.trigger}" if self.why == "trigger" else f"trigger: {self.why}"
        facts = {"rig": self.rig, "run": self.origin, "trigger": self.trigger, "why": self.why}
        return Measured(
            f"{self.rig}-capture",
            tuple(sorted(self.groups, key=lambda group: -len(group))),
            None,
            (Happening(self.trigger_ns, "trigger", words),),
            facts | {"trigger_s": self.trigger_s, "lost_cycles": self.lost},
        )
