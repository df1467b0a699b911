"""The process of a service: one loop that hears requests, follows the runs, and pushes what was subscribed to.

Its runs are processes of their own. They end with this one, by the end of their standard input: the torque ramps out,
and nobody arms again.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from io_bridge.doorway.door import Client, Door, Letter
from io_bridge.doorway.gatekeeper import DOMAIN, Gatekeeper
from io_bridge.doorway.keys import LOCAL, key_folder, own_pair
from io_bridge.host.service_manager import notify, watchdog_s
from rig_configs.load import LoadedRig
from rigloop.host.placing import on_processors, processors_beside
from rigloop.protocol.answers import Answer, Notice, Phase, Refusal, Refused, Why
from rigloop.protocol.codec import encoded, read_request, request_id
from rigloop.protocol.limits import MOST_WIRE_BYTES, PROTOCOL, REQUESTS_A_SECOND
from rigloop.protocol.requests import Bye, Capture, OfRig, Runs
from rigloop.service.archived_answers import ArchivedAnswers
from rigloop.service.clients import Visitor, Visitors
from rigloop.service.commands import SERVICE, Commands, command_of
from rigloop.service.control import Control
from rigloop.service.journal import ServiceLog, log_folder
from rigloop.service.kept_reset import KeptReset
from rigloop.service.sessions import RunChoices, Session
from rigloop.service.subscriptions import Subscriptions

LOOK_S = 0.02
SWEEP_S = 5.0
LETTERS = 64  # of each door, before runs and subscriptions have their turn
END_S = 60.0  # for runs to ramp out and be judged

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServiceOptions:
    """Options of a service.

    Attributes
    ----------
    name : str
    endpoint : str
        Of the local socket.
    tcp : str or None
        Endpoint on TCP, for clients with keys.
    choices : RunChoices
    requests_a_second : float
        Of each client.
    """

    name: str
    endpoint: str
    choices: RunChoices
    tcp: str | None = None
    requests_a_second: float = REQUESTS_A_SECOND


def serve(
    rigs: Sequence[LoadedRig],
    options: ServiceOptions,
    interrupted: Sequence[int],
    opened: Callable[[list[str]], None] = lambda endpoints: None,
) -> None:
    """Serve rigs until a `shutdown`, or a signal; all runs have ended then.

    Parameters
    ----------
    rigs : sequence of LoadedRig
    options : ServiceOptions
    interrupted : sequence of int
        Signals that have come.
    opened : callable, optional
        Gets the endpoints once clients may come.

    Raises
    ------
    DoorError
        The socket, or a key, cannot be had.
    """
    with contextlib.ExitStack() as stack:
        # before a thread starts: threads inherit the processors
        tasks = [task for rig in rigs for task in rig.rig.tasks.values()]
        beside = processors_beside(tasks, options.choices.processors)
        stack.enter_context(on_processors(beside))
        door = stack.enter_context(Door(MOST_WIRE_BYTES))
        gatekeeper = None
        if options.tcp is not None:
            pair = own_pair(key_folder())
            gatekeeper = stack.enter_context(Gatekeeper(door.context, key_folder()))
            door.open_tcp(options.tcp, pair, DOMAIN)
        door.open_local(options.endpoint)
        log = ServiceLog(log_folder(), options.name)
        stack.callback(log.close)
        service = Service(rigs, options, door, log, gatekeeper)
        stack.callback(service.close)
        opened(door.endpoints())
        service.run(interrupted)


class Service:
    """The loop of a service, in steps that a test can make.

    Parameters
    ----------
    rigs : sequence of LoadedRig
    options : ServiceOptions
    door : Door
    log : ServiceLog
    gatekeeper : Gatekeeper, optional
    """

    def __init__(
        self,
        rigs: Sequence[LoadedRig],
        options: ServiceOptions,
        door: Door,
        log: ServiceLog,
        gatekeeper: Gatekeeper | None = None,
    ) -> None:
        self.sessions = {
            rig.name: Session(
                rig, options.choices, Control(self._is_there), KeptReset(log.folder, rig.name)
            )
            for rig in rigs
        }
        self.visitors = Visitors(self._is_there)
        self.subscriptions = Subscriptions(door)
        self.commands = Commands(
            options.name,
            self.sessions,
            log,
            self.subscriptions,
            options.choices.runs,
            self._tell,
            door.endpoints(),
        )
        self._options, self._door, self._gatekeeper = options, door, gatekeeper
        self._archived = ArchivedAnswers(door, self._refuse_later)
        self._phases = dict.fromkeys(self.sessions, Phase.IDLE)
        self._look_at = self._sweep_at = 0.0

    def run(self, interrupted: Sequence[int]) -> None:
        """Serve until somebody says that it is over; then let all runs end, and answer meanwhile."""
        self.commands.note(SERVICE, "begin", True, f"rigs {', '.join(self.sessions)}", None)
        watch_s = watchdog_s()
        notify("READY=1", f"STATUS={self.status()}")
        beat_at, end_at = 0.0, float("inf")
        while True:
            self.step()
            now = time.monotonic()
            if watch_s is not None and now >= beat_at:
                beat_at = now + watch_s / 4.0
                notify("WATCHDOG=1", f"STATUS={self.status()}")
            if (interrupted or self.commands.is_over) and end_at == float("inf"):
                end_at = now + END_S
                self.commands.is_over = True
                notify("STOPPING=1")
                self._tell("", "shutdown", "the service ends", None)
                for session in self.sessions.values():
                    session.let_go()
            if end_at < float("inf") and (
                now >= end_at or not any(s.goes_on for s in self.sessions.values())
            ):
                break
        self.commands.note(SERVICE, "end", True, "", None)

    def step(self) -> None:
        """Wait a little for requests, and do all that is due."""
        until = self.subscriptions.next_s()
        self._door.wait(max(0.0, min(until - time.monotonic(), LOOK_S)))
        for letter in self._door.letters(LETTERS):
            self._hear(letter)
        for client in self.subscriptions.push():
            self._forget(client)
        self._archived.send()
        now = time.monotonic()
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            self._follow()
        if now >= self._sweep_at:
            self._sweep_at = now + SWEEP_S
            for visitor in self.visitors.sweep():
                self.subscriptions.forget(visitor.client)

    def close(self) -> None:
        """End the threads and the journals."""
        self.commands.close()
        for session in self.sessions.values():
            session.journal.end()

    def status(self) -> str:
        """Return one line on all rigs, for the service manager."""
        return ", ".join(f"{name} {session.phase}" for name, session in self.sessions.items())

    def _hear(self, letter: Letter) -> None:
        client, raw, command, rig = letter.client, letter.raw, "", ""
        who = f"nameless ({client.door})"
        try:
            whose = self._whose(client)
            visitor = self.visitors.of(client, whose)
            who = visitor.author
            visitor.pay(self._options.requests_a_second)
            if raw is None:
                raise Refused(Why.MESSAGE, "a message of several frames: send one")
            request = read_request(raw)
            command = command_of(request)
            rig = request.rig if isinstance(request, OfRig) else ""
            if isinstance(request, Capture | Runs):
                self._archived.refuse_crowd(client)
            answer = self.commands.do(request, visitor)
        except Refused as refused:
            self.commands.refuse(who, command, refused, rig)
            number = request_id(raw) if raw is not None else 0
            self._refuse(client, number, refused)
            return
        except Exception as error:
            # a mistake of ours in one command ends no service, whose end would end every run
            _log.exception("%s", command)
            failed = Refused(
                Why.FAILED, f"{command}: {type(error).__name__}; see the service's output"
            )
            self.commands.refuse(who, command, failed, rig)
            self._refuse(client, request_id(raw) if raw is not None else 0, failed)
            return
        if isinstance(request, Capture | Runs):
            self._archived.add(visitor, request, answer)
            return
        self._answer(client, request.id, answer)
        if isinstance(request, Bye):
            self._forget(client)

    def _whose(self, client: Client) -> str:
        if client.door == "local":
            return LOCAL
        name = self._name_of(client)
        if name is None:
            self._forget(client)
            raise Refused(Why.CONTROL, "this key is not authorised any more")
        return name

    def _name_of(self, client: Client) -> str | None:
        return self._gatekeeper.name_of(client.key) if self._gatekeeper is not None else None

    def _follow(self) -> None:
        for visitor in self.visitors:
            if visitor.client.door != "local" and self._name_of(visitor.client) is None:
                self.commands.note(
                    visitor.author, "connect", False, "this key is not authorised any more", None
                )
                self._forget(visitor.client)
        for key in self._gatekeeper.strangers() if self._gatekeeper is not None else ():
            words = "this key is not authorised: not let in"
            self.commands.note(f"nameless ({key})", "connect", False, words, None)
        for name, session in self.sessions.items():
            ended = session.look()
            if ended and session.last is not None:
                words = session.last.words
                self.commands.note(SERVICE, "ended", True, words, session)
                session.journal.end()
                self._tell(name, "ended", words, None)
            phase = session.phase
            if phase != self._phases[name]:
                self._phases[name] = phase
                if phase != Phase.IDLE:
                    self.commands.note(SERVICE, "phase", True, phase, session)
                self._tell(name, "phase", phase, None)
                notify(f"STATUS={self.status()}")

    def _answer(self, client: Client, number: int, answer: Any) -> None:
        self._send(client, encoded(Answer(protocol=PROTOCOL, id=number, answer=answer)))

    def _refuse(self, client: Client, number: int, refused: Refused) -> None:
        made = Refusal(protocol=PROTOCOL, id=number, why=refused.why, words=str(refused))
        self._send(client, encoded(made))

    def _refuse_later(self, who: Visitor, request: Capture | Runs, refused: Refused) -> None:
        rig = request.rig if isinstance(request, OfRig) else ""
        self.commands.refuse(who.author, command_of(request), refused, rig)
        self._refuse(who.client, request.id, refused)

    def _tell(self, rig: str, what: str, words: str, whom: Visitor | None) -> None:
        raw = encoded(Notice(protocol=PROTOCOL, rig=rig, what=what, words=words))
        for visitor in self.visitors if whom is None else (whom,):
            self._send(visitor.client, raw)

    def _send(self, client: Client, raw: bytes) -> None:
        if self._door.send(client, raw) is False:
            self._forget(client)

    def _is_there(self, client: Client) -> bool:
        # an empty message is none: clients pass it over
        return self._door.send(client, b"") is not False

    def _forget(self, client: Client) -> None:
        self.visitors.forget(client)
        self.subscriptions.forget(client)
