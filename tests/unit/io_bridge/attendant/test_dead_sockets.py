"""Sockets that killed mailbox services left behind."""

import os
import socket
import tempfile
import time
from pathlib import Path

import pytest

from io_bridge.attendant.dead_sockets import SETTLED_S, clear_dead_sockets
from io_bridge.attendant.mailbox_service import FOLDER


@pytest.fixture
def folder():
    """A folder of a short name: the path of a socket has at most 107 bytes."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as name:
        yield Path(name)


@pytest.fixture
def made(folder):
    """Make a socket that nobody listens on any more, or that somebody does."""
    kept = []

    def make(name=None, listens=False, age_s=2 * SETTLED_S):
        path = folder / (name or f"rigloop-{os.getuid()}-mailbox-4026531840-veth0")
        service = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        service.bind(str(path))
        if listens:
            service.listen(0)
            kept.append(service)
        else:
            service.close()
        then = time.time() - age_s
        os.utime(path, (then, then))
        return path

    yield make
    for service in kept:
        service.close()


def test_the_socket_of_a_killed_service_is_removed(made, folder):
    path = made()
    assert clear_dead_sockets(folder) == [path]
    assert not path.exists()


def test_a_service_that_listens_keeps_its_socket_also_when_its_queue_is_full(made, folder):
    path = made(listens=True)
    waiting = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(4)]
    for one in waiting:
        one.setblocking(False)
        one.connect_ex(str(path))
    assert clear_dead_sockets(folder) == []
    assert path.exists()
    for one in waiting:
        one.close()


@pytest.mark.parametrize(
    "name",
    ["rigloop-{other}-mailbox-1-veth0", "rigloop-{uid}-mailbox-veth0", "rigloop-{uid}-1-2", "mine"],
)
def test_what_is_no_socket_of_a_service_of_this_user_stays(made, folder, name):
    made(name.format(uid=os.getuid(), other=os.getuid() + 1))
    assert clear_dead_sockets(folder) == []


def test_a_file_and_a_link_of_that_name_stay(made, folder):
    dead = made("elsewhere")
    file = folder / f"rigloop-{os.getuid()}-mailbox-1-file"
    file.write_text("")
    os.utime(file, (0, 0))
    link = folder / f"rigloop-{os.getuid()}-mailbox-1-link"
    link.symlink_to(dead)
    os.utime(link, (0, 0), follow_symlinks=False)
    assert clear_dead_sockets(folder) == []
    assert dead.exists()


def test_a_socket_that_may_not_listen_yet_stays(made, folder):
    path = made(age_s=0.0)
    assert clear_dead_sockets(folder) == []
    assert path.exists()
