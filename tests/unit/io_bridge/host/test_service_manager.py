"""Words to a service manager: a datagram, and nothing where there is none."""

import socket

import pytest

from io_bridge.host.service_manager import notify, watchdog_s


@pytest.mark.parametrize("is_abstract", [False, True])
def test_the_manager_hears_what_is_said(tmp_path, monkeypatch, is_abstract):
    name = f"@rigloop-test-{tmp_path.name}" if is_abstract else str(tmp_path / "n")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name.replace("@", "\0"))
        monkeypatch.setenv("NOTIFY_SOCKET", name)
        assert notify("READY=1", "STATUS=idle")
        assert manager.recv(100) == b"READY=1\nSTATUS=idle"


def test_without_a_manager_nothing_happens(monkeypatch, tmp_path):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    assert not notify("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    assert not notify("READY=1")


@pytest.mark.parametrize(
    ("usec", "pid", "found"),
    [("5000000", None, 5.0), (None, None, None), ("x", None, None), ("5000000", "1", None)],
)
def test_the_watchdog_of_this_process_is_fed(monkeypatch, usec, pid, found):
    for name, value in (("WATCHDOG_USEC", usec), ("WATCHDOG_PID", pid)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert watchdog_s() == found
