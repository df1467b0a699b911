"""The slaves of a bus block: their order in the ring, and each as the master and the emulator take it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from io_bridge.emulator.devices.slave_device import SlaveDevice
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.slaves.clock_config import ClockConfig
from io_bridge.slaves.drive_config import (
    SENSOR,
    SIMULATED_IDENTITY,
    TX_PDO,
    DriveConfig,
    DrivePlant,
    PdoEntry,
    SdoWrite,
)
from io_bridge.slaves.sii import Identity
from io_bridge.slaves.state_limits import StateLimits
from io_bridge.slaves.terminal_config import ChannelConfig, TerminalConfig
from rig_configs import slaves as schema
from rig_configs.names import Word
from rig_configs.schema import BlockTable
from rigloop.blocks.columns import couple_columns

OF_A_SLAVE = {"identity", "watchdog_ms", "limits", "device"}
"""Keys of a drive that belong to its slave, and not to one of its axes."""


class Ring(BlockTable):
    """A block that has slaves."""

    drives: dict[Word, schema.Drive] = {}
    """Each drive of the ring has a table of its own."""
    terminals: dict[Word, schema.Terminal] = {}
    """Each other slave of the ring has a table of its own."""


def emulated_ring(config: Ring) -> list[DrivePlant | str]:
    """Return what stands for each slave of a ring where there is no hardware: a drive's plant, or the name of a
    device with its quirks.

    Raises
    ------
    ValueError
        A terminal without a device, or a drive with a device and a plant; all of them.
    """
    slaves = ring(config)
    wrong = []
    for name, slave in slaves.items():
        if isinstance(slave, schema.Terminal) and slave.device is None:
            wrong.append(f"terminal {name!r}: device: name one that stands for it")
        elif isinstance(slave, schema.Drive) and slave.device and slave.plant:
            wrong.append(f"drive {name!r}: device and plant: only one of them stands for it")
        elif isinstance(slave, schema.Terminal) or name in joined(config):
            continue
        elif slave.axis and not slave.device:
            wrong.append(f"drive {name!r}: device: name one that has its axis and stands for it")
    if wrong:
        raise ValueError("; ".join(wrong))
    return [
        drive_plant(slave)
        if isinstance(slave, schema.Drive) and slave.device is None
        else str(slave.device)
        for name, slave in slaves.items()
        if name not in joined(config)
    ]


def emulated_devices(config: Ring) -> list[SlaveDevice]:
    """Make the emulated slaves of a ring, in its order.

    Raises
    ------
    ValueError
        As `emulated_ring`, or a device that cannot be made.
    """
    from io_bridge.emulator.catalogue.devices import make_device

    devices: list[SlaveDevice] = [
        DriveDevice(what) if isinstance(what, DrivePlant) else make_device(what)
        for what in emulated_ring(config)
    ]
    names = [name for name in ring(config) if name not in joined(config)]
    couple_columns(config.drives, config.terminals, dict(zip(names, devices, strict=True)))
    return devices


def ring(config: Ring) -> dict[str, schema.Drive | schema.Terminal]:
    """Return the slaves of a bus in ring order: those with a position there, the others in the order of the
    file, drives first. Axes of one slave follow each other.

    Raises
    ------
    ValueError
        Two slaves at one position that are not two axes of a drive, or a position beyond the last slave.
    """
    slaves = config.drives | config.terminals
    if len(slaves) != len(config.drives) + len(config.terminals):
        raise ValueError("a drive and a terminal have the same name")
    placed: dict[int, list[str]] = {}
    differs: list[str] = []
    for key, slave in slaves.items():
        if slave.position is not None:
            placed.setdefault(slave.position, []).append(key)
    for position, keys in placed.items():
        axes = [slaves[key].axis if key in config.drives else None for key in keys]  # type: ignore[union-attr]
        if len(keys) > 1 and (None in axes or len(set(axes)) != len(axes)):
            raise ValueError(
                f"position {position}: {', '.join(keys)}: one slave each, or drives with an axis of their own"
            )
        keys.sort(key=lambda key: getattr(slaves[key], "axis", 0))
        first, *further = ((key, slaves[key]) for key in keys)
        for key, slave in further:
            differs += _of_one_slave(key, slave, *first)
    if differs:
        raise ValueError("; ".join(differs))
    others = iter([key for key, slave in slaves.items() if slave.position is None])
    n = len(placed) + sum(slave.position is None for slave in slaves.values())
    if max(placed, default=0) >= n:
        raise ValueError(f"positions {sorted(placed)} of {n} slaves: from 0 to {n - 1}")
    order = [key for i in range(n) for key in (placed[i] if i in placed else [next(others)])]
    return {key: slaves[key] for key in order}


def _of_one_slave(
    key: str,
    axis: schema.Drive | schema.Terminal,
    first_key: str,
    first: schema.Drive | schema.Terminal,
) -> list[str]:
    """Return what a further axis says of its slave otherwise than the first, which is what counts."""
    return [
        f"drive {key!r}: {field}: it is an axis of the slave of {first_key!r}, which has another: say it there"
        for field in sorted(OF_A_SLAVE & axis.model_fields_set)
        if getattr(axis, field) != getattr(first, field)
    ]


def joined(config: Ring) -> set[str]:
    """Return the drives that are further axes of the slave before them in the ring."""
    seen: set[int] = set()
    found = set()
    for key, slave in ring(config).items():
        if slave.position is not None and slave.position in seen:
            found.add(key)
        if slave.position is not None:
            seen.add(slave.position)
    return found


def clock_config(clock: schema.Clock | None, period: int) -> ClockConfig | None:
    """Return the lock of a cycle of `period` µs to the bus's clocks; None: it runs by its own."""
    if clock is None:
        return None
    return ClockConfig(
        period_ns=1000 * period,
        shift_ns=round(1000 * clock.shift_us),
        sync0_shift_ns=round(1000 * clock.sync0_shift_us),
        bandwidth_hz=clock.bandwidth_hz,
        tolerance_ns=1000 * clock.tolerance_us,
        settle_s=clock.settle_s,
        timeout_s=clock.timeout_s,
        difference_ns=1000 * clock.difference_us,
    )


def terminal_config(name: str, terminal: schema.Terminal) -> TerminalConfig:
    """Return the master's view of a slave that is no drive."""
    inputs, outputs = (
        tuple(ChannelConfig(key, **channel.model_dump()) for key, channel in group.items())
        for group in (terminal.inputs, terminal.outputs)
    )
    identity = Identity(**terminal.identity.model_dump()) if terminal.identity else None
    return TerminalConfig(
        name,
        inputs,
        outputs,
        identity,
        terminal.watchdog_ms,
        setup=_setup(terminal.setup),
        rx_assign=_indices(terminal.rx_assign),
        tx_assign=_indices(terminal.tx_assign),
        limits=StateLimits(**terminal.limits.model_dump()),
        after_fault=terminal.after_fault,
    )


def _setup(writes: Iterable[schema.SdoWrite]) -> tuple[SdoWrite, ...]:
    return tuple(SdoWrite(*_object(s.object), s.value, s.bytes) for s in writes)


def _indices(texts: Iterable[str]) -> tuple[int, ...]:
    return tuple(int(text, 16) for text in texts)


def _object(text: str) -> tuple[int, int]:
    index, subindex = text.split(":")
    return int(index, 16), int(subindex)


def _pdo(entries: Iterable[str]) -> tuple[PdoEntry, ...]:
    parts = [entry.split("/") for entry in entries]
    return tuple((*_object(obj), int(bits)) for obj, bits in parts)


def drive_config(
    name: str, drive: schema.Drive, emulated: bool, is_joined: bool = False
) -> DriveConfig:
    """Return the master's view of a drive; one that its plant stands for says who it is, and has a torque sensor."""
    identity = Identity(**drive.identity.model_dump()) if drive.identity else None
    emulated = emulated and drive.device is None and not drive.axis and not is_joined
    return DriveConfig(
        name=name,
        rated_torque_nm=drive.rated_torque_nm,
        peak_torque_nm=drive.peak_torque_nm,
        counts_per_rev=drive.counts_per_rev,
        sign=drive.sign,
        identity=SIMULATED_IDENTITY if emulated else identity,
        rx_pdo=_pdo(drive.rx_pdo),
        tx_pdo=_pdo(drive.tx_pdo) or ((*TX_PDO, SENSOR) if emulated else ()),
        watchdog_ms=drive.watchdog_ms,
        mode=drive.mode,
        velocity_limit_rad_s=drive.velocity_limit_rad_s,
        velocity_unit_counts_s=drive.velocity_unit_counts_s,
        quick_stop=drive.quick_stop,
        sync0=drive.sync0,
        setup=_setup(drive.setup),
        mapping=drive.mapping,
        rx_assign=_indices(drive.rx_assign),
        tx_assign=_indices(drive.tx_assign),
        axis=drive.axis,
        joined=is_joined,
        limits=StateLimits(**drive.limits.model_dump()),
    )


def drive_plant(drive: schema.Drive) -> DrivePlant:
    """Return the plant of a simulated drive; the default one where the rig describes none."""
    plant = DrivePlant(
        rated_torque_nm=drive.rated_torque_nm,
        peak_torque_nm=drive.peak_torque_nm,
        counts_per_rev=drive.counts_per_rev,
    )
    if drive.plant is None:
        return plant
    given: dict[str, Any] = drive.plant.model_dump(exclude={"column"})
    for angle in ("amplitude", "offset"):
        given[f"{angle}_rad"] = math.radians(given.pop(f"{angle}_deg"))
    return replace(plant, **given)
