"""Names of the ports of a bus: those of every slave, and those that a drive or a terminal adds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.slaves.terminal_config import TerminalConfig

COMMANDS = {"torque": "torque_nm", "velocity": "velocity_rad_s", "position": "position_rad"}
"""Port of a drive's command, by its mode."""
SLAVE_WRITES = (
    "valid",  # 1: the inputs are of this cycle and of a slave whose clock moves
    "al_state",
    "al_code",
    "wkc",
    "wkc_expected",
    "wkc_min",  # since the bus was brought up
    "invalid_cycles",
    "dc_difference_ns",  # own system time minus that of the reference clock
)
DRIVE_WRITES = (
    "position_count",
    "velocity_count_s",
    "torque_actual_nm",
    "statusword",
    "operational",
    "sensor_torque_nm",
)
BUS_WRITES = (
    "lost",
    "late",
    "exchange_ns",
    "dc_time_ns",
    "al_state",
    "wkc",
    "wkc_expected",
    "valid",
    "duplicated",
    "dc_error_ns",  # how much later than wanted the frame passed the reference clock
    "dc_locked",
    "dc_steer_ns",  # shift of the next deadline
    "sent_ns",  # monotonic time at which the frame left
    "ring_open",  # 1: a cable is out; NaN without a second interface
    "ring_near",  # slaves before the gap, while it is open
    "ring_breaks",  # times that it was found open
)


class SlavePorts(NamedTuple):
    """Ports of one slave, without its name."""

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]


def drive_ports(name: str, mode: str = "torque") -> SlavePorts:
    """Return the ports of a drive."""
    command = COMMANDS.get(mode, "torque_nm")
    return SlavePorts(name, (command, "enable", "reset"), SLAVE_WRITES + DRIVE_WRITES)


def terminal_ports(name: str, inputs: Iterable[str], outputs: Iterable[str]) -> SlavePorts:
    """Return the ports of a terminal with channels of these names."""
    return SlavePorts(name, tuple(outputs), SLAVE_WRITES + tuple(inputs))


def ports_of(slave: DriveConfig | TerminalConfig) -> SlavePorts:
    """Return the ports of a DriveConfig or a TerminalConfig."""
    if isinstance(slave, DriveConfig):
        return drive_ports(slave.name, slave.mode)
    return terminal_ports(
        slave.name, (c.name for c in slave.inputs), (c.name for c in slave.outputs)
    )


def ports(slaves: Sequence[SlavePorts]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ports that a bus of these slaves, in ring order, reads, and those it writes."""
    return (
        tuple(f"{slave.name}/{port}" for slave in slaves for port in slave.reads),
        (*(f"{slave.name}/{port}" for slave in slaves for port in slave.writes), *BUS_WRITES),
    )
