"""A drive that a rig describes as a terminal: no guard would limit its torque."""

import pytest

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.drive.device import DriveDevice
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
