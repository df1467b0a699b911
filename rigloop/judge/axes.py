"""The axes of a live run, each judged: what its hand felt, what its guard tripped on, and whether it was ever armed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rig_configs.schema import Rig
from rigloop.blocks.axes import drives_of
from rigloop.compose.blocks import find_guards, paths
from rigloop.judge.felt import felt_of, felt_reasons
from rigloop.run_folder.manifest import Axis
from rt_core.safety.trips import Trip, read_trip


def judge_axes(
    rig: Rig, signals: Mapping[str, float], folder: Path, rearmed: int = 0
) -> dict[str, Axis]:
    """Return what is to be said of each axis, by its guard.

    Parameters
    ----------
    signals : mapping
        Path → value at the end of the run.
    folder : Path
        Of the run.
    rearmed : int
        Times that the axes were armed again.
    """
    owner = {
        path: task
        for task, config in rig.tasks.items()
        for block in config.blocks
        for path in paths(block, rig.blocks[block])[1].values()
    }
    found = {}
    for name, guard in find_guards(rig).items():
        reads, writes = paths(name, guard)
        felt = felt_of(rig, name, signals, folder, rearmed)
        reasons = felt_reasons(rig, name, felt)
        tripped = read_trip(signals.get(writes["trip"], 0.0)) != Trip.NO_TRIP
        if (
            felt is not None
            and not felt.active_s
            and not tripped
            and _others_ran(rig, name, signals)
        ):
            reasons.append(f"{name}: never armed, though other axes were: it was not ready then")
        roles = {
            "angle": reads["angle_rad"],
            "rate": reads["rate_rad_s"],
            "torque": reads["torque_request_nm"],
            "command": writes["torque_nm"],
            "state": writes["state"],
        }
        found[name] = Axis(
            drive=", ".join(f"{bus}/{drive}" for bus, drive in drives_of(rig, name)),
            verdict="bad" if reasons or tripped else "good",
            reasons=tuple(reasons),
            felt=felt,
            signals={role: (owner[path], path) for role, path in roles.items() if path in owner},
        )
    return found


def _others_ran(rig: Rig, guard: str, signals: Mapping[str, float]) -> bool:
    active = (
        signals.get(paths(name, config)[1]["active_ms"], 0.0)
        for name, config in find_guards(rig).items()
        if name != guard
    )
    return any(ms > 0.0 for ms in active)
