"""The guard's trip as one sentence: what, which slave or block, value, limit, when, what to do."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from io_bridge.exchange.exchange import BUS_LOST
from io_bridge.exchange.exchange import FAULTS as BUS_FAULTS
from rig_configs.schema import Rig
from rigloop.compose.blocks import find_bus, find_guard, guard_of, paths
from rigloop.judge.bus_words import explain_bus
from rigloop.judge.fault_words import explain_fault, task_of_fault
from rigloop.run_folder.last_state import record_of
from rigloop.run_folder.manifest import DataFault, count
from rt_core.plan import loop_signal
from rt_core.safety.trips import TRIPS, Trip, explain_trip, name_of_trip, read_trip

Signals = Mapping[str, float]
BUS_AT_THE_END = "bus, at the end"
AT_THE_END = (BUS_AT_THE_END,)
CHUNK = 1 << 18  # rows of a record that are looked at together
WRITTEN_OVER = "table written over"
NOT_DELIVERED = (Trip.SENSOR_LOST, Trip.SENSOR_FLICKERS)
BUS_REMEDY = (
    "look at the cable and the power of the first slave that is named, and at `rigloop bus`"
)


def trip_of(
    rig: Rig, signals: Signals, folder: Path, blocks: Mapping[str, Sequence[str]] | None = None
) -> DataFault | None:
    """Return what the guard tripped on; None if it did not.

    Parameters
    ----------
    signals : mapping
        Path → value after the trip.
    folder : Path
        Of the run: its record says how everything was in the cycle of the trip.
    blocks : mapping of str to sequence of str, optional
        Those of each task in the order of their steps, where it is not that of the rig.
    """
    name, config = guard_of(rig)
    writes = paths(name, config)[1]
    code = signals.get(writes["trip"], 0.0)
    trip = read_trip(code)
    if trip == Trip.NO_TRIP:
        return None
    if trip is None:
        return DataFault(WRITTEN_OVER, 1, 0, written_over(writes["trip"], code))
    task = next(task for task, table in rig.tasks.items() if name in table.blocks)
    cycle = signals.get(writes["trip_cycle"], 0.0)
    row = row_at(folder, task, cycle)
    value = _values(row, signals)
    cause, remedy = _cause(rig, trip, signals, value, blocks or {})
    period_s = rig.period_us(name) * 1e-6
    at_s = cycle * period_s if row is None else float(row["t_ns"]) * 1e-9
    sentence = explain_trip(
        trip,
        signals.get(writes["trip_value"], 0.0),
        signals.get(writes["trip_limit"], 0.0),
        cycle,
        config.reads,
        at_s=at_s,
        cause=cause,
        remedy=remedy,
        name=name,
    )
    return DataFault(
        kind=trip.name.lower().replace("_", " "),
        count=1,
        first_row=max(0, int(cycle) - 1) if np.isfinite(cycle) else 0,
        words=sentence,
        at_s=at_s,
    )


def written_over(path: str, code: float) -> str:
    """Say that a guard's signal has a number that no guard writes."""
    return (
        f"{path}: {name_of_trip(code)}: something else wrote over the table of signals, so nothing in it is "
        "certain; see which other program opens the files of the run"
    )


def faults_of(
    rig: Rig,
    signals: Signals,
    folder: Path,
    before: Sequence[DataFault] = (),
    at_the_end: Sequence[Mapping[str, Any]] = (),
    blocks: Mapping[str, Sequence[str]] | None = None,
) -> tuple[DataFault, ...]:
    """Return the faults of a live run, first cause first.

    Parameters
    ----------
    before : sequence of DataFault
        Trips after which the guard was armed again.
    at_the_end : sequence of mapping
        What the bus found wrong when the run ended: source, code, words.
    """
    found = list(before)
    last = None if find_guard(rig) is None else trip_of(rig, signals, folder, blocks)
    if last is not None:
        found.append(last)
    found += _unwatched(rig, folder, blocks or {})
    for fault in at_the_end:
        found.append(DataFault(BUS_AT_THE_END, 1, 0, f"{fault['source']}: {fault['words']}"))
    return tuple(found)


def _unwatched(rig: Rig, folder: Path, blocks: Mapping[str, Sequence[str]]) -> Iterator[DataFault]:
    """Find the first failure of each task that no guard watches."""
    guard = find_guard(rig)
    watched = () if guard is None else guard[1].reads.values()
    for task in rig.tasks:
        path, place = loop_signal(task, "fault"), loop_signal(task, "fault_block")
        if path in watched:
            continue
        record = record_of(folder / f"{task}.npy")
        if path not in (record.dtype.names or ()):
            continue
        for begin in range(0, len(record), CHUNK):
            failed = np.flatnonzero(record[path][begin : begin + CHUNK])
            if len(failed):
                row = begin + int(failed[0])
                code = count(record[path][row])
                words, remedy = explain_fault(
                    rig, task, count(record[place][row]), code, blocks.get(task)
                )
                at_s = float(record["t_ns"][row]) * 1e-9
                sentence = f"{path}: {words}, first at row {row} ({at_s:.3f} s)"
                todo = f"; {remedy}" if remedy else ""
                yield DataFault("block failed", 1, row, sentence + todo, at_s)
                break


def row_at(folder: Path, task: str, cycle: float) -> np.void | None:
    """Return the row of a cycle in the record of a task; None if the record does not have it."""
    record = record_of(folder / f"{task}.npy")
    path = loop_signal(task, "cycle")
    if path not in (record.dtype.names or ()):
        return None
    # a look at a few rows: the column of a long run is many pages
    column = record[path]
    row = bisect_left(range(len(column)), cycle, key=column.__getitem__)
    return record[row] if row < len(column) and column[row] == cycle else None


def is_of_bus(
    rig: Rig, signals: Signals, blocks: Mapping[str, Sequence[str]] | None = None
) -> bool:
    """Return whether the guard tripped because the bus lost frames or a slave, and on nothing else."""
    name, config = guard_of(rig)
    writes = paths(name, config)[1]
    trip = read_trip(signals.get(writes["trip"], 0.0))
    if trip in NOT_DELIVERED:
        return signals.get(writes["trip_delivered"], 0.0) < 0.5
    if trip not in (Trip.ACTUATOR_LOST, Trip.OWN_FAULT):
        return False
    return _bus_fault(rig, signals, blocks or {}) in BUS_LOST


def _bus_fault(rig: Rig, signals: Signals, blocks: Mapping[str, Sequence[str]]) -> int:
    """Return the fault of the bus block in the cycle of the trip; 0 if it was another block's, or none."""
    found = find_bus(rig)
    name, config = guard_of(rig)
    writes = paths(name, config)[1]
    place = count(signals.get(writes["trip_block"], 0.0))
    task = next(task for task, table in rig.tasks.items() if name in table.blocks)
    stepped = blocks.get(task, rig.tasks[task].blocks)
    if found is None or not 0 < place <= len(stepped) or stepped[place - 1] != found[0]:
        return 0
    return count(signals.get(writes["trip_fault"], 0.0))


def _values(row: np.void | None, signals: Signals) -> Callable[[str], float]:
    names = () if row is None else (row.dtype.names or ())

    def value(path: str) -> float:
        return float(row[path]) if row is not None and path in names else signals.get(path, np.nan)

    return value


def _cause(
    rig: Rig,
    trip: Trip,
    signals: Signals,
    value: Callable[[str], float],
    blocks: Mapping[str, Sequence[str]],
) -> tuple[str, str]:
    """Return which slave, block or task is behind a trip, and why; and what to do, where the table does not say it."""
    name, config = guard_of(rig)
    writes = paths(name, config)[1]
    place, code = (
        count(signals.get(writes["trip_block"], 0.0)),
        count(signals.get(writes["trip_fault"], 0.0)),
    )
    if trip in (Trip.OWN_FAULT, Trip.REQUEST_FAULT):
        task = task_of_fault(rig, config.reads[TRIPS[trip].port])
        if task is None:
            return "", ""
        words, remedy = explain_fault(rig, task, place, code, blocks.get(task))
        return "; ".join([words, *_bus(rig, signals, value, blocks)]), remedy
    if trip == Trip.ACTUATOR_LOST or (
        trip in NOT_DELIVERED and signals.get(writes["trip_delivered"], 0.0) < 0.5
    ):
        found = _bus(rig, signals, value, blocks, always=True)
        lost = trip in NOT_DELIVERED
        return "; ".join(found), BUS_REMEDY if lost and found else ""
    if trip == Trip.REQUEST_STALE:
        parts = config.reads["request_cycle"].split("/")
        if len(parts) == 3 and parts[1] in rig.tasks:
            last = value(config.reads["request_cycle"])
            return f"cycle {last:.0f} of task {parts[1]!r} is still the newest", ""
    return "", ""


def _bus(
    rig: Rig,
    signals: Signals,
    value: Callable[[str], float],
    blocks: Mapping[str, Sequence[str]],
    always: bool = False,
) -> list[str]:
    found = find_bus(rig)
    if found is None:
        return []
    name, config = found
    code = _bus_fault(rig, signals, blocks)
    if not (code or always):
        return []
    said = [f"{name}: fault {code}: {BUS_FAULTS.get(code, 'unknown')}"] if code and always else []
    return [*said, *explain_bus(name, config, value)]
