"""Commands of a service: each request is done or refused, and changes and refusals go into the journals."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from rig_configs.mistakes import near
from rig_configs.plain import line
from rigloop.monitor.sources.description import description_of
from rigloop.protocol import requests as asked
from rigloop.protocol.answers import (
    Refused,
    RigStatus,
    SignalRow,
    ToHello,
    ToRead,
    ToSubscribe,
    ToTake,
    ToVerdict,
    ToWrite,
    Why,
)
from rigloop.protocol.limits import MOST_BYTES, MOST_RATE_HZ
from rigloop.service.archive import Archive, list_runs
from rigloop.service.clients import Visitor
from rigloop.service.journal import RunJournal, ServiceLog, entry
from rigloop.service.sessions import Session
from rigloop.service.subscriptions import Subscriptions
from rt_core.signals.layout import TableError

TELL_AGAIN_S = 10.0  # that the journal takes nothing, to clients that have come since
SERVICE = "service"
"""Author of what the service does by itself."""
Tell = Callable[[str, str, str, Visitor | None], None]
"""Rig, event, words, and the one client that gets it; None: all."""


class Commands:
    """Does what requests say.

    Parameters
    ----------
    name : str
        Of the service.
    sessions : sequence of Session
    log : ServiceLog
    subscriptions : Subscriptions
    runs : Path
        Folder of the run folders.
    tell : callable
        Sends a notice.
    endpoints : list of str
        Where the service listens.
    """

    def __init__(
        self,
        name: str,
        sessions: Mapping[str, Session],
        log: ServiceLog,
        subscriptions: Subscriptions,
        runs: Path,
        tell: Tell,
        endpoints: list[str],
    ) -> None:
        self.is_over, self._tell_at = False, 0.0
        self._name, self._sessions, self._log = name, sessions, log
        self._subscriptions, self._runs, self._tell = subscriptions, runs, tell
        self._endpoints = endpoints
        self._archive = Archive()
        self._beside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="archive")
        self._version = version("rigloop")
        self._doers: dict[type, Callable[[Any, Visitor], Any]] = {
            asked.Hello: self._hello,
            asked.Bye: self._bye,
            asked.Status: self._status,
            asked.Signals: self._signals,
            asked.Describe: lambda request, who: description_of(self._of(request).loaded),
            asked.Read: self._read,
            asked.Live: lambda request, who: self._of(request).live(),
            asked.Subscribe: self._subscribe,
            asked.Unsubscribe: self._unsubscribe,
            asked.Take: self._take,
            asked.Give: self._give,
            asked.Start: lambda request, who: self._of(request).start(request.seconds),
            asked.Arm: lambda request, who: self._of(request).arm(request.seconds),
            asked.Stop: lambda request, who: self._of(request).stop(),
            asked.Reset: lambda request, who: self._of(request).reset(drives=request.drives),
            asked.Inject: lambda request, who: self._of(request).inject(request.faults),
            asked.Write: self._write,
            asked.Capture: self._capture,
            asked.Verdict: self._verdict,
            asked.Runs: self._list_runs,
            asked.Shutdown: self._shutdown,
        }

    def close(self) -> None:
        """End the thread of the archive; it wakes the door no more then."""
        self._beside.shutdown(cancel_futures=True)

    def do(self, request: asked.AnyRequest, who: Visitor) -> Any:
        """Do a request; return its answer, or a Future of it.

        Raises
        ------
        Refused
            Nothing has changed.
        """
        _refuse_late(request)
        session = self._of(request) if isinstance(request, asked.OfRig) else None
        if isinstance(request, asked.Controlling) and session is not None:
            session.control.check(request.token, who, session.name, command_of(request))
        if self.is_over and isinstance(request, asked.Start | asked.Arm):
            raise Refused(Why.STATE, f"{command_of(request)}: the service ends")
        answer = self._doers[type(request)](request, who)
        if is_change(request):
            self.note(who.author, command_of(request), True, _arguments(request), session)
        return answer

    def refuse(self, who: str, command: str, refused: Refused, rig: str) -> None:
        """Write a refusal into the journals."""
        session = self._sessions.get(rig) if rig or len(self._sessions) > 1 else self._only
        self.note(who, command, False, str(refused), session)

    def note(
        self, author: str, command: str, done: bool, words: str, session: Session | None
    ) -> None:
        """Write an entry into the log of the service, and into the journal of a rig's run."""
        made = entry(
            author, command, done=done, words=words, rig=session.name if session is not None else ""
        )
        journals: list[ServiceLog | RunJournal] = [self._log]
        journals += [session.journal] if session is not None else []
        before = [one.unwritten for one in journals]
        for one in journals:
            one.add(made)
        is_lost, now = [one.unwritten for one in journals] != before, time.monotonic()
        if is_lost and now >= self._tell_at:
            words = "the journal cannot be written: actions and their authors are not recorded; is the disk full?"
            self._tell("", "journal", words, None)
            self._tell_at = now + TELL_AGAIN_S
        elif not is_lost:
            self._tell_at = 0.0

    @property
    def _only(self) -> Session:
        return next(iter(self._sessions.values()))

    def _of(self, request: asked.OfRig) -> Session:
        if not request.rig and len(self._sessions) == 1:
            return self._only
        found = self._sessions.get(request.rig)
        if found is None:
            name = line(request.rig, 64)
            raise Refused(Why.UNKNOWN, f"rig = {name!r}: {near(name, self._sessions)}")
        return found

    def _hello(self, request: asked.Hello, who: Visitor) -> ToHello:
        who.name = line(request.name, 64)
        return ToHello(
            self._name,
            self._version,
            list(self._sessions),
            who.author,
            self._endpoints,
            MOST_BYTES,
            MOST_RATE_HZ,
            time.monotonic_ns(),
        )

    def _bye(self, request: asked.Bye, who: Visitor) -> None:
        self._subscriptions.forget(who.client)

    def _status(self, request: asked.Status, who: Visitor) -> list[RigStatus]:
        return [session.status() for session in self._sessions.values()]

    def _signals(self, request: asked.Signals, who: Visitor) -> list[SignalRow]:
        return list(self._of(request).signals.values())

    def _read(self, request: asked.Read, who: Visitor) -> ToRead:
        session = self._of(request)
        reader = session.reader
        _refuse_unknown(session, request.paths, reader)
        try:
            values = reader.read(tuple(request.paths))
        except TableError as error:
            raise Refused(Why.STATE, str(error)) from None
        return ToRead(time.monotonic_ns(), values.tolist())

    def _subscribe(self, request: asked.Subscribe, who: Visitor) -> ToSubscribe:
        session = self._of(request)
        # of a run that goes on, its table knows; faults on purpose have signals of their own
        _refuse_unknown(
            session, request.paths, session.reader if session.goes_on else session.signals
        )
        number = self._subscriptions.add(who.client, session, request.paths, request.rate_hz)
        return ToSubscribe(number)

    def _unsubscribe(self, request: asked.Unsubscribe, who: Visitor) -> None:
        self._subscriptions.remove(who.client, request.subscription)

    def _take(self, request: asked.Take, who: Visitor) -> ToTake:
        session = self._of(request)
        token, lost = session.control.take(who, over=request.over, rig=session.name)
        if lost is not None:
            words = f"{who.author} has taken over control of {session.name}"
            self._tell(session.name, "control", words, lost)
        return ToTake(token, lost.author if lost is not None else "")

    def _give(self, request: asked.Give, who: Visitor) -> None:
        self._of(request).control.drop()

    def _write(self, request: asked.Write, who: Visitor) -> ToWrite:
        session = self._of(request)
        if sum(map(bool, (request.values, request.begin, request.end))) != 1:
            raise Refused(Why.VALUE, "write: give one of `values`, `begin` and `end`")
        names = (*request.values, *request.begin, *request.end)
        if request.token or not session.is_for_anyone(names):
            session.control.check(request.token, who, session.name, command_of(request))
        return ToWrite(session.write(request.values, request.begin, request.end, who.author))

    def _capture(self, request: asked.Capture, who: Visitor) -> Future[Any]:
        session = self._of(request)
        if request.to_s < request.from_s:
            raise Refused(
                Why.VALUE, f"to_s = {request.to_s:g}: is before from_s = {request.from_s:g}"
            )
        if not session.folder:
            raise Refused(
                Why.STATE, f"{session.name}: no run has a record: phase {session.phase}; `arm` it"
            )
        return self._beside.submit(self._archive.capture, session.folder, request)

    def _verdict(self, request: asked.Verdict, who: Visitor) -> ToVerdict:
        session = self._of(request)
        if session.last is None:
            raise Refused(
                Why.STATE, f"{session.name}: no run has ended: phase {session.phase}; `stop` it"
            )
        last = session.last
        return ToVerdict(last.folder, msgspec.to_builtins(last.outcome), last.error)

    def _list_runs(self, request: asked.Runs, who: Visitor) -> Future[Any]:
        return self._beside.submit(list_runs, self._runs, request.most)

    def _shutdown(self, request: asked.Shutdown, who: Visitor) -> None:
        for name, session in self._sessions.items():
            author, token = session.control.author, request.tokens.get(name, "")
            if author and not session.control.is_of(token, who):
                raise Refused(
                    Why.CONTROL,
                    f"shutdown: {author} is in control of {name}: give its token, or take it over",
                )
        self.is_over = True


def _refuse_late(request: asked.Request) -> None:
    late_ns = time.monotonic_ns() - request.until_ns
    if request.until_ns and late_ns > 0 and not isinstance(request, asked.Stop):
        raise Refused(
            Why.LATE,
            f"{command_of(request)}: came {late_ns * 1e-9:.1f} s after until_ns: look at the status, and ask again",
        )


def _refuse_unknown(session: Session, paths: Iterable[str], known: Container[str]) -> None:
    for path in paths:
        if path not in known:
            name = line(path)
            words = f"{session.name}: no signal {name!r}: {near(name, session.signals)}"
            raise Refused(Why.UNKNOWN, words)


def command_of(request: asked.Request) -> str:
    """Return the name of a request's command."""
    return str(request.__struct_config__.tag)


def is_change(request: asked.Request) -> bool:
    """Decide if a request changes something, which the journals keep."""
    return isinstance(request, asked.Controlling | asked.Write | asked.Take | asked.Shutdown)


def _arguments(request: asked.Request) -> str:
    hidden = {"protocol", "id", "until_ns", "token", "tokens", "rig"}
    given = {k: getattr(request, k) for k in request.__struct_fields__ if k not in hidden}
    return ", ".join(f"{key} = {value}" for key, value in given.items() if value is not None)
