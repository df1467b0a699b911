"""Settings of real interfaces, in network namespaces of their own."""

import json
import subprocess
import sys

import pytest

from io_bridge.host import ethtool, namespace

pytestmark = pytest.mark.netns

# what the checks only read is changed here: ETHTOOL_SGRO, and ETHTOOL_SCOALESCE of a tap
PRELUDE = """
import ctypes, fcntl, json, os, socket, struct
from io_bridge.host import ethtool

def set_gro(interface, on):
    ethtool._ask(interface, ethtool._Value(cmd=0x2C, data=on))

def make_tap(name):
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x0002 | 0x1000))
    return tap

def set_frames(interface, frames):
    ethtool._ask(interface, ethtool._Coalescing(cmd=0x0F, rx_frames=frames))
"""


def inside(code):
    """Run code in a namespace with a veth pair; what it prints last is JSON."""
    if namespace.why_not() is not None:
        pytest.skip(namespace.why_not())
    command = namespace.wrap([sys.executable, "-c", PRELUDE + code])
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return json.loads(done.stdout.splitlines()[-1])


def test_offloads_follow_what_was_set():
    off, on = inside(
        "found = []\n"
        "for state in (0, 1):\n"
        "    set_gro('veth0', state)\n"
        "    found.append(ethtool.offloads('veth0')['gro'])\n"
        "print(json.dumps(found))"
    )
    assert (off, on) == (False, True)


def test_coalescing_follows_what_was_set():
    frames = inside(
        "try:\n"
        "    tap = make_tap('tap7')\n"
        "except OSError:\n"
        "    print('null')\n"
        "else:\n"
        "    found = []\n"
        "    for frames in (3, 17):\n"
        "        set_frames('tap7', frames)\n"
        "        found.append(ethtool.coalescing('tap7').rx_frames)\n"
        "    print(json.dumps(found))"
    )
    if frames is None:
        pytest.skip("no tap devices here")
    assert frames == [3, 17]


@pytest.mark.parametrize("read", [ethtool.coalescing, ethtool.offloads])
def test_a_missing_interface_is_an_error(read):
    with pytest.raises(OSError, match="No such device"):
        read("nowhere0")
