"""The progress of a run, as its guards report it; of a rig without torque, as its buses and its loop do."""

from __future__ import annotations

from collections.abc import Iterable

from rig_configs.schema import Rig
from rigloop.compose.blocks import find_buses, find_guards, paths
from rt_core.plan import loop_signal
from rt_core.safety.trips import State, read_state
from rt_core.signals.table import SignalTable

OP = 8
FIRST_CYCLES = 2  # of each task, so that mirrors have come round
# of several guards the first of these that one of them is in: a torque that still acts comes first
TOGETHER = (State.RUNNING, State.HOLD, State.STOPPING, State.FAULT, State.INIT, State.READY)


def states_of(shared: SignalTable, rig: Rig) -> dict[str, State]:
    """Return the state of each guard of a rig."""
    return {
        name: read_state(shared.value(paths(name, guard)[1]["state"]))
        for name, guard in find_guards(rig).items()
    }


def together(states: Iterable[State]) -> State:
    """Return one state for several guards: RUNNING as long as one follows, FAULT once none does, READY if all are."""
    found = set(states)
    return next(state for state in TOGETHER if state in found)


def state_of(shared: SignalTable, rig: Rig) -> State:
    """Return the state of a rig's guards; without one READY is each bus in OP, and RUNNING that somebody said so."""
    if states := states_of(shared, rig):
        return together(states.values())
    if shared.value("supervisor/stop") > 0.5:
        return State.STOPPING
    if shared.value("supervisor/arm") > 0.5:
        return State.RUNNING
    stepped = all(shared.value(loop_signal(task, "cycle")) >= FIRST_CYCLES for task in rig.tasks)
    for bus in find_buses(rig).items():
        writes = paths(*bus)[1]
        stepped &= shared.value(writes["valid"]) > 0.5 and shared.value(writes["al_state"]) == OP
    return State.READY if stepped else State.INIT
