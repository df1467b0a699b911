"""Where the loop that runs on an interface serves SDOs."""

import subprocess
import sys

import pytest

from io_bridge.attendant.mailbox_service import socket_path
from io_bridge.host import namespace


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
