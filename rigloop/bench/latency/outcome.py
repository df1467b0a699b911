"""The findings of a latency test: figures of each period, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from rigloop.bench.latency.events import Found
from rigloop.bench.latency.model import Figures


class Result(msgspec.Struct, frozen=True):
    """One period of the simulation: distributions in ns, and what they are judged by."""

    period_us: int
    fast_period_us: int
    run: str
    good: bool
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    real_time: bool
    device_clock: str
    """`nominal`: the time of the cycle; `device`: the distributed clock of the bus; `host`."""
    latency: Figures
    """From the sign change at the device to the torque of the new sign at the device."""
    nominal: Figures
    """The same, had every cycle kept its deadline."""
    response: Figures | None
    """To the torque of the new sign that the drive itself reports."""
    stages: dict[str, Figures]
    groups: dict[str, Figures]
    path_delay_ns: float
    filter_delay_ns: float
    frequency_hz: float
    limit_ns: float
    """Limit of latency.p99_9."""
    t9_limit_ns: float
    beyond_t9: dict[str, int]
    """Latencies beyond it, by the cause of the cycles that were lost on the way."""
    published_ns: float
    distance: float
    """Distance of the distribution from the uniform one over a period, and its limit."""
    allowed_distance: float
    skipped: dict[str, int]
    """Sign changes left out, by reason."""


class LatencyOutcome(msgspec.Struct, frozen=True):
    """All periods of a latency test."""

    good: bool
    reasons: list[str]
    folder: str
    rig: str
    bus: str
    results: list[Result]


@dataclass(frozen=True)
class Measured:
    """A result with the events that it summarises, for pictures."""

    result: Result
    found: Found
