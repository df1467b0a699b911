"""A drive that would move past its guard: one that a rig describes as a terminal, and one with a torque of its own."""

from dataclasses import replace

import pytest

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.drive.objects import drive_description
from io_bridge.slaves.device_description import variable
from io_bridge.slaves.drive_config import SIMULATED_IDENTITY, DriveConfig, DrivePlant
from io_bridge.slaves.errors import BringUpError
from io_bridge.slaves.terminal_config import ChannelConfig, TerminalConfig

WORDS = (
    ChannelConfig("controlword", 0, 16),
    ChannelConfig("torque", 16, 16, signed=True),
)


def bring_up(terminal, device):
    with SimulatedBus(name="bus", drives=[terminal], devices=[device]) as bus:
        bus.to_op()


def test_a_drive_whose_outputs_are_channels_is_refused():
    with pytest.raises(
        BringUpError, match=r"wheel: is a drive \(its outputs have 0x6040, the controlword"
    ):
        bring_up(TerminalConfig("wheel", outputs=WORDS), DriveDevice())


def test_a_drive_that_nobody_commands_may_be_in_the_ring():
    bring_up(TerminalConfig("wheel", inputs=(ChannelConfig("status", 0, 16),)), DriveDevice())


def with_offset(per_mille):
    """Return a drive with a torque offset that somebody has left in it."""
    offset = variable(0x60B2, "Torque offset", "INT16", per_mille, access="rw", pdo="rx")
    of_drive = drive_description(DrivePlant(), SIMULATED_IDENTITY)
    return DriveDevice(description=replace(of_drive, objects=(*of_drive.objects, offset)))


def test_a_torque_offset_that_somebody_left_is_refused():
    with pytest.raises(
        BringUpError, match=r"wheel: its torque offset \(0x60b2\) is -500 per mille"
    ):
        bring_up(DriveConfig("wheel"), with_offset(-500))
    bring_up(DriveConfig("wheel"), with_offset(0))


def test_a_torque_offset_that_is_mapped_is_sent_as_zero():
    outputs = ((0x6040, 0, 16), (0x6071, 0, 16), (0x6060, 0, 8), (0x60B2, 0, 16))
    drive = DriveConfig("wheel", rx_pdo=outputs)
    with SimulatedBus(name="bus", drives=[drive], devices=[with_offset(-500)]) as bus:
        bus.to_op()
        assert bus._master.upload(bus.stations()["wheel"], 0x60B2, 0) == b"\0\0"
