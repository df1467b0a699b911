"""The mailbox of one slave: a message out, and the message back that answers it (ETG.1000.4, section 5.6).

A mailbox brings more than answers: emergencies, repetitions, answers to earlier requests. An answer is what
its caller recognises; emergencies are kept, and all else is passed over within the time limit and named at its end.

The counter in a slave's messages is the slave's own and says nothing of the request. It changes from one message to
the next, so a message that is the one before, counter included, is a repetition. Some slaves leave it at 0, or never
change it.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from io_bridge.master.emergency import EmergencyLog, read_emergency
from io_bridge.master.processor_watch import why_silent
from io_bridge.slaves.errors import BringUpError, NoReplyError
from io_bridge.slaves.state_limits import STANDARD, StateLimits

FPRD, FPWR = 4, 5
HEADER = 6
ERROR, COE = 0, 3
EMERGENCY = 1
LEAST_BYTES, MOST_BYTES = 16, 1486
"""A header with an SDO needs 16; more does not fit a datagram."""
REPETITION_S = 0.1
"""Time to wait for the answer after only a message with the old counter has come."""
LOOK_S = 1e-4
"""Simulated time of one poll where nothing sleeps."""
MOST_DRAINED = 32
MOST_NAMED = 3
MANAGER_1 = 0x0808
LOST = "a frame that did not come back"
FULLER = (
    "; limits = { mailbox_request_s = ... } of a rig's slave allows more, else switch it off and on"
)
SLOWER = "; limits = { mailbox_response_s = ... } of a rig's slave allows more, and `--esi` of `rigloop sdo`"

MAILBOX_ERRORS = {
    1: "syntax of the header",
    2: "protocol not supported",
    3: "channel not supported",
    4: "service not supported",
    5: "invalid header",
    6: "data too short",
    7: "out of memory",
    8: "inconsistent length",
}

Access = Callable[[int, int, int, bytes], tuple[bytes, int]]
"""From command, station, register and data to the reply and its working counter."""


class MailboxError(BringUpError):
    """A mailbox that cannot be used, refuses a message, or does not answer."""


class LostFramesError(MailboxError):
    """A frame of the request did not come back: the wire failed, not the slave."""


@dataclass(frozen=True)
class Areas:
    """Places of a mailbox: the area of bytes to the slave, and the area of bytes from it."""

    out: int
    out_size: int
    back: int
    back_size: int


@dataclass(frozen=True)
class Message:
    """A message from a slave: protocol, counter and the data after the header."""

    kind: int
    counter: int
    body: bytes

    @property
    def service(self) -> int:
        """Service of a CoE message; -1 for any other."""
        if self.kind != COE or len(self.body) < 2:
            return -1
        return int.from_bytes(self.body[:2], "little") >> 12


def read_message(data: bytes) -> Message | str:
    """Take a message out of the bytes of a mailbox, or report their mistake."""
    if len(data) < HEADER:
        return f"{len(data)} bytes, a header has {HEADER}"
    size, kind = struct.unpack_from("<H3xB", data)
    if HEADER + size > len(data):
        return f"a message of {size} bytes in a mailbox of {len(data)}"
    return Message(kind & 0x0F, kind >> 4 & 7, data[HEADER : HEADER + size])


class Wait:
    """Time that is left for an answer.

    Parameters
    ----------
    limit_s : float
    pause_s : float
        Slept between two looks; 0 where looking lets time pass.
    polls : int
        Looks at most, where nothing is slept.
    """

    def __init__(self, limit_s: float, pause_s: float, polls: int) -> None:
        self._until = time.monotonic() + limit_s
        self._pause_s = pause_s
        self._polls = polls

    @property
    def left(self) -> bool:
        """True while time is left."""
        return time.monotonic() < self._until and (self._pause_s > 0.0 or self._polls > 0)

    def more(self) -> bool:
        """Return whether another poll is allowed; sleep before it."""
        self._polls -= 1
        if not self.left:
            return False
        if self._pause_s:
            time.sleep(self._pause_s)
        return True


@dataclass(frozen=True)
class Postage:
    """The part of every mailbox of a line that is the master's.

    Attributes
    ----------
    access : callable
        Sends one datagram; raises NoReplyError when its frame is lost.
    emergencies : EmergencyLog
        Takes messages that slaves send unasked.
    pause_s : float
        As of `Wait`.
    polls : int, optional
        As of `Wait`; those of the time limit, if not given.
    called : callable
        From a station to the name of its slave in messages.
    """

    access: Access
    emergencies: EmergencyLog
    pause_s: float = 0.0
    polls: int | None = None
    called: Callable[[int], str] = "slave {:#06x}".format


class Mailbox:
    """The mailbox of one slave.

    Parameters
    ----------
    postage : Postage
    station : int
    areas : Areas
    limits : StateLimits
        How long the slave may take a message, and answer it.
    taken_over : bool
        Another master has used it before, so the counters of both sides are unknown.

    Raises
    ------
    MailboxError
        The areas are too small for a message, or larger than a datagram.
    """

    def __init__(
        self,
        postage: Postage,
        station: int,
        areas: Areas,
        *,
        limits: StateLimits = STANDARD,
        taken_over: bool = False,
    ) -> None:
        for size in (areas.out_size, areas.back_size):
            if not LEAST_BYTES <= size <= MOST_BYTES:
                raise MailboxError(
                    f"{postage.called(station)}: a mailbox of {size} bytes; {LEAST_BYTES} to {MOST_BYTES} can be used"
                )
        self.areas = areas
        self._postage = postage
        self._station = station
        self._limits = limits
        # 0 is taken by every slave, whatever it had received last
        self._counter = 0 if taken_over else 1
        self._strange = taken_over
        self._last = Message(COE, 0, b"")
        self._varies = self._stands_still = False

    @property
    def called(self) -> str:
        """Name of the slave in messages."""
        return self._postage.called(self._station)

    @property
    def room(self) -> int:
        """Bytes that can follow the header of a message to the slave."""
        return self.areas.out_size - HEADER

    @property
    def last_counter(self) -> int:
        """Counter of the last message to the slave."""
        return (self._counter - 2) % 7 + 1

    @property
    def answer_s(self) -> float:
        """Time limit of the slave for an answer."""
        return self._limits.mailbox_response_s

    @property
    def taking_s(self) -> float:
        """Time limit of the slave for accepting a message; while it works on the previous one, it accepts none."""
        return self._limits.mailbox_request_s + self.answer_s

    def wait(self, limit_s: float) -> Wait:
        """Return a time limit as this mailbox counts it."""
        polls = self._postage.polls
        if polls is None:
            polls = round(limit_s / LOOK_S)
        return Wait(limit_s, self._postage.pause_s, polls)

    def ask(self, body: bytes, answers: Callable[[Message], bool]) -> Message:
        """Send a CoE message and return the one that answers it.

        Parameters
        ----------
        body : bytes
            From the CoE header on.
        answers : callable
            Whether a message is the answer.

        Raises
        ------
        MailboxError
            No answer within the limit; the message names the reply that came in its place.
        """
        self.drain()
        strange = self._strange
        self.send(body)
        try:
            return self._answer(answers)
        except MailboxError:
            # a slave takes a message with the counter of the last one for a repetition, and is silent
            self._last = Message(COE, 0, b"")
            if not strange:
                raise
            self._strange = False
        self.send(body)
        return self._answer(answers)

    def drain(self) -> None:
        """Fetch waiting messages: emergencies are kept, and answers to earlier requests are dropped."""
        for _ in range(MOST_DRAINED):
            try:
                message = self._fetch()
            except NoReplyError:
                return
            if message is None:
                return
            if isinstance(message, Message):
                self._note(message)
                self._see(message)

    def send(self, body: bytes) -> None:
        """Send a CoE message, once the slave has taken the one before.

        Raises
        ------
        MailboxError
            It does not take it, or the slave is gone.
        """
        areas = self.areas
        head = struct.pack("<HHBB", len(body), 0, 0, self._counter << 4 | COE)
        self._counter = self._counter % 7 + 1
        wait = self.wait(self.taking_s)
        lost = 0
        while True:
            try:
                _, wkc = self._postage.access(
                    FPWR, self._station, areas.out, (head + body).ljust(areas.out_size, b"\0")
                )
            except NoReplyError:
                # the slave knows a repetition by its counter
                lost, wkc = lost + 1, 0
            if wkc:
                return
            if not wait.more():
                raise MailboxError(
                    f"{self.called}: the mailbox takes no message: "
                    + (
                        f"{lost} frames were lost"
                        if lost
                        else f"it stays full for {self.taking_s:g} s, or the slave is gone"
                        + (why_silent(self._ask_several, self._station) or FULLER)
                    )
                )

    def _answer(self, answers: Callable[[Message], bool]) -> Message:
        wait = self.wait(self.answer_s)
        patience: Wait | None = None
        held: Message | None = None
        passed: list[str] = []
        while True:
            try:
                found = self._fetch()
            except NoReplyError:
                found = LOST
                self._ask_again()
            if isinstance(found, Message):
                old = self._is_repetition(found)
                if self._note(found):
                    passed.append("an emergency")
                elif found.kind == ERROR:
                    raise MailboxError(f"{self.called}: {_error_words(found.body)}")
                elif not answers(found):
                    passed.append(_name(found))
                elif not old:
                    self._see(found)
                    self._strange = False
                    return found
                else:
                    passed.append("a repetition")
                    if held is None and not self._varies:
                        held, patience = found, self.wait(REPETITION_S)
                self._see(found)
            elif found is not None:
                passed.append(found)
            if held is not None and patience is not None and not patience.more():
                # nothing else comes: the counter of this slave stands still
                self._stands_still = True
                return held
            if not wait.more():
                break
        if passed and set(passed) == {LOST}:
            raise LostFramesError(
                f"{self.called}: no answer in its mailbox within {self.answer_s:g} s: {len(passed)} frames did not "
                "come back: cable, power, interface"
            )
        raise MailboxError(
            f"{self.called}: no answer in its mailbox within {self.answer_s:g} s"
            + _listed(passed)
            + ("" if passed else why_silent(self._ask_several, self._station) or SLOWER)
        )

    def _ask_several(
        self, datagrams: Sequence[tuple[int, int, int, bytes]]
    ) -> list[tuple[bytes, int]]:
        return [self._postage.access(*datagram) for datagram in datagrams]

    def _is_repetition(self, message: Message) -> bool:
        return bool(message.counter) and message == self._last and not self._stands_still

    def _see(self, message: Message) -> None:
        if message.counter:
            self._varies |= self._last.counter not in (0, message.counter)
            self._last = message

    def _fetch(self) -> Message | str | None:
        """Return the message in the mailbox, or its mistake; None when it is empty."""
        areas = self.areas
        data, wkc = self._postage.access(FPRD, self._station, areas.back, bytes(areas.back_size))
        return read_message(data) if wkc else None

    def _ask_again(self) -> None:
        """The frame that fetched a message is lost, and the message with it: have the slave put it there again."""
        try:
            data, wkc = self._postage.access(FPRD, self._station, MANAGER_1, bytes(8))
            if wkc:
                activate = bytes([data[6] ^ 2])
                self._postage.access(FPWR, self._station, MANAGER_1 + 6, activate)
        except NoReplyError:
            return

    def _note(self, message: Message) -> bool:
        """Keep an emergency; return whether it was one."""
        if message.service != EMERGENCY:
            return False
        found = read_emergency(self._station, message.body[2:])
        if found is not None and not self._is_repetition(message):
            self._postage.emergencies.add(found)
        return True


def _error_words(body: bytes) -> str:
    code = int.from_bytes(body[2:4], "little") if len(body) >= 4 else 0
    return (
        f"its mailbox refuses the message: {code:#06x} {MAILBOX_ERRORS.get(code, 'unknown code')}"
    )


def _name(message: Message) -> str:
    if message.kind != COE:
        return f"a message of protocol {message.kind}"
    return f"service {message.service} with {message.body[2:10].hex(' ')}"


def _listed(passed: list[str]) -> str:
    if not passed:
        return ": it stays empty"
    kinds = list(dict.fromkeys(passed))
    more = ", ..." if len(kinds) > MOST_NAMED else ""
    return f"; in its place came {len(passed)} others: {', '.join(kinds[:MOST_NAMED])}{more}"
