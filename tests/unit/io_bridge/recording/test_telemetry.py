"""Telemetry as a process beside a live loop, read by a real ZeroMQ subscriber."""

import os
import socket
import stat
import subprocess
import sys
import time

import msgspec
import pytest
import zmq

from io_bridge.recording.telemetry import EndpointError, check_endpoint
from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import SignalTable

TIMEOUT_S = 20


@pytest.fixture
def loop(tmp_path):
    plan = plan_table([Task("fast", [BusyBlock("a", 0)], 1_000_000)], ["supervisor/arm"])
    table = SignalTable.create(tmp_path / "table", plan)
    table.publish({"supervisor/arm": 1.0})
    with Loop(plan, table):
        yield tmp_path / "table"
    table.close()


@pytest.mark.slow
def test_subscriber_gets_named_maps_with_a_timestamp(loop, tmp_path):
    endpoint = f"ipc://{tmp_path}/telemetry"
    command = [sys.executable, "-m", "io_bridge.recording.telemetry", str(loop), endpoint]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    context = zmq.Context()
    try:
        with context.socket(zmq.SUB) as subscriber:
            subscriber.setsockopt(zmq.RCVTIMEO, TIMEOUT_S * 1000)
            subscriber.setsockopt(zmq.SUBSCRIBE, b"fast")
            subscriber.connect(endpoint)
            samples = []
            for _ in range(5):
                topic, payload = subscriber.recv_multipart()
                assert topic == b"fast"
                samples.append(msgspec.msgpack.decode(payload, type=dict[str, float]))
        cycles = [sample["loop/fast/cycle"] for sample in samples]
        assert cycles == sorted(set(cycles))
        times = [sample["timestamp"] for sample in samples]
        assert times == sorted(times)
        assert stat.S_IMODE(os.stat(tmp_path / "telemetry").st_mode) & 0o077 == 0
        # the producer's table is gone: so is the reason to publish
        loop.unlink()
        out, _ = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0
        assert out.startswith("sent ")
    finally:
        process.kill()
        process.wait()
        context.destroy(linger=0)


@pytest.mark.parametrize(
    "endpoint", ["tcp://*:9872", "tcp://0.0.0.0:9872", "tcp://10.0.0.1:1", "udp://x", "9872"]
)
def test_endpoints_open_to_other_machines_are_refused(endpoint):
    with pytest.raises(EndpointError, match="not local"):
        check_endpoint(endpoint)


@pytest.mark.parametrize(
    "endpoint", ["tcp://127.0.0.1:9872", "ipc:///tmp/rigloop", "tcp://[::1]:1"]
)
def test_local_endpoints_are_taken(endpoint):
    check_endpoint(endpoint)


@pytest.mark.parametrize("make", ["file", "link", "folder", "pipe"])
def test_what_is_there_and_is_not_a_socket_is_never_taken_away(tmp_path, make):
    path = tmp_path / "thesis"
    (tmp_path / "other").write_text("precious")
    {
        "file": lambda: path.write_text("precious"),
        "link": lambda: path.symlink_to(tmp_path / "other"),
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
    }[make]()
    before = os.lstat(path)
    with pytest.raises(EndpointError, match="is there, and is not a socket"):
        check_endpoint(f"ipc://{path}")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "io_bridge.recording.telemetry",
            str(tmp_path / "table"),
            f"ipc://{path}",
        ],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 2
    assert os.path.samestat(os.lstat(path), before)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("x", "not an absolute path"),
        ("", "not an absolute path"),
        ("/nowhere/at/all", "there is no folder"),
        ("/" + "x" * 200, "longer than 107"),
    ],
)
def test_a_socket_that_cannot_be_is_refused(path, problem):
    with pytest.raises(EndpointError, match=problem):
        check_endpoint(f"ipc://{path}")


def test_the_socket_of_another_process_is_refused_and_that_of_a_dead_one_taken(tmp_path):
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        with pytest.raises(EndpointError, match="another process has this socket"):
            check_endpoint(f"ipc://{path}")
    check_endpoint(f"ipc://{path}")


def test_the_socket_is_gone_with_its_process(loop, tmp_path):
    path = tmp_path / "telemetry"
    process = subprocess.Popen(
        [sys.executable, "-m", "io_bridge.recording.telemetry", str(loop), f"ipc://{path}"],
        stdout=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + TIMEOUT_S
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert path.exists()
    loop.unlink()
    out, _ = process.communicate(timeout=TIMEOUT_S)
    assert out.startswith("sent ")
    assert not path.exists()
