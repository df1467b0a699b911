"""One page: the signals that it follows, the messages that it gets, and its commands; all of it without a socket."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from codegen.description.mechanism import MechanismError
from rig_configs.plain import line
from rigloop.monitor import messages as page
from rigloop.monitor.capturing.page_scope import PageScope
from rigloop.monitor.capturing.stored import Stored, folder_of
from rigloop.monitor.histograms import TaskHistograms
from rigloop.monitor.layouts import read_layout, write_layout
from rigloop.monitor.sources.following import Tail, groups, tails_of, whole_range
from rigloop.monitor.sources.moving import Moving
from rigloop.monitor.sources.onlooker import Onlooker
from rigloop.monitor.sources.recorded_source import RecordedSource
from rigloop.monitor.sources.source import Moment, Source, SourceGoneError, SourceRefusedError
from rigloop.monitor.sources.wire import frame
from rigloop.monitor.sources.words import in_words, watched
from rigloop.protocol.description import ToDescribe
from rigloop.scope.setup import Setup

Frame = str | bytes
STATUS_S = 0.2
HISTOGRAM_S = 1.0
PIECES_A_TURN = 4
MOST_PIECES = 40  # of a range
WIDEST_S = 600.0


class Session(Onlooker):
    """A page and its source.

    Parameters
    ----------
    open_source : callable
        It returns the source, or raises `SourceGoneError`.
    layout : callable
        From the description of the rig to the file of its layout.
    """

    def __init__(
        self, open_source: Callable[[], Source], layout: Callable[[ToDescribe], Path]
    ) -> None:
        super().__init__(open_source)
        self._layout_of = layout
        self._status_at = self._histogram_at = 0.0
        self._moment = Moment()
        self._movings: list[Moving] = []
        self._sent_problems: list[str] = []
        self._histograms: dict[str, TaskHistograms] = {}
        self._follow = page.Follow(id=0, signals=[], span_s=10.0, pixels=800)
        self._tails: dict[str, Tail] = {}
        self._begins_again = True
        self._gone = ""
        self._scope: PageScope | None = None

    def turn(self, raws: Sequence[str]) -> list[Frame]:
        """Do what the page asks for, and return what it has to be sent now."""
        out: list[Frame] = []
        try:
            if self._source is None and not self._is_opened(out):
                return [*out, *(_said(False, self._gone) for _ in raws)]
            for raw in raws:
                self._hear(raw, out)
            self._look(out)
            self._capture(out)
            self._advance(out)
        except SourceGoneError as error:
            self._lose(str(error), out)
        return out

    def close(self) -> None:
        """Leave the source; whatever runs goes on. Harmless when repeated."""
        if self._scope is not None:
            self._scope.off()
        super().close()
        for moving in self._movings:
            moving.close()
        self._movings = []

    def _is_opened(self, out: list[Frame]) -> bool:
        try:
            source = self._opened()
        except SourceGoneError as error:
            if str(error) != self._gone:
                self._lose(str(error), out)
            return False
        if source is None:
            return False
        self._gone = ""
        of = source.description
        self._histograms = {task.name: TaskHistograms(task.name) for task in of.tasks}
        self._movings = list(_movings(of))
        self._sent_problems = [moving.problem for moving in self._movings]
        place = self._layout_of(of)
        layout, problem = read_layout(place)
        if self._scope is None or self._scope.stored.folder != folder_of(place):
            # a source that comes back finds the captures of before
            self._scope = PageScope(Stored(folder_of(place)))
        self._begins_again, self._moment = True, Moment()
        self._status_at = self._histogram_at = 0.0
        out.append(_json("rig", _rig(source, layout)))
        out += [
            _json("drawing", {"index": k, **moving.drawing()})
            for k, moving in enumerate(self._movings)
        ]
        out.append(_json("captures", {"names": self._scope.stored.names()}))
        if problem:
            out.append(_said(False, problem))
        return True

    def _lose(self, why: str, out: list[Frame]) -> None:
        self.close()
        self._gone = line(why, 400)
        self._look_later()
        out.append(_json("gone", {"words": self._gone}))

    def _hear(self, raw: str, out: list[Frame]) -> None:
        assert self._source is not None
        try:
            message = page.read_message(raw)
        except ValueError as error:
            out.append(_said(False, line(str(error), 200)))
            return
        try:
            words = self._do(message, out)
        except SourceRefusedError as error:
            out.append(_said(False, str(error)))
            return
        if words:
            out.append(_said(True, words))
        self._status_at = 0.0 if isinstance(message, page.Command) else self._status_at

    def _do(self, message: page.AnyPageMessage, out: list[Frame]) -> str:
        source = self._source
        assert source is not None
        match message:
            case page.Follow():
                self._follow, self._begins_again = message, True
            case page.Range():
                self._range(message, out)
            case page.Keep():
                try:
                    write_layout(self._layout_of(source.description), message.layout)
                except OSError as error:
                    raise SourceRefusedError(f"the layout is not kept: {error}") from None
                return "the layout is kept"
            case page.Play():
                if not isinstance(source, RecordedSource) or source.kind != "record":
                    raise SourceRefusedError("play: only of a run that is over")
                source.play(message.speed, message.at_s)
                self._begins_again |= message.at_s is not None
                self._status_at = 0.0
                if message.at_s is not None and self._scope is not None:
                    self._moment = source.moment()
                    self._scope.begin_again()
            case (
                page.Capture()
                | page.Off()
                | page.Look()
                | page.Save()
                | page.Load()
                | page.Compare()
                | page.Export()
            ):
                return self._with_scope(message, out)
            case _:
                keys = msgspec.structs.asdict(message)
                return source.command(type(message).__name__.lower(), **keys)
        return ""

    def _with_scope(self, message: page.ScopeMessage, out: list[Frame]) -> str:
        scope, source = self._scope, self._source
        assert scope is not None
        assert source is not None
        match message:
            case page.Capture():
                keys = msgspec.structs.asdict(message)
                pixels = keys.pop("pixels")
                scope.arm(source, Setup(**keys | {"signals": tuple(message.signals)}), pixels)
            case page.Off():
                scope.off()
            case page.Look():
                between_s = None
                if message.from_s is not None and message.to_s is not None:
                    between_s = (message.from_s, message.to_s)
                out += scope.look(between_s, message.pixels, message.spectra, message.delay)
            case page.Save():
                words = scope.save(message.name)
                out.append(_json("captures", {"names": scope.stored.names()}))
                return words
            case page.Load():
                out += scope.load(message.name)
            case page.Compare():
                return scope.compare(message.name)
            case page.Export():
                return scope.export(message.name, message.to)
        return ""

    def _capture(self, out: list[Frame]) -> None:
        if self._scope is None or self._source is None:
            return
        out += self._scope.poll(self._source, self._moment)
        if (news := self._scope.news()) is not None:
            out.append(_json("scope", news))

    def _range(self, message: page.Range, out: list[Frame]) -> None:
        source = self._source
        assert source is not None
        if not self._moment.run:
            raise SourceRefusedError("range: no run has a record")
        if not 0.0 < message.to_s - message.from_s <= WIDEST_S:
            raise SourceRefusedError(f"range: to_s is after from_s by {WIDEST_S:g} s at most")
        from_ns, to_ns = round(message.from_s * 1e9), round(message.to_s * 1e9)
        tails = tails_of(source, message.signals, (), (to_ns - from_ns) // message.pixels)
        found = [
            piece
            for tail in tails.values()
            if tail.shown
            and (piece := whole_range(source, tail, from_ns, to_ns, MOST_PIECES)) is not None
        ]
        headers, arrays = groups(message.signals, found)
        out.append(frame({"kind": "range", "id": message.id, "groups": headers}, arrays))

    def _look(self, out: list[Frame]) -> None:
        now = time.monotonic()
        source = self._source
        assert source is not None
        if now < self._status_at:
            return
        self._status_at = now + STATUS_S
        before, self._moment = self._moment, source.moment()
        if (before.run, before.number) != (self._moment.run, self._moment.number):
            self._begins_again = True
            self._histograms = {
                task.name: TaskHistograms(task.name) for task in source.description.tasks
            }
        goes_on = self._moment.phase not in ("idle", "starting")
        values = source.newest(watched_of(source)) if goes_on else {}
        status = msgspec.to_builtins(self._moment) | in_words(source.description, values)
        out.append(_json("status", status))
        problems = [moving.problem for moving in self._movings]
        if problems != self._sent_problems:
            self._sent_problems = problems
            out += [_said(False, problem) for problem in problems if problem]

    def _advance(self, out: list[Frame]) -> None:
        source = self._source
        assert source is not None
        if not self._moment.run:
            return
        others = self._others()
        if self._begins_again or any(
            moving.paths and moving.paths[0] not in self._tails[moving.of.task].others
            for moving in self._movings
            if moving.of.task in self._tails
        ):
            self._begin_again(source, others)
        pieces = []
        for tail in self._tails.values():
            for _ in range(PIECES_A_TURN):
                if (found := tail.read(source)) is None:
                    break
                pieces.append((tail, *found))
                self._take_in(tail, found[0])
                tail.is_broken = False
        if not pieces:
            return
        headers, arrays = groups(self._follow.signals, pieces)
        if headers:
            header = {"kind": "cycles", "id": self._follow.id, "groups": headers}
            out.append(frame(header, arrays))
        tasks = {tail.task for tail, _, _ in pieces}
        out += [
            frame({"kind": "pose", "index": k}, [moving.points()])
            for k, moving in enumerate(self._movings)
            if moving.of.task in tasks and moving.paths
        ]
        now = time.monotonic()
        if now >= self._histogram_at:
            self._histogram_at = now + HISTOGRAM_S
            found_ones = {task: one.message() for task, one in self._histograms.items()}
            out.append(_json("histograms", {"tasks": found_ones}))

    def _begin_again(self, source: Source, others: Sequence[tuple[str, str]]) -> None:
        self._begins_again = False
        span_ns = round(self._follow.span_s * 1e9)
        wanted_ns = span_ns // self._follow.pixels
        self._tails = tails_of(source, self._follow.signals, others, wanted_ns)
        from_ns = max(0, round(self._moment.t_s * 1e9) - span_ns)
        for tail in self._tails.values():
            tail.next = from_ns // tail.width_ns

    def _others(self) -> list[tuple[str, str]]:
        found = [(t, path) for t, one in self._histograms.items() for path in one.paths.values()]
        return found + [(m.of.task, path) for m in self._movings for path in m.paths]

    def _take_in(self, tail: Tail, piece: Any) -> None:
        histograms = self._histograms[tail.task]
        if all(path in piece.columns for path in histograms.paths.values()):
            histograms.add(piece.t_ns, piece.columns)
        for moving in self._movings:
            if moving.of.task == tail.task and all(p in piece.columns for p in moving.paths):
                moving.step(piece.columns, tail.is_broken)


def watched_of(source: Source) -> list[str]:
    """Return the signals of a source that its words are made of."""
    return [path for path in watched(source.description) if path in source.signals]


def _movings(of: ToDescribe) -> Any:
    periods = {task.name: task.period_us for task in of.tasks}
    for mechanism in of.mechanisms:
        try:
            yield Moving(mechanism, periods[mechanism.task])
        except (MechanismError, OSError, KeyError):
            # a file of another version; the page does without its drawing
            continue


def _rig(source: Source, layout: page.Layout) -> dict[str, Any]:
    of = source.description
    length_s = source.length_s if isinstance(source, RecordedSource) else 0.0
    return {
        "source": source.kind,
        "length_s": length_s,
        "name": of.rig,
        "title": of.title,
        "tasks": of.tasks,
        "shown": [path for path in of.shown if source.recorded_in(path)],
        "live": of.live,
        "stimuli": of.stimuli,
        "guards": of.guards,
        "signals": [
            [row.path, row.unit, row.task]
            for row in source.signals.values()
            if source.recorded_in(row.path)
        ],
        "layout": layout,
    }


def _json(kind: str, content: dict[str, Any]) -> str:
    return msgspec.json.encode({"kind": kind, **content}, enc_hook=_number).decode()


def _number(value: object) -> float:
    if isinstance(value, np.generic):
        return float(value)
    raise TypeError(f"{value!r} has no JSON")


def _said(good: bool, words: str) -> str:
    return _json("said", {"good": good, "words": words})
