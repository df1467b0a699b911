"""The encoder among the columns of a log: its unit, the counts of a turn and what its counter repeats after."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.faults.steps import find_grid, find_quantum
from io_bridge.logs.formats.table import Table
from io_bridge.logs.guess.beside import GRIDS, TURN, angle_beside
from io_bridge.logs.guess.clock_column import Choice, is_clock
from io_bridge.logs.guess.names import (
    ANGLE,
    ANGLE_UNITS,
    BITS,
    CPR,
    NOT_ANGLE,
    NUMBERED,
    TIME,
    number_in,
    unit_in,
)

Array = NDArray[np.float64]

PLAIN = re.compile(r"(data|values?|signals?|samples?)$", re.IGNORECASE)  # a group has the name
JOINT = re.compile(r"(^|[./])position[._]?\d*$")
SAID = re.compile(
    r"(?:angle|winkel|position)s?\W+(?:(?:are|is|in|unit|as)\W+)*(?P<unit>[a-z°]+)", re.IGNORECASE
)
FINEST = 2.0**26
LEAST_SPAN = 64
LATER = 16  # samples
MOST_RAD = 100.0
FASTEST_RAD_S, SPEED_OVER_S = 300.0, 0.02


@dataclass(frozen=True)
class AngleGuess:
    """The keys of `[angle]` in a mapping, how sure each is, and doubts about its unit."""

    keys: dict[str, object]
    choices: tuple[Choice, ...]
    doubt: str = ""


def rank_angles(table: Table, time_column: str) -> list[tuple[float, str]]:
    """Return the columns that may be the angle, the best one first."""
    found = []
    for place, (name, values) in enumerate(table.numbers.items()):
        good = values[np.isfinite(values)]
        lower = (table.name.rpartition("/")[2] if PLAIN.match(name) else "").lower() or name.lower()
        if name == time_column or len(good) < 10 or NUMBERED.match(lower):
            continue
        if TIME.search(lower) and is_clock(values):
            continue
        points = _named_as_angle(lower)
        stated = unit_in(name, table.units.get(name, ""), ANGLE_UNITS)
        score = float(points) + (2.0 if stated else 0.0)
        if NOT_ANGLE.search(lower):
            score -= 6.0
        if NOT_ANGLE.search(table.units.get(name, "").lower()):
            score -= 4.0
        step = np.diff(good)
        if not np.ptp(step):
            # it never moves, or counts rows
            score -= 5.0
        else:
            # an angle goes further in more time; noise does not
            score += 2.0 * float(np.clip(np.log10(_further(good, step) + 1e-9), 0.0, 1.0))
            score += 0.5 * bool(np.all(good == np.rint(good))) + 0.2 * min(
                1.0, len(np.unique(good[:5000])) / 200.0
            )
        score -= 0.0 if table.has_names else 0.2 * place
        if "motor" in lower:
            score -= 2.0  # behind a gear it turns more than the wheel
        # a column that is mostly empty belongs to another message
        score += 0.5 * len(good) / len(values)
        found.append((score, name))
    return sorted(found, reverse=True)


def _further(good: Array, step: Array) -> float:
    # how much further the values go in some samples than in one; a few jumps do not count
    if len(good) <= 2 * LATER:
        return 0.0
    long = good[LATER:] - good[:-LATER]
    near = float(np.percentile(np.abs(step), 75.0))
    if near > 0.0:
        return float(np.percentile(np.abs(long), 75.0)) / near
    return float(np.std(long) / np.std(step))


def _named_as_angle(name: str) -> float:
    # of a path its last word says what a column is, and those before it whose it is
    folder, _, last = name.rpartition("/")
    points = [p for p, pattern in ANGLE if pattern.search(last)]
    is_of_wheel = any(pattern.search(folder.replace("/", " ")) for _, pattern in ANGLE)
    return max(points, default=0) + (0.5 if folder and is_of_wheel else 0.0)


def guess_angle(
    table: Table, name: str, score: float, margin: float, asked: float | None
) -> AngleGuess:
    """Guess unit, counts of a turn, span and direction of a column."""
    values = table.numbers[name]
    good = values[np.isfinite(values)]
    sure = float(np.clip(0.4 + 0.06 * score + 0.05 * margin, 0.1, 0.98))
    why = "by its name and its motion" if score >= 4.0 else "moves most smoothly"
    choices = [Choice("angle", name, sure, why)]
    unit, doubt = _unit(table, name, good, choices)
    if unit == "counts":
        per_turn, span, sign = _counts(table, name, good, asked, choices)
    else:
        per_turn, span, sign = _printed(good, unit, asked, choices)
    keys: dict[str, object] = {"column": name, "unit": unit, "counts_per_rev": per_turn}
    if span:
        keys["counter_span"] = round(span)
    if sign < 0:
        keys["sign"] = -1
    why = (
        "turns against the angle beside it"
        if sign < 0
        else "as logged; nothing in a log says which way is left"
    )
    choices.append(Choice("direction", f"{sign:+d}", 0.9 if sign < 0 else 0.5, why))
    return AngleGuess(keys, tuple(choices), doubt)


def _unit(table: Table, name: str, good: Array, choices: list[Choice]) -> tuple[str, str]:
    stated = unit_in(name, table.units.get(name, ""), ANGLE_UNITS) or _unit_of_remarks(table)
    if not stated and PLAIN.match(name):
        stated = unit_in(table.name.rpartition("/")[2], "", ANGLE_UNITS)
    whole = bool(np.mean(good == np.rint(good)) > 0.98)
    spread = float(np.percentile(good, 99.0) - np.percentile(good, 1.0))
    largest = float(np.percentile(np.abs(good), 99.0))
    if stated == "counts" and not whole:
        unit = "rad" if largest < 7.0 else "deg"
        doubt = f"named counts, but has fractions: taken as {unit}"
        choices.append(Choice("angle unit", unit, 0.6, doubt))
        return unit, doubt
    if stated:
        choices.append(Choice("angle unit", stated, 0.96, "by its name"))
        return stated, ""
    if whole:
        choices.append(
            Choice("angle unit", "counts", 0.85 if spread > 100 else 0.6, "whole numbers")
        )
        return "counts", ""
    if JOINT.search(name.lower()) and any("effort" in other.lower() for other in table.columns):
        choices.append(Choice("angle unit", "rad", 0.8, "a state of joints, as ROS has them"))
        return "rad", ""
    # degrees are printed with few decimals, and radians with many
    is_fine = 0.0 < find_grid(good) < 5e-5 and spread < MOST_RAD
    unit = "rad" if (spread < 4.0 * np.pi and largest < 7.0) or is_fine else "deg"
    choices.append(Choice("angle unit", unit, 0.6, f"fractions that span {spread:.4g}"))
    return unit, ""


def _unit_of_remarks(table: Table) -> str:
    for text in table.remarks:
        if match := SAID.search(text):
            return unit_in("", match["unit"], ANGLE_UNITS)
    return ""


def _counts(
    table: Table, name: str, good: Array, asked: float | None, choices: list[Choice]
) -> tuple[float, float, int]:
    beside, sign = angle_beside(table, name)
    texts = [name, table.units.get(name, ""), *table.remarks]
    hinted = asked or number_in(CPR, texts)
    bits = number_in_bits(texts)
    span = guess_span(
        good, tuple(h for h in (hinted, 2.0**bits if bits else 0.0, round(beside or 0.0)) if h)
    )
    if asked:
        per_turn, sure, why = asked, 0.98, "as asked"
    elif beside:
        per_turn, sure, why = beside, 0.97, "from the angle beside it"
    elif hinted:
        per_turn, sure, why = hinted, 0.9, "stated in the file"
    elif bits:
        per_turn, sure, why = 2.0**bits, 0.85, f"the file says {bits} bits"
    elif span:
        per_turn, sure, why = span, 0.6, "a counter that repeats once a turn"
    else:
        # a wild value is no reason for a wild encoder
        low, high = np.percentile(good, [0.5, 99.5])
        spread = float(np.clip(high - low, 255.0, 2.0**32 - 1.0))
        per_turn = 2.0 ** np.ceil(np.log2(spread + 1.0))
        sure, why = 0.2, "nothing says it; give --counts"
    choices.append(Choice("counts a turn", f"{per_turn:.10g}", sure, why))
    if span:
        choices.append(
            Choice("counter span", f"{span:.10g}", 0.9, "jumps from one end to the other")
        )
    return float(per_turn), span, sign


def number_in_bits(texts: list[str]) -> int:
    """Return the bits that a text states for an encoder; 0 without."""
    for text in texts:
        if match := BITS.search(text):
            n = int(match["n"])
            if 8 <= n <= 32:
                return n
    return 0


def _printed(
    good: Array, unit: str, asked: float | None, choices: list[Choice]
) -> tuple[float, float, int]:
    turn = TURN[unit]
    step = np.diff(good)
    over = np.abs(np.abs(step) - turn) < 0.2 * turn
    wraps = bool(np.any(over)) and float(np.ptp(good)) <= 1.01 * turn
    per_turn, sure, why = asked, 0.98, "as asked"
    if per_turn is None:
        grid = find_grid(good)
        per_turn, sure, why = turn / grid if grid else FINEST, 0.5, f"printed in steps of {grid:g}"
        if not grid:
            quantum = find_quantum(good)
            per_turn, why = (
                float(np.clip(64.0 * turn / quantum, 4096.0, FINEST)) if quantum else FINEST,
                "finer than its steps",
            )
            per_turn = 2.0 ** np.ceil(np.log2(per_turn))
        else:
            known = _known_grid(good, turn, grid)
            if known:
                per_turn, sure, why = (
                    known,
                    0.8,
                    f"all angles are multiples of 1/{known:g} turn, as printed",
                )
    choices.append(Choice("counts a turn", f"{per_turn:.10g}", sure, why))
    if wraps:
        choices.append(Choice("counter span", "one turn", 0.95, "jumps by a turn"))
        per_turn = float(np.rint(per_turn))
    return float(per_turn), per_turn if wraps else 0.0, 1


def _known_grid(good: Array, turn: float, printed: float) -> float:
    # the encoder's own counts, if the digits still show them
    few = good[:: max(1, len(good) // 2000)]
    for n in sorted(GRIDS):
        count = turn / n
        if count < 1.5 * printed:
            break
        off = np.abs(few / count - np.rint(few / count)) * count
        if np.mean(off <= 0.51 * printed) > 0.995:
            return float(n)
    return 0.0


def guess_span(values: Array, hints: tuple[float, ...] = ()) -> float:
    """Return what a counter repeats after, by its jumps from one end to the other; 0 if it does not.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Counts.
    hints : tuple of float
        Spans that the file speaks of.
    """
    step = np.diff(values)
    low, high = float(np.min(values)), float(np.max(values))
    usual = float(np.percentile(np.abs(step), 95.0)) if len(step) else 0.0
    spans = [h for h in hints if h >= LEAST_SPAN]
    spans += [2.0**b for b in range(8, 54)]
    spans += _spans_of_jumps(step, high)
    for span in spans:
        for bottom in (0.0, -span / 2.0):
            if low < bottom or high >= bottom + span or high - low < 0.5 * span:
                continue
            over = np.flatnonzero(np.abs(step) > 0.5 * span)
            if not len(over):
                continue
            rest = np.abs(step[over] - np.sign(step[over]) * span)
            slack = 3.0 * usual + 3.0 if usual < 0.2 * span else 0.4 * span
            fits = rest <= slack
            named = span in hints or np.log2(span) == np.rint(np.log2(span))
            # a single jump to zero is a wrap only from where a counter ends
            at_end = min(bottom + span - 1.0 - high, low - bottom) < 0.02 * span
            least = 1 if named and at_end else 3
            if fits.sum() >= least and np.mean(fits) > (0.25 if named and at_end else 0.6):
                return span
    return 0.0


def _spans_of_jumps(step: Array, high: float) -> list[float]:
    # a jump back by the span less a step of the motion
    jumps = np.flatnonzero(np.abs(step) > 0.5 * high)
    if len(jumps) < 2 or high < LEAST_SPAN:
        return []
    before = step[np.maximum(jumps - 1, 0)]
    exact = np.abs(step[jumps] - np.where(np.abs(before) < 0.2 * high, before, 0.0))
    guess = float(np.median(exact))
    near = [
        guess_
        for tens in (1000.0, 500.0, 100.0, 10.0)
        if abs((guess_ := tens * round(guess / tens)) - guess) < 2e-3 * guess
    ]
    return [span for span in (*near, float(round(guess)), high + 1.0) if span >= high + 1.0]


def too_fast(values: Array, t_s: Array, turn: float, span: float) -> float:
    """Return the speed that a tenth of the moving samples exceed, rad/s, if no wheel is as fast; else 0."""
    dt = np.diff(t_s)
    # over so long that single counts of a fine clock are no speed
    over = max(1, round(SPEED_OVER_S / float(np.median(dt)))) if len(dt) else 1
    if len(values) <= over + 10:
        return 0.0
    step, dt = values[over:] - values[:-over], t_s[over:] - t_s[:-over]
    if span:
        step = step - span * np.floor(step / span + 0.5)
    step = np.abs(step)
    good = np.isfinite(step) & (dt > 0.0)
    speed = step[good] / dt[good] * 2.0 * np.pi / turn
    moving = speed[speed > 0.0]
    high = float(np.percentile(moving, 90.0)) if len(moving) >= 10 else 0.0
    return high if high > FASTEST_RAD_S else 0.0
