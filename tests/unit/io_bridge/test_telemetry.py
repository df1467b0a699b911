"""Telemetry as a process beside a live loop, read by a real ZeroMQ subscriber."""

import os
import stat
import subprocess
import sys

import msgspec
import pytest
import zmq

from io_bridge.telemetry import EndpointError, check_endpoint
from rt_core.load import BusyBlock
from rt_core.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.table import SignalTable

TIMEOUT_S = 20


@pytest.fixture
def loop(tmp_path):
    plan = plan_table([Task("fast", [BusyBlock("a", 0)], 1_000_000)], ["supervisor/arm"])
    table = SignalTable.create(tmp_path / "table", plan)
    table.publish({"supervisor/arm": 1.0})
    with Loop(plan, table):
        yield tmp_path / "table"
    table.close()


def test_subscriber_gets_named_maps_with_a_timestamp(loop, tmp_path):
    endpoint = f"ipc://{tmp_path}/telemetry"
    command = [sys.executable, "-m", "io_bridge.telemetry", str(loop), endpoint]
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
    "endpoint", ["tcp://127.0.0.1:9872", "ipc:///run/user/1000/rigloop", "tcp://[::1]:1"]
)
def test_local_endpoints_are_taken(endpoint):
    check_endpoint(endpoint)
