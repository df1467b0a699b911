"""An encoder that stood still under torque, and then was elsewhere at once: what a live run's record says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from io_bridge.logs.faults.finder import MAX_ACCELERATION_RAD_S2
from io_bridge.logs.stuck_counter import standstills
from rig_configs.schema import Rig
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.compose.blocks import find_guards, paths
from rt_core.safety.trips import State


class StoodStill(NamedTuple):
    """Lines that make a run bad, and lines beside its verdict."""

    red: list[str]
    amber: list[str]


def stood_still(rig: Rig, records: Mapping[str, np.ndarray]) -> StoodStill:
    """Say where an encoder came back by a jump after it had said one value, while the guard let torque pass.

    Parameters
    ----------
    records : mapping of str to structured ndarray
        Record of each task.
    """
    found = StoodStill([], [])
    for name, block in rig.blocks.items():
        if isinstance(block, EncoderFilterBlock):
            _of_filter(name, block, rig, records, found)
    return found


def _of_filter(
    name: str,
    block: EncoderFilterBlock,
    rig: Rig,
    records: Mapping[str, np.ndarray],
    found: StoodStill,
) -> None:
    path = paths(name, block)[0]["position_count"]
    valid = paths(name, block)[0].get("valid", "")
    record = next((r for r in records.values() if path in (r.dtype.names or ())), None)
    if record is None:
        return
    names = record.dtype.names or ()
    raw = np.asarray(record[path])
    came = np.isfinite(raw) & (np.asarray(record[valid]) == 1.0 if valid in names else True)
    rows = np.flatnonzero(came)
    t_s = np.asarray(record["t_ns"])[rows] * 1e-9
    rad_per_count = 2.0 * np.pi / block.counts_per_rev
    active = _active(rig, record, set(paths(name, block)[1].values()))[rows]
    stills = [
        still
        for still in standstills(
            t_s, raw[rows], block.counter_span, rad_per_count, MAX_ACCELERATION_RAD_S2
        )
        if active[still.end]
    ]
    for moves, lines, ending in (
        (True, found.red, "the encoder was stuck, and the torque did not follow the wheel meanwhile; "
                          "look at the encoder, its supply and its cable"),
        (False, found.amber, "the wheel was given another angle at rest, or the encoder was stuck"),
    ):  # fmt: skip
        of_kind = [still for still in stills if still.moves is moves]
        if of_kind:
            worst = max(of_kind, key=lambda still: still.lasted_s)
            times = f", and {len(of_kind) - 1} times more" if len(of_kind) > 1 else ""
            lines.append(
                f"{path}: the same count for {worst.lasted_s:.2f} s, and then at {t_s[worst.end]:.3f} s "
                f"{block.sign * worst.step_rad:+.4f} rad away at once{times}: no wheel goes so from rest: {ending}"
            )


def _active(rig: Rig, record: np.ndarray, written: set[str]) -> np.ndarray:
    # a jump before arming reaches no hand; a rig without torque is judged throughout
    guards = find_guards(rig)
    # of several axes that which watches this angle
    watch = {n: g for n, g in guards.items() if g.reads["angle_rad"] in written}
    states = [paths(*guard)[1]["state"] for guard in (watch or guards).items()]
    found = [record[state] for state in states if state in (record.dtype.names or ())]
    if not found:
        return np.ones(len(record), dtype=bool)
    return np.any(np.isin(found, [State.RUNNING, State.HOLD, State.STOPPING]), axis=0)
