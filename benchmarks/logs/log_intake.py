"""The intake of logs, scored: logs taken in without a hand-written line, faults found, invented, misnamed.

    python benchmarks/logs/log_intake.py [--logs 200] [--seed 0] [--forms csv parquet ...] [--clean] [--json] [--list]

Each seed is another log: a motion (some from recorded logs), a rate from 50 Hz to 20 kHz, an encoder of 10 to 32 bits
or an angle in degrees or radians, a clock, a file format with its names, and planted faults that anybody would see.
A log is taken in if its rate, the unit of its angle and, of counts, the counts of a turn and the span come out right.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from intake.files import BINARIES, CAN, RECORDS, TEXTS, write
from intake.planted import Planted, make

from io_bridge.logs.formats.table import LogError
from rigloop.logs.check import Checked, check_log

NEAR_ROWS = 2


@dataclass
class Score:
    """Counts over all logs."""

    logs: int = 0
    taken: int = 0
    planted: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    misnamed: Counter[str] = field(default_factory=Counter)
    invented: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    lines: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Return what the bars are about."""
        planted = sum(self.planted.values())
        found = planted - sum(self.missed.values())
        return {
            "logs": self.logs,
            "taken in, %": 100.0 * self.taken / max(1, self.logs),
            "planted": planted,
            "found, %": 100.0 * found / max(1, planted),
            "invented": sum(self.invented.values()),
            "invented of all told, %": 100.0
            * sum(self.invented.values())
            / max(1, found + sum(self.invented.values())),
            "rows": self.rows,
        }


def judge(score: Score, log: Planted, checked: Checked, form: str) -> None:
    """Compare what was found in a log with what was planted there."""
    used = set()
    faults = checked.faults
    for kind, first, last in log.truth:
        score.planted[kind] += 1
        near = [
            i
            for i, f in enumerate(faults)
            if f.row <= last + NEAR_ROWS and f.last_row >= first - NEAR_ROWS
        ]
        used |= set(near)
        if not any(faults[i].kind == kind for i in near):
            score.missed[kind] += 1
            names = [faults[i].kind for i in near]
            if names:
                score.misnamed[f"{kind} → {names[0]}"] += 1
            score.lines.append(f"missed {_who(log, form)} {kind} {first} {last} {names}")
    for i, fault in enumerate(faults):
        excused = any(fault.row <= b + 3 and fault.last_row >= a - 3 for a, b in log.excused)
        if i in used or excused or fault.kind == "counter wrap":
            continue
        score.invented[fault.kind] += 1
        score.lines.append(f"invented {_who(log, form)} {fault.kind} {fault.row} {fault.words}")


def _who(log: Planted, form: str) -> str:
    return f"{log.seed} {form} {log.kind_of_motion} {log.rate_hz:g} Hz {log.angle_unit}"


def is_taken(log: Planted, checked: Checked) -> str:
    """Return what is wrong about the mapping; "" for a log that was taken in."""
    rate = checked.rate_hz
    spoilt = sum(k in ("gap",) for k, _, _ in log.truth)
    if not 0.85 < rate / log.rate_hz < 1.1 + 0.05 * spoilt:
        return f"rate {rate:.6g} Hz for {log.rate_hz:g}"
    angle = checked.mapping["angle"]
    unit, per_turn = angle["unit"], float(angle["counts_per_rev"])
    if unit != log.angle_unit:
        return f"unit {unit} for {log.angle_unit}"
    if unit == "counts" and abs(per_turn - log.counts_per_rev) > 0.01 * log.counts_per_rev:
        return f"{per_turn:g} counts a turn for {log.counts_per_rev}"
    if unit == "counts" and float(angle.get("counter_span", 0)) != log.span:
        return f"span {angle.get('counter_span', 0)} for {log.span:g}"
    return ""


def run(n: int, first: int, forms: tuple[str, ...], *, clean: bool) -> Score:
    """Score a number of seeds."""
    score = Score()
    with tempfile.TemporaryDirectory() as name:
        for seed in range(first, first + n):
            rng = np.random.default_rng([seed, 1])
            log = make(seed, clean=clean)
            form = str(rng.choice(forms))
            if (form in CAN and np.isnan(log.value).any()) or (
                form in RECORDS and log.angle_unit != "counts"
            ):
                form = "csv"
            if (
                log.time_unit in ("us", "ns")
                and form in ("mdf", "mcap", *RECORDS, *CAN)
                and any(k == "clock wrap" for k, _, _ in log.truth)
            ):
                form = "csv"
            path = write(log, Path(name), rng, form)
            dbc = path.with_suffix(".dbc") if form in CAN else None
            score.logs += 1
            score.rows += len(log.value)
            counts = (
                float(log.counts_per_rev)
                if form in (*RECORDS, *CAN) and log.angle_unit == "counts" and not log.span
                else None
            )
            try:
                checked, _ = check_log(path, dbc=dbc, counts_per_rev=counts)
            except LogError as error:
                score.lines.append(f"refused {seed} {form}: {error}")
                for kind, _, _ in log.truth:
                    score.planted[kind] += 1
                    score.missed[kind] += 1
                continue
            wrong = is_taken(log, checked)
            score.taken += not wrong
            if wrong:
                score.lines.append(f"not taken {seed} {form} {log.kind_of_motion}: {wrong}")
            judge(score, log, checked, form)
            path.unlink()
    return score


def main() -> None:
    """Score, and print the figures."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--forms", nargs="*", default=[*TEXTS, *BINARIES])
    parser.add_argument(
        "--clean", action="store_true", help="plant nothing: all that is told is invented"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true", help="say each miss and each invention")
    asked = parser.parse_args()
    score = run(asked.logs, asked.seed, tuple(asked.forms), clean=asked.clean)
    if asked.json:
        print(
            json.dumps(
                score.figures() | {"missed": score.missed, "invented by kind": score.invented},
                indent=2,
            )
        )
        return
    if asked.list:
        print("\n".join(score.lines))
    for name, figure in score.figures().items():
        print(f"{name:>24}  {figure:.6g}")
    for title, counts in (
        ("missed", score.missed),
        ("misnamed", score.misnamed),
        ("invented", score.invented),
    ):
        print(f"{title:>24}  " + ", ".join(f"{k} {v}" for k, v in counts.most_common()))


if __name__ == "__main__":
    main()
