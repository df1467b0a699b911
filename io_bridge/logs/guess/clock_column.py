"""The clock among the columns of a log, and its unit."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.formats.stamps import STAMP, seconds_of_all
from io_bridge.logs.formats.table import Table
from io_bridge.logs.guess.names import (
    ANGLE,
    ANGLE_UNITS,
    COUNTER,
    HERTZ,
    NUMBERED,
    PERIOD,
    TIME,
    TIME_UNITS,
    unit_in,
)

Array = NDArray[np.float64]

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
SLOWEST_HZ, FASTEST_HZ = 15.0, 30_000.0
USUAL_HZ = 500.0
IMPOSSIBLE_HZ = (4.0, 300_000.0)
LEAST_RISING = 0.9
UNSURE = 0.85  # of a unit that only the rate speaks for
MOTION_HZ = (0.02, 50.0)  # of a wheel that is turned to and fro
FAR, LEAST_STEPS = 5.0, 50
TURNS = 12  # rows in which each of some senders had its turn
EPOCH_S = (1e9, 2.2e9)  # 2001 to 2039
DAY_S = 86_400.0
OTHER_EPOCHS = (
    # name, ticks a second, ticks from its zero to 1970
    ("days since 1900", 1.0 / DAY_S, 25_569.0),
    ("days since the year 0", 1.0 / DAY_S, 719_529.0),
    ("steps of 100 ns since 1601", 1e7, 116_444_736e9),
    ("steps of 100 ns since the year 1", 1e7, 621_355_968e9),
    ("seconds since 1904", 1.0, 2_082_844_800.0),
)
CLOCK = re.compile(r"(?P<n>\d+(?:\.\d+)?)\s*MHz\b", re.IGNORECASE)
NOMINAL_S, UNSTATED = 1e-3, 0.2
CLOCKS_HZ = (
    168e6, 180e6, 72e6, 84e6, 216e6, 240e6, 480e6, 600e6, 64e6, 48e6, 80e6, 120e6, 170e6, 200e6, 400e6, 16e6, 8e6,
    1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 32_768.0, 1e9,
)  # fmt: skip
NICE = (1.0, 1.25, 2.0, 2.5, 4.0, 5.0, 8.0, 10.0)
OF_ANGLE, NAMED_ANGLE = 4.0, 4  # points; of an angle's name
LEAST_STEP = 1e-100  # of damaged stamps: they may step by a subnormal number, or go back as far as they go on


@dataclass(frozen=True)
class Choice:
    """A guess: what for, what it is, how sure (0 to 1), and why."""

    what: str
    choice: str
    sure: float
    why: str


@dataclass(frozen=True)
class ClockGuess:
    """The keys of `[time]` in a mapping, and doubts about its unit."""

    keys: dict[str, object]
    choices: tuple[Choice, ...]
    doubt: str = ""


def is_clock(values: Array) -> bool:
    """Tell a column that rises from row to row, but for a few."""
    good = values[np.isfinite(values)]
    if len(good) < 0.5 * len(values) or len(good) < 4:
        return False
    step = np.diff(good)
    rising = step[step != 0.0] > 0.0
    if len(rising) < 3 or np.mean(rising) < LEAST_RISING:
        return False
    typical = float(np.median(step[step > 0.0]))
    # a position also rises; a clock does it evenly, row by row or from turn to turn of some senders
    if np.mean(np.abs(step - typical) <= 0.75 * typical) > 0.6:
        return True
    n = len(step) // TURNS * TURNS
    long = step[:n].reshape(-1, TURNS).sum(axis=1)
    return len(long) > TURNS and bool(
        np.mean(np.abs(long - np.median(long)) <= 0.25 * np.median(long)) > LEAST_RISING
    )


def guess_clock(table: Table, period_s: float | None = None) -> ClockGuess:
    """Guess the column of time and its unit, or a nominal period where there is none."""
    scored: list[tuple[float, str, Array, bool]] = []
    columns = [(name, values, False) for name, values in table.numbers.items()]
    columns += [
        (name, seconds_of_all(words), True)
        for name, words in table.words.items()
        if sum(bool(STAMP.match(word)) for word in words[:50]) > 25
        or (len(words) < 50 and STAMP.match(words[0]))
    ]
    for place, (name, values, is_text) in enumerate(columns):
        if NUMBERED.match(name.lower()) or not is_clock(values):
            continue
        named = bool(TIME.search(name.lower()))
        stated = unit_in(name, table.units.get(name, ""), TIME_UNITS)
        score = 2.0 * named + 1.5 * bool(stated) + (1.0 if place == 0 else 0.0) + 0.5 * is_text
        score += 1.0 * _is_epoch(values) - 1.0 * (not named and not stated and _counts_rows(values))
        # a coarse clock, as that of a serial monitor, says less
        score -= 2.0 * float(np.mean(np.diff(values) == 0.0))
        if not named and not stated and _is_angle(name, table.units.get(name, "")):
            score -= OF_ANGLE  # a wheel that turns evenly rises as a clock does
        scored.append((score, name, values, is_text))
    best = max(scored, key=lambda one: one[0], default=None)
    if best is None or best[0] < 1.0:
        nominal = _nominal(table, period_s)
        # rows that are counted in another column say where some are missing
        if best is None or best[0] < 0.0 or nominal.choices[0].sure > UNSTATED:
            return nominal
    score, name, values, is_text = best
    sure = min(0.98, 0.5 + 0.17 * score) if score >= 1.0 else 0.3
    chosen = Choice(
        "time",
        name,
        sure,
        "rises evenly" + (", and by its name" if TIME.search(name.lower()) else ""),
    )
    if is_text:
        return ClockGuess(
            {"column": name, "unit": "stamp"},
            (chosen, Choice("time unit", "stamp", 0.98, "written as a time of day")),
        )
    keys, unit, doubt = _unit(name, table.units.get(name, ""), values, table.remarks)
    return ClockGuess({"column": name, **keys}, (chosen, unit), doubt)


def _is_angle(name: str, unit: str) -> bool:
    lower = name.lower()
    is_named = any(points >= NAMED_ANGLE and pattern.search(lower) for points, pattern in ANGLE)
    return not COUNTER.search(lower) and (is_named or bool(unit_in(name, unit, ANGLE_UNITS)))


def _is_epoch(values: Array) -> bool:
    # seconds since 1970, or a thousandth or so of them
    first = values[np.isfinite(values)][0]
    return any(EPOCH_S[0] <= first * scale <= EPOCH_S[1] for scale in SECONDS.values())


def _counts_rows(values: Array) -> bool:
    good = values[np.isfinite(values)]
    return good[0] in (0.0, 1.0) and bool(np.mean(np.diff(good) == 1.0) > LEAST_RISING)


def _unit(
    name: str, stated_beside: str, values: Array, remarks: tuple[str, ...]
) -> tuple[dict[str, object], Choice, str]:
    good = values[np.isfinite(values)]
    step = np.diff(good)
    typical = float(np.median(step[step > 0.0]))
    if len(step) >= 32 and np.mean(step == 0.0) > 0.2:
        typical = float(np.median(step[: len(step) // 16 * 16].reshape(-1, 16).mean(axis=1)))
    typical = max(typical, LEAST_STEP)
    stated = unit_in(name, stated_beside, TIME_UNITS)
    rates = {unit: 1.0 / (typical * seconds) for unit, seconds in SECONDS.items()}
    likely = [unit for unit, hz in rates.items() if SLOWEST_HZ <= hz <= FASTEST_HZ]
    likely.sort(key=lambda unit: abs(np.log(rates[unit] / USUAL_HZ)))
    if stated:
        hz = rates[stated]
        if IMPOSSIBLE_HZ[0] <= hz <= IMPOSSIBLE_HZ[1] or not likely:
            return (
                {"unit": stated},
                Choice("time unit", stated, 0.97, f"by its name; {hz:.6g} Hz"),
                "",
            )
        other = likely[0]
        why = f"named {stated}, which would be {hz:.4g} Hz; as {other} it is {rates[other]:.6g} Hz"
        return {"unit": other}, Choice("time unit", other, 0.6, why), why
    for what, clock, zero in OTHER_EPOCHS:
        hz = clock / typical
        if EPOCH_S[0] <= (good[0] - zero) / clock <= EPOCH_S[1] and SLOWEST_HZ <= hz <= FASTEST_HZ:
            why = f"{what}, and makes it {hz:.6g} Hz"
            keys: dict[str, object] = {"unit": "ticks", "ticks_per_s": clock}
            return keys, Choice("time unit", "ticks", 0.95, why), ""
    said = [1e6 * float(m["n"]) for text in remarks for m in CLOCK.finditer(text)]
    is_counter = bool(COUNTER.search(name.lower())) and bool(np.all(good == np.rint(good)))
    if (is_counter or said) and not any(_nice(rates[unit]) for unit in likely):
        for clock in (*said, *(CLOCKS_HZ if is_counter else ())):
            hz = clock / typical
            if SLOWEST_HZ <= hz <= FASTEST_HZ and _nice(hz):
                why = f"a clock of {clock / 1e6:g} MHz makes it {hz:.6g} Hz"
                return (
                    {"unit": "ticks", "ticks_per_s": clock},
                    Choice("time unit", "ticks", 0.9 if clock in said else 0.5, why),
                    "",
                )
    epoch = [unit for unit in likely if EPOCH_S[0] <= good[0] * SECONDS[unit] <= EPOCH_S[1]]
    if epoch:
        why = f"counts from 1970, and makes it {rates[epoch[0]]:.6g} Hz"
        return {"unit": epoch[0]}, Choice("time unit", epoch[0], 0.95, why), ""
    if likely:
        best = next((unit for unit in likely if _nice(rates[unit])), likely[0])
        sure = 0.85 if _nice(rates[best]) else 0.65
        return {"unit": best}, Choice("time unit", best, sure, f"makes it {rates[best]:.6g} Hz"), ""
    why = f"no unit makes a usual rate of steps of {typical:.6g}"
    return {"unit": "s"}, Choice("time unit", "s", 0.2, why), why


def by_motion(clock: ClockGuess, table: Table, angle: str) -> ClockGuess:
    """Return the guess of a clock with another unit, where the one that was guessed makes no motion of a wheel.

    A unit that the file states, or that makes the only usual rate, stands.
    """
    unit = str(clock.keys.get("unit", ""))
    if unit not in SECONDS or clock.choices[-1].sure > UNSURE:
        return clock
    stamp, value = table.numbers[str(clock.keys["column"])], table.numbers[angle]
    both = np.isfinite(stamp) & np.isfinite(value)
    step, dt = np.diff(value[both]), np.diff(stamp[both])
    usual = np.abs(step) <= FAR * np.percentile(np.abs(step), 90.0) if len(step) else step > 0.0
    way = np.cumsum(step[usual])
    if len(way) < LEAST_STEPS or not np.ptp(way) or not np.any(dt > 0.0):
        return clock
    # of a sine, the cycles that a sample takes follow from its RMS step and its range
    per_sample = 0.45 * float(np.sqrt(np.mean(step[usual] ** 2)) / np.ptp(way))
    typical = float(np.median(dt[dt > 0.0]))
    hz = {one: 1.0 / (typical * seconds) for one, seconds in SECONDS.items()}
    fits = [
        one
        for one in SECONDS
        if SLOWEST_HZ <= hz[one] <= FASTEST_HZ
        and MOTION_HZ[0] <= per_sample * hz[one] <= MOTION_HZ[1]
    ]
    if unit in fits or len(fits) != 1:
        return clock
    swing_s = 1.0 / (per_sample * hz[unit])
    why = (
        f"makes it {hz[fits[0]]:.6g} Hz; in {unit} a swing of the wheel would take {swing_s:.3g} s"
    )
    chosen = Choice("time unit", fits[0], 0.6, why)
    return ClockGuess({**clock.keys, "unit": fits[0]}, (*clock.choices[:-1], chosen), clock.doubt)


def _nice(hz: float) -> bool:
    tens = 10.0 ** np.floor(np.log10(hz))
    return any(abs(hz / tens - nice) < 0.005 * nice for nice in NICE)


def _nominal(table: Table, period_s: float | None) -> ClockGuess:
    why, sure = "no column rises as a clock does; a nominal period, give --period", UNSTATED
    found = period_s
    if found:
        why, sure = "no column rises as a clock does; as asked", 0.9
    for text in table.remarks:
        if found:
            break
        if match := PERIOD.search(text):
            found = (
                float(match["n"].replace(",", "."))
                * SECONDS[(match["u"] or "s").replace("µ", "u").lower()]
            )
        elif match := HERTZ.search(text):
            scale = {"k": 1e3, "m": 1e6}.get((match["k"] or "").lower(), 1.0)
            hz = float((match["n"] or match["m"]).replace(",", ".")) * (
                scale if match["n"] else 1.0
            )
            found = 1.0 / hz if hz > 0.0 else None
        if found:
            why, sure = f"no column rises as a clock does; the file says {text[:60]!r}", 0.8
    keys: dict[str, object] = {"unit": "rows", "period_s": found or NOMINAL_S}
    return ClockGuess(
        keys, (Choice("time", f"rows of {1e3 * (found or NOMINAL_S):g} ms", sure, why),)
    )
