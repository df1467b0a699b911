"""Requests of a client: one struct a command. Its docstring and the descriptions of its keys are the documentation."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeAlias

from msgspec import Meta, Struct

from rigloop.protocol.limits import (
    MOST_FAULTS,
    MOST_RUNS,
    Instant,
    Moment,
    Number,
    Path,
    Paths,
    RateHz,
    Seconds,
    Token,
    Word,
)

RigName = Annotated[
    str, Meta(max_length=200, description="name of the rig; not needed if the service has only one")
]
InUnit = tuple[float, str]


class Request(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="command",
    tag=str.lower,
):
    """The keys of every request, beside `command`, its name."""

    controls: ClassVar[bool] = False
    protocol: Annotated[int, Meta(description="version of the protocol, 1")]
    id: Annotated[Number, Meta(description="number of the request; its answer has the same number")]
    until_ns: Annotated[
        Instant,
        Meta(
            description="deadline on CLOCK_MONOTONIC of the service; a request that arrives later "
            "is refused, except `stop`; 0: no deadline"
        ),
    ] = 0


class OfRig(Request, kw_only=True, frozen=True):
    """The keys of a request to one rig of the service."""

    rig: RigName = ""


class Controlling(OfRig, kw_only=True, frozen=True):
    """The keys of a request that only the client in control may make."""

    controls: ClassVar[bool] = True
    token: Annotated[Token, Meta(description="the token that `take` gave")] = ""


class Hello(Request, kw_only=True, frozen=True):
    """Introduce yourself; the journal records the name. The answer has the names of the rigs and the limits."""

    name: Annotated[Word, Meta(description="name of the person or program that asks")]


class Bye(Request, kw_only=True, frozen=True):
    """Leave: subscriptions end. You keep control until you give it back or another client takes it over."""


class Status(Request, kw_only=True, frozen=True):
    """Return the state of each rig, its run, and the client in control."""


class Signals(OfRig, kw_only=True, frozen=True):
    """List the signals of a rig with unit and writer."""


class Describe(OfRig, kw_only=True, frozen=True):
    """Return everything that a viewer without the rig file needs: tasks, guards, live values, mechanisms."""


class Read(OfRig, kw_only=True, frozen=True):
    """Return the newest values of some signals of the current run."""

    paths: Annotated[Paths, Meta(description="signals")]


class Live(OfRig, kw_only=True, frozen=True):
    """List everything that may change while the rig runs: live values with limits and newest values, and stimuli."""


class Subscribe(OfRig, kw_only=True, frozen=True):
    """Subscribe to the newest values of some signals: the service pushes them at the given rate until `unsubscribe`,
    also in later runs.
    """

    paths: Annotated[Paths, Meta(description="signals")]
    rate_hz: Annotated[RateHz, Meta(description="pushes a second")] = 20.0


class Unsubscribe(Request, kw_only=True, frozen=True):
    """End a subscription."""

    subscription: Annotated[Number, Meta(description="number that `subscribe` gave")]


class Take(OfRig, kw_only=True, frozen=True):
    """Take control of a rig; with `over` also from another client, which gets a notice. The journal records it."""

    over: Annotated[bool, Meta(description="take control away from another client")] = False


class Give(Controlling, kw_only=True, frozen=True):
    """Give control back. An active run continues."""


class Start(Controlling, kw_only=True, frozen=True):
    """Start a run without torque: the bus comes up, signals can be read, drives stay disabled until `arm`."""

    seconds: Annotated[
        Seconds | None,
        Meta(
            description="the run ends this time after arming; without it, the run ends with `stop`"
        ),
    ] = None


class Arm(Controlling, kw_only=True, frozen=True):
    """Enable the drives and arm; start a run first if none is active."""

    seconds: Annotated[
        Seconds | None, Meta(description="as for `start`; only if `arm` starts the run")
    ] = None


class Stop(Controlling, kw_only=True, frozen=True):
    """Ramp the torque out, end the run and determine its verdict. This is not an emergency stop."""


class Reset(Controlling, kw_only=True, frozen=True):
    """Acknowledge that a run has tripped or failed. The service starts no other run before that."""

    drives: Annotated[
        bool, Meta(description="reset drives that are in their fault state at the next start")
    ] = False


class Inject(Controlling, kw_only=True, frozen=True):
    """Inject faults in the next run, as with `rigloop run --inject`; this list replaces an earlier one."""

    faults: Annotated[
        list[Path], Meta(max_length=MOST_FAULTS, description="`FAULT@T`, T seconds after arming")
    ]


class Write(OfRig, kw_only=True, frozen=True):
    """Do one of three things to the current run: change live values, all in one cycle; begin stimuli; or end stimuli.
    Needs control, unless the rig file has `who = "anyone"` for each name.
    """

    token: Annotated[Token, Meta(description="the token that `take` gave")] = ""
    values: Annotated[
        dict[Word, float | InUnit],
        Meta(max_length=100, description="live value → number, or number and its unit"),
    ] = {}
    begin: Annotated[list[Word], Meta(max_length=100, description="stimuli that begin")] = []
    end: Annotated[list[Word], Meta(max_length=100, description="stimuli that end")] = []


class Capture(OfRig, kw_only=True, frozen=True):
    """Return every cycle of some signals between two moments of the current run, or of the last one."""

    paths: Annotated[Paths, Meta(description="signals")]
    from_s: Annotated[Moment, Meta(description="seconds since the first cycle")]
    to_s: Annotated[
        Moment, Meta(description="seconds since the first cycle; the record must reach this moment")
    ]
    at: Annotated[
        str,
        Meta(
            max_length=200,
            description="task whose cycles give the times, for signals of several tasks",
        ),
    ] = ""


class Verdict(OfRig, kw_only=True, frozen=True):
    """Return the verdict on the last run of a rig."""


class Runs(Request, kw_only=True, frozen=True):
    """List the newest run folders of the service."""

    most: Annotated[int, Meta(ge=1, le=MOST_RUNS, description="largest number of runs")] = 20


class Shutdown(Request, kw_only=True, frozen=True):
    """End all runs and the service. Refused while another client is in control of a rig."""

    tokens: Annotated[
        dict[str, Token],
        Meta(max_length=64, description="rig → token, for each rig that you control"),
    ] = {}


AnyRequest: TypeAlias = (
    Hello
    | Bye
    | Status
    | Signals
    | Describe
    | Read
    | Live
    | Subscribe
    | Unsubscribe
    | Take
    | Give
    | Start
    | Arm
    | Stop
    | Reset
    | Inject
    | Write
    | Capture
    | Verdict
    | Runs
    | Shutdown
)
