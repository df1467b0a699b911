"""The verdict on a log: counts and shares of its faults, and how long its encoder was away."""

from __future__ import annotations

from collections.abc import Sequence

from io_bridge.logs.faults.finding import KINDS, Finding
from io_bridge.logs.reader import EncoderLog

MOST_SPOILT_PERCENT = 1.0  # of the rows, by faults of all kinds
AWAY = ("all zeros", "all ones", "stuck", "loss of power", "saturation")
LONGEST_AWAY_S = 0.1  # a wheel may be anywhere after it
LONGEST_AWAY_SAMPLES = 20  # that the filter predicts across


def against(findings: Sequence[Finding], n_rows: int, period_s: float) -> list[str]:
    """Return the reasons for which a log is bad; empty for a good one.

    Parameters
    ----------
    findings : sequence of Finding
    n_rows : int
        Data rows of the log.
    period_s : float
        Typical interval of its samples.
    """
    reasons = [
        f"suspicion of units: {one.words}" for one in findings if one.kind == "suspicion of units"
    ]
    spoilt = sum(
        one.samples for one in findings if KINDS[one.kind].counts and one.kind != "lost precision"
    )
    share = 100.0 * spoilt / max(1, n_rows)
    if share > MOST_SPOILT_PERCENT:
        reasons.append(
            f"{share:.2g} % of the rows are spoilt, at most {MOST_SPOILT_PERCENT:g} % may be"
        )
    longest = max(LONGEST_AWAY_S, LONGEST_AWAY_SAMPLES * period_s)
    for kind in AWAY:
        ones = [one for one in findings if one.kind == kind and one.samples * period_s > longest]
        if ones:
            first = max(ones, key=lambda one: one.samples)
            reasons.append(
                f"{kind} for {first.samples * period_s:.3g} s from row {first.row} ({first.time_s:.3f} s): the encoder "
                f"was not there for longer than {longest:.3g} s"
                + (f", and {len(ones) - 1} times more" if len(ones) > 1 else "")
            )
    return reasons


def against_log(log: EncoderLog) -> list[str]:
    """Return the reasons for which a log that was read is bad."""
    return against(log.findings, log.n_rows, log.sample_period_s)
