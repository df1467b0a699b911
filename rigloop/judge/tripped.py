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
from rigloop.blocks.axes import guards_of, reaching
from rigloop.blocks.kinds.guard import limit_words
from rigloop.compose.blocks import bus_of_guard, find_guards, paths
from rigloop.judge.bus_words import explain_bus
from rigloop.judge.fault_words import explain_fault, task_of_fault
from rigloop.run_folder.last_state import record_of
from rigloop.run_folder.manifest import DataFault, count, fault_code
from rt_core.plan import loop_signal
from rt_core.safety.trips import TRIPS, Trip, Tripped, explain_trip, name_of_trip, read_trip

Signals = Mapping[str, float]
BUS_AT_THE_END = "bus, at the end"
AT_THE_END = (BUS_AT_THE_END,)
CHUNK = 1 << 18  # rows of a record that are looked at together
WRITTEN_OVER = "table written over"
NOT_DELIVERED = (Trip.SENSOR_LOST, Trip.SENSOR_FLICKERS)
BUS_REMEDY = (
    "look at the cable and the power of the first slave that is named, and at `rigloop bus`"
)


def trips_of(
    rig: Rig, signals: Signals, folder: Path, blocks: Mapping[str, Sequence[str]] | None = None
) -> list[DataFault]:
    """Return what the guards tripped on, the first cause first; those that tripped with another one last."""
    guards = find_guards(rig)
    found = [(name, trip_of(rig, name, signals, folder, blocks)) for name in guards]
    trips = [(name, trip) for name, trip in found if trip is not None]
    # cycles of different tasks are no order; their times are
    trips.sort(
        key=lambda item: (
            _code(rig, item[0], signals) == Trip.OTHER_TRIPPED,
            np.inf if item[1].at_s is None else item[1].at_s,
        )
    )
    return [trip for _, trip in trips]


def _code(rig: Rig, guard: str, signals: Signals) -> Trip | None:
    return read_trip(signals.get(paths(guard, rig.blocks[guard])[1]["trip"], 0.0))


def trip_of(
    rig: Rig,
    guard: str,
    signals: Signals,
    folder: Path,
    blocks: Mapping[str, Sequence[str]] | None = None,
) -> DataFault | None:
    """Return what a guard tripped on; None if it did not.

    Parameters
    ----------
    guard : str
        Its name.
    signals : mapping
        Path → value after the trip.
    folder : Path
        Of the run: its record says how everything was in the cycle of the trip.
    blocks : mapping of str to sequence of str, optional
        Those of each task in the order of their steps, where it is not that of the rig.
    """
    name, config = guard, find_guards(rig)[guard]
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
    cause, remedy = _cause(rig, guard, trip, signals, value, blocks or {})
    period_s = rig.period_us(name) * 1e-6
    at_s = cycle * period_s if row is None else float(row["t_ns"]) * 1e-9
    value_then, limit = (signals.get(writes[port], 0.0) for port in ("trip_value", "trip_limit"))
    sentence = explain_trip(
        Tripped(trip, value_then, limit, cycle, at_s, name),
        config.reads,
        cause=cause,
        remedy=remedy,
        origin=limit_words(rig, name, TRIPS[trip].limit),
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
        f"{path}: {name_of_trip(code)}: another program overwrote the table of signals, so its values are "
        "uncertain; find the program that opens the files of the run"
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
    found += trips_of(rig, signals, folder, blocks)
    found += _unwatched(rig, folder, blocks or {})
    for fault in at_the_end:
        found.append(DataFault(BUS_AT_THE_END, 1, 0, f"{fault['source']}: {fault['words']}"))
    return tuple(found)


def _unwatched(rig: Rig, folder: Path, blocks: Mapping[str, Sequence[str]]) -> Iterator[DataFault]:
    """Find the first failure of each task that no guard watches."""
    watched = {path for guard in find_guards(rig).values() for path in guard.reads.values()}
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
                code = fault_code(record[path][row])
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
    """Return whether each guard that tripped did so because its bus lost frames or a slave, and on nothing else, or
    with another one that did."""
    codes = {name: _code(rig, name, signals) for name in find_guards(rig)}
    own = [name for name, trip in codes.items() if trip not in (Trip.NO_TRIP, Trip.OTHER_TRIPPED)]
    return bool(own) and all(_is_of_its_bus(rig, name, signals, blocks or {}) for name in own)


def _is_of_its_bus(
    rig: Rig, guard: str, signals: Signals, blocks: Mapping[str, Sequence[str]]
) -> bool:
    trip = _code(rig, guard, signals)
    if trip in NOT_DELIVERED:
        delivered = paths(guard, rig.blocks[guard])[1]["trip_delivered"]
        return signals.get(delivered, 0.0) < 0.5
    if trip not in (Trip.ACTUATOR_LOST, Trip.OWN_FAULT):
        return False
    return _bus_fault(rig, guard, signals, blocks) in BUS_LOST


def _bus_fault(rig: Rig, guard: str, signals: Signals, blocks: Mapping[str, Sequence[str]]) -> int:
    """Return the fault of the guard's bus in the cycle of the trip; 0 if it was another block's, or none."""
    found = bus_of_guard(rig, guard)
    writes = paths(guard, rig.blocks[guard])[1]
    place = count(signals.get(writes["trip_block"], 0.0))
    task = next(task for task, table in rig.tasks.items() if guard in table.blocks)
    stepped = blocks.get(task, rig.tasks[task].blocks)
    if found is None or not 0 < place <= len(stepped) or stepped[place - 1] != found[0]:
        return 0
    return fault_code(signals.get(writes["trip_fault"], 0.0))


def _values(row: np.void | None, signals: Signals) -> Callable[[str], float]:
    names = () if row is None else (row.dtype.names or ())

    def value(path: str) -> float:
        return float(row[path]) if row is not None and path in names else signals.get(path, np.nan)

    return value


def _cause(
    rig: Rig,
    guard: str,
    trip: Trip,
    signals: Signals,
    value: Callable[[str], float],
    blocks: Mapping[str, Sequence[str]],
) -> tuple[str, str]:
    """Return which slave, block or task is behind a trip, and why; and what to do, where the table does not say it."""
    config = guards_of(rig)[guard]
    writes = paths(guard, config)[1]
    if trip == Trip.OTHER_TRIPPED:
        return _with_other(rig, guard, signals), ""
    place, code = (
        count(signals.get(writes["trip_block"], 0.0)),
        fault_code(signals.get(writes["trip_fault"], 0.0)),
    )
    if trip in (Trip.OWN_FAULT, Trip.REQUEST_FAULT):
        task = task_of_fault(rig, config.reads[TRIPS[trip].port])
        if task is None:
            return "", ""
        words, remedy = explain_fault(rig, task, place, code, blocks.get(task))
        return "; ".join([words, *_bus(rig, guard, signals, value, blocks)]), remedy
    if trip == Trip.ACTUATOR_LOST or (
        trip in NOT_DELIVERED and signals.get(writes["trip_delivered"], 0.0) < 0.5
    ):
        found = _bus(rig, guard, signals, value, blocks, always=True)
        lost = trip in NOT_DELIVERED
        return "; ".join(found), BUS_REMEDY if lost and found else ""
    if trip == Trip.REQUEST_STALE:
        parts = config.reads["request_cycle"].split("/")
        if len(parts) == 3 and parts[1] in rig.tasks:
            last = value(config.reads["request_cycle"])
            return f"cycle {last:.0f} of task {parts[1]!r} is still the newest", ""
    return "", ""


def _with_other(rig: Rig, guard: str, signals: Signals) -> str:
    """Return with which guard this one tripped, and why that one did."""
    place = signals.get(paths(guard, rig.blocks[guard])[1]["trip_value"], 0.0)
    others = reaching(rig, guard)
    if place not in range(1, len(others) + 1):
        return ""
    other = others[int(place) - 1]
    trip = _code(rig, other, signals)
    why = f": {TRIPS[trip].words}" if trip in TRIPS else ""
    return f"tripped with guard {other!r}{why}"


def _bus(
    rig: Rig,
    guard: str,
    signals: Signals,
    value: Callable[[str], float],
    blocks: Mapping[str, Sequence[str]],
    always: bool = False,
) -> list[str]:
    found = bus_of_guard(rig, guard)
    if found is None:
        return []
    name, config = found
    code = _bus_fault(rig, guard, signals, blocks)
    if not (code or always):
        return []
    said = [f"{name}: fault {code}: {BUS_FAULTS.get(code, 'unknown')}"] if code and always else []
    return [*said, *explain_bus(name, config, value)]
