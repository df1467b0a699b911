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
    str, Meta(max_length=200, description="name of the rig; may be left out where there is one")
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
    id: Annotated[Number, Meta(description="number of the request; its answer has the same")]
    until_ns: Annotated[
        Instant,
        Meta(
            description="CLOCK_MONOTONIC of the service; one that comes later is refused, but `stop`; 0: none is late"
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
    """Introduce yourself; the journal has the name. Answered with the names of the rigs and the limits."""

    name: Annotated[Word, Meta(description="who asks: a person, a program")]


class Bye(Request, kw_only=True, frozen=True):
    """Leave: subscriptions end. Control is kept until it is given back or taken over."""


class Status(Request, kw_only=True, frozen=True):
    """Return the state of each rig, its run, and who is in control."""


class Signals(OfRig, kw_only=True, frozen=True):
    """List the signals of a rig with unit and writer."""


class Describe(OfRig, kw_only=True, frozen=True):
    """Return all of a rig that a viewer without its file has to know: tasks, guards, live values, mechanisms."""


class Read(OfRig, kw_only=True, frozen=True):
    """Return the newest values of some signals of the run that goes on."""

    paths: Annotated[Paths, Meta(description="signals")]


class Live(OfRig, kw_only=True, frozen=True):
    """List what may be changed while the rig runs: live values with limits and newest values, and stimuli."""


class Subscribe(OfRig, kw_only=True, frozen=True):
    """Have the newest values of some signals pushed, as often as asked, until `unsubscribe`; across runs."""

    paths: Annotated[Paths, Meta(description="signals")]
    rate_hz: Annotated[RateHz, Meta(description="pushes a second")] = 20.0


class Unsubscribe(Request, kw_only=True, frozen=True):
    """End a subscription."""

    subscription: Annotated[Number, Meta(description="number that `subscribe` gave")]


class Take(OfRig, kw_only=True, frozen=True):
    """Take control of a rig; with `over` also from another client, which is noticed there and in the journal."""

    over: Annotated[bool, Meta(description="take it away from whoever has it")] = False


class Give(Controlling, kw_only=True, frozen=True):
    """Give control back. A run goes on."""


class Start(Controlling, kw_only=True, frozen=True):
    """Start a run without torque: the bus comes up, signals can be read, drives stay disabled until `arm`."""

    seconds: Annotated[
        Seconds | None, Meta(description="the run ends so long after arming; else with `stop`")
    ] = None


class Arm(Controlling, kw_only=True, frozen=True):
    """Enable the drives and arm; starts a run if none goes on."""

    seconds: Annotated[
        Seconds | None, Meta(description="as for `start`; only where `arm` starts the run")
    ] = None


class Stop(Controlling, kw_only=True, frozen=True):
    """Ramp the torque out, end the run and judge it. This is no emergency stop."""


class Reset(Controlling, kw_only=True, frozen=True):
    """Acknowledge that a run has tripped or failed. The service starts no other run before that."""

    drives: Annotated[
        bool, Meta(description="drives in their fault state are reset at the next start")
    ] = False


class Inject(Controlling, kw_only=True, frozen=True):
    """Have faults happen on purpose in the next run, as with `rigloop run --inject`; replaces those given before."""

    faults: Annotated[
        list[Path], Meta(max_length=MOST_FAULTS, description="`FAULT@T`, T seconds after arming")
    ]


class Write(OfRig, kw_only=True, frozen=True):
    """Change live values of the run that goes on, all in one cycle; or begin stimuli, or end them: one of the three.
    Needs control, unless the rig file says `who = "anyone"` of each."""

    token: Annotated[Token, Meta(description="the token that `take` gave")] = ""
    values: Annotated[
        dict[Word, float | InUnit],
        Meta(max_length=100, description="live value → number, or number and its unit"),
    ] = {}
    begin: Annotated[list[Word], Meta(max_length=100, description="stimuli that begin")] = []
    end: Annotated[list[Word], Meta(max_length=100, description="stimuli that end")] = []


class Capture(OfRig, kw_only=True, frozen=True):
    """Return every cycle of some signals between two moments of the run that goes on, or of the last one."""

    paths: Annotated[Paths, Meta(description="signals")]
    from_s: Annotated[Moment, Meta(description="seconds since the first cycle")]
    to_s: Annotated[Moment, Meta(description="the record has to have come as far")]
    at: Annotated[
        str,
        Meta(max_length=200, description="task at whose cycles signals of several tasks are taken"),
    ] = ""


class Verdict(OfRig, kw_only=True, frozen=True):
    """Return how the last run of a rig was judged."""


class Runs(Request, kw_only=True, frozen=True):
    """List the newest run folders of the service."""

    most: Annotated[int, Meta(ge=1, le=MOST_RUNS, description="how many at most")] = 20


class Shutdown(Request, kw_only=True, frozen=True):
    """End all runs and the service. Refused while another client is in control of a rig."""

    tokens: Annotated[
        dict[str, Token], Meta(max_length=64, description="rig → token, of each rig in control")
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
