"""A log with planted faults: every fault is known by kind and rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from intake.motions import KINDS, motion

VALUE_FAULTS = (
    "spike", "stuck", "all ones", "all zeros", "loss of power", "reset to zero", "index jump",
    "saturation", "lost precision", "missing value",
)  # fmt: skip
CLOCK_FAULTS = (
    "gap",
    "bunched stamps",
    "repeated stamps",
    "backward stamps",
    "restarted clock",
    "clock wrap",
)
RATES_HZ = (50.0, 83.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 20_000.0)
APART = 150  # rows between faults, so that each is one
QUIET = 60  # rows at both ends without one


@dataclass
class Planted:
    """A log and the truth about it.

    `stamp` and `value` are as logged, in `time_unit` and `angle_unit`; `truth` has kind, first and last row.
    """

    seed: int
    kind_of_motion: str
    rate_hz: float
    time_unit: str
    angle_unit: str
    counts_per_rev: int
    span: float
    stamp: np.ndarray
    value: np.ndarray
    torque: np.ndarray
    truth: list[tuple[str, int, int]] = field(default_factory=list)
    clock_bits: int = 0
    excused: list[tuple[int, int]] = field(default_factory=list)
    """Rows that are spoilt too little to be asked for."""


def make(seed: int, *, clean: bool = False, kinds: tuple[str, ...] | None = None) -> Planted:
    """Return the log of a seed."""
    rng = np.random.default_rng(seed)
    rate = float(rng.choice(RATES_HZ))
    n = int(rng.integers(2500, 6000))
    kind = str(rng.choice(KINDS))
    t = np.arange(n) / rate
    angle = motion(kind, rng, t)
    if np.ptp(angle) < 0.02:
        angle = angle + 0.3 * np.sin(2 * np.pi * max(0.3, 3.0 / t[-1]) * t)
    jitter = rng.choice([0.0, 0.002, 0.02]) / rate
    times = t + jitter * rng.standard_normal(n).clip(-4, 4) + rng.choice([0.0, 12.5, 1.7e9])
    bits = int(rng.integers(10, 33))
    unit = str(rng.choice(["counts", "counts", "deg", "rad"]))
    turns = float(np.ptp(angle)) / (2 * np.pi)
    single_turn = bool(rng.random() < 0.4) and bits <= 20 and unit == "counts"
    cpr = (
        2**bits
        if single_turn
        else int(rng.choice([2000, 3600, 4096, 10_000, 65_536, 152_000, 2**20]))
    )
    offset = rng.uniform(-1, 1)
    span = 0.0
    if unit == "counts":
        noise = rng.choice([0.0, 0.4]) * min(1.0, cpr / 4096)
        value = np.floor((angle + offset) / (2 * np.pi) * cpr + noise * rng.standard_normal(n))
        if single_turn:
            # a wheel that never comes near the end of its turn is not one whose counter wraps
            value %= cpr
            span = float(cpr) if np.any(np.abs(np.diff(value)) > cpr / 2) else 0.0
        value += 0.0
    else:
        scale = 180 / np.pi if unit == "deg" else 1.0
        digits = int(rng.choice([2, 3, 4])) if unit == "deg" else int(rng.choice([4, 5, 6]))
        value = np.round((angle + offset) * scale, digits)
    del turns
    time_unit = str(rng.choice(["s", "ms", "us", "ns"]))
    factor = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[time_unit]
    clock_bits = 0
    if time_unit == "us" and rng.random() < 0.5:
        times = times - times[0]
    if time_unit == "ns" or times[0] > 1e9:
        times = times - times[0] + rng.choice([0.0, 100.0])
    stamp = np.round(times * factor, 0 if time_unit in ("us", "ns") else 6)
    torque = np.round(2.0 * np.sin(2 * np.pi * 0.7 * t) + 0.05 * rng.standard_normal(n), 3)
    log = Planted(
        seed, kind, rate, time_unit, unit, cpr, span, stamp, value, torque, [], clock_bits
    )
    if not clean:
        _plant(log, rng, factor, kinds)
    return log


def _plant(
    log: Planted, rng: np.random.Generator, factor: float, kinds: tuple[str, ...] | None
) -> None:
    n = len(log.value) - 100
    wanted = list(rng.permutation(list(kinds or VALUE_FAULTS + CLOCK_FAULTS)))[
        : int(rng.integers(3, 9))
    ]
    at = QUIET
    if "saturation" in wanted:
        wanted.remove("saturation")
        _clip(log, rng, _quantum(log.value))
    q = _quantum(log.value)
    for kind in wanted:
        at += int(rng.integers(20, 200))
        for _, begin, end in [t for t in log.truth if t[0] == "saturation"]:
            if begin - APART < at <= end + 10:
                at = end + 10
        if at > n - QUIET - APART:
            return
        end = _PLANTERS[kind](log, rng, at, factor, q)
        if end:
            log.truth.append((kind, end[0], end[1]))
            at = end[1]
        at += APART


def _quantum(value: np.ndarray) -> float:
    step = np.abs(np.diff(value))
    return float(np.min(step[step > 1e-9])) if np.any(step > 1e-9) else 1.0


def _room(log: Planted) -> float:
    # a size of a fault that anybody would see
    step = np.abs(np.diff(log.value))
    if log.span:
        step = np.minimum(step, log.span - step)
    return max(
        12 * _quantum(log.value),
        6 * float(np.nanpercentile(step, 99)),
        0.02 * min(float(np.nanmax(log.value) - np.nanmin(log.value)), 1e9),
    )


def _spike(log, rng, at, factor, q):
    length = int(rng.choice([1, 1, 1, 2, 3]))
    sign = rng.choice([-1, 1])
    size = sign * _room(log) * rng.uniform(1, 5, length)
    log.value[at : at + length] += np.round(size / q) * q
    if log.span:
        log.value %= log.span
    return at, at + length - 1


def _stuck(log, rng, at, factor, q):
    # where the wheel moves, else nobody could know
    length = int(rng.integers(15, 80))
    for begin in range(at, min(at + 1500, len(log.value) - length - QUIET), 10):
        gone = log.value[begin + length] - log.value[begin - 1]
        if log.span:
            gone -= log.span * np.floor(gone / log.span + 0.5)
        before = abs(log.value[begin - 1] - log.value[begin - 9])
        if abs(gone) > _room(log) and before > 4 * q and before < (log.span or np.inf) / 2:
            log.value[begin : begin + length] = log.value[begin - 1]
            log.truth.append(("stuck", begin, begin + length - 1))
            _skip(log, begin + length)
            return None
    return None


def _skip(log, row):
    log.truth[-1] = (*log.truth[-1][:2], row - 1)


def _blank(log, rng, at, value, least=6, most=60):
    length = int(rng.integers(least, most))
    there = log.value[at - 1 : at + length + 1]
    away = np.abs(there - value)
    if log.span:
        away = np.minimum(away, log.span - away)
    if min(away[0], away[-1]) < _room(log):
        return None
    log.value[at : at + length] = value
    return at, at + length - 1


def _ones(log, rng, at, factor, q):
    if log.angle_unit != "counts":
        return None
    bits = int(np.ceil(np.log2(max(np.nanmax(np.abs(log.value)) + 2, 1024))))
    return _blank(log, rng, at, (log.span or 2.0**bits) - 1)


def _zeros(log, rng, at, factor, q):
    return _blank(log, rng, at, 0.0)


def _power(log, rng, at, factor, q):
    # zeros, and then a count that begins elsewhere
    done = _blank(log, rng, at, 0.0, 20, 90)
    if done is None:
        return None
    end = done[1] + 1
    away = np.round(rng.choice([-1, 1]) * _room(log) * rng.uniform(4, 9) / q) * q
    if abs(log.value[end] + away) < _room(log):
        away = -away
    log.value[end:] += away
    if log.span:
        log.value[end:] %= log.span
    if abs(log.value[end]) < _room(log):
        log.value[end:] -= away
        if log.span:
            log.value[end:] %= log.span
        log.truth.append(("all zeros", *done))
        return None
    return done


def _reset(log, rng, at, factor, q):
    here = log.value[at]
    step = log.value[at + 1] - log.value[at]
    near = abs(here) if not log.span else min(abs(here), log.span - abs(here))
    if near < _room(log) or abs(step) > _room(log):
        return None
    log.value[at:] -= here
    if log.span:
        log.value[at:] %= log.span
    return at, at


def _index(log, rng, at, factor, q):
    size = np.round(rng.choice([-1, 1]) * _room(log) * rng.uniform(1, 5) / q) * q
    if abs(log.value[at] + size) < 3 * _room(log):
        size = -size
    log.value[at:] += size
    if log.span:
        log.value[at:] %= log.span
    return at, at


def _clip(log, rng, q):
    # a limit that the motion passes, anywhere in the log
    if log.span:
        return
    low, high = float(np.min(log.value)), float(np.max(log.value))
    level = np.round(np.round((high - rng.uniform(0.05, 0.3) * (high - low)) / q) * q, 9)
    beyond = log.value > level
    edge = np.diff(np.r_[0, beyond.astype(int), 0])
    for begin, end in zip(np.flatnonzero(edge == 1), np.flatnonzero(edge == -1), strict=True):
        peak = float(np.max(log.value[begin:end])) - level
        if end - begin >= 8 and peak > 12 * q and begin > QUIET and end < len(log.value) - QUIET:
            log.truth.append(("saturation", int(begin), int(end) - 1))
        else:
            log.excused.append((int(begin), int(end) - 1))
    log.value[beyond] = level


def _precision(log, rng, at, factor, q):
    length = int(rng.integers(200, 500))
    coarse = q * rng.choice([16, 32, 100])
    stretch = log.value[at : at + length]
    rounded = np.round(np.floor(stretch / coarse) * coarse, 9)
    if np.count_nonzero(np.diff(rounded)) < 20 or at + length > len(log.value) - QUIET:
        return None
    log.value[at : at + length] = rounded
    return at, at + length - 1


def _missing(log, rng, at, factor, q):
    length = int(rng.integers(1, 6))
    log.value[at : at + length] = np.nan
    return at, at + length - 1


def _gap(log, rng, at, factor, q):
    length = int(rng.integers(2, 60))
    for name in ("stamp", "value", "torque"):
        setattr(log, name, np.delete(getattr(log, name), slice(at, at + length)))
    log.truth[:] = [(k, *_moved(a, b, at, length)) for k, a, b in log.truth]
    log.excused[:] = [_moved(a, b, at, length) for a, b in log.excused]
    return at, at


def _moved(first, last, at, length):
    return (first - length, last - length) if first > at else (first, last)


def _bunched(log, rng, at, factor, q):
    length = int(rng.integers(3, 10))
    late = log.stamp[at + length]
    log.stamp[at : at + length] = np.round(
        late - np.arange(length, 0, -1) * 0.03 * factor / log.rate_hz, 6
    )
    return at, at + length


def _repeated(log, rng, at, factor, q):
    length = int(rng.integers(1, 4))
    log.stamp[at : at + length] = log.stamp[at - 1]
    return at, at + length - 1


def _backward(log, rng, at, factor, q):
    length = int(rng.integers(1, 5))
    log.stamp[at : at + length] -= np.round(rng.uniform(20, 400) * factor / log.rate_hz, 6)
    return at, at + length - 1


def _restart(log, rng, at, factor, q):
    if any(k == "clock wrap" for k, _, _ in log.truth):
        return None
    begin = rng.choice([0.0, 1.0]) * log.stamp[0]
    if begin + 100 * factor / log.rate_hz > log.stamp[at - 1]:
        return None
    log.stamp[at:] = np.round(log.stamp[at:] - log.stamp[at] + begin, 6)
    return at, at


def _wrap(log, rng, at, factor, q):
    bits = 32 if log.time_unit in ("us", "ns") else 0
    if not bits or any(
        k in ("restarted clock", "clock wrap", "backward stamps") for k, _, _ in log.truth
    ):
        return None
    if log.stamp[-1] - log.stamp[0] > 0.9 * 2.0**bits:
        return None
    shift = 2.0**bits - log.stamp[at]
    log.stamp[:] = (log.stamp + shift) % 2.0**bits
    return at, at


_PLANTERS = {
    "spike": _spike, "stuck": _stuck, "all ones": _ones, "all zeros": _zeros, "loss of power": _power,
    "reset to zero": _reset, "index jump": _index, "lost precision": _precision,
    "missing value": _missing, "gap": _gap, "bunched stamps": _bunched, "repeated stamps": _repeated,
    "backward stamps": _backward, "restarted clock": _restart, "clock wrap": _wrap,
}  # fmt: skip
