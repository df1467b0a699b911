"""The scope: it takes cycles from a source, looks for its trigger in each of them, and cuts captures out.

All times are those of the cycles, never of a clock that looks on: the same cycles give the same captures, live, in
pieces of any size, and from a record.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from io_bridge.exports.measured import Group
from rigloop.scope.capture import Capture, Why
from rigloop.scope.rows import Kept, Rows, gaps_of
from rigloop.scope.setup import Setup, checked
from rigloop.scope.sources import Opened, Source, homes_of, source_of
from rigloop.scope.trigger import Term, Trigger, fired, read_trigger

State = Literal["armed", "triggered", "done", "ended"]


def scope_on(opened: Opened, setup: Setup) -> Scope:
    """Return a scope on a run that goes on, or a recorded one.

    Raises
    ------
    SetupError, TriggerError
        Settings beyond their limits; a trigger that is none.
    KeyError
        The run has no such signal.
    TableError
        The run has just ended.
    """
    setup = checked(setup)
    trigger = read_trigger(setup.trigger, homes_of(opened))
    return Scope(source_of(opened, (*setup.signals, *trigger.paths)), setup, trigger)


class Scope:
    """A scope on a source; `poll` has to be called more often than the rings are long (two seconds).

    Parameters
    ----------
    source : Source
        With the signals of setup and trigger. It is the scope's from now on.
    setup : Setup
    trigger : Trigger
    from_ns : int, optional
        Nominal time from which on the trigger counts; else the newest cycle of a live source, or the first of a record.

    Attributes
    ----------
    state : str
        "armed", "triggered" (the cycles after the trigger are still to come), "done" (it has all of its captures) or
        "ended" (the run has, and with it the cycles).
    """

    state: State

    def __init__(
        self, source: Source, setup: Setup, trigger: Trigger, from_ns: int | None = None
    ) -> None:
        self._from_ns = from_ns
        self.source, self.setup, self.trigger = source, setup, trigger
        self.state = "armed"
        self.n_captures = 0
        self._kept = {task: Kept(paths) for task, paths in source.paths.items()}
        self._pre_ns, self._post_ns = round(setup.pre_s * 1e9), round(setup.post_s * 1e9)
        self._auto_ns = round(setup.auto_after_s * 1e9)
        self._has_begun = False
        self._armed_ns = 0  # the search began here
        self._searched_ns = 0  # and has come to here
        self._fired_ns = 0
        self._why: Why = "trigger"

    def close(self) -> None:
        """Let go of the source."""
        self.source.close()

    def poll(self) -> list[Capture]:
        """Take the cycles since the last time; return the captures that are complete with them."""
        if self.state in ("done", "ended"):
            return []
        is_last = self.source.ended
        for task, rows in self.source.take().items():
            self._kept[task].add(rows)
        reached = [kept.newest_ns for kept in self._kept.values()]
        # a task that has not come as far may still bring what the trigger looks at
        horizon_ns = max(reached) if is_last else min(reached)
        if not self._has_begun:
            if horizon_ns < 0 and not is_last:
                return []
            self._begin(horizon_ns)
        found = []
        while (capture := self._next(horizon_ns, is_last)) is not None:
            found.append(capture)
        if is_last and self.state == "armed":
            self.state = "ended"
        self._forget()
        return found

    def _begin(self, horizon_ns: int) -> None:
        self._has_begun = True
        firsts = [kept.between(0, horizon_ns + 1)["t_ns"][:1] for kept in self._kept.values()]
        first_ns = min((int(first[0]) for first in firsts if len(first)), default=0)
        if self._from_ns is None:
            self._from_ns = horizon_ns + 1 if self.source.live else first_ns
        self._armed_ns = self._searched_ns = self._from_ns

    def _next(self, horizon_ns: int, is_last: bool) -> Capture | None:
        if self.state == "armed" and not self._fires(horizon_ns):
            return None
        if self.state not in ("armed", "triggered"):
            return None
        self.state = "triggered"
        end_ns = self._fired_ns + self._post_ns
        there = (
            self._kept[task].newest_ns >= end_ns - period_ns
            for task, period_ns in self.source.tasks.items()
        )
        is_complete = all(there)
        if not (is_complete or is_last):
            return None
        capture = self._cut(end_ns, is_complete)
        self.n_captures += 1
        # at least one cycle on, or a scope of no time after its trigger would find the same one again
        self._armed_ns = self._searched_ns = max(end_ns, self._fired_ns + 1)
        done = self.n_captures == self.setup.most
        self.state = "done" if done else "armed" if is_complete else "ended"
        return capture

    def _fires(self, horizon_ns: int) -> bool:
        is_auto = self.setup.mode == "auto"
        deadline_ns = self._armed_ns + self._auto_ns
        end_ns = min(horizon_ns, deadline_ns) if is_auto else horizon_ns
        if end_ns >= self._searched_ns:
            if not self.trigger.terms:
                self._fired_ns, self._why = self._armed_ns, "now"
                return True
            found = [self._first(term, end_ns) for term in self.trigger.terms]
            times = [t_ns for t_ns in found if t_ns is not None]
            if times:
                self._fired_ns, self._why = min(times), "trigger"
                return True
            self._searched_ns = end_ns + 1
        if is_auto and horizon_ns >= deadline_ns:
            self._fired_ns, self._why = deadline_ns, "auto"
            return True
        return False

    def _first(self, term: Term, end_ns: int) -> int | None:
        """Return the time of the first cycle in which a term fires, from the one searched last to an end."""
        homes = {path: self.source.homes[path] for path in term.paths}
        base = min(homes.values(), key=self.source.tasks.__getitem__)
        kept = self._kept[base]
        rows = kept.between(self._searched_ns, end_ns + 1)
        if not len(rows):
            return None
        earlier = kept.last_before(self._searched_ns)
        rows = np.concatenate([earlier, rows])
        columns = {
            path: rows[path] if task == base else self._held(path, task, rows["t_ns"])
            for path, task in homes.items()
        }
        seen = term.looked_at(columns)
        new = len(earlier)
        fires = fired(seen[new:], float(seen[0]) if new else None, term.edge)
        where = np.flatnonzero(fires)
        return int(rows["t_ns"][new + where[0]]) if len(where) else None

    def _held(self, path: str, task: str, t_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        kept = self._kept[task]
        rows = np.concatenate(
            [kept.last_before(int(t_ns[0])), kept.between(int(t_ns[0]), int(t_ns[-1]) + 1)]
        )
        values = np.append(rows[path], np.nan)  # before the first it is the last one, NaN
        return values[np.searchsorted(rows["t_ns"], t_ns, side="right") - 1]

    def _cut(self, end_ns: int, is_complete: bool) -> Capture:
        groups = []
        gaps = {}
        begin_ns = self._fired_ns - self._pre_ns
        for task, period_ns in self.source.tasks.items():
            paths = tuple(path for path in self.setup.signals if self.source.homes[path] == task)
            if paths:
                kept = self._kept[task]
                rows: Rows = kept.between(begin_ns, end_ns)
                # the rows on both sides say what is missing at the ends
                around = [kept.last_before(begin_ns), rows, kept.first_from(end_ns)]
                whole = np.concatenate(around)
                gaps[task] = gaps_of(whole, task, period_ns, (begin_ns, end_ns))
                units = tuple(self.source.units.get(path, "") for path in paths)
                groups.append(Group(task, rows, paths, units, period_ns))
        return Capture(
            self.source.name,
            self.source.origin,
            self.trigger.text,
            self._why,
            self._fired_ns,
            self.setup.pre_s,
            self.setup.post_s,
            tuple(groups),
            self.n_captures + 1,
            is_complete,
            gaps,
        )

    def _forget(self) -> None:
        from_ns = self._searched_ns if self.state == "armed" else self._fired_ns
        before = [kept.last_before(from_ns)["t_ns"] for kept in self._kept.values()]
        oldest_ns = min((int(t_ns[0]) for t_ns in before if len(t_ns)), default=0)
        for kept in self._kept.values():
            kept.forget_before(min(from_ns - self._pre_ns, oldest_ns))
