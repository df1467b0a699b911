"""One moment of a running rig, read from its signal table."""

from __future__ import annotations

from rig_configs.load import LoadedRig, write_path
from rigloop.live import Picture
from rt_core.safety import State, Trip
from rt_core.table import SignalTable


def take_picture(
    shared: SignalTable,
    loaded: LoadedRig,
    elapsed_s: float,
    total_s: float | None,
    state: State,
    real_time: bool,
) -> Picture:
    """Read what the live view shows."""
    rig = loaded.rig
    roles = {role: path for role, path in rig.show.model_dump().items() if path is not None}
    return Picture(
        elapsed_s=elapsed_s,
        total_s=total_s,
        guard=_guard(shared, loaded, state),
        bus=_bus(shared, loaded),
        real_time=real_time,
        values={role: shared.value(path) for role, path in roles.items()},
        tasks={task: _task(shared, task) for task in rig.tasks},
    )


def _guard(shared: SignalTable, loaded: LoadedRig, state: State) -> str:
    if state != State.INIT:
        return state.name
    name, block = next((n, b) for n, b in loaded.rig.blocks.items() if b.kind == "guard")
    waits_for = Trip(int(shared.value(write_path(name, block.model_dump(), "waits_for"))))
    return f"INIT: {waits_for.name.lower()}" if waits_for else "INIT"


def _bus(shared: SignalTable, loaded: LoadedRig) -> str:
    name, block = next((n, b) for n, b in loaded.rig.blocks.items() if b.kind == "bus")
    value = {
        port: int(shared.value(write_path(name, block.model_dump(), port)))
        for port in ("al_state", "wkc", "wkc_expected", "lost")
    }
    state = "OP" if value["al_state"] == 8 else f"AL state {value['al_state']:#x}"
    return f"{state} wkc {value['wkc']}/{value['wkc_expected']} lost {value['lost']}"


def _task(shared: SignalTable, task: str) -> dict[str, float]:
    found = shared.histograms(task)
    late_p50, late_p99 = found["late"].percentiles([50, 99]) * 1e-3
    return {
        "cycles": shared.value(f"loop/{task}/cycle"),
        "overruns": shared.value(f"loop/{task}/overruns"),
        "late_p50": late_p50,
        "late_p99": late_p99,
        "step_p50": found["step"].percentile(50) * 1e-3,
        "step_max": found["step"].max_ns * 1e-3,
    }
