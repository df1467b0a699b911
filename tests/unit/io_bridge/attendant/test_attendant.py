"""Nothing from the socket or the wire ends the thread beside the cycle."""

import contextlib
import json
import os
import socket
import stat
import tempfile
import threading
import time
from pathlib import Path

import pytest

from io_bridge.attendant import mailbox_service
from io_bridge.attendant.mailbox_service import ask, ask_events
from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.slaves.drive_config import DrivePlant
from io_bridge.slaves.errors import BringUpError

MS = 1_000_000
REFUSED = {
    "no JSON": (b"hello\n", "not understood"),
    "empty": (b"\n", "not understood"),
    "a list": (b"[1, 2]\n", "not understood"),
    "deep": (b'{"slave":' + b"[" * 3000 + b"\n", "not understood"),
    "deep and whole": (b'{"slave":' + b"[" * 1900 + b"]" * 1900 + b"}\n", "not understood"),
    "too long": (b'{"slave": 0, "value": "' + b"00" * 5000 + b'"}\n', "at most 4096 bytes"),
    "index": (b'{"slave": 0, "index": 70000, "subindex": 0}\n', "<= 65535"),
    "negative index": (b'{"slave": 0, "index": -1, "subindex": 0}\n', ">= 0"),
    "huge index": (b'{"slave": 0, "index": 1e300, "subindex": 0}\n', "not understood"),
    "subindex": (b'{"slave": 0, "index": 1, "subindex": 256}\n', "<= 255"),
    "slave": (b'{"slave": 7, "index": 1, "subindex": 0}\n', "no slave 7: there are 1, from 0"),
    "8 bytes for 2": (
        b'{"slave": 0, "index": 24690, "subindex": 0, "value": "0102030405060708"}\n',
        "0x6072:0 aborted: 0x06070010",
    ),
    "no bytes": (b'{"slave": 0, "index": 24690, "subindex": 0, "value": ""}\n', "not understood"),
    "half a byte": (
        b'{"slave": 0, "index": 24690, "subindex": 0, "value": "012"}\n',
        "not understood",
    ),
    "no number": (b'{"slave": "0", "index": 1, "subindex": 0}\n', "not understood"),
    "null": (b'{"slave": null, "index": 1, "subindex": 0}\n', "not understood"),
    "unknown key": (b'{"slave": 0, "index": 1, "subindex": 0, "x": 1}\n', "not understood"),
    "bad text": (b'{"slave": 0, "\xff": 1}\n', "not understood"),
    "another question": (b'{"ask": "all"}\n', "not understood"),
}


@pytest.fixture
def attended(monkeypatch):
    """A bus in OP with its attendant; its cycle is kept in a thread."""
    # a path of a socket has room for 107 bytes
    folder = tempfile.TemporaryDirectory()
    monkeypatch.setattr(mailbox_service, "FOLDER", Path(folder.name))
    bus = SimulatedBus([DrivePlant(hands="free")])
    bus.to_op()
    bus.attend()
    block = bus.block()
    ends = threading.Event()

    def cycle():
        n = 0
        while not ends.is_set():
            block.step(n * MS)
            n += 1
            time.sleep(0.001)

    thread = threading.Thread(target=cycle)
    thread.start()
    try:
        yield bus
    finally:
        ends.set()
        thread.join()
        bus.close()
        folder.cleanup()


def path_of(bus):
    return bus._attendant.mailbox.path


def say(bus, line):
    """Send raw bytes; return the answer."""
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(5.0)
        link.connect(str(path_of(bus)))
        with contextlib.suppress(BrokenPipeError):
            link.sendall(line)
        answer = b""
        while not answer.endswith(b"\n"):
            part = link.recv(65536)
            if not part:
                break
            answer += part
        return json.loads(answer)


def test_every_wrong_request_is_answered_with_its_error_and_the_next_one_is_served(attended):
    for case, (line, words) in REFUSED.items():
        found = say(attended, line)
        assert words in found["error"], case
        assert attended.unattended() == ""
    assert ask(path_of(attended), 0, 0x6072, 0).data is not None
    # an abort keeps its code, for those who ask
    assert ask(path_of(attended), 0, 0x2FFF, 0).abort_code == 0x06020000


def test_one_who_says_nothing_is_let_go_of(attended):
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(5.0)
        link.connect(str(path_of(attended)))
        assert b"not understood" in link.recv(4096)
    assert ask(path_of(attended), 0, 0x6072, 0).data is not None


def test_the_socket_is_the_owners_alone(attended):
    mode = path_of(attended).stat()
    assert stat.S_IMODE(mode.st_mode) == 0o600
    assert mode.st_uid == os.getuid()


@pytest.mark.parametrize(
    "error", [RecursionError("deep"), OverflowError("large"), BringUpError("gone"), MemoryError()]
)
def test_what_a_part_of_it_raises_does_not_end_it(attended, error, monkeypatch):
    def fail():
        raise error

    monkeypatch.setattr(attended._attendant.recovery, "look", fail)
    time.sleep(0.1)
    assert attended.unattended() == ""
    assert ask(path_of(attended), 0, 0x6072, 0).data is not None


def test_a_thread_that_ends_nevertheless_is_noticed(attended, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda args: None)

    def end():
        raise SystemExit("somebody ended it")

    monkeypatch.setattr(attended._attendant.recovery, "look", end)
    until = time.monotonic() + 5.0
    while not attended.unattended() and time.monotonic() < until:
        time.sleep(0.01)
    assert "has ended: SystemExit: somebody ended it" in attended.unattended()
    assert "no slave has been brought back to OP" in attended.unattended()
    assert attended.events()[-1].source == "attendant"


def said_in_fault(bus):
    return [event for event in bus.events() if event.words.startswith("in fault: ")]


def test_a_drive_in_fault_says_why_in_words(attended):
    device = attended.devices[0]
    block = attended.block()
    device.trip(0x2310)
    until = time.monotonic() + 5.0
    # on a busy machine the first question may find no answer; it is asked again
    while not (found := said_in_fault(attended)) and time.monotonic() < until:
        time.sleep(0.01)
    (event,) = found
    assert event.source == block.drives[0].name
    assert "error code 0x603F: 0x2310 continuous overcurrent at the motor" in event.words
    assert ask_events(path_of(attended)) == tuple(attended.events())
