"""Periods that are lost again and again: what rigs state, and the judge of the rate on records that are made here."""

import numpy as np
import pytest

from rigloop.compose.wiring import load
from rigloop.inject.evidence import Evidence
from rigloop.inject.kinds import Reaction
from rigloop.inject.limits import limits_of
from rigloop.inject.rate import rate_held
from rigloop.inject.skips import CYCLES, skips
from rigloop.run_folder import messages

N, BEGAN, LOST = 400, 200, 7
COUNTS = 2**20
SPAN = 2.0**32


@pytest.fixture(scope="module")
def lim():
    return limits_of(load("fault_bench").rig)


def record(rate_off=0.0, valid=1.0, turns_before_wrap=0.01):
    """A swing of 1 rad at 0.5 Hz in cycles of 1 ms, then one cycle in eight; the counter wraps on its way."""
    elapsed = np.where(np.arange(N) > BEGAN, 1 + LOST, 1)
    t_s = 1e-3 * np.cumsum(elapsed)
    omega = np.pi
    angle = np.sin(omega * t_s)
    rows = np.zeros(
        N,
        dtype=[("t_ns", "i8")]
        + [(n, "f8") for n in ("bus/wheel/position_count", "bus/wheel/valid", "wheel/rate_rad_s")],
    )
    rows["t_ns"] = np.rint(1e9 * t_s)
    start = SPAN - turns_before_wrap * COUNTS
    rows["bus/wheel/position_count"] = np.mod(np.rint(start + angle * COUNTS / (2 * np.pi)), SPAN)
    rows["bus/wheel/valid"] = valid
    rows["wheel/rate_rad_s"] = omega * np.cos(omega * t_s)
    rows["wheel/rate_rad_s"][BEGAN + 20 :] += rate_off
    return Evidence(rows, rows, messages.Report(), {}, {}, {}, None)


def found(evidence, lim):
    why = []
    rate_held(BEGAN, 1.0, evidence, lim, why)
    return why


def test_rate_that_follows_the_counts_is_right_also_across_a_wrap_of_the_counter(lim):
    assert found(record(), lim) == []


@pytest.mark.parametrize("off", [1.5, -30.0, np.nan, np.inf])
def test_rate_that_leaves_the_counts_is_told_with_how_far_and_the_bound(lim, off):
    (why,) = found(record(rate_off=off), lim)
    assert "off the encoder's, stated 1" in why


def test_a_rate_without_samples_cannot_be_judged(lim):
    (why,) = found(record(valid=0.0), lim)
    assert "no sample" in why


def test_what_a_rig_states_follows_from_its_own_limits(lim):
    period_us = lim.fast_task.period_us
    few = skips(lim, 6.6 * period_us)
    assert few.reaction == Reaction.RAMP
    assert "OVERRUNS_MANY" in few.found_by
    assert few.zero == few.detect + lim.ramp
    assert few.detect < CYCLES
    assert few.rate_within == 1.0
    # a single period a cycle does not fill the bucket in so many cycles
    one = skips(lim, 1.2 * period_us)
    assert one.reaction == Reaction.COUNT
    assert one.found_by == ("loop/estimation/skipped",)
    long = skips(lim, 1.2e3 * lim.guard.max_gap_ms)
    assert long.found_by == ("TIME_GAP",)
