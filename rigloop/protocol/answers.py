"""Messages of a service: answers, refusals, values of subscriptions, and notices; and the answer of each command."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Raw, Struct

from rigloop.protocol.description import ToDescribe
from rigloop.protocol.requests import (
    Capture,
    Describe,
    Hello,
    Live,
    Read,
    Request,
    Runs,
    Signals,
    Status,
    Subscribe,
    Take,
    Verdict,
    Write,
)


class Phase(StrEnum):
    """The phase of a rig of a service."""

    IDLE = "idle"
    """No run goes on."""
    STARTING = "starting"
    """A run was started; its bus comes up."""
    WAITING = "waiting"
    """The loop runs, drives are disabled, `arm` has not come."""
    ARMING = "arming"
    """`arm` has come; the torque does not follow yet."""
    ARMED = "armed"
    """The torque follows the model."""
    STOPPING = "stopping"
    """The run ends: ramp-out, verdict, report."""


class Why(StrEnum):
    """The kind of a refusal."""

    MESSAGE = "message"
    """No message of this protocol, an unknown command or key, a wrong type, a value beyond its limit."""
    PROTOCOL = "protocol"
    """Another version of the protocol."""
    SIZE = "size"
    """More bytes, signals or values than allowed."""
    RATE = "rate"
    """More requests, clients or subscriptions than allowed."""
    UNKNOWN = "unknown"
    """No such rig, signal, parameter, task or subscription."""
    CONTROL = "control"
    """The token is missing, or not the one of the client in control."""
    LATE = "late"
    """It came after the moment until which it was asked for."""
    STATE = "state"
    """The rig is not in the state for it."""
    VALUE = "value"
    """A value that this rig does not take."""
    FAILED = "failed"
    """It was tried, and did not succeed."""


class Refused(Exception):
    """A request that is refused: its kind, and one sentence with name, value, limit and remedy."""

    def __init__(self, why: Why, words: str) -> None:
        super().__init__(words)
        self.why = why


class Message(Struct, frozen=True, kw_only=True, tag_field="kind", tag=str.lower):
    """The key of everything that a service sends, beside `kind`."""

    protocol: Annotated[int, Meta(description="version of the protocol, 1")]


class Answer(Message, kw_only=True, frozen=True):
    """A request was done."""

    id: Annotated[int, Meta(description="of the request")]
    answer: Annotated[Any, Meta(description="what the table of commands says, or nil")] = None


class Refusal(Message, kw_only=True, frozen=True):
    """A request was refused, and nothing was changed."""

    id: Annotated[int, Meta(description="of the request; 0 where it could not be read")]
    why: Annotated[Why, Meta(description="kind of the refusal")]
    words: Annotated[str, Meta(description="name, value, limit, remedy")]


class Values(Message, kw_only=True, frozen=True):
    """The newest values of a subscription."""

    subscription: Annotated[int, Meta(description="its number")]
    number: Annotated[int, Meta(description="counts up; a gap says that the client was too slow")]
    monotonic_ns: Annotated[int, Meta(description="when they were read, CLOCK_MONOTONIC there")]
    values: Annotated[list[float], Meta(description="in the order of the signals")]


class Notice(Message, kw_only=True, frozen=True):
    """An event that concerns all clients, or the one that it is sent to."""

    rig: str
    what: Annotated[
        str,
        Meta(description="`control`, `phase`, `ended`, `journal` or `shutdown`; others may follow"),
    ]
    words: Annotated[str, Meta(description="one sentence")]


AnyMessage: TypeAlias = Answer | Refusal | Values | Notice


class RawAnswer(Message, kw_only=True, frozen=True, tag="answer"):
    """An answer whose content is decoded by whoever has asked."""

    id: int
    answer: Raw


class ToHello(Struct, frozen=True):
    """Answer of `hello`."""

    service: str
    version: Annotated[str, Meta(description="of rigloop")]
    rigs: list[str]
    you: Annotated[str, Meta(description="the name that the journal has")]
    endpoints: Annotated[list[str], Meta(description="where the service listens")]
    most_bytes: int
    most_rate_hz: float
    monotonic_ns: Annotated[int, Meta(description="CLOCK_MONOTONIC of the service")]


class RigStatus(Struct, frozen=True):
    """State of a rig."""

    rig: str
    phase: Phase
    state: Annotated[str, Meta(description="of the guards together; empty without a run")]
    control: Annotated[str, Meta(description="who is in control; empty: nobody")]
    folder: Annotated[str, Meta(description="of the run, or of the last one")]
    table: Annotated[str, Meta(description="signal table of the run; empty without a run")]
    supervisor: Annotated[int, Meta(description="process; 0 without a run")]
    t_s: Annotated[float, Meta(description="since the first cycle; 0 without a run")]
    first_cycle_ns: Annotated[int, Meta(description="CLOCK_MONOTONIC; 0 without a run")]
    needs_reset: Annotated[str, Meta(description="why `reset` has to come first; empty: no need")]
    faults: Annotated[list[str], Meta(description="on purpose, in the next run")]
    n_runs: Annotated[int, Meta(description="runs that were started")]


class SignalRow(Struct, frozen=True):
    """A signal of a rig."""

    path: str
    unit: Annotated[str, Meta(description="empty where nobody knows it")]
    writer: str
    task: Annotated[str, Meta(description="in whose record it is: a task, `supervisor`, or `live`")]


class ToRead(Struct, frozen=True):
    """Answer of `read`."""

    monotonic_ns: int
    values: Annotated[list[float], Meta(description="in the order of the signals")]


class LiveRow(Struct, frozen=True):
    """A live value or a stimulus of a rig."""

    name: str
    kind: Annotated[str, Meta(description="`value` or `stimulus`")]
    unit: str
    lower: Annotated[float, Meta(description="of a stimulus, minus its limit")]
    upper: float
    who: Annotated[str, Meta(description="`control` or `anyone` may change it")]
    group: Annotated[str, Meta(description="written together with the others of it; empty: none")]
    now: Annotated[
        float | None, Meta(description="in the cycle; what a stimulus adds; nil without a run")
    ]


class ToTake(Struct, frozen=True):
    """Answer of `take`."""

    token: str
    before: Annotated[str, Meta(description="who has lost control; empty: nobody")]


class ToSubscribe(Struct, frozen=True):
    """Answer of `subscribe`."""

    subscription: int


class ToWrite(Struct, frozen=True):
    """Answer of `write`."""

    sequence: Annotated[
        int, Meta(description="number of the change; the signal `live/changes` has it at once")
    ]


class ToCapture(Struct, frozen=True):
    """Answer of `capture`: numbers are little-endian float64, one after the other."""

    t_s: bytes
    columns: Annotated[dict[str, bytes], Meta(description="by signal")]
    complete_to_s: Annotated[
        float,
        Meta(description="the record, or the limit of an answer, ends here: ask from here on"),
    ]


class ToVerdict(Struct, frozen=True):
    """Answer of `verdict`: the outcome as `rigloop run --json` prints it; `error` of a run that did not start."""

    folder: str
    outcome: Annotated[Any, Meta(description="nil where there is none")]
    error: str


class RunRow(Struct, frozen=True):
    """A run folder."""

    folder: str
    rig: str
    verdict: Annotated[str, Meta(description="`good`, `bad`, or empty: none yet")]


ANSWERS: dict[type[Request], Any] = {
    Hello: ToHello,
    Status: list[RigStatus],
    Signals: list[SignalRow],
    Describe: ToDescribe,
    Read: ToRead,
    Live: list[LiveRow],
    Subscribe: ToSubscribe,
    Take: ToTake,
    Write: ToWrite,
    Capture: ToCapture,
    Verdict: ToVerdict,
    Runs: list[RunRow],
}
"""Command → what its answer has; the others answer nil."""
