"""Stretches of one value: an encoder that says nothing, is stuck, or is at its limit, and a wheel that rests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from io_bridge.logs.faults.finding import Found, Mask, Rows
from io_bridge.logs.faults.limits import LEAST_CLIPPED, find_clipped
from io_bridge.logs.faults.signal import DEAD_QUANTA, SLOPE_OVER, Signal, slope, stops_dead
from io_bridge.logs.faults.steps import Steps

LEAST_STUCK = 5
SHORT = 20  # samples in which a wheel that moves goes on
LONGEST_BETWEEN = 12  # samples of a spike
LEAST_BLANK = 5  # where only one end is a jump
SHORT_SLOPE = 3  # or how fast just then
GONE_QUANTA = 6.0  # that a moving wheel would have gone meanwhile
ONES = {2.0**b - 1.0 for b in range(8, 54)}
LOWEST = {-(2.0 ** (b - 1)) for b in (8, 16, 24, 32, 64)}
LEAST_LAST = 20  # to the end of the log
CATCHES_UP = 4.0  # times what the wheel went at the speed beside

_Blank = tuple[int, int, bool, bool, str]  # begin, end, whether these are jumps, and its kind


def find_blank(signal: Signal, steps: Steps) -> list[Found]:
    """Find the stretches of zeros or ones that come or go by a jump."""
    found: list[Found] = []
    for group in _blank_stretches(signal, steps):
        whole = _blank_over(signal, steps, group)
        # zeros of a wheel that rests there may have ones between them
        ones = [one for one in group if one[4] == "all ones"] if not whole else []
        alone = [_blank_over(signal, steps, [one]) for one in ones]
        found += [one for one in (whole, *alone) if one]
    return found


def _blank_over(signal: Signal, steps: Steps, group: list[_Blank]) -> Found | None:
    begin, end, came, went = group[0][0], group[-1][1], group[0][2], group[-1][3]
    if not (came or went):
        return None
    kinds = {one[4] for one in group}
    kind = kinds.pop() if len(kinds) == 1 else "loss of power"
    kind = _blank(signal, steps, begin, end, came, went, kind)
    if not kind:
        return None
    return Found(kind, begin, end - 1, f"{signal.raw[begin]:.10g}, {_ways(came, went)}")


def _blank_stretches(signal: Signal, steps: Steps) -> Iterator[list[_Blank]]:
    # zeros and ones one after the other are one group, with a spike between them too
    group: list[_Blank] = []
    for begin, end, came, went in _stretches(signal, steps, _may_be_blank):
        kind = _blank_kind(signal, float(signal.raw[begin]))
        if group and not (kind and _goes_on(group[-1], begin, came)):
            yield group
            group = []
        if kind:
            group.append((begin, end, came, went, kind))
    if group:
        yield group


def _goes_on(before: _Blank, begin: int, came: bool) -> bool:
    _, end, _, went, _ = before
    return begin == end or (went and came and begin - end <= LONGEST_BETWEEN)


def find_stuck(signal: Signal, steps: Steps) -> list[Found]:
    """Find the stretches of one value in which the wheel moved, or would have moved beyond a limit."""
    found: list[Found] = []
    others: list[tuple[int, int]] = []
    for begin, end, came, went in _stretches(signal, steps, _may_be_stuck):
        if len(signal.raw) - (end - begin) >= SLOPE_OVER:
            one = _stuck(signal, steps, begin, end, came, went)
            if one:
                found.append(one)
            elif not came and not went:
                others.append((begin, end))
    found += find_clipped(signal, steps, others)
    return sorted(found, key=lambda one: one.first)


def _stretches(
    signal: Signal, steps: Steps, may_be: Callable[[Signal, Rows, Rows, Mask], Mask]
) -> Iterator[tuple[int, int, bool, bool]]:
    # each stretch of one value that may be one: begin, end, and whether these are jumps
    n, impossible = len(signal.raw), steps.impossible
    edges = np.flatnonzero(np.r_[True, np.diff(signal.raw) != 0.0, True])
    jumps_at = np.r_[False, impossible, False][edges]
    # a stretch of one sample has to be looked at only between two jumps
    long = (np.diff(edges) > 1) | (jumps_at[:-1] & jumps_at[1:])
    long &= may_be(signal, edges[:-1], edges[1:], jumps_at[1:])
    for k in np.flatnonzero(long).tolist():
        begin, end = int(edges[k]), int(edges[k + 1])
        yield begin, end, begin > 0 and bool(jumps_at[k]), end < n and bool(jumps_at[k + 1])


def _may_be_blank(signal: Signal, begin: Rows, end: Rows, went: Mask) -> Mask:
    # of whole counts most values are none of the few
    value = signal.raw[begin]
    if not signal.is_count:
        return (value == 0.0) | (value == signal.span - 1.0) | (value > 0.0)
    return np.isin(value, [*ONES, *LOWEST, 0.0, -1.0, signal.span - 1.0])


def _may_be_stuck(signal: Signal, begin: Rows, end: Rows, went: Mask) -> Mask:
    # a jump at its end, full speed before it, or a turn of the motion: what `_stuck` and `find_clipped` ask first
    size = np.r_[0.0, np.diff(signal.value), 0.0]
    into, out = size[begin], size[end]
    fast = np.abs(into) >= DEAD_QUANTA * signal.grid[begin]
    turns = (into * out <= 0.0) | (end >= len(signal.raw) - 3)
    return (end - begin >= LEAST_CLIPPED) & (went | fast | turns)


def _blank_kind(signal: Signal, value: float) -> str:
    if value == 0.0:
        return "all zeros"
    if signal.span and value == signal.span - 1.0:
        return "all ones"
    if signal.is_count and (value in ONES or value in LOWEST or value == -1.0):
        return "all ones"
    if not signal.is_count and signal.quantum and value > 0.0:
        # all ones in units: 65535 times the size of a count
        counts = value / signal.quantum + 1.0
        if abs(counts - round(counts)) < 1e-4 and round(counts) - 1.0 in ONES:
            return "all ones"
    return ""


def _blank(
    signal: Signal, steps: Steps, begin: int, end: int, came: bool, went: bool, kind: str
) -> str:
    # a stretch of zeros or ones that began or ended by a jump
    n = len(signal.raw)
    length = end - begin
    if came and went:
        jumps = signal.value[end] - signal.value[begin - 1]
        before, after = slope(signal.value, begin, -1), slope(signal.value, end, 1)
        gone = abs(jumps - 0.5 * (before + after) * (length + 1))
        unsure = abs(before - after) + 0.5 * max(abs(before), abs(after))
        # a speed that changes beside the stretch does so within it
        unsure += abs(before - slope(signal.value, begin, -1, SHORT_SLOPE))
        unsure += abs(after - slope(signal.value, end, 1, SHORT_SLOPE))
        slack = unsure * (length + 1) + 2.0 * min(steps.limit[begin - 1], steps.limit[end - 1])
        return kind if gone <= slack or length < LEAST_BLANK else "loss of power"
    if length < LEAST_BLANK:
        return ""
    if end == n or begin == 0:
        return kind
    if came:
        # zero by a jump, and from there on gently: a reset of a wheel at rest, or no power and then a new count
        over = min(length, SHORT)
        moving = abs(slope(signal.value, begin, -1)) * over >= GONE_QUANTA * float(
            signal.grid[begin]
        )
        leaves = abs(slope(signal.value, end, 1)) * over >= GONE_QUANTA * float(signal.grid[begin])
        return "loss of power" if moving and leaves and length >= 2 * LEAST_BLANK else ""
    return kind


def _stuck(
    signal: Signal, steps: Steps, begin: int, end: int, came: bool, went: bool
) -> Found | None:
    n, length = len(signal.raw), end - begin
    if length < LEAST_STUCK:
        return None
    quantum = float(signal.grid[begin])
    # a motion that stops dead looks like a jump into its last value, by a step like those before it
    dead_in = stops_dead(signal, begin, -1)
    before = slope(signal.value, begin, -1) if begin > 1 and (dead_in or not came) else 0.0
    after = slope(signal.value, end, 1) if end < n - 1 else 0.0
    samples = f"{length} samples of one value"
    if went:
        jump = float(signal.value[end] - signal.value[end - 1])
        moving = max(abs(before), abs(after)) * length
        goes_on = abs(after) * min(length, SHORT) >= GONE_QUANTA * quantum or dead_in
        # the jump takes back what the wheel went meanwhile; one that is larger has another cause
        if (
            goes_on
            and moving >= GONE_QUANTA * quantum
            and abs(jump) <= CATCHES_UP * moving + GONE_QUANTA * quantum
        ):
            return Found("stuck", begin + 1, end - 1, f"{samples}, then a jump", jump)
        return None
    dead_out = stops_dead(signal, end, 1) if end < n else False
    if dead_in and dead_out and before * after > 0.0 and not came:
        return Found(
            "stuck", begin + 1, end - 1, f"{samples} between motion that stops and starts at once"
        )
    if dead_in and end == n and length >= LEAST_LAST:
        return Found("stuck", begin + 1, end - 1, f"{samples} to the end, after a motion")
    return None


def _ways(came: bool, went: bool) -> str:
    return (
        "by a jump there and back"
        if came and went
        else "a jump at its beginning"
        if came
        else "a jump at its end"
    )


def mask_of(found: list[Found], n: int) -> Mask:
    """Return the samples that some faults spoil."""
    bad = np.zeros(n, dtype=bool)
    for one in found:
        bad[one.first : one.last + 1] = True
    return bad
