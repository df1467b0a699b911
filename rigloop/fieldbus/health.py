"""The health of each slave of a bus, from the record of a run or from the table of the one that runs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from io_bridge.bus_events import BusEvent
from io_bridge.recording.record import RecordError, open_record
from io_bridge.slaves import words
from rigloop.blocks.checked import read_checked
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.slaves import joined
from rigloop.compose.blocks import find_buses
from rigloop.fieldbus import running
from rigloop.run_folder import messages
from rt_core.signals.layout import TableError

LOOK_S = 0.1
SILENT_S = 0.02
"""Longer than single lost frames."""
MOST_ROWS = 2_000_000
MARK = "wkc_expected"


class NothingToShowError(Exception):
    """There is no such run, or it has no bus."""


@dataclass
class SlaveHealth:
    """One slave: cycles without its data, counters, AL state, its clock against the reference."""

    name: str
    invalid_cycles: int
    wkc_min: int
    wkc_expected: int
    al_state: str
    al_code: str
    dc_difference_max_ns: float | None


@dataclass
class BusHealth:
    """A bus and its slaves; `good` when nothing was lost, every slave is in OP and no cable of a ring was out."""

    source: str
    cycles: int
    lost: int
    late: int
    duplicated: int
    exchange_p50_us: float | None
    exchange_p99_us: float | None
    dc_error_rms_ns: float | None
    dc_locked: bool | None
    ring_gap: str
    """The places where the ring of two interfaces is open; empty: it is closed, or there is none."""
    ring_breaks: int | None
    slaves: list[SlaveHealth]
    good: bool
    stands_still: str = ""
    """The reason why the figures are old ones."""
    events: list[str] = field(default_factory=list)
    """The events beside the cycle: slaves that left OP, emergencies, drives in fault."""


def recorded(folder: Path, name: str | None = None) -> BusHealth:
    """Read the record of a run.

    Parameters
    ----------
    folder : Path
    name : str, optional
        The bus; needed where there are several.

    Raises
    ------
    NothingToShowError
        No run there, or one without a bus, or without this one.
    """
    if not folder.is_dir():
        raise NothingToShowError(f"{folder}: no such run folder; `live` is the run of now")
    records = {}
    for path in sorted(folder.glob("*.npy")):
        if not path.stem.endswith("_late"):
            with contextlib.suppress(RecordError, OSError):
                records[path.stem] = open_record(path)
    with_rows = {task: rows.dtype.names or () for task, rows in records.items() if len(rows)}
    task, bus = _find_bus(str(folder), with_rows, name)
    found = _of_rows(str(folder), records[task], bus, _axes(folder, bus[0]))
    found.events = _told(folder)
    return found


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except TableError as error:
        raise NothingToShowError(str(error)) from None


def live(name: str | None = None) -> BusHealth:
    """Read the newest picture of the run of this user that runs now.

    Parameters
    ----------
    name : str, optional
        The bus; needed where there are several.

    Raises
    ------
    NothingToShowError
        Nothing runs, or nothing with this bus.
    """
    from rt_core.signals.table import SignalTable

    for supervisor, path in running.tables():
        try:
            table = SignalTable.attach(path)
        except (OSError, ValueError):
            continue
        with table, _readable():
            folder = running.folder_of(supervisor)
            signals = {producer.name: producer.signals for producer in table.producers}
            if not any(_buses_in(paths) for paths in signals.values()):
                continue
            task, bus = _find_bus("the run of now", signals, name)
            dtype = np.dtype([(path, np.float64) for path in table.paths(task)])
            before = _cycles(table.latest(task).view(dtype))
            time.sleep(LOOK_S)
            row = table.latest(task).view(dtype)
            found = _of_rows("live", row, bus, _axes(folder, bus[0]))
            _mark_silent(found, row, bus, folder, task)
            if _cycles(row) == before:
                found.stands_still = f"no cycle for {LOOK_S:g} s or more: the loop stands still"
                found.good = False
            found.events = _sentences(running.events_of(supervisor))
            return found
    raise NothingToShowError("nothing runs now; give the folder of a recorded run")


def _mark_silent(
    found: BusHealth, row: np.ndarray, bus: tuple[str, list[str]], folder: Path | None, task: str
) -> None:
    """A slave that is silent now: since when, the record knows."""
    silent = [
        (health, slave)
        for health, slave in zip(found.slaves, bus[1], strict=True)
        if not _is_heard(row, slave)[-1]
    ]
    if not silent:
        return
    try:
        rows = None if folder is None else open_record(folder / f"{task}.npy")[-MOST_ROWS:]
    except (RecordError, OSError):
        rows = None
    for health, slave in silent:
        said = "no answer" if rows is None or not len(rows) else _silence(rows, slave)
        health.al_state = said or "no answer"
        health.al_code = ""
    found.good = False


def _is_heard(rows: np.ndarray, slave: str) -> np.ndarray:
    """True for each row in which a slave answered."""
    names = rows.dtype.names or ()
    if f"{slave}/wkc" not in names:
        return np.ones(len(rows), bool)
    expects = rows[f"{slave}/wkc_expected"] > 0
    return np.where(expects, rows[f"{slave}/wkc"] > 0, rows[f"{slave}/al_state"] > 0)


def _silence(rows: np.ndarray, slave: str) -> str:
    """Return since when a slave is not heard; nothing when it is, or lost no more than single frames."""
    heard = np.flatnonzero(_is_heard(rows, slave))
    if not len(heard):
        return "no answer in all of the record"
    silent_s = 1e-9 * float(rows["t_ns"][-1] - rows["t_ns"][heard[-1]])
    if silent_s < SILENT_S:
        return ""
    state = words.al_state(int(rows[f"{slave}/al_state"][heard[-1]]))
    return f"no answer for {silent_s:.2f} s, before that {state}"


def _sentences(events: Sequence[BusEvent]) -> list[str]:
    """Return events as lines."""
    return [f"{event.source}: {event.words}" for event in events]


def _told(folder: Path) -> list[str]:
    """Return what a run's cycle process reported of its bus."""
    try:
        report = messages.read_report(folder)
    except (OSError, ValueError):
        return []
    events = [] if report is None else report.bus_events
    return [f"{event.get('source')}: {event.get('words')}" for event in events]


def _cycles(rows: np.ndarray) -> int:
    names = [n for n in rows.dtype.names or () if n.startswith("loop/") and n.endswith("/cycle")]
    return int(rows[names[0]][-1]) if names else len(rows)


def _find_bus(
    where: str, signals: Mapping[str, Sequence[str]], name: str | None
) -> tuple[str, tuple[str, list[str]]]:
    """Return the task with a bus, and the prefixes of the bus and of its slaves."""
    found = {
        bus: (task, slaves)
        for task, paths in signals.items()
        for bus, slaves in _buses_in(paths).items()
    }
    if not found:
        raise NothingToShowError(f"{where}: no record with a bus in it")
    if name is None and len(found) > 1:
        raise NothingToShowError(f"{where}: it has the buses {', '.join(found)}: name one by --bus")
    if name is not None and name not in found:
        raise NothingToShowError(f"{where}: no bus {name}: there is {', '.join(found)}")
    bus = next(iter(found)) if name is None else name
    task, slaves = found[bus]
    return task, (bus, slaves)


def _buses_in(paths: Sequence[str]) -> dict[str, list[str]]:
    """Return the prefix of each bus among signal paths, and of its slaves."""
    marked = [path[: -len(MARK) - 1] for path in paths if path.endswith("/" + MARK)]
    buses = [name for name in marked if f"{name}/exchange_ns" in paths]
    slaves = [name for name in marked if name not in buses]
    if len(buses) < 2:
        return dict.fromkeys(buses, slaves)
    return {bus: [name for name in slaves if name.startswith(f"{bus}/")] for bus in buses}


def _buses_of_run(folder: Path | None) -> dict[str, BusBlock]:
    try:
        return {} if folder is None else find_buses(read_checked(folder / "rig.toml").rig)
    except (OSError, ValueError):
        return {}


def _axes(folder: Path | None, bus: str) -> set[str]:
    """Return the drives of a bus that are further axes of the slave before them: they have no cable of their own."""
    found = _buses_of_run(folder).get(bus)
    return set() if found is None else joined(found)


def _in_ring(slaves: Sequence[SlaveHealth], axes: Collection[str]) -> list[str]:
    names: list[str] = []
    for slave in slaves:
        if names and slave.name in axes:
            names[-1] += f"+{slave.name}"
        else:
            names.append(slave.name)
    return names


def _of_rows(
    source: str, rows: np.ndarray, bus: tuple[str, list[str]], axes: Collection[str] = ()
) -> BusHealth:
    prefix, slaves = bus

    def column(name: str) -> np.ndarray:
        path = f"{prefix}/{name}"
        names = rows.dtype.names or ()
        return rows[path] if path in names else np.full(len(rows), np.nan)

    exchange_us = 1e-3 * column("exchange_ns")
    error = column("dc_error_ns")
    locks = bool(np.isfinite(error[-1]))
    several = len(rows) > 1
    cycles = _cycles(rows)
    found = [_slave(rows, slave) for slave in slaves]
    lost, late, duplicated = (
        int(np.nan_to_num(column(name)[-1])) for name in ("lost", "late", "duplicated")
    )
    ring = column("ring_breaks")[-1]
    breaks = int(ring) if np.isfinite(ring) else None
    gap = ""
    if column("ring_open")[-1] == 1.0:
        gap = words.ring_gap(_in_ring(found, axes), int(column("ring_near")[-1]))
    return BusHealth(
        source,
        cycles,
        lost,
        late,
        duplicated,
        round(float(np.median(exchange_us)), 2),
        round(float(np.percentile(exchange_us, 99)), 2) if several else None,
        round(float(np.sqrt(np.mean(error[len(error) // 2 :] ** 2))), 1) if locks else None,
        bool(column("dc_locked")[-1] == 1.0) if locks else None,
        gap,
        breaks,
        found,
        not lost
        and not breaks
        and all(s.al_state == "OP" and s.wkc_min == s.wkc_expected for s in found),
    )


def _slave(rows: np.ndarray, prefix: str) -> SlaveHealth:
    last = rows[-1]
    names = rows.dtype.names or ()

    def value(name: str) -> float:
        path = f"{prefix}/{name}"
        return float(last[path]) if path in names else 0.0

    difference = None
    if f"{prefix}/dc_difference_ns" in names:
        sizes = np.abs(rows[f"{prefix}/dc_difference_ns"])
        if np.isfinite(sizes).any():
            difference = float(np.nanmax(sizes))
    al_code = int(value("al_code"))
    al_state = int(value("al_state"))
    silence = _silence(rows, prefix) if "t_ns" in names else ""
    return SlaveHealth(
        prefix.rsplit("/", 1)[-1],
        int(value("invalid_cycles")),
        int(value("wkc_min")),
        int(value("wkc_expected")),
        silence or (words.al_state(al_state) if al_state else "no answer"),
        words.al_code(al_code) if al_code and not silence else "",
        difference,
    )
