"""One moment of a running rig, read from its signal table."""

from __future__ import annotations

from dataclasses import dataclass

from rig_configs.schema import Rig
from rigloop.compose.blocks import find_buses, find_guards, paths
from rigloop.compose.shown import shown_roles
from rigloop.live.arming import states_of
from rigloop.live.view import Picture
from rigloop.run_folder.manifest import count
from rt_core.lateness.cause import WORDS, signal_of
from rt_core.safety.trips import State, name_of_trip
from rt_core.signals.table import SignalTable


@dataclass(frozen=True)
class Moment:
    """The supervisor's part of a picture: progress, rights, and the alarms of now."""

    state: State
    elapsed_s: float
    total_s: float | None
    real_time: bool
    banner: str
    alarms: tuple[str, ...] = ()
    frozen_s: float = 0.0


def take_picture(shared: SignalTable, rig: Rig, moment: Moment) -> Picture:
    """Read what the live view shows."""
    roles = shown_roles(rig)
    return Picture(
        elapsed_s=moment.elapsed_s,
        total_s=moment.total_s,
        guard=_guard(shared, rig, moment.state),
        bus=_bus(shared, rig),
        real_time=moment.real_time,
        values={role: shared.value(path) for role, path in roles.items()},
        tasks={task: _task(shared, task) for task in rig.tasks},
        banner=moment.banner,
        alarms=moment.alarms,
        frozen_s=moment.frozen_s,
    )


def _guard(shared: SignalTable, rig: Rig, state: State) -> str:
    guards = find_guards(rig)
    if len(guards) < 2:
        return _word(shared, rig, next(iter(guards)), state) if guards else "none"
    # of several axes each that is not as the others are
    states = states_of(shared, rig)
    if set(states.values()) == {state}:
        return state.name
    return ", ".join(f"{name} {_word(shared, rig, name, of)}" for name, of in states.items())


def _word(shared: SignalTable, rig: Rig, guard: str, state: State) -> str:
    if state != State.INIT:
        return state.name
    waits_for = shared.value(paths(guard, rig.blocks[guard])[1]["waits_for"])
    return f"INIT: {name_of_trip(waits_for)}" if waits_for else "INIT"


def _bus(shared: SignalTable, rig: Rig) -> str:
    buses = find_buses(rig)
    words = {name: _bus_word(shared, paths(name, bus)[1]) for name, bus in buses.items()}
    if len(words) < 2:
        return "".join(words.values()) or "none"
    return ", ".join(f"{name} {word}" for name, word in words.items())


def _bus_word(shared: SignalTable, writes: dict[str, str]) -> str:
    al_state, wkc, expected, lost = (
        count(shared.value(writes[port])) for port in ("al_state", "wkc", "wkc_expected", "lost")
    )
    state = "OP" if al_state == 8 else f"AL state {al_state:#x}"
    return f"{state} wkc {wkc}/{expected} lost {lost}"


def _task(shared: SignalTable, task: str) -> dict[str, float]:
    found = shared.histograms(task)
    late_p50, late_p99 = found["late"].percentiles([50, 99]) * 1e-3
    return {
        "cycles": shared.value(f"loop/{task}/cycle"),
        "overruns": shared.value(f"loop/{task}/overruns"),
        **{signal_of(c): shared.value(f"loop/{task}/{signal_of(c)}") for c in WORDS},
        "late_p50": late_p50,
        "late_p99": late_p99,
        "step_p50": found["step"].percentile(50) * 1e-3,
        "step_max": found["step"].max_ns * 1e-3,
    }
