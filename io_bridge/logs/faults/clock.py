"""Faults of a log's clock, and the time that goes on across them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from io_bridge.logs.faults.finding import Array, Found, Mask, runs

FEW = 50  # stamps that are out of order, rather than a clock that began again
NEAR = 5.0  # periods from the end of a counter that runs over
LEAST_SPAN = 200.0  # periods
SPANS_S = (2.0**32 * 1e-9, 2.0**32 * 1e-6, 2.0**32 * 1e-3, 2.0**16 * 1e-3, 86_400.0)
BITS = (8, 10, 12, 14, 16, 20, 24, 31, 32, 48, 53)
COARSE_SHARE, COARSE_BLOCK = 0.3, 64  # of stamps that repeat: the clock's digits are too few
MISSING = 1.75  # periods between two samples: one is missing
JITTERS = 0.01  # of the intervals beyond 1.5 periods: the logger polls
BESIDE = 12  # intervals that make up for one that is late
MADE_UP = 0.6
TINY = 0.2  # of a period


@dataclass(frozen=True)
class Clock:
    """Times of a log.

    Attributes
    ----------
    t_s : ndarray of float64, shape (n,)
        Time since the first sample; NaN where a stamp is missing.
    keep : ndarray of bool, shape (n,)
        Samples with a time of their own, increasing.
    period_s : float
        Typical interval, s.
    found : list of Found
        By samples.
    jitters : bool
        Intervals vary by more than half a period: stamps are those of a receiver.
    """

    t_s: Array
    keep: Mask
    period_s: float
    found: list[Found]
    jitters: bool


def read_clock(stamp: Array, unit_s: float, bits: int | None = None) -> Clock:
    """Find the faults of a column of stamps.

    Parameters
    ----------
    stamp : ndarray of float64, shape (n,)
        As logged, NaN where missing.
    unit_s : float
        Seconds of one.
    bits : int, optional
        Width of a counter that runs over; found if not given.
    """
    found = [
        Found("missing time", b, e - 1, "no stamp") for b, e in runs(~np.isfinite(stamp))
    ]  # fmt: skip
    at = np.flatnonzero(np.isfinite(stamp))
    straight, bad, told = _straightened(stamp[at], unit_s, bits)
    found += [_moved(one, at) for one in told]
    keep = np.zeros(len(stamp), dtype=bool)
    keep[at[~bad]] = True
    t_s = np.full(len(stamp), np.nan)
    t_s[at] = (straight - straight[0]) * unit_s if len(straight) else straight
    at = np.flatnonzero(keep)
    coarse = _coarse(t_s[at])
    for first, last in coarse:
        found.append(
            Found(
                "lost precision", int(at[first]), int(at[last]), "stamps too coarse for their rate"
            )
        )
    same = np.r_[False, np.diff(t_s[at]) == 0.0]
    for first, last in coarse:
        same[first : last + 1] = False
    found += [
        Found("repeated stamps", int(at[b]), int(at[e - 1]), "the time of the row before")
        for b, e in runs(same)
    ]
    newest = np.r_[np.diff(t_s[at]) > 0.0, True] if len(at) else np.zeros(0, dtype=bool)
    keep[at[~newest]] = False
    at = np.flatnonzero(keep)
    period_s, jitters, told = _intervals(t_s[at], any_coarse=bool(coarse))
    found += [_moved(one, at) for one in told if not _is_left_by_drops(one, at, t_s, period_s)]
    return Clock(t_s, keep, period_s, found, jitters)


def _is_left_by_drops(one: Found, at: np.ndarray, t_s: Array, period_s: float) -> bool:
    # rows whose stamps were no times are listed as such, and leave no gap of their own
    if one.kind != "gap" or one.first < 2:
        return False
    dropped = int(at[one.first] - at[one.first - 2]) - 2
    return dropped > 0 and one.size <= (dropped + 1.5) * period_s


def _moved(one: Found, at: np.ndarray) -> Found:
    return Found(one.kind, int(at[one.first]), int(at[one.last]), one.words, one.size)


def _straightened(stamp: Array, unit_s: float, bits: int | None) -> tuple[Array, Mask, list[Found]]:
    # stamps that only increase: wraps and restarts undone, those out of order marked
    n = len(stamp)
    t, bad, found = stamp.astype(float).copy(), np.zeros(n, dtype=bool), []
    step = np.diff(stamp)
    typical = float(np.median(step[step > 0])) if np.any(step > 0) else 1.0
    offset = 0.0
    breaks = np.flatnonzero(step < 0)
    for i in breaks:
        before = int(i)
        while before > 0 and bad[before]:
            before -= 1
        after = int(i) + 1
        if bad[after] or stamp[after] + offset >= t[before]:
            t[after:] = stamp[after:] + offset
            continue
        span = _span(float(stamp[before]), float(stamp[after]), typical, unit_s, bits)
        if span:
            offset += span
            t[after:] = stamp[after:] + offset
            found.append(
                Found("clock wrap", after, after, f"the clock runs over after {span:.10g}", span)
            )
            continue
        here = t[after : after + FEW + 1]
        later = here > t[before]
        right = int(np.argmax(later)) if later.any() else len(here)
        right_ends = not later.any() and after + right >= n
        left_part = t[max(0, before - FEW) : before + 1][::-1]
        earlier = (left_part < t[after]) & ~bad[max(0, before - FEW) : before + 1][::-1]
        left = int(np.argmax(earlier)) if earlier.any() else len(left_part)
        may_left = earlier.any()
        may_right = later.any() or (right_ends and right < 3)
        if may_right and (not may_left or right <= left):
            bad[after : after + right] = True
            found.append(
                Found("backward stamps", after, after + right - 1, "earlier than the row before")
            )
        elif may_left:
            bad[before - left + 1 : before + 1] = True
            found.append(
                Found("backward stamps", before - left + 1, before, "later than the rows after it")
            )
        else:
            size = t[before] + typical - t[after]
            offset += size
            t[after:] = stamp[after:] + offset
            found.append(
                Found(
                    "restarted clock",
                    after,
                    after,
                    f"time begins again at {stamp[after]:.10g}",
                    size,
                )
            )
    # what still goes back after all that is out of order
    reached = np.maximum.accumulate(np.where(bad, -np.inf, t))
    late = ~bad & (t < reached)
    for b, e in runs(late):
        found.append(Found("backward stamps", b, e - 1, "earlier than the row before"))
    return t, bad | late, found


def _span(before: float, after: float, typical: float, unit_s: float, bits: int | None) -> float:
    # the span of a counter that ran over between two stamps; 0: it did not
    if bits:
        spans = [2.0**bits]
    else:
        whole = before == np.rint(before) and after == np.rint(after)
        spans = [2.0**b for b in BITS] if whole else []
        spans += [s / unit_s for s in SPANS_S]
    for span in spans:
        for low in (0.0, -span / 2.0):
            left, right = low + span - before, after - low
            if bits:
                if after - before < -span / 2.0:
                    return span
            elif (
                0.0 <= right <= NEAR * typical
                and 0.0 <= left <= NEAR * typical
                and span > LEAST_SPAN * typical
            ):
                return span
    return 0.0


def _coarse(t_s: Array) -> list[tuple[int, int]]:
    # stretches in which the clock stands still between its steps
    if len(t_s) < COARSE_BLOCK:
        return []
    same = np.r_[False, np.diff(t_s) == 0.0]
    n = len(same) // COARSE_BLOCK * COARSE_BLOCK
    share = same[:n].reshape(-1, COARSE_BLOCK).mean(axis=1)
    stretches = []
    for b, e in runs(share > COARSE_SHARE):
        end = len(same) if e * COARSE_BLOCK == n else e * COARSE_BLOCK
        first = max(0, b * COARSE_BLOCK - COARSE_BLOCK)
        inside = first + np.flatnonzero(same[first:end])
        # one run of repeats is a logger that hung, not a coarse clock
        if len(runs(same[b * COARSE_BLOCK : end])) >= 4:
            stretches.append((int(inside[0]), int(inside[-1])))
    return stretches


def _intervals(t_s: Array, *, any_coarse: bool) -> tuple[float, bool, list[Found]]:
    if len(t_s) < 3:
        return 1.0, False, []
    dt = np.diff(t_s)
    # a mean of some intervals is the sender's period where the receiver's stamps jitter
    n = len(dt) // 16 * 16
    period = float(np.median(dt[:n].reshape(-1, 16).mean(axis=1))) if n else float(np.median(dt))
    if not 0.5 < float(np.median(dt)) / period < 2.0:
        period = float(np.median(dt))
    ratio = dt / period
    long = ratio > MISSING
    jitters = any_coarse or bool(np.mean(ratio > 1.5) > JITTERS and np.mean(ratio < 0.67) > JITTERS)
    least = MISSING
    if jitters:
        least = max(MISSING, 1.3 * float(np.percentile(ratio, 99.5)))
        long = ratio > least
    found: list[Found] = []
    in_bunch = np.zeros(len(dt), dtype=bool)
    for i in np.flatnonzero(long).tolist():
        short_after = _short(ratio[i + 1 : i + 1 + BESIDE])
        short_before = _short(ratio[max(0, i - BESIDE) : i][::-1])
        saved = float(np.sum(1.0 - ratio[i + 1 : i + 1 + short_after]))
        saved_before = float(np.sum(1.0 - ratio[i - short_before : i]))
        lost = ratio[i] - 1.0
        if short_after and saved >= MADE_UP * min(lost, BESIDE):
            in_bunch[i : i + 1 + short_after] = True
            if not jitters:
                found.append(
                    Found(
                        "bunched stamps",
                        i + 1,
                        i + 1 + short_after,
                        f"{1e3 * dt[i]:.4g} ms late, then together",
                    )
                )
        elif short_before and saved_before >= MADE_UP * min(lost, BESIDE):
            in_bunch[i - short_before : i + 1] = True
            if not jitters:
                found.append(
                    Found(
                        "bunched stamps",
                        i - short_before + 1,
                        i,
                        "together, then nothing for their time",
                    )
                )
        else:
            missing = max(1, round(ratio[i]) - 1)
            found.append(
                Found(
                    "gap",
                    i + 1,
                    i + 1,
                    f"{1e3 * dt[i]:.4g} ms without a sample: about {missing} missing",
                    dt[i],
                )
            )
    if not jitters:
        for b, e in runs((ratio < TINY) & ~in_bunch):
            found.append(Found("bunched stamps", b + 1, e, "hardly later than the row before"))
    return period, jitters, found


def _short(ratio: Array) -> int:
    # intervals in a row that are shorter than they should be
    below = ratio < 0.67
    return int(np.argmin(below)) if not below.all() else len(below)
