"""Can a run be good by what its own filters say of it? Innovations, refused and missing samples, status.

A filter whose innovations are a hundred times what it expects follows something that is no wheel, however
smooth its output. Red lines make a run bad; amber ones stand beside a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rig_configs.schema import Rig, Verdict
from rigloop.compose.blocks import paths
from rigloop.judge.model_gain import gains
from rigloop.judge.not_numbers import not_numbers
from rigloop.judge.singing import singing
from rigloop.judge.stood_still import stood_still
from rigloop.report.filter_statistics import filter_facts
from rigloop.report.observer_statistics import observer_facts
from rigloop.run_folder.recorded import last_count

Records = Mapping[str, np.ndarray]

# amber lines, as shares of the red ones of `rig_configs.schema.Verdict`: the square of the innovation, samples missing
AMBER_NIS, AMBER_MISSING = 1e-2, 0.1
LAGGING = 0.05  # innovation / motion, RMS
LEAST_SAMPLES = 100


class Distrust(NamedTuple):
    """One reason against a run."""

    red: list[str]
    amber: list[str]


def distrust(rig: Rig, records: Records, *, is_live: bool) -> Distrust:
    """Return what the filters and observers of a run say against it.

    Parameters
    ----------
    rig : Rig
    records : mapping of str to structured ndarray
        Record of each task.
    is_live : bool
        Samples that a wire lost are judged where the hand feels it, and here only told.
    """
    found = Distrust([], [])
    for filtered in filter_facts(records):
        # a wheel livelier than its filter, on a fine encoder: large beside the noise, small beside the motion
        follows = filtered.innovation_rms_rad <= LAGGING * filtered.motion_rms_rad
        _innovations(filtered.name, filtered.nis_mean, rig.verdict, found, follows=follows)
    for observed in observer_facts(records):
        _innovations(observed.name, observed.nis_mean, rig.verdict, found, follows=False)
    for name, block in rig.blocks.items():
        reads, writes = paths(name, block)
        if block.kind == "encoder_filter":
            _samples(records, reads.get("valid", ""), writes, rig.verdict, found, is_live)
        elif block.kind in ("observer", "two_stage_observer"):
            _observer(records, writes, rig.verdict, found)
    if is_live:
        # of a log, `rigloop.logs.verdict` says so by its rows
        found.red.extend(singing(rig, records))
        still = stood_still(rig, records)
        found.red.extend(still.red)
        found.amber.extend(still.amber)
    found.amber.extend(gains(rig, records))
    found.amber.extend(not_numbers(rig, records))
    return found


def _innovations(name: str, nis: float, limits: Verdict, found: Distrust, *, follows: bool) -> None:
    words = (
        f"{name}/nis = {nis:.3g} on average, 1 for the right noise: innovations are {np.sqrt(nis):.3g} times what "
        "the filter expects"
    )
    if nis > limits.max_nis and not follows:
        found.red.append(
            f"{words}, limit verdict.max_nis = {limits.max_nis:g}: the filter does not follow the motion of the wheel"
        )
    elif nis > AMBER_NIS * limits.max_nis:
        found.amber.append(f"{words}: the motion, or the noise, is more than it is set for")


def _samples(
    records: Records,
    valid: str,
    writes: Mapping[str, str],
    limits: Verdict,
    found: Distrust,
    is_live: bool,
) -> None:
    record = _with(records, valid)
    if record is None:
        return
    taken = np.asarray(record[valid]) == 1.0
    came = np.flatnonzero(taken)
    if len(came) < LEAST_SAMPLES:
        return
    refused = _count(records, writes.get("rejected", ""))
    refused_percent = 100.0 * refused / len(came)
    if refused_percent > limits.max_refused_percent:
        found.red.append(
            f"{writes['rejected']} = {refused}: {refused_percent:.1f} % of {len(came)} samples are impossible for a "
            f"wheel, limit verdict.max_refused_percent = {limits.max_refused_percent:g} %"
        )
    trusted = writes.get("trusted", "")
    if trusted in (record.dtype.names or ()):
        left_out_percent = 100.0 * float(np.mean(np.asarray(record[trusted])[came] != 1.0))
        if left_out_percent > limits.max_left_out_percent:
            found.red.append(
                f"{trusted}: {left_out_percent:.0f} % of {len(came)} samples did not go into an estimate that had "
                f"settled, limit verdict.max_left_out_percent = {limits.max_left_out_percent:g} %: the filter did not "
                "follow this signal"
            )
    # the usual interval says how many should have come
    t_ns = np.asarray(record["t_ns"])[came]
    should = (t_ns[-1] - t_ns[0]) / max(1.0, float(np.median(np.diff(t_ns)))) + 1.0
    missing_percent = 100.0 * max(0.0, 1.0 - len(came) / should)
    words = f"{valid}: {missing_percent:.1f} % of the samples between the first and the last are missing"
    if missing_percent > limits.max_missing_percent and not is_live:
        found.red.append(
            f"{words}, limit verdict.max_missing_percent = {limits.max_missing_percent:g} %"
        )
    elif missing_percent > AMBER_MISSING * limits.max_missing_percent:
        found.amber.append(words)


def _observer(
    records: Records, writes: Mapping[str, str], limits: Verdict, found: Distrust
) -> None:
    record = _with(records, writes.get("status", ""))
    if record is not None and len(record):
        status = np.asarray(record[writes["status"]])
        failed = np.flatnonzero(~(status == 0.0))
        words = (
            f"{writes['status']}: no position in {len(failed)} of {len(status)} cycles, first at row "
            f"{failed[0]}" if len(failed) else ""
        )  # fmt: skip
        if 100.0 * len(failed) > limits.max_bad_status_percent * len(status):
            found.red.append(
                f"{words}, limit verdict.max_bad_status_percent = {limits.max_bad_status_percent:g} %"
            )
        elif len(failed):
            found.amber.append(words)
    record = _with(records, writes.get("used", ""))
    if record is None:
        return
    used = np.asarray(record[writes["used"]])
    taken = float(np.sum(used[(used > 0) & (used < 1e6)]))
    refused = _count(records, writes.get("rejected", ""))
    if taken + refused < LEAST_SAMPLES:
        return
    refused_percent = 100.0 * refused / (taken + refused)
    if refused_percent > limits.max_refused_percent:
        found.red.append(
            f"{writes['rejected']} = {refused}: {refused_percent:.1f} % of its samples are beyond the gate, limit "
            f"verdict.max_refused_percent = {limits.max_refused_percent:g} %"
        )


def _with(records: Records, path: str) -> np.ndarray | None:
    return next((r for r in records.values() if path and path in (r.dtype.names or ())), None)


def _count(records: Records, path: str) -> int:
    record = _with(records, path)
    return 0 if record is None else last_count(record[path])
