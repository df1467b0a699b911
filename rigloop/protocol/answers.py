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
    """There is no run."""
    STARTING = "starting"
    """A run was started; its bus is coming up."""
    WAITING = "waiting"
    """The loop runs, the drives are disabled, and `arm` has not been given."""
    ARMING = "arming"
    """`arm` was given; the torque does not follow yet."""
    ARMED = "armed"
    """The torque follows the model."""
    STOPPING = "stopping"
    """The run is ending: ramp-out, verdict, report."""


class Why(StrEnum):
    """The kind of a refusal."""

    MESSAGE = "message"
    """The message is not one of this protocol, has an unknown command or key, a wrong type, or a value beyond its
    limit.
    """
    PROTOCOL = "protocol"
    """The message has another version of the protocol."""
    SIZE = "size"
    """The message has more bytes, signals or values than allowed."""
    RATE = "rate"
    """There are more requests, clients or subscriptions than allowed."""
    UNKNOWN = "unknown"
    """There is no such rig, signal, parameter, task or subscription."""
    CONTROL = "control"
    """The token is missing, or is not the token of the client in control."""
    LATE = "late"
    """The request arrived after its deadline `until_ns`."""
    STATE = "state"
    """The state of the rig does not allow the request."""
    VALUE = "value"
    """The rig does not accept a value."""
    FAILED = "failed"
    """The request was tried and failed."""


class Refused(Exception):
    """A refused request: its kind, and one sentence with name, value, limit and remedy."""

    def __init__(self, why: Why, words: str) -> None:
        super().__init__(words)
        self.why = why


class Message(Struct, frozen=True, kw_only=True, tag_field="kind", tag=str.lower):
    """The key of everything that a service sends, beside `kind`."""

    protocol: Annotated[int, Meta(description="version of the protocol, 1")]


class Answer(Message, kw_only=True, frozen=True):
    """The request was carried out."""

    id: Annotated[int, Meta(description="number of the request")]
    answer: Annotated[
        Any, Meta(description="content of the answer as in the table of the command, or nil")
    ] = None


class Refusal(Message, kw_only=True, frozen=True):
    """The request was refused, and nothing was changed."""

    id: Annotated[int, Meta(description="number of the request; 0 if it could not be read")]
    why: Annotated[Why, Meta(description="kind of the refusal")]
    words: Annotated[str, Meta(description="name, value, limit, remedy")]


class Values(Message, kw_only=True, frozen=True):
    """The newest values of a subscription."""

    subscription: Annotated[int, Meta(description="number of the subscription")]
    number: Annotated[
        int, Meta(description="serial number; a gap means that the client was too slow")
    ]
    monotonic_ns: Annotated[
        int, Meta(description="time at which they were read, CLOCK_MONOTONIC of the service")
    ]
    values: Annotated[list[float], Meta(description="in the order of the signals")]


class Notice(Message, kw_only=True, frozen=True):
    """An event that concerns all clients, or only the client that receives the notice."""

    rig: str
    what: Annotated[
        str,
        Meta(description="`control`, `phase`, `ended`, `journal` or `shutdown`; others may follow"),
    ]
    words: Annotated[str, Meta(description="one sentence")]


AnyMessage: TypeAlias = Answer | Refusal | Values | Notice


class RawAnswer(Message, kw_only=True, frozen=True, tag="answer"):
    """An answer whose content the client decodes that has asked."""

    id: int
    answer: Raw


class ToHello(Struct, frozen=True):
    """Answer of `hello`."""

    service: str
    version: Annotated[str, Meta(description="version of rigloop")]
    rigs: list[str]
    you: Annotated[str, Meta(description="your name in the journal")]
    endpoints: Annotated[list[str], Meta(description="addresses at which the service listens")]
    most_bytes: int
    most_rate_hz: float
    monotonic_ns: Annotated[int, Meta(description="CLOCK_MONOTONIC of the service")]


class RigStatus(Struct, frozen=True):
    """State of a rig."""

    rig: str
    phase: Phase
    state: Annotated[str, Meta(description="common state of the guards; empty without a run")]
    control: Annotated[str, Meta(description="client in control; empty: nobody")]
    folder: Annotated[str, Meta(description="folder of the current run, or of the last one")]
    table: Annotated[str, Meta(description="signal table of the run; empty without a run")]
    supervisor: Annotated[
        int, Meta(description="process number of the supervisor; 0 without a run")
    ]
    t_s: Annotated[float, Meta(description="seconds since the first cycle; 0 without a run")]
    first_cycle_ns: Annotated[
        int, Meta(description="CLOCK_MONOTONIC of the first cycle; 0 without a run")
    ]
    needs_reset: Annotated[str, Meta(description="reason why `reset` must come first; empty: none")]
    faults: Annotated[list[str], Meta(description="faults that will be injected in the next run")]
    n_runs: Annotated[int, Meta(description="number of runs that were started")]


class SignalRow(Struct, frozen=True):
    """A signal of a rig."""

    path: str
    unit: Annotated[str, Meta(description="unit; empty if unknown")]
    writer: str
    task: Annotated[
        str, Meta(description="task whose record has the signal, or `supervisor`, or `live`")
    ]


class ToRead(Struct, frozen=True):
    """Answer of `read`."""

    monotonic_ns: int
    values: Annotated[list[float], Meta(description="in the order of the signals")]


class LiveRow(Struct, frozen=True):
    """A live value or a stimulus of a rig."""

    name: str
    kind: Annotated[str, Meta(description="`value` or `stimulus`")]
    unit: str
    lower: Annotated[float, Meta(description="lower limit; for a stimulus, minus its limit")]
    upper: float
    who: Annotated[str, Meta(description="who may change it: `control` or `anyone`")]
    group: Annotated[str, Meta(description="group whose values are written together; empty: none")]
    now: Annotated[
        float | None,
        Meta(
            description="value in the cycle; for a stimulus, the value that it adds; "
            "nil without a run"
        ),
    ]


class ToTake(Struct, frozen=True):
    """Answer of `take`."""

    token: str
    before: Annotated[str, Meta(description="client that has lost control; empty: nobody")]


class ToSubscribe(Struct, frozen=True):
    """Answer of `subscribe`."""

    subscription: int


class ToWrite(Struct, frozen=True):
    """Answer of `write`."""

    sequence: Annotated[
        int, Meta(description="number of the change; the signal `live/changes` shows it at once")
    ]


class ToCapture(Struct, frozen=True):
    """Answer of `capture`: numbers are little-endian float64, one after the other."""

    t_s: bytes
    columns: Annotated[dict[str, bytes], Meta(description="column of each signal")]
    complete_to_s: Annotated[
        float,
        Meta(
            description="end of the record or of the largest answer; the next request starts here"
        ),
    ]


class ToVerdict(Struct, frozen=True):
    """Answer of `verdict`: the outcome as `rigloop run --json` prints it; `error` of a run that did not start."""

    folder: str
    outcome: Annotated[Any, Meta(description="outcome; nil if there is none")]
    error: str


class RunRow(Struct, frozen=True):
    """A run folder."""

    folder: str
    rig: str
    verdict: Annotated[str, Meta(description="`good` or `bad`; empty if there is no verdict yet")]


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
