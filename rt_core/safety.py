"""What the guard trips on, in words and limits. The law itself is guard.pyx."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from rt_core.guard import Reaction, State, Trip

__all__ = ["TRIPS", "GuardConfig", "Reaction", "State", "Trip", "TripKind", "explain_trip"]


@dataclass(frozen=True)
class TripKind:
    """One row of the trip table: what is watched, against which limit, and what follows."""

    port: str
    limit: str
    reaction: Reaction
    words: str


TRIPS: dict[Trip, TripKind] = {
    Trip.ACTUATOR_LOST: TripKind(
        "actuator_ready", "1", Reaction.SAFE, "the actuator left its operating state"
    ),
    Trip.OWN_FAULT: TripKind("own_fault", "0", Reaction.RAMP, "a block of this task failed"),
    Trip.REQUEST_FAULT: TripKind(
        "request_fault", "0", Reaction.RAMP, "a block of the requesting task failed"
    ),
    Trip.REQUEST_STALE: TripKind(
        "request_cycle", "max_request_age_cycles", Reaction.RAMP,
        "no new request for this many cycles",
    ),
    Trip.REQUEST_NOT_FINITE: TripKind(
        "torque_request_nm", "request_hold_cycles", Reaction.RAMP,
        "not a finite number for this many cycles",
    ),
    Trip.SENSOR_LOST: TripKind(
        "sensor_valid", "sensor_hold_cycles", Reaction.RAMP, "no valid sample for this many cycles"
    ),
    Trip.SENSOR_FLICKERS: TripKind(
        "sensor_valid", "bucket_limit", Reaction.RAMP,
        "invalid too often: +2 a bad cycle, -1 a good one",
    ),
    Trip.ANGLE_LIMIT: TripKind("angle_rad", "max_angle_rad", Reaction.RAMP, "out of range"),
    Trip.RATE_LIMIT: TripKind("rate_rad_s", "max_rate_rad_s", Reaction.RAMP, "too fast"),
    Trip.TIME_GAP: TripKind(
        "elapsed", "max_gap_cycles", Reaction.RAMP, "this many periods without a cycle"
    ),
    Trip.OVERRUNS_MANY: TripKind(
        "elapsed", "bucket_limit", Reaction.RAMP,
        "skipped too often: +2 a bad cycle, -1 a good one",
    ),
    Trip.HEARTBEAT_LOST: TripKind(
        "heartbeat", "heartbeat_timeout_s", Reaction.RAMP,
        "seconds without a sign of life of the supervisor",
    ),
}  # fmt: skip


LEAST = {"max_gap_cycles": 1, "max_request_age_cycles": 1, "request_sign": -1}


@dataclass(frozen=True)
class GuardConfig:
    """Limits of the guard. Cycles are those of the task that the guard runs in.

    Attributes
    ----------
    limit_nm : float
        The output stays within plus and minus this.
    rate_nm_s : float
        The output changes by no more than this times the period in one cycle.
    max_angle_rad, max_rate_rad_s : float
        Of the sensor.
    ramp_in_s, ramp_out_s : float
        Time of the gain from 0 to 1 and back.
    max_request_age_cycles : int
        Cycles without a new `request_cycle`. Three periods of the requesting task are a good value.
    request_hold_cycles, sensor_hold_cycles : int
        Bad cycles on end that are bridged with the last good request.
    max_gap_cycles : int
        Largest `elapsed`; 5 ms worth of cycles is a good value.
    bucket_limit : int
        Of the leaky buckets for bad samples and for skipped cycles (+2 a bad cycle, -1 a good one).
    heartbeat_timeout_s : float
    request_sign : {1, -1}
        -1 where the request is what a guide applies to the model: the motor gives the opposite.
    """

    limit_nm: float
    rate_nm_s: float
    max_angle_rad: float
    max_rate_rad_s: float
    ramp_in_s: float = 0.5
    ramp_out_s: float = 0.02
    max_request_age_cycles: int = 15
    request_hold_cycles: int = 3
    sensor_hold_cycles: int = 5
    max_gap_cycles: int = 25
    bucket_limit: int = 10
    heartbeat_timeout_s: float = 0.2
    request_sign: int = 1

    def mistakes(self) -> list[str]:
        """Return what is wrong with the values, one line each."""
        found = []
        for field in fields(self):
            value = getattr(self, field.name)
            least = LEAST.get(field.name, 0)
            whole = field.type == "int"
            if isinstance(value, bool) or not isinstance(value, int | float):
                found.append(f"{field.name} = {value!r} is no number")
            elif field.name == "request_sign" and value not in (1, -1):
                found.append(f"{field.name} = {value!r} must be 1 or -1")
            elif whole and not isinstance(value, int):
                found.append(f"{field.name} = {value!r} must be a whole number of cycles")
            elif not math.isfinite(value) or not least <= value <= 1e9:
                found.append(f"{field.name} = {value!r} must be within {least} and 1e9")
            elif value == 0 and field.name in ("limit_nm", "rate_nm_s", "heartbeat_timeout_s"):
                found.append(f"{field.name} = {value!r} must be above 0")
        return found

    def cycles_to_zero(self, period_s: float) -> int:
        """Cycles from the start of any ramp-out to an output of exactly zero, at most."""
        ramp = math.ceil(self.ramp_out_s / period_s * (1 + 1e-12))
        return ramp + math.ceil(self.limit_nm / (self.rate_nm_s * period_s)) + 1


def explain_trip(
    code: float, value: float, limit: float, cycle: float, paths: Mapping[str, str]
) -> str:
    """Return the guard's verdict in one line.

    Parameters
    ----------
    code, value, limit, cycle : float
        The guard's `trip`, `trip_value`, `trip_limit` and `trip_cycle`.
    paths : mapping
        The guard's `reads`, to name the signal.
    """
    kind = TRIPS[Trip(int(code))]
    return (
        f"guard: {paths[kind.port]}: {kind.words}: {value:.6g}, limit {kind.limit} = {limit:.6g}, "
        f"at cycle {int(cycle)} ({kind.reaction.name})"
    )
