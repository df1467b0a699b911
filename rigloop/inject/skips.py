"""Cycles that are lost again and again: what a rig states about them, and whether its rate stayed right meanwhile."""

from __future__ import annotations

import math

import numpy as np

from rig_configs.schema import EncoderFilterBlock
from rigloop.compose import paths
from rigloop.inject.evidence import Evidence
from rigloop.inject.kinds import Reaction, Stated
from rigloop.inject.limits import Limits
from rt_core.plan import loop_signal

CYCLES = 60  # executed ones, each followed by lost periods
LOST_PERIODS = 6.6  # of a default: between five and ten, where a filter of fixed gains is off within some cycles
# between the filter's rate and what the counts have gone since the sample before: the wheel's own acceleration over
# the lost periods, and a sample that is up to a period later than its nominal time, are a part of it
RATE_WITHIN_RAD_S = 1.0


def skips(lim: Limits, value_us: float) -> Stated:
    """Ramps out when the guard's bucket of skipped time is full, or counts; the rate stays right until the end."""
    lost = max(1, math.floor(value_us / lim.fast_task.period_us))
    if (lost + 1) * lim.period_s > lim.guard.max_gap_ms * 1e-3:
        return Stated(Reaction.RAMP, ("TIME_GAP",), 3, 3 + lim.ramp, rate_within=RATE_WITHIN_RAD_S)
    # one lost period less than asked for: where in its period a cycle ends is the host's
    full = lim.filled(lim.guard.skip_bucket_ms, 2 * max(1, lost - 1)) + 2
    if full > CYCLES:
        counted = (loop_signal(lim.fast, "skipped"),)
        return Stated(Reaction.COUNT, counted, 3, None, rate_within=RATE_WITHIN_RAD_S)
    return Stated(
        Reaction.RAMP, ("OVERRUNS_MANY", "OWN_FAULT"), full, full + lim.ramp,
        rate_within=RATE_WITHIN_RAD_S,
    )  # fmt: skip


def rate_held(began: int, within: float, seen: Evidence, lim: Limits, why: list[str]) -> None:
    """Add by how much the filter's rate has left what the encoder's counts say from a row on."""
    named = [(n, b) for n, b in lim.rig.blocks.items() if isinstance(b, EncoderFilterBlock)]
    if not named or began >= len(seen.fast):
        return
    name, encoder = named[0]
    reads, writes = paths(name, encoder)
    rows = seen.fast[max(0, began - 1) :]
    if "valid" in reads:
        rows = rows[rows[reads["valid"]] == 1.0]
    if len(rows) < 2:
        why.append("no sample was left to judge the rate by")
        return
    counts = np.diff(rows[reads["position_count"]])
    if encoder.counter_span:
        counts -= encoder.counter_span * np.floor(counts / encoder.counter_span + 0.5)
    passed_s = 1e-9 * np.diff(rows["t_ns"])
    a_count = 2 * np.pi / encoder.counts_per_rev
    mean_rad_s = encoder.sign * a_count * counts / passed_s
    # a difference of counts is rounded twice
    off = np.abs(rows[writes["rate_rad_s"]][1:] - mean_rad_s) - 2 * a_count / passed_s
    worst = float(np.max(off)) if np.isfinite(off).all() else math.inf
    if not worst <= within:
        why.append(f"the rate was {worst:.3g} rad/s off the encoder's, stated {within:g}")
