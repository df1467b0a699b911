"""Rows of a log without an encoder behind them: zeros, all ones, or one value that is stuck.

A resting wheel repeats one value too, and zero is an angle. But no wheel comes to that value, or leaves it, faster
than a motion can.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.faults import MAX_ACCELERATION_RAD_S2, MIN_STEP_COUNTS
from io_bridge.logs.reader import EncoderLog
from io_bridge.logs.stuck_counter import standstills

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

LEAST_BLANK = 5  # zeros or ones in a row
LEAST_STUCK = 50  # equal values in a row
BITS = range(8, 54)
SPEED_OVER = 5  # intervals that say how fast the wheel was before it stood still
SLACK = 4.0  # times the largest acceleration: jitter of the times


def absences(log: EncoderLog) -> list[str]:
    """Report the rows in which a log has no angle, one line a kind; empty for a log whose encoder was there throughout.

    Parameters
    ----------
    log : EncoderLog
    """
    raw, n = log.position_count, len(log.position_count)
    if np.all(raw == raw[0]):
        return [f"the angle is {raw[0]:.0f} counts in all {n} samples: the encoder says nothing"]
    impossible = _impossible(log)
    blank = np.isin(raw, [0.0, log.mapping.angle.counter_span - 1.0, *(2.0**k - 1 for k in BITS)])
    found = []
    gone = np.zeros(n, dtype=bool)
    for begin, end in _runs(blank, LEAST_BLANK):
        # the run, or one of its values, came or went by a jump
        if (begin > 0 and impossible[begin - 1]) or (end < n and impossible[end - 1]):
            gone[begin:end] = True
    found += _words(log, gone, "the counter reads zero or all ones")
    held = np.r_[False, np.diff(raw) == 0.0]
    stuck = np.zeros(n, dtype=bool)
    for begin, end in _runs(held, LEAST_STUCK - 1):
        first = begin - 1  # the value's first sample
        came = first > 0 and impossible[first - 1]
        went = end < n and impossible[end - 1]
        if (came and went) or _stops_dead(log, first, end):
            stuck[first:end] = True
    angle = log.mapping.angle
    for still in standstills(
        log.t_s,
        raw,
        angle.counter_span,
        2.0 * np.pi / angle.counts_per_rev,
        MAX_ACCELERATION_RAD_S2,
    ):
        # one that rests after the jump too may have been given another zero
        stuck[still.begin : still.end] |= still.moves
    found += _words(log, stuck & ~gone, "the counter is stuck")
    return found


def _counts_between(log: EncoderLog) -> Array:
    # from each sample to the next, the short way round
    span = log.mapping.angle.counter_span
    delta = np.diff(log.position_count)
    return delta - span * np.floor(delta / span + 0.5) if span else delta


def _impossible(log: EncoderLog) -> Mask:
    # steps that neither the speed before nor the one after, and a possible change of it, explain
    delta, dt_s = np.abs(_counts_between(log)), np.diff(log.t_s)
    speed = delta / dt_s
    beside = np.minimum(np.r_[speed[0], speed[:-1]], np.r_[speed[1:], speed[-1]])
    rad_per_count = 2.0 * np.pi / log.mapping.angle.counts_per_rev
    slack = MIN_STEP_COUNTS + SLACK * MAX_ACCELERATION_RAD_S2 * dt_s**2 / rad_per_count
    return np.asarray(delta > beside * dt_s + slack)


def _stops_dead(log: EncoderLog, first: int, end: int) -> bool:
    # from a speed, or to one, within one sample
    delta, dt_s = _counts_between(log), np.diff(log.t_s)
    rad_per_count = 2.0 * np.pi / log.mapping.angle.counts_per_rev
    for stretch in (slice(max(0, first - SPEED_OVER), first), slice(end, end + SPEED_OVER)):
        if len(dt_s[stretch]) < SPEED_OVER:
            continue
        moved = delta[stretch] * rad_per_count
        speed = abs(float(np.sum(moved))) / float(np.sum(dt_s[stretch]))
        # a wheel that only twitches has no speed to lose
        steady = np.all(moved > 0.0) or np.all(moved < 0.0)
        if steady and speed > SLACK * MAX_ACCELERATION_RAD_S2 * float(np.median(dt_s[stretch])):
            return True
    return False


def _runs(where: Mask, least: int) -> list[tuple[int, int]]:
    # begin and end of stretches of True that are long enough
    edge = np.diff(np.r_[0, where.astype(np.int8), 0])
    begins, ends = np.flatnonzero(edge == 1), np.flatnonzero(edge == -1)
    return [
        (int(b), int(e)) for b, e in zip(begins, ends, strict=True) if e - b >= least
    ]  # fmt: skip


def _words(log: EncoderLog, gone: Mask, what: str) -> list[str]:
    if not gone.any():
        return []
    first = int(np.argmax(gone))
    return [
        f"{what} in {gone.sum()} of {len(gone)} samples, first at row {log.row[first]} "
        f"({log.t_s[first]:.3f} s), and comes and goes as no wheel moves: the encoder was not there; "
        "cut these rows out, or mend its supply or cable"
    ]
