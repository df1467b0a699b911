"""Trip conditions of the guard, in words and limits. The law itself is guard.pyx."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from rt_core.safety.guard import Reaction, State, Trip
from rt_core.settings import Sign, check

__all__ = [
    "TRIPS",
    "GuardConfig",
    "Reaction",
    "State",
    "Trip",
    "TripKind",
    "Tripped",
    "explain_trip",
    "name_of_trip",
    "read_state",
    "read_trip",
]


@dataclass(frozen=True)
class TripKind:
    """One row of the trip table: the watched signal, its limit, and the consequence."""

    port: str
    limit: str
    """Key of the limit in a rig's guard block; empty: the value itself is the fault."""
    reaction: Reaction
    words: str
    unit: str = ""
    remedy: str = ""


_RAMP, _SAFE = Reaction.RAMP, Reaction.SAFE

TRIPS: dict[Trip, TripKind] = {
    Trip.ACTUATOR_LOST: TripKind(
        "actuator_ready", "", _SAFE, "the actuator left its operating state",
        remedy="look at the drive, its cable and its power",
    ),
    Trip.OWN_FAULT: TripKind("own_fault", "", _RAMP, "a block of this task failed"),
    Trip.REQUEST_FAULT: TripKind(
        "request_fault", "", _RAMP, "a block of the requesting task failed"
    ),
    Trip.REQUEST_STALE: TripKind(
        "request_cycle", "max_request_age_ms", _RAMP, "no new request", "ms",
        "make the requesting task's work shorter, or raise the limit: three of its periods are a good value",
    ),
    Trip.REQUEST_NOT_FINITE: TripKind(
        "torque_request_nm", "request_hold_ms", _RAMP, "the request is not a finite number", "ms",
        "find the block that makes it",
    ),
    Trip.SENSOR_LOST: TripKind(
        "sensor_valid", "sensor_hold_ms", _RAMP, "no valid sample", "ms",
        "look at the sensor and its cable, or raise the limit",
    ),
    Trip.SENSOR_FLICKERS: TripKind(
        "sensor_valid", "sensor_bucket_ms", _RAMP,
        "samples are invalid too often (bad time counts twice, good time is taken off)", "ms",
        "look at the sensor and its cable, or raise the limit",
    ),
    Trip.ANGLE_LIMIT: TripKind(
        "angle_rad", "max_angle_rad", _RAMP, "the angle is out of range", "rad",
        "move the wheel back, or raise the limit",
    ),
    Trip.RATE_LIMIT: TripKind(
        "rate_rad_s", "max_rate_rad_s", _RAMP, "too fast", "rad/s",
        "turn more slowly, or raise the limit",
    ),
    Trip.TIME_GAP: TripKind(
        "elapsed", "max_gap_ms", _RAMP, "no cycle was stepped", "ms",
        "see why the task was late (`rigloop doctor`), or raise the limit",
    ),
    Trip.OVERRUNS_MANY: TripKind(
        "elapsed", "skip_bucket_ms", _RAMP,
        "periods are skipped too often (skipped time counts twice, kept time is taken off)", "ms",
        "see why the task was late (`rigloop doctor`), or raise the limit",
    ),
    Trip.HEARTBEAT_LOST: TripKind(
        "heartbeat", "heartbeat_timeout_ms", _RAMP, "no sign of life of the supervisor", "ms",
        "find out what kept its process from running, or raise the limit",
    ),
    Trip.OTHER_TRIPPED: TripKind("", "", _RAMP, "tripped with another guard"),
}  # fmt: skip


def read_trip(code: float) -> Trip | None:
    """Return the trip with a guard's code; None for a number that no guard writes, as in a table written over."""
    return next((trip for trip in (Trip.NO_TRIP, *TRIPS) if trip == code), None)


def read_state(code: float) -> State:
    """Return the state with a guard's code; FAULT for a number that no guard writes, as in a table written over."""
    return next((state for state in State if state == code), State.FAULT)


def name_of_trip(code: float) -> str:
    """Return the trip with a guard's code in a few words, whatever number is in its place."""
    trip = read_trip(code)
    return (
        f"{code:g}, a code that no guard writes"
        if trip is None
        else trip.name.lower().replace("_", " ")
    )


Limit = Annotated[float, Field(gt=0.0, le=1e9)]
Ms = Annotated[float, Field(ge=0.0, le=1e9)]
RampIn = Annotated[float, Field(ge=0.0, le=86_400.0)]
RampOut = Annotated[float, Field(ge=0.0, le=0.1)]  # a trip ends the torque, it does not fade it
Gain = Annotated[float, Field(gt=0.0, le=1000.0)]


@dataclass(frozen=True)
class GuardConfig:
    """Limits of the guard. Times are those of the clock: skipped periods count.

    Attributes
    ----------
    limit_nm : float
        The output stays within plus and minus this.
    rate_nm_s : float
        From one output to the next it changes by no more than this times the period, however many periods
        were skipped between them.
    max_angle_rad, max_rate_rad_s : float
        Of the sensor.
    ramp_in_s, ramp_out_s : float
        Time of the gain from 0 to 1 and back.
    max_request_age_ms : float
        Time without a new `request_cycle`. Three periods of the requesting task are a good value.
    request_hold_ms, sensor_hold_ms : float
        Bad time that is bridged with the last good request, from the first bad cycle on, which counts as a
        period. Less than a period: the first bad cycle trips.
    max_gap_ms : float
        Largest time between two executed cycles.
    sensor_bucket_ms : float
        Of the leaky bucket for bad samples: bad time counts twice, each good cycle takes a period away.
    skip_bucket_ms : float
        Of that for skipped time. Twice `max_gap_ms`, or more, lets a single gap pass.
    heartbeat_timeout_ms : float
    request_sign : {1, -1}
        -1 where the request is the torque of a guide on the model: the motor gives the opposite.
    request_gain : float
        Torque of the motor over the request, before clamp and ramp.
    request_period_ms : float
        Of the requesting task. A command that acts for more than two of them and a period of the guard has
        outlived one that was missed. Shorter than a period: the guard's own.
    """

    limit_nm: Limit
    rate_nm_s: Limit
    max_angle_rad: Limit
    max_rate_rad_s: Limit
    ramp_in_s: RampIn = 0.5
    ramp_out_s: RampOut = 0.02
    max_request_age_ms: Limit = 5.0
    request_hold_ms: Ms = 3.0
    sensor_hold_ms: Ms = 5.0
    max_gap_ms: Limit = 5.0
    sensor_bucket_ms: Ms = 20.0
    skip_bucket_ms: Ms = 10.0
    heartbeat_timeout_ms: Limit = 200.0
    request_sign: Sign = 1
    request_gain: Gain = 1.0
    request_period_ms: Ms = 0.0

    def __post_init__(self) -> None:
        check("guard", self)

    def cycles_to_zero(self, period_s: float) -> int:
        """Executed cycles from the start of any ramp-out to an output of exactly zero, at most.

        Skipped periods between them shorten the ramp and never make it more cycles.
        """
        ramp = math.ceil(self.ramp_out_s / period_s * (1 + 1e-12))
        return ramp + math.ceil(self.limit_nm / (self.rate_nm_s * period_s)) + 1


@dataclass(frozen=True)
class Tripped:
    """A trip as the guard's cells tell it.

    Attributes
    ----------
    trip : Trip
    value, limit, cycle : float
        The guard's `trip_value`, `trip_limit` and `trip_cycle`.
    at_s : float, optional
        Time of that cycle since the start.
    guard : str
        Name of its block.
    """

    trip: Trip
    value: float
    limit: float
    cycle: float
    at_s: float | None = None
    guard: str = "guard"


def explain_trip(
    tripped: Tripped,
    paths: Mapping[str, str],
    *,
    cause: str = "",
    remedy: str = "",
    origin: str = "",
) -> str:
    """Return the guard's verdict in one sentence.

    Parameters
    ----------
    tripped : Tripped
    paths : mapping
        The guard's `reads`, to name the signal.
    cause : str
        Which slave or block, and why, where the trip itself does not say it.
    remedy : str
        The remedy, where the trip table's own words do not serve.
    origin : str
        Words for the limit, where no key of the rig gives it.
    """
    kind = TRIPS[tripped.trip]
    unit = f" {kind.unit}" if kind.unit else ""
    said = f"{kind.words}: {cause}" if cause else kind.words
    if not kind.port and cause:
        said = cause
    if kind.limit:
        key = f"blocks.{tripped.guard}.{kind.limit}"
        limited = origin or f"limit {key} = {tripped.limit:.6g}"
        said += f": {tripped.value:.6g}{unit}, {limited}"
    elif not cause:
        said += f": {tripped.value:.6g}"
    at = "" if tripped.at_s is None else f" ({tripped.at_s:.3f} s)"
    todo = f"; {remedy or kind.remedy}" if remedy or kind.remedy else ""
    where = f"{paths[kind.port]}: " if kind.port else ""
    when = f"at cycle {tripped.cycle:.0f}{at} ({kind.reaction.name})"
    return f"{tripped.guard}: {where}{said}, {when}{todo}"
