"""One moment of a running rig, read from its signal table."""

from __future__ import annotations

from rig_configs.schema import Rig
from rigloop.compose import bus_of, guard_of, paths
from rigloop.live import Picture
from rt_core.safety import State, Trip
from rt_core.table import SignalTable

CAUSES = ("stolen", "late_wake", "own", "bus", "untold")


def take_picture(
    shared: SignalTable,
    rig: Rig,
    elapsed_s: float,
    total_s: float | None,
    state: State,
    real_time: bool,
    banner: str,
) -> Picture:
    """Read what the live view shows."""
    roles = {role: path for role, path in rig.show.model_dump().items() if path is not None}
    return Picture(
        elapsed_s=elapsed_s,
        total_s=total_s,
        guard=_guard(shared, rig, state),
        bus=_bus(shared, rig),
        real_time=real_time,
        values={role: shared.value(path) for role, path in roles.items()},
        tasks={task: _task(shared, task) for task in rig.tasks},
        banner=banner,
    )


def _guard(shared: SignalTable, rig: Rig, state: State) -> str:
    if state != State.INIT:
        return state.name
    waits_for = Trip(int(shared.value(paths(*guard_of(rig))[1]["waits_for"])))
    return f"INIT: {waits_for.name.lower()}" if waits_for else "INIT"


def _bus(shared: SignalTable, rig: Rig) -> str:
    writes = paths(*bus_of(rig))[1]
    al_state, wkc, expected, lost = (
        int(shared.value(writes[port])) for port in ("al_state", "wkc", "wkc_expected", "lost")
    )
    state = "OP" if al_state == 8 else f"AL state {al_state:#x}"
    return f"{state} wkc {wkc}/{expected} lost {lost}"


def _task(shared: SignalTable, task: str) -> dict[str, float]:
    found = shared.histograms(task)
    late_p50, late_p99 = found["late"].percentiles([50, 99]) * 1e-3
    return {
        "cycles": shared.value(f"loop/{task}/cycle"),
        "overruns": shared.value(f"loop/{task}/overruns"),
        **{f"overruns_{n}": shared.value(f"loop/{task}/overruns_{n}") for n in CAUSES},
        "late_p50": late_p50,
        "late_p99": late_p99,
        "step_p50": found["step"].percentile(50) * 1e-3,
        "step_max": found["step"].max_ns * 1e-3,
    }
