"""The report's part on the driver's hand: tiles, a mark in the plots, and the torques that count for the peak."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rigloop.run_folder.manifest import Felt, Manifest
from rigloop.run_folder.recorded import recorded_signal
from rt_core.safety.trips import State

Array = NDArray[np.float64]
Tile = tuple[str, str, str]
Mark = tuple[float, float, str]  # from, to (s), label

STATE = "guard_state"
FOLLOWS = (State.RUNNING, State.HOLD)


def felt_tiles(felt: Felt | None) -> list[Tile]:
    """Return the tiles of what a hand felt."""
    if felt is None or not felt.active_s:
        return []
    tiles = [
        (
            "Longest without a fresh command",
            f"{felt.longest_gap_ms:.1f} ms",
            f"until {felt.longest_gap_at_s:.3f} s",
        ),
        ("Torque step across a gap", f"{felt.gap_step_nm:.2f} N m", "of commands that were missed"),
    ]
    if felt.saturated_percent:
        tiles.append(
            (
                "Request at the limit",
                f"{felt.saturated_percent:.1f} %",
                f"{felt.longest_saturated_s:.2f} s in one piece",
            )
        )
    if felt.rearmed:
        tiles.append(("Armed again", f"{felt.rearmed}", "after bus faults"))
    return tiles


def felt_marks(felt: Felt | None) -> list[Mark]:
    """Return where the plots are marked."""
    if felt is None or not felt.longest_gap_ms:
        return []
    end_s = felt.longest_gap_at_s
    return [(end_s - felt.longest_gap_ms * 1e-3, end_s, "no fresh command")]


def peak_tile(
    manifest: Manifest,
    records: Mapping[str, np.ndarray],
    torques: list[tuple[str, Array, Array]],
) -> list[Tile]:
    """Return the largest torque: that of the guard while it followed the request, ramps out left aside; without a
    guard that of the model."""
    command = manifest.signals.get("command")
    state = manifest.signals.get(STATE)
    if manifest.kind == "live" and command and state and command[0] == state[0]:
        given, states = (recorded_signal(records, *where) for where in (command, state))
        if given is not None and states is not None:
            follows = np.isin(states[1], FOLLOWS)
            return _tile(given[1][follows], "commanded while armed, without the ramp out")
    for label, _, value in torques[:1]:
        return _tile(value, label)
    return []


def _tile(value: Array, aside: str) -> list[Tile]:
    finite = value[np.isfinite(value)]
    return [("Peak torque", f"{np.abs(finite).max():.2f} N m", aside)] if len(finite) else []
