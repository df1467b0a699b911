"""Cycles that are lost again and again: what a rig states about them."""

from __future__ import annotations

import math

from rigloop.inject.kinds import Reaction, Stated
from rigloop.inject.limits import Limits
from rt_core.plan import loop_signal

CYCLES = 60  # executed ones, most of them followed by lost periods
LOST_PERIODS = 6.6  # of a default: between five and ten, where a filter of fixed gains is off within some cycles
# between the filter's rate and what the counts have gone since the sample before: the wheel's own acceleration over
# the lost periods, and a sample that is up to a period later than its nominal time, are a part of it
RATE_WITHIN_RAD_S = 1.0


def skips(lim: Limits, value_us: float) -> Stated:
    """Ramps out when the guard's bucket of skipped time is full, or counts; the rate stays right until the end."""
    lost = max(1, math.floor(value_us / lim.fast_task.period_us))
    if (lost + 1) * lim.period_s > lim.guard.max_gap_ms * 1e-3:
        return Stated(Reaction.RAMP, ("TIME_GAP",), 3, 3 + lim.ramp, rate_within=RATE_WITHIN_RAD_S)
    # one cycle in four or five is over before the core is taken, and is followed by the next on time
    full = lim.filled(lim.guard.skip_bucket_ms, max(1.0, 1.5 * lost - 1.0)) + 2
    if full > CYCLES:
        counted = (loop_signal(lim.fast, "skipped"),)
        return Stated(Reaction.COUNT, counted, 3, None, rate_within=RATE_WITHIN_RAD_S)
    return Stated(
        Reaction.RAMP, ("OVERRUNS_MANY", "OWN_FAULT"), full, full + lim.ramp,
        rate_within=RATE_WITHIN_RAD_S,
    )  # fmt: skip
