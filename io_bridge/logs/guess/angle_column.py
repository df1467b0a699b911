"""The encoder among the columns of a log: its unit, the counts of a turn and what its counter repeats after."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.faults.steps import find_grid, find_quantum
from io_bridge.logs.formats.table import Table
from io_bridge.logs.guess.angle_rank import PLAIN
from io_bridge.logs.guess.angle_span import guess_span
from io_bridge.logs.guess.beside import GRIDS, TURN, angle_beside
from io_bridge.logs.guess.clock_column import Choice
from io_bridge.logs.guess.names import (
    ANGLE,
    ANGLE_UNITS,
    BITS,
    COUNTS_OF_UNITS,
    counts_in,
    unit_in,
)

Array = NDArray[np.float64]

JOINT = re.compile(r"(^|[./])position[._]?\d*$")
SAID = re.compile(
    r"(?:angle|winkel|position)s?\W+(?:(?:are|is|in|unit|as)\W+)*(?P<unit>[a-z°]+)", re.IGNORECASE
)
FINEST = 2.0**26
MOST_RAD = 100.0
MANY_DECIMALS = 5e-4  # a finer grid is rarely that of degrees


@dataclass(frozen=True)
class AngleGuess:
    """The keys of `[angle]` in a mapping, how sure each is, and doubts about its unit."""

    keys: dict[str, object]
    choices: tuple[Choice, ...]
    doubt: str = ""


def guess_angle(
    table: Table, name: str, score: float, margin: float, asked: float | None, unit: str | None
) -> AngleGuess:
    """Guess unit, counts of a turn, span and direction of a column; `asked` and `unit` are known already."""
    values = table.numbers[name]
    good = values[np.isfinite(values)]
    sure = float(np.clip(0.28 + 0.06 * score + 0.05 * margin, 0.1, 0.98))
    is_named = any(pattern.search(name.lower()) for _, pattern in ANGLE)
    why = "by its name and its motion" if is_named else "moves most smoothly"
    choices = [Choice("angle", name, sure, why)]
    if unit:
        choices.append(Choice("angle unit", unit, 0.98, "as asked"))
        doubt = ""
    else:
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
    if _small_unit(table, name):
        choices.append(Choice("angle unit", "counts", 0.95, "its unit is a part of a turn"))
        return "counts", ""
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
    # on the counts of a usual encoder in one unit, and not in the other
    grid = find_grid(good)
    encoders = {
        unit: _known_grid(good, TURN[unit], grid) if grid else 0.0 for unit in ("rad", "deg")
    }
    for unit, other in (("rad", "deg"), ("deg", "rad")):
        if encoders[unit] and not encoders[other]:
            why = f"multiples of 1/{encoders[unit]:g} turn"
            choices.append(Choice("angle unit", unit, 0.75, why))
            return unit, ""
    # degrees are printed with few decimals, and radians with many
    is_fine = 0.0 < grid < 5e-5 and spread < MOST_RAD
    unit = "rad" if (spread < 4.0 * np.pi and largest < 7.0) or is_fine else "deg"
    sure, why = 0.6, f"fractions that span {spread:.4g}"
    if (unit == "deg" and 0.0 < grid < MANY_DECIMALS) or (unit == "rad" and spread > 4.0 * np.pi):
        other = "radians" if unit == "deg" else "degrees"
        sure, why = 0.45, f"{why}, but so may be {other}: give --unit"
    choices.append(Choice("angle unit", unit, sure, why))
    return unit, ""


def _small_unit(table: Table, name: str) -> float:
    unit = unit_in(name, table.units.get(name, ""), {unit: (unit,) for unit in COUNTS_OF_UNITS})
    return COUNTS_OF_UNITS.get(unit, 0.0)


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
    parts = _small_unit(table, name)
    hinted = asked or parts or counts_in(texts)
    bits = number_in_bits(texts)
    span = guess_span(
        good, tuple(h for h in (hinted, 2.0**bits if bits else 0.0, round(beside or 0.0)) if h)
    )
    if asked:
        per_turn, sure, why = asked, 0.98, "as asked"
    elif beside:
        per_turn, sure, why = beside, 0.97, "from the angle beside it"
    elif parts:
        per_turn, sure, why = parts, 0.95, "its unit is a part of a turn"
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
