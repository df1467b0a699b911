"""The motor as the driver's hand felt it in a run: judged against the rig's limits, and kept in the manifest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from rig_configs.schema import Rig
from rigloop.blocks.kinds.guard import GuardBlock, max_given_j
from rigloop.compose.blocks import find_guards, paths
from rigloop.judge.tripped import row_at
from rigloop.run_folder.manifest import Felt

LEAST_ACTIVE_MS = 100.0  # a share of less says nothing


def felt_of(
    rig: Rig, name: str, signals: Mapping[str, float], folder: Path, rearmed: int = 0
) -> Felt | None:
    """Return what a hand felt at the axis of a guard; None if its signals are lost."""
    config = find_guards(rig)[name]
    writes = paths(name, config)[1]
    if writes["longest_gap_ms"] not in signals:
        return None
    value = {port: _finite(signals[path]) for port, path in writes.items()}
    task = next(task for task, table in rig.tasks.items() if name in table.blocks)

    def at_s(cycle: float) -> float:
        row = row_at(folder, task, cycle)
        return cycle * rig.period_us(name) * 1e-6 if row is None else float(row["t_ns"]) * 1e-9

    active_ms = value["active_ms"]
    return Felt(
        longest_gap_ms=value["longest_gap_ms"],
        longest_gap_at_s=at_s(value["longest_gap_cycle"]),
        gap_step_nm=value["gap_step_nm"],
        gap_step_at_s=at_s(value["gap_step_cycle"]),
        active_s=active_ms * 1e-3,
        saturated_percent=100.0 * value["saturated_ms"] / active_ms if active_ms else 0.0,
        longest_saturated_s=value["longest_saturated_ms"] * 1e-3,
        most_given_j=value["most_given_j"],
        rearmed=rearmed,
    )


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def felt_reasons(rig: Rig, name: str, felt: Felt | None) -> list[str]:
    """Return what a hand should not have felt at the axis of a guard, one sentence each."""
    if felt is None:
        return []
    config = find_guards(rig)[name]
    limits, found = rig.verdict, []
    if felt.longest_gap_ms > limits.max_command_gap_ms:
        found.append(
            f"{name}: for {felt.longest_gap_ms:.1f} ms no fresh command reached the drive, until "
            f"{felt.longest_gap_at_s:.3f} s, limit verdict.max_command_gap_ms = "
            f"{limits.max_command_gap_ms:g}; see there why cycles, frames or requests were missing"
        )
    if felt.gap_step_nm > limits.max_torque_step_nm:
        found.append(
            f"{name}: the torque had {felt.gap_step_nm:.2f} Nm to catch up with at "
            f"{felt.gap_step_at_s:.3f} s, after commands that did not reach the drive, limit "
            f"verdict.max_torque_step_nm = {limits.max_torque_step_nm:g}; see there why they were missing"
        )
    if felt.rearmed > limits.max_rearmed:
        found.append(
            f"{name}: the torque went and was armed again {felt.rearmed} times, after bus faults, limit "
            f"verdict.max_rearmed = {limits.max_rearmed}"
        )
    return found + _sign_reasons(name, config, rig, felt)


def _sign_reasons(name: str, config: GuardBlock, rig: Rig, felt: Felt) -> list[str]:
    limits, found = rig.verdict, []
    sign = f"blocks.{name}.request_sign = {config.request_sign}"
    given_j = max_given_j(rig, config)
    if felt.most_given_j > given_j:
        found.append(
            f"{name}: the motor gave the hands {felt.most_given_j:.3g} J more than it received, limit "
            f"verdict.max_given_j = {given_j:g}: the torque drives the motion; {sign} is the wrong sign, or "
            "the model is not passive: then raise the limit"
        )
    percent, piece_s = felt.saturated_percent, felt.longest_saturated_s
    hint = (
        f"the request is larger than limit_nm = {config.limit_nm:g}, or grows without a motion of the hands: "
        f"is {sign} right?"
    )
    if percent > limits.max_saturated_percent and felt.active_s * 1e3 > LEAST_ACTIVE_MS:
        found.append(
            f"{name}: the request was at the limit for {percent:.1f} % of the time, limit "
            f"verdict.max_saturated_percent = {limits.max_saturated_percent:g}; {hint}"
        )
    if piece_s > limits.max_saturated_s:
        found.append(
            f"{name}: the request was at the limit for {piece_s:.2f} s in one piece, limit "
            f"verdict.max_saturated_s = {limits.max_saturated_s:g}; {hint}"
        )
    return found


def felt_figures(felt: Felt | None) -> list[tuple[str, str, str]]:
    """Return the rows that the terminal shows of an axis."""
    if felt is None or not felt.active_s:
        return []
    rows = [
        (
            "longest without a fresh command",
            f"{felt.longest_gap_ms:.1f} ms",
            f"until {felt.longest_gap_at_s:.3f} s; step across missed ones {felt.gap_step_nm:.2f} Nm",
        )
    ]
    if felt.saturated_percent:
        rows.append(("request at the limit", f"{felt.saturated_percent:.1f} %", "of the time"))
    if felt.rearmed:
        rows.append(("armed again", f"{felt.rearmed}", "times, after bus faults"))
    return rows
