"""What a run left behind of its faults, and in which cycle each began."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from io_bridge.record import open_record
from rig_configs.bounded import MOST_KEPT_BYTES, read_bytes
from rigloop import order
from rigloop.inject.agent import LOG
from rigloop.inject.kinds import ToProcess, ToWire
from rigloop.inject.limits import Limits
from rigloop.inject.place import block_name, task_of
from rigloop.inject.request import Injection
from rt_core.inject import Act


@dataclass(frozen=True)
class Evidence:
    """What a run left."""

    fast: np.ndarray
    slow: np.ndarray
    report: order.Report
    recorder: dict[str, Any]
    injected_ns: dict[int, int]
    """Number of the injection → CLOCK_MONOTONIC."""
    drives: dict[str, Any]
    final: Mapping[str, float] | None
    """Newest value of every signal, where the supervisor lived to read it."""


def gather(folder: Path, lim: Limits, final: Mapping[str, float] | None) -> Evidence | None:
    """Read what a run left; None if it never had a record."""
    records = [folder / f"{task}.npy" for task in (lim.fast, lim.slow)]
    if not all(record.exists() for record in records):
        return None
    injected = {}
    log = folder / LOG
    if log.exists():
        for line in read_bytes(log, MOST_KEPT_BYTES).decode().splitlines():
            act = json.loads(line)
            injected[act["number"]] = act["at_ns"]
    return Evidence(
        open_record(records[0]),
        open_record(records[1]),
        order.read_report(folder) or order.Report(error="no report"),
        _json(folder / "recorder.json"),
        injected,
        _json(folder / "drive.json"),
        final,
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(read_bytes(path))
    except (OSError, ValueError):
        return {}


def cable_moves(number: int, seen: Evidence) -> tuple[int | None, int | None]:
    """Return when the segment lost a cable and had it back, as it says itself (CLOCK_MONOTONIC)."""
    asked_ns = seen.injected_ns.get(number)
    found: dict[str, int] = {}
    if asked_ns is not None:
        for words, at_ns in seen.drives.get("orders", ()):
            if at_ns >= asked_ns:
                found.setdefault(words.partition(" ")[0], at_ns)
    return found.get("unplug"), found.get("plug")


def row_of(at_ns: int | None, seen: Evidence) -> int | None:
    """Return the row of the cycle that was under way at a moment, its frame sent or not."""
    if at_ns is None or not seen.report.first_cycle_ns:
        return None
    after = np.searchsorted(seen.fast["t_ns"], at_ns - seen.report.first_cycle_ns, side="right")
    return max(0, int(after) - 1)


def began_in(number: int, injection: Injection, seen: Evidence, lim: Limits) -> int | None:
    """Return the row of the guard's task in which a fault began; one behind the last if that never came."""
    acts, t_ns = injection.fault.acts, seen.fast["t_ns"]
    if isinstance(acts, ToWire):
        return row_of(cable_moves(number, seen)[0], seen)
    if isinstance(acts, ToProcess):
        at_ns = seen.injected_ns.get(number)
        start_ns = seen.report.first_cycle_ns
        if at_ns is None or not start_ns:
            return None
        return int(np.searchsorted(t_ns, at_ns - start_ns))
    task = task_of(injection, lim)
    record = seen.fast if task == lim.fast else seen.slow
    if acts.act == Act.HANG:
        # the cycle that hangs is never published: it is the one after the last, if its thread did not end
        if not seen.report.hung:
            return None
        if task == lim.fast:
            return len(t_ns)
        began_ns = int(record["t_ns"][-1]) + lim.slow_task.period_us * 1000
        return int(np.searchsorted(t_ns, began_ns))
    rows = np.flatnonzero(record[f"{block_name(number)}/cycle"])
    if not len(rows):
        return None
    return int(np.searchsorted(t_ns, record["t_ns"][rows[0]]))
