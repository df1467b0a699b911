"""The state of a rig in words, from the newest values of its signals: guards, buses, tasks, live values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rigloop.blocks.kinds.stimulus_step import STATES
from rigloop.protocol.description import DescribedGuard, ToDescribe
from rt_core.lateness.cause import WORDS, explain_overruns, signal_of
from rt_core.plan import loop_signal
from rt_core.safety.trips import TRIPS, State, Trip, name_of_trip, read_state, read_trip

GUARD = ("state", "trip", "trip_value", "trip_limit", "waits_for", "torque_nm")
BUS = ("al_state", "wkc", "wkc_expected", "lost", "late")
SLAVE = ("al_state", "wkc", "wkc_expected", "invalid_cycles")
TASK = ("cycle", "overruns", "skipped", "fault", "fault_block", *(signal_of(c) for c in WORDS))
AL_STATES = {1: "INIT", 2: "PREOP", 3: "BOOT", 4: "SAFEOP", 8: "OP"}
Values = Mapping[str, float]


def watched(of: ToDescribe) -> list[str]:
    """Return the signals that the words are made of."""
    found = [guard.writes[port] for guard in of.guards for port in GUARD if port in guard.writes]
    for bus in of.buses:
        ports = [*BUS, *(f"{slave}/{port}" for slave in bus.slaves for port in SLAVE)]
        found += [bus.writes[port] for port in ports if port in bus.writes]
    found += [loop_signal(task.name, port) for task in of.tasks for port in TASK]
    found += [f"{one.name}/{port}" for one in of.live for port in ("value", "refused")]
    found += [f"{one.name}/state" for one in of.stimuli]
    return found


def in_words(of: ToDescribe, values: Values) -> dict[str, Any]:
    """Return the words, and the numbers beside them, as a page shows them."""
    return {
        "guards": [_guard(guard, values) for guard in of.guards],
        "buses": [_bus(bus.name, bus.slaves, bus.writes, values) for bus in of.buses],
        "tasks": [_task(task.name, values) for task in of.tasks],
        "live": {one.name: values.get(f"{one.name}/value") for one in of.live},
        "stimuli": {one.name: _stimulus(values.get(f"{one.name}/state")) for one in of.stimuli},
        "faults": [*_trips(of, values), *_faults(of, values)],
    }


def _guard(guard: DescribedGuard, values: Values) -> dict[str, Any]:
    code = values.get(guard.writes["state"])
    state = "" if code is None else read_state(code).name
    waits_for = values.get(guard.writes["waits_for"], 0.0)
    return {
        "name": guard.name,
        "state": state,
        "waits_for": name_of_trip(waits_for) if waits_for and state == State.INIT.name else "",
        "torque_nm": values.get(guard.writes["torque_nm"]),
        "limit_nm": guard.limit_nm,
    }


def _trips(of: ToDescribe, values: Values) -> Iterator[str]:
    for guard in of.guards:
        code = values.get(guard.writes["trip"], 0.0)
        trip = read_trip(code)
        if trip == Trip.NO_TRIP:
            continue
        if trip is None:
            yield f"{guard.name}: tripped on {name_of_trip(code)}"
            continue
        kind = TRIPS[trip]
        said = f"{guard.name}: tripped: {kind.words}"
        if kind.limit:
            value, limit = (values.get(guard.writes[p], 0.0) for p in ("trip_value", "trip_limit"))
            said += f", {value:.6g} {kind.unit} at a limit of {limit:.6g} {kind.unit}"
        yield f"{said}; {kind.remedy}" if kind.remedy else said


def _faults(of: ToDescribe, values: Values) -> Iterator[str]:
    for task in of.tasks:
        code = int(_finite(values.get(loop_signal(task.name, "fault"))))
        place = int(_finite(values.get(loop_signal(task.name, "fault_block"))))
        if code and 0 < place <= len(task.blocks):
            block = task.blocks[place - 1]
            words = of.faults.get(block, {}).get(code, "a code that its kind does not explain")
            yield f"block {block} of task {task.name}: fault {code}: {words}"
        elif code:
            yield f"task {task.name}: fault {code}"


def _bus(name: str, slaves: list[str], writes: Mapping[str, str], values: Values) -> dict[str, Any]:
    def value(port: str) -> float | None:
        return values.get(writes[port]) if port in writes else None

    rows = [
        {
            "name": slave,
            "state": _al_state(value(f"{slave}/al_state")),
            "wkc": value(f"{slave}/wkc"),
            "wkc_expected": value(f"{slave}/wkc_expected"),
            "bad_cycles": value(f"{slave}/invalid_cycles"),
        }
        for slave in slaves
    ]
    return {
        "name": name,
        "state": _al_state(value("al_state")),
        "wkc": value("wkc"),
        "wkc_expected": value("wkc_expected"),
        "lost": value("lost"),
        "late": value("late"),
        "slaves": rows,
    }


def _al_state(code: float | None) -> str:
    if code is None:
        return ""
    number = int(_finite(code))
    words = AL_STATES.get(number & 0xF, f"{number:#x}")
    return f"{words}, error" if number & 0x10 else words


def _task(name: str, values: Values) -> dict[str, Any]:
    def value(port: str) -> float | None:
        return values.get(loop_signal(name, port))

    causes = {cause: _finite(value(signal_of(cause))) for cause in WORDS}
    return {
        "name": name,
        "cycles": value("cycle"),
        "overruns": value("overruns"),
        "skipped": value("skipped"),
        "causes": explain_overruns(causes),
    }


def _stimulus(code: float | None) -> str:
    return "" if code is None else STATES.get(int(_finite(code)), "")


def _finite(value: float | None) -> float:
    return value if value is not None and abs(value) < 2.0**53 else 0.0
