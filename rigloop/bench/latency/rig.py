"""The rig of a latency test: the same file at another period of the simulation, and the signals on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake
from rig_configs.schema import Rig
from rigloop.bench.latency.events import Path as SignalPath
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.blocks.kinds.guard import GuardBlock
from rigloop.blocks.kinds.relay import RelayBlock
from rigloop.compose.blocks import bus_of, bus_of_guard, find_guards, guard_of, paths
from rigloop.compose.derived_rig import derived

RIGS = {"veth": "latency_bench_veth"}  # by bus; a wire that shares the machine's cores is slower
RIG = "latency_bench"


def at_period(loaded: LoadedRig, period_us: int, folder: Path) -> LoadedRig:
    """Return a rig with another period of the task that steps its relay, from a file of its own.

    Parameters
    ----------
    folder : Path
        Gets the file.

    Raises
    ------
    ConfigError
        The rig is not one of a latency test, or cannot have this period.
    """
    task = relay_task(loaded)

    def change(tables: dict[str, Any]) -> None:
        tables["tasks"][task]["period_us"] = period_us

    return derived(loaded, folder, f"{period_us}us", change)


def relay_task(loaded: LoadedRig) -> str:
    """Return the task that steps the one relay of a rig.

    Raises
    ------
    ConfigError
        There is none, or more than one.
    """
    rig = loaded.rig
    relays = [name for name, block in rig.blocks.items() if block.kind == "relay"]
    if len(relays) != 1:
        problem = f"{len(relays)} blocks of kind 'relay'"
        remedy = f"a latency test has one; see the rig {RIG}"
        raise ConfigError([Mistake(str(loaded.path), "blocks", problem, remedy)])
    return next(name for name, task in rig.tasks.items() if relays[0] in task.blocks)


def _guard_behind(rig: Rig, relay: str) -> tuple[str, GuardBlock]:
    """Return the guard that takes a relay's torque, and its name; where none does, the first one."""
    torques = set(paths(relay, rig.blocks[relay])[1].values())
    guards = find_guards(rig).items()
    return next((g for g in guards if g[1].reads["torque_request_nm"] in torques), guard_of(rig))


def signal_path(loaded: LoadedRig) -> SignalPath:
    """Return the signals that a sign change passes in a rig, from its wiring.

    Raises
    ------
    ConfigError
        The relay's angle does not come from an encoder filter on a drive, or the guard's torque not from the relay.
    """
    rig = loaded.rig
    slow = relay_task(loaded)
    relay = next(n for n, b in rig.blocks.items() if isinstance(b, RelayBlock))
    guard_name, guard = _guard_behind(rig, relay)
    found_bus = bus_of_guard(rig, guard_name)
    bus_name, bus = bus_of(rig) if found_bus is None else found_bus
    fast = next(name for name, task in rig.tasks.items() if bus_name in task.blocks)
    angle = rig.blocks[relay].reads["angle_rad"]
    bus_reads, bus_writes = paths(bus_name, bus)
    guard_writes = paths(guard_name, guard)[1]
    found = [
        (drive, block, paths(name, block)[1])
        for name, block in rig.blocks.items()
        if isinstance(block, EncoderFilterBlock) and paths(name, block)[1]["angle_rad"] == angle
        for drive in bus.drives
        if block.reads["position_count"] == bus_writes[f"{drive}/position_count"]
        and bus_reads[f"{drive}/torque_nm"] == guard_writes["torque_nm"]
    ]
    request = paths(relay, rig.blocks[relay])[1]["torque_nm"]
    if not found or slow == fast or guard.reads["torque_request_nm"] != request:
        problem = "no way from a drive's encoder through filter, relay and guard back to that drive"
        remedy = f"wire it as in the rig {RIG}"
        raise ConfigError([Mistake(str(loaded.path), f"blocks.{relay}", problem, remedy)])
    drive, encoder, encoder_writes = found[0]
    return SignalPath(
        bus=bus_name,
        fast=fast,
        slow=slow,
        fast_ns=rig.tasks[fast].period_us * 1000,
        slow_ns=rig.tasks[slow].period_us * 1000,
        bus_valid=bus_writes["valid"],
        sent_ns=bus_writes["sent_ns"],
        device_ns=bus_writes["dc_time_ns"],
        drive_valid=bus_writes[f"{drive}/valid"],
        operational=bus_writes[f"{drive}/operational"],
        torque_actual_nm=bus_writes[f"{drive}/torque_actual_nm"],
        count=encoder_writes["unwrapped_count"],
        angle_rad=angle,
        torque_nm=guard_writes["torque_nm"],
        ramp=guard_writes["ramp"],
        offset_rad=encoder_writes["offset_rad"],
        sign=float(encoder.sign),
        zero_count=encoder.zero_count,
    )


def bandwidth_rad_s(loaded: LoadedRig) -> float:
    """Return the bandwidth of the encoder filter whose angle the relay takes."""
    rig = loaded.rig
    relay = next(b for b in rig.blocks.values() if isinstance(b, RelayBlock))
    return next(
        block.bandwidth_rad_s
        for name, block in rig.blocks.items()
        if isinstance(block, EncoderFilterBlock)
        and paths(name, block)[1]["angle_rad"] == relay.reads["angle_rad"]
    )


def slow_guard(loaded: LoadedRig) -> str:
    """Return what a guard adds that does not let the torque change its sign within a cycle; empty if it does."""
    rig = loaded.rig
    relay, h = next((n, b.torque_nm) for n, b in rig.blocks.items() if isinstance(b, RelayBlock))
    guard = _guard_behind(rig, relay)[1]
    period_us = min(task.period_us for task in rig.tasks.values())
    if guard.rate_nm_s * period_us * 1e-6 > h:
        return ""
    return (
        f"the guard's rate_nm_s = {guard.rate_nm_s:g} lets {h:g} Nm change its sign only within "
        f"several cycles of {period_us} µs: give more than {h / period_us * 1e6:g}"
    )
