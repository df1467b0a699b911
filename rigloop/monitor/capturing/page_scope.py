"""The scope of one page: it is set up, waits for its trigger, and sends each capture; the newest one is looked into."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from io_bridge.exports.refused import ExportError
from rig_configs.plain import line
from rigloop.monitor.capturing.cycles import ReadCycles, cycles_of, homes_of
from rigloop.monitor.capturing.stored import Stored
from rigloop.monitor.sources.source import Moment, Source, SourceRefusedError
from rigloop.monitor.sources.wire import frame
from rigloop.scope.capture import Capture
from rigloop.scope.capture_file import CaptureFileError
from rigloop.scope.compared import differences
from rigloop.scope.measure import delay_s, spectrum
from rigloop.scope.message import message
from rigloop.scope.scope import Scope
from rigloop.scope.setup import Setup, SetupError, checked
from rigloop.scope.trigger import Trigger, TriggerError, read_trigger
from rt_core.signals.layout import TableError

MOST_VALUES = 60_000_000  # of a capture; it is kept in memory
MOST_AT_ONCE = 4  # captures of one turn that are sent
MOST_SPECTRA = 16
GOES_ON = ("waiting", "arming", "armed", "stopping", "record")


@dataclass
class PageScope:
    """The scope of a page.

    Attributes
    ----------
    stored : Stored
    pixels : int
        Width of a picture: no more stretches are sent of a signal.
    spectra : bool
        Spectra are sent with each capture.
    delay : pair of str or None
        Two signals whose delay is measured.
    state : str
        "off", "waits" (for a run), or as a `Scope` has it.
    """

    stored: Stored
    pixels: int = 1000
    spectra: bool = False
    delay: tuple[str, str] | None = None
    state: str = "off"
    _setup: Setup | None = None
    _trigger: Trigger | None = None
    _scope: Scope | None = None
    _run: tuple[str, int] = ("", 0)
    _capture: Capture | None = None
    _reference: Capture | None = None
    _n: int = 0
    _unsent: int = 0
    _told: str = field(default="", repr=False)

    def arm(self, source: Source, setup: Setup, pixels: int) -> None:
        """Set it up; it waits for a run, then for its trigger.

        Raises
        ------
        SourceRefusedError
            A signal, the trigger or a number cannot be; the scope is as it was.
        """
        homes = homes_of(source)
        try:
            setup = checked(setup)
            trigger = read_trigger(setup.trigger, homes)
            missing = [path for path in setup.signals if path not in homes]
            if missing:
                raise SetupError(f"no recorded signal {missing[0]}")
            _refuse_too_many(source, setup, homes)
        except (SetupError, TriggerError) as error:
            raise SourceRefusedError(line(str(error), 400)) from None
        self.off()
        self._setup, self._trigger, self.pixels = setup, trigger, pixels
        self._n = self._unsent = 0
        self._run = ("", 0)
        self.state = "waits"

    def off(self) -> None:
        """End it; the newest capture stays."""
        if self._scope is not None:
            self._scope.close()
        self._scope = self._setup = self._trigger = None
        self.state = "off"

    def begin_again(self) -> None:
        """Look for the trigger from the present place of a record on: the person has gone to another one."""
        if self._scope is not None and self.state in ("armed", "triggered", "ended"):
            self._scope.close()
            self._scope, self.state = None, "waits"

    def poll(self, source: Source, moment: Moment) -> list[bytes]:
        """Take the cycles since the last time; return the captures that are complete with them, as frames."""
        if self._setup is None or not self._is_open(source, moment):
            return []
        scope = self._scope
        assert scope is not None
        if isinstance(scope.source, ReadCycles):
            scope.source.is_over = moment.phase not in GOES_ON
        found = scope.poll()
        self.state = scope.state
        if self.state == "ended" and source.kind == "service":
            # what waits for a trigger waits in the next run, too
            scope.close()
            self._scope, self.state = None, "waits"
        if not found:
            return []
        self._n += len(found)
        self._unsent += max(0, len(found) - MOST_AT_ONCE)
        self._capture = found[-1]
        if self.state == "done":
            scope.close()
            self._scope = self._setup = None
        return [each for one in found[-MOST_AT_ONCE:] for each in self._frames(one)]

    def news(self) -> dict[str, Any] | None:
        """Return the state, where it is another one than the last that went out."""
        found = {"state": self.state, "captures": self._n, "unsent": self._unsent}
        said = str(found)
        if said == self._told:
            return None
        self._told = said
        return found

    def look(
        self,
        between_s: tuple[float, float] | None,
        pixels: int,
        spectra: bool,
        delay: tuple[str, str] | None,
    ) -> list[bytes]:
        """Return a part of the newest capture, or all of it, with its figures; later captures come with the same ones.

        Raises
        ------
        SourceRefusedError
            There is no capture, or no such signal in it.
        """
        self.pixels, self.spectra, self.delay = pixels, spectra, delay
        found = self._there()
        if missing := [path for path in delay or () if path not in found.units]:
            raise SourceRefusedError(f"delay: {missing[0]} is not a signal of the capture")
        return self._frames(found, between_s)

    def save(self, name: str) -> str:
        """Keep the newest capture in a file; return a sentence.

        Raises
        ------
        SourceRefusedError
        """
        try:
            return f"saved: {self.stored.save(self._there(), name)}"
        except OSError as error:
            raise SourceRefusedError(f"not saved: {error}") from None

    def load(self, name: str) -> list[bytes]:
        """Show a stored capture.

        Raises
        ------
        SourceRefusedError
        """
        self._capture = self._stored(name)
        return self._frames(self._capture)

    def compare(self, name: str) -> str:
        """Lay a stored capture beside the newest one, trigger on trigger; none with an empty name.

        Raises
        ------
        SourceRefusedError
        """
        self._reference = self._stored(name) if name else None
        return f"beside it: {name}" if name else "alone again"

    def export(self, name: str, to: str) -> str:
        """Write the newest capture in the format of another program; return a sentence.

        Raises
        ------
        SourceRefusedError
        """
        try:
            return f"written: {self.stored.export(self._there(), name, to)}"
        except (ExportError, OSError) as error:
            raise SourceRefusedError(line(str(error), 400)) from None

    def _is_open(self, source: Source, moment: Moment) -> bool:
        assert self._setup is not None
        assert self._trigger is not None
        run = (moment.run, moment.number)
        goes_on = bool(moment.run) and moment.phase in GOES_ON
        is_another = run != self._run
        if self._scope is not None and is_another and self.state != "done" and goes_on:
            self.begin_again()
        if self._scope is not None:
            return True
        # of a run that has ended its scope with it nothing more comes
        is_over = source.kind == "service" and not is_another
        if not goes_on or is_over or self.state != "waits":
            return False
        paths = (*self._setup.signals, *self._trigger.paths)
        try:
            ahead = self._setup.mode == "single"
            cycles = cycles_of(source, moment, paths, self._setup.pre_s, ahead=ahead)
        except (SetupError, KeyError, TableError):
            # its record is not there yet
            return False
        from_ns = cycles.now_ns if isinstance(cycles, ReadCycles) else None
        self._scope, self._run = Scope(cycles, self._setup, self._trigger, from_ns), run
        return True

    def _frames(
        self, capture: Capture, between_s: tuple[float, float] | None = None
    ) -> list[bytes]:
        part = capture if between_s is None else capture.cropped(*between_s)
        facts: dict[str, Any] = {
            "view": between_s,
            "lost": part.lost,
            "extent": [-capture.pre_s, capture.post_s],
        }
        if self.delay is not None and all(path in part.units for path in self.delay):
            facts["delay"] = [*self.delay, _number(delay_s(*map(part.trace, self.delay)))]
        out = []
        if self._reference is not None:
            apart = differences(part, self._reference)
            facts["apart"] = {
                one.path: {"largest": _number(one.largest), "rms": _number(one.rms)}
                for one in apart
            }
            beside = self._reference.cropped(*(between_s or (-capture.pre_s, capture.post_s)))
            out.append(message(beside, 2 * self.pixels, beside=True))
        # the stored one comes first, so that both are there when the new one is drawn
        out.append(message(part, 2 * self.pixels, **facts))
        if self.spectra:
            out.append(_spectra(part, self.pixels))
        return out

    def _there(self) -> Capture:
        if self._capture is None:
            raise SourceRefusedError("the scope has no capture yet")
        return self._capture

    def _stored(self, name: str) -> Capture:
        try:
            return self.stored.load(name)
        except CaptureFileError as error:
            raise SourceRefusedError(line(str(error), 400)) from None


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _refuse_too_many(source: Source, setup: Setup, homes: dict[str, str]) -> None:
    periods_s = {task.name: task.period_us * 1e-6 for task in source.description.tasks}
    values = sum((setup.pre_s + setup.post_s) / periods_s[homes[p]] for p in setup.signals)
    if values > MOST_VALUES:
        raise SetupError(
            f"{len(setup.signals)} signals over {setup.pre_s + setup.post_s:g} s are {values:.3g} values: at most "
            f"{MOST_VALUES:.3g}; give fewer, or less time"
        )


def _spectra(part: Capture, pixels: int) -> bytes:
    signals, arrays = [], []
    for path, unit in list(part.units.items())[:MOST_SPECTRA]:
        group = part.group_of(path)
        found = spectrum(group.rows["t_ns"], part.trace(path)[1], group.period_ns)
        n = len(found.f_hz)
        if not n:
            continue
        # of more lines than pixels the highest of each stretch
        edges = np.unique(np.linspace(0, n, min(n, pixels) + 1).astype(np.int64))[:-1]
        peak_hz, peak = found.peak
        line_of = {"peak_hz": peak_hz, "peak": peak} if np.isfinite(peak) else {}
        signals.append({"path": path, "unit": unit, "n": len(edges), "samples": found.n, **line_of})
        arrays += [found.f_hz[edges], np.maximum.reduceat(found.amplitude, edges)]
    return frame({"kind": "spectra", "signals": signals}, arrays)
