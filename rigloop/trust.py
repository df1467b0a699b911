"""Can a run be good by what its own filters say of it? Innovations, refused and missing samples, status.

A filter whose innovations are a hundred times what it expects follows something that is no wheel, however
smooth its output. Red lines make a run bad; amber ones are told beside a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rig_configs.schema import Rig
from rigloop.compose import paths
from rigloop.recorded import last_count
from rigloop.report_filter import filter_facts
from rigloop.report_observer import observer_facts

Records = Mapping[str, np.ndarray]

# of the mean normalised innovation squared, 1 for the right noise: innovations 10 and 100 times what is expected.
# Rounding is all that a filter knows of noise, so a lively wheel on a fine encoder comes to some 1000
AMBER_NIS, RED_NIS = 1e2, 1e4
# of samples that did not go in, of samples refused by a gate, of samples that should have come, of cycles with a bad
# status
RED_LEFT_OUT, RED_REFUSED, RED_MISSING, RED_STATUS = 0.5, 0.02, 0.2, 0.01
AMBER_MISSING = 0.02
LEAST_SAMPLES = 100


class Distrust(NamedTuple):
    """What speaks against a run."""

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
    for name, nis in (
        *((facts.name, facts.nis_mean) for facts in filter_facts(records)),
        *((facts.name, facts.nis_mean) for facts in observer_facts(records)),
    ):
        _innovations(name, nis, found)
    for name, block in rig.blocks.items():
        reads, writes = paths(name, block)
        if block.kind == "encoder_filter":
            _samples(records, reads.get("valid", ""), writes, found, is_live)
        elif block.kind in ("observer", "two_stage_observer"):
            _observer(records, writes, found)
    return found


def _innovations(name: str, nis: float, found: Distrust) -> None:
    words = (
        f"{name}/nis = {nis:.3g} on average, 1 for the right noise: innovations are {np.sqrt(nis):.3g} times what "
        "the filter expects"
    )
    if nis > RED_NIS:
        found.red.append(f"{words}, limit {np.sqrt(RED_NIS):.0f}: this is no wheel that it follows")
    elif nis > AMBER_NIS:
        found.amber.append(f"{words}: the motion, or the noise, is more than it is set for")


def _samples(
    records: Records, valid: str, writes: Mapping[str, str], found: Distrust, is_live: bool
) -> None:
    record = _with(records, valid)
    if record is None:
        return
    taken = np.asarray(record[valid]) == 1.0
    came = np.flatnonzero(taken)
    if len(came) < LEAST_SAMPLES:
        return
    refused = _count(records, writes.get("rejected", ""))
    if refused > RED_REFUSED * len(came):
        found.red.append(
            f"{writes['rejected']} = {refused}: {100 * refused / len(came):.1f} % of {len(came)} samples are none that "
            f"a wheel can give, limit {100 * RED_REFUSED:.0f} %"
        )
    trusted = writes.get("trusted", "")
    if trusted in (record.dtype.names or ()):
        left_out = 1.0 - float(np.mean(np.asarray(record[trusted])[came] == 1.0))
        if left_out > RED_LEFT_OUT:
            found.red.append(
                f"{trusted}: {100 * left_out:.0f} % of {len(came)} samples did not go into an estimate that had "
                f"settled, limit {100 * RED_LEFT_OUT:.0f} %: the filter did not follow this signal"
            )
    # the usual interval says how many should have come
    t_ns = np.asarray(record["t_ns"])[came]
    should = (t_ns[-1] - t_ns[0]) / max(1.0, float(np.median(np.diff(t_ns)))) + 1.0
    missing = max(0.0, 1.0 - len(came) / should)
    words = (
        f"{valid}: {100 * missing:.1f} % of the samples between the first and the last are missing"
    )
    if missing > RED_MISSING and not is_live:
        found.red.append(f"{words}, limit {100 * RED_MISSING:.0f} %")
    elif missing > AMBER_MISSING:
        found.amber.append(words)


def _observer(records: Records, writes: Mapping[str, str], found: Distrust) -> None:
    record = _with(records, writes.get("status", ""))
    if record is not None and len(record):
        status = np.asarray(record[writes["status"]])
        failed = np.flatnonzero(~(status == 0.0))
        words = (
            f"{writes['status']}: no position in {len(failed)} of {len(status)} cycles, first at row "
            f"{failed[0]}" if len(failed) else ""
        )  # fmt: skip
        if len(failed) > RED_STATUS * len(status):
            found.red.append(f"{words}, limit {100 * RED_STATUS:.0f} %")
        elif len(failed):
            found.amber.append(words)
    record = _with(records, writes.get("used", ""))
    if record is None:
        return
    used = np.asarray(record[writes["used"]])
    taken = float(np.sum(used[(used > 0) & (used < 1e6)]))
    refused = _count(records, writes.get("rejected", ""))
    if refused > RED_REFUSED * (taken + refused) and taken + refused >= LEAST_SAMPLES:
        found.red.append(
            f"{writes['rejected']} = {refused}: {100 * refused / (taken + refused):.1f} % of its samples are beyond "
            f"the gate, limit {100 * RED_REFUSED:.0f} %"
        )


def _with(records: Records, path: str) -> np.ndarray | None:
    return next((r for r in records.values() if path and path in (r.dtype.names or ())), None)


def _count(records: Records, path: str) -> int:
    record = _with(records, path)
    return 0 if record is None else last_count(record[path])
