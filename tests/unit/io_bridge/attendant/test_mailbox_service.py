"""Where the loop that runs on an interface serves SDOs."""

import subprocess
import sys

import pytest

from io_bridge.attendant.mailbox_service import MailboxService, socket_path
from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.host import namespace
from io_bridge.slaves.drive_config import DriveConfig


@pytest.mark.slow
@pytest.mark.netns
@pytest.mark.skipif(namespace.why_not() is not None, reason=str(namespace.why_not()))
def test_interfaces_of_one_name_in_two_network_namespaces_have_two_sockets():
    code = "from io_bridge.attendant.mailbox_service import socket_path; print(socket_path('eth0'))"
    command = namespace.wrap([sys.executable, "-P", "-c", code])
    inside = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert inside != str(socket_path("eth0"))
    assert socket_path("eth0") == socket_path("eth0")
    assert socket_path("eth0") != socket_path("eth1")


def test_nobody_moves_a_drive_past_its_guard_while_a_loop_runs():
    with SimulatedBus(name="bus", drives=[DriveConfig("wheel")], devices=[DriveDevice()]) as bus:
        bus.to_op()
        service = MailboxService("eth9", bus._master, bus._records)

        def written(index, value):
            line = f'{{"slave": 0, "index": {index}, "subindex": 0, "value": "{value}"}}'
            return service.answer(line.encode())

        for index, words in ((0x60B2, "the torque offset"), (0x6071, "the target torque")):
            assert f"{words}, moves the drive past its guard" in written(index, "0100").error
        assert written(0x6072, "e803").error is None
