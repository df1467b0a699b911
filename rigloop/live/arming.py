"""The progress of a run, as its guard reports it; of a rig without torque, as its bus and its loop do."""

from __future__ import annotations

from rig_configs.schema import Rig
from rigloop.compose.blocks import find_bus, find_guard, paths
from rt_core.plan import loop_signal
from rt_core.safety.trips import State, read_state
from rt_core.signals.table import SignalTable

OP = 8
FIRST_CYCLES = 2  # of each task, so that mirrors have come round


def state_of(shared: SignalTable, rig: Rig) -> State:
    """Return the state of a rig's guard; without one READY is a bus in OP, and RUNNING that somebody has said so."""
    guard = find_guard(rig)
    if guard is not None:
        return read_state(shared.value(paths(*guard)[1]["state"]))
    if shared.value("supervisor/stop") > 0.5:
        return State.STOPPING
    if shared.value("supervisor/arm") > 0.5:
        return State.RUNNING
    stepped = all(shared.value(loop_signal(task, "cycle")) >= FIRST_CYCLES for task in rig.tasks)
    bus = find_bus(rig)
    if bus is not None:
        writes = paths(*bus)[1]
        stepped &= shared.value(writes["valid"]) > 0.5 and shared.value(writes["al_state"]) == OP
    return State.READY if stepped else State.INIT
