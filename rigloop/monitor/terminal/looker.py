"""The rig as a terminal shows it, without a screen: state, newest values, words, and the commands of a person."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rig_configs.plain import line
from rigloop.monitor.sources.onlooker import Onlooker
from rigloop.monitor.sources.source import Moment, Source, SourceGoneError, SourceRefusedError
from rigloop.monitor.sources.words import in_words, watched

KEPT = 120  # newest values of a signal
MOST_SHOWN = 12
WORDS = {
    "idle": "NO RUN", "starting": "STARTS", "waiting": "WAITS", "arming": "ARMS", "armed": "ARMED",
    "stopping": "STOPS", "record": "RECORD",
}  # fmt: skip
Command = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class SignalRow:
    """A signal: its newest value, and those before it."""

    path: str
    unit: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Picture:
    """One moment, ready to show.

    Attributes
    ----------
    title, state, level, control, clock : str
        `level` is "", "good", "waits" or "bad".
    faults, words : tuple of str
    guards, buses, tasks, live : tuple of tuple of str
        Rows of tables.
    signals : tuple of SignalRow
    mine : bool
        This terminal is in control.
    needs_reset : str
    said : tuple of (bool, str)
        Answers to commands, good or not.
    """

    title: str = ""
    state: str = "–"
    level: str = ""
    control: str = ""
    clock: str = ""
    faults: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    guards: tuple[tuple[str, ...], ...] = ()
    buses: tuple[tuple[str, ...], ...] = ()
    tasks: tuple[tuple[str, ...], ...] = ()
    live: tuple[tuple[str, ...], ...] = ()
    signals: tuple[SignalRow, ...] = ()
    mine: bool = False
    needs_reset: str = ""
    said: tuple[tuple[bool, str], ...] = field(default=())


class Looker(Onlooker):
    """A terminal's view of a source."""

    def __init__(self, open_source: Callable[[], Source]) -> None:
        super().__init__(open_source)
        self._gone = "looking for the rig"
        self._values: dict[str, deque[float]] = {}

    def turn(self, commands: Sequence[Command]) -> Picture:
        """Do the commands, and return the moment."""
        said: list[tuple[bool, str]] = []
        try:
            if self._source is None and (source := self._opened()) is not None:
                self._values = {path: deque(maxlen=KEPT) for path in self._shown(source)}
            if self._source is None:
                return self._without(said)
            for name, keys in commands:
                try:
                    said.append((True, self._source.command(name, **keys)))
                except SourceRefusedError as error:
                    said.append((False, line(str(error), 300)))
            return self._picture(self._source, said)
        except SourceGoneError as error:
            self.close()
            self._gone = line(str(error), 300)
            self._look_later()
            return self._without(said)

    def _without(self, said: list[tuple[bool, str]]) -> Picture:
        words = f"{self._gone}; reconnecting; the values are not current"
        return Picture(state="GONE", level="bad", faults=(words,), said=tuple(said))

    def _shown(self, source: Source) -> list[str]:
        of = source.description
        return [path for path in of.shown if path in source.signals][:MOST_SHOWN]

    def _picture(self, source: Source, said: list[tuple[bool, str]]) -> Picture:
        moment = source.moment()
        goes_on = bool(moment.run) and moment.phase not in ("idle", "starting")
        shown = list(self._values)
        paths = [path for path in watched(source.description) if path in source.signals]
        values = source.newest([*paths, *shown]) if goes_on else {}
        for path in shown:
            if path in values:
                self._values[path].append(values[path])
        words = in_words(source.description, values)
        faults = (*words["faults"], *([moment.needs_reset] if moment.needs_reset else []))
        is_fault = bool(faults) or moment.state == "FAULT"
        state = "FAULT" if moment.state == "FAULT" else WORDS.get(moment.phase, moment.phase)
        levels = {"armed": "good", "arming": "waits", "waiting": "waits", "starting": "waits"}
        return Picture(
            title=line(source.description.title or source.description.rig, 80),
            state=state,
            level="bad" if is_fault else levels.get(moment.phase, ""),
            control=_control(source, moment),
            clock=f"{moment.t_s:.1f} s" if moment.run else "",
            faults=tuple(line(text, 400) for text in faults),
            words=tuple(line(text, 400) for text in moment.words),
            guards=tuple(map(_guard, words["guards"])),
            buses=tuple(row for bus in words["buses"] for row in _bus(bus)),
            tasks=tuple(map(_task, words["tasks"])),
            live=tuple(
                (
                    one.name,
                    _number(words["live"].get(one.name)),
                    one.unit,
                    f"{one.lower:g} to {one.upper:g}",
                )
                for one in source.description.live
            ),
            signals=tuple(
                SignalRow(path, source.signals[path].unit, tuple(found))
                for path, found in self._values.items()
            ),
            mine=moment.mine,
            needs_reset=moment.needs_reset,
            said=tuple(said),
        )


def _control(source: Source, moment: Moment) -> str:
    if source.kind != "service":
        return "looks on"
    if moment.mine:
        return "this terminal is in control"
    return f"{line(moment.control, 64)} is in control" if moment.control else "nobody is in control"


def _guard(guard: dict[str, Any]) -> tuple[str, ...]:
    waits = f"waits for: {guard['waits_for']}" if guard["waits_for"] else ""
    torque = f"{_number(guard['torque_nm'])} of {guard['limit_nm']:g} Nm"
    return guard["name"], guard["state"] or "–", torque, waits


def _bus(bus: dict[str, Any]) -> list[tuple[str, ...]]:
    def row(name: str, of: dict[str, Any], bad: str) -> tuple[str, ...]:
        counter = f"{_number(of['wkc'])} of {_number(of['wkc_expected'])}"
        return name, of["state"] or "–", counter, bad

    lost = f"{_number(bus['lost'])} lost, {_number(bus['late'])} late"
    slaves = [row(one["name"], one, f"{_number(one['bad_cycles'])} bad") for one in bus["slaves"]]
    return [row(bus["name"], bus, lost), *slaves]


def _task(task: dict[str, Any]) -> tuple[str, ...]:
    counts = [_number(task[key]) for key in ("cycles", "overruns", "skipped")]
    return task["name"], *counts, task["causes"]


def _number(value: float | None) -> str:
    if value is None or value != value:
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return f"{value:.0f}"
    return f"{value:.4g}"
