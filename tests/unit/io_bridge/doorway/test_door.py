"""The door of a service: who reaches it, and what a message may be."""

import socket
import stat
import subprocess
import sys
import threading

import pytest
import zmq

from io_bridge.doorway import keys, local_socket
from io_bridge.doorway.caller import Caller
from io_bridge.doorway.door import Client, Door
from io_bridge.doorway.gatekeeper import DOMAIN, Gatekeeper
from io_bridge.doorway.local_socket import DoorError


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def door(home):
    with Door(1 << 16) as made:
        made.open_local(local_socket.local_endpoint("lab"))
        yield made


def next_letter(door):
    for _ in range(200):
        door.wait(0.05)
        for letter in door.letters(1):
            return letter
    raise AssertionError("no letter")


def test_the_socket_is_for_its_owner_and_goes_with_the_service(home):
    with Door(1 << 16) as door:
        door.open_local(local_socket.local_endpoint("lab"))
        path = home / "rigloop" / "lab.sock"
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert local_socket.services() == ["lab"]
    assert not path.exists()


def test_another_thread_ends_the_wait_for_letters_once(door):
    done = threading.Event()
    waiting = threading.Thread(target=lambda: (door.wait(60.0), done.set()), daemon=True)
    waiting.start()
    door.wake()
    assert done.wait(10.0)
    waiting.join()
    door.wait(0.0)  # nothing of the wake is left: this would block if it were read again


def test_a_folder_that_others_may_enter_is_refused(home):
    (home / "rigloop").mkdir(mode=0o755)
    with Door(1 << 16) as door, pytest.raises(DoorError, match="chmod 700"):
        door.open_local(local_socket.local_endpoint("lab"))


def test_a_second_service_of_a_name_is_refused_and_a_dead_one_followed(door, home):
    with Door(1 << 16) as second, pytest.raises(DoorError, match="another service"):
        second.open_local(local_socket.local_endpoint("lab"))
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(home / "rigloop" / "dead.sock"))
    assert local_socket.services() == ["lab"]
    with pytest.raises(DoorError, match=r"dead.sock: no service listens there: it was killed"):
        Caller(local_socket.local_endpoint("dead"))
    with Door(1 << 16) as third:
        third.open_local(local_socket.local_endpoint("dead"))


def test_who_waits_for_a_service_that_was_killed_hears_of_it_soon(home):
    # a killed process leaves the file of its socket, and says nothing: so does a listener that is closed
    local_socket.private_folder(home / "rigloop")
    with socket.socket(socket.AF_UNIX) as dying:
        dying.bind(str(home / "rigloop" / "lab.sock"))
        dying.listen(100)
        caller = Caller(local_socket.local_endpoint("lab"))
    with caller, pytest.raises(DoorError, match=r"lab.sock: nobody listens there any more"):
        caller.receive(600.0)


def test_a_file_that_is_no_socket_is_left_alone(home):
    local_socket.private_folder(home / "rigloop")
    path = home / "rigloop" / "lab.sock"
    path.write_text("mine")
    with Door(1 << 16) as door, pytest.raises(DoorError, match="not a socket"):
        door.open_local(local_socket.local_endpoint("lab"))
    assert path.read_text() == "mine"


@pytest.mark.parametrize("name", ["", "../x", "a b", "x" * 65, ".hidden"])
def test_a_service_has_a_harmless_name(name):
    with pytest.raises(DoorError):
        local_socket.local_endpoint(name)


def test_a_letter_is_answered_and_a_client_that_has_gone_is_noticed(door):
    with Caller(door.endpoints()[0]) as caller:
        caller.send(b"hello")
        letter = next_letter(door)
        assert letter.raw == b"hello"
        assert door.send(letter.client, b"you")
        assert caller.receive(5.0) == b"you"
    for _ in range(200):
        if door.send(letter.client, b"") is False:
            return
        door.wait(0.02)
        list(door.letters(10))
    raise AssertionError("still there")


def test_several_frames_are_no_letter(door):
    context = zmq.Context()
    with context.socket(zmq.DEALER) as one:
        one.connect(door.endpoints()[0])
        one.send_multipart([b"x"] * 100)
        assert next_letter(door).raw is None
        one.send(b"after")
        assert next_letter(door).raw == b"after"
    context.destroy(linger=0)


def test_only_a_known_key_comes_in_over_tcp(tmp_path, home):
    service, client = keys.new_pair(tmp_path / "service"), keys.new_pair(tmp_path / "client")
    stranger = keys.new_pair(tmp_path / "stranger")
    keys.authorise(tmp_path / "service", "lab", client.public)
    with Door(1 << 16) as door, Gatekeeper(door.context, tmp_path / "service") as gatekeeper:
        door.open_tcp("tcp://127.0.0.1:*", service, DOMAIN)
        (endpoint,) = door.endpoints()
        with Caller(endpoint, stranger, service.public) as caller:
            caller.send(b"let me in")
            door.wait(0.3)
            assert not list(door.letters(10))
        with Caller(endpoint, client, service.public) as caller:
            caller.send(b"it is me")
            letter = next_letter(door)
            assert gatekeeper.name_of(letter.client.key) == "lab"
        with pytest.raises(DoorError, match="rigloop keys new"):
            Caller(endpoint)


def test_without_a_gatekeeper_nobody_comes_in(tmp_path):
    service = keys.new_pair(tmp_path / "service")
    with Door(1 << 16) as door:
        door.open_tcp("tcp://127.0.0.1:*", service, DOMAIN)
        with Caller(door.endpoints()[0], service, service.public) as caller:
            caller.send(b"let me in")
            door.wait(0.3)
            assert not list(door.letters(10))


def test_a_caller_that_nobody_closed_keeps_no_program_from_its_end(door):
    program = """
import gc, sys
from io_bridge.doorway.caller import Caller
class Holder: pass
holder = Holder()
holder.caller, holder.itself = Caller(sys.argv[1]), holder
holder.caller.send(b"x")
del holder
gc.collect()
"""
    endpoint = local_socket.local_endpoint("lab")
    subprocess.run([sys.executable, "-c", program, endpoint], check=True, timeout=20)


def test_a_large_answer_has_left_once_its_client_takes_it(door):
    with zmq.Context() as context, context.socket(zmq.DEALER) as client:
        client.setsockopt(zmq.RCVHWM, 1)
        client.setsockopt(zmq.LINGER, 0)
        client.connect(local_socket.local_endpoint("lab"))
        client.send(b"hello")
        letter = next_letter(door)
        # more than the sockets of the system hold
        sent = [door.send_large(letter.client, bytes(1 << 22)) for _ in range(8)]
        assert not sent[-1].done
        for _ in sent:
            assert client.poll(10_000)
            client.recv()
        sent[-1].wait(10)
        assert all(one.done for one in sent)
        waiting = [door.send_large(letter.client, bytes(1 << 22)) for _ in range(8)]
    # of a client that has gone, as soon as the door looks
    for _ in range(200):
        door.wait(0.05)
        if all(one.done for one in waiting):
            break
    else:
        raise AssertionError("answers to nobody are kept")
    nobody = Client("local", b"nobody")
    assert door.send_large(nobody, b"x") is None


@pytest.mark.parametrize(
    "wrong",
    ["tcp://", "tcp://lab", "tcp://lab:0", "tcp://lab:99999", "tcp://lab:1/x", "ipc://", "ipc://x.sock", "http://lab:1",
     "ipc:///" + "x" * 107, "tcp://a b:1", "tcp://lab:1\n"],
)  # fmt: skip
def test_what_is_no_address_of_a_service_is_refused_before_a_key_is_asked_for(wrong):
    with pytest.raises(DoorError, match="is no address of a service"):
        local_socket.checked_endpoint(wrong)


@pytest.mark.parametrize("right", ["tcp://127.0.0.1:9873", "tcp://[::1]:1", "ipc:///run/a.sock"])
def test_addresses_of_services_are_taken(right):
    assert local_socket.checked_endpoint(right) == right
