"""The recorder as a process, against a loop in another process."""

import errno
import json
import resource
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from io_bridge.recording.record import open_record
from rt_core.injection.load import BusyBlock
from rt_core.plan import Task, plan_table
from rt_core.signals.table import RingReader, SignalTable

TIMEOUT_S = 20

PRODUCER = """
    import sys, time
    from rt_core.injection.load import BusyBlock
    from rt_core.loop.loop import Loop
    from rt_core.plan import Task, plan_table
    from rt_core.signals.table import RingReader, SignalTable
    tasks = [
        Task("fast", [BusyBlock("a", 0)], 500_000, ring_slots={slots}),
        Task("slow", [BusyBlock("b", 0)], 2_000_000),
    ]
    plan = plan_table(tasks, ())
    table = SignalTable.create(sys.argv[1], plan)
    loop = Loop(plan, table)
    loop.start()
    print("running", flush=True)
    sys.stdin.readline()
    loop.stop()
    print(*(int(table.value(f"loop/{{task}}/cycle")) for task in ("fast", "slow")), flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def start():
    """Start a process; all are ended after the test."""
    processes = []

    def start(*arguments, **options):
        process = subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **options,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait(timeout=TIMEOUT_S)
        process.stdin.close()
        process.stdout.close()


def start_producer(start, path, slots=8192):
    producer = start("-c", textwrap.dedent(PRODUCER.format(slots=slots)), path)
    assert producer.stdout.readline() == "running\n"
    return producer


def say(process):
    process.stdin.write("\n")
    process.stdin.flush()


def summary(recorder):
    out, _ = recorder.communicate(timeout=TIMEOUT_S)
    return json.loads(out)


def wait_until(reached):
    end = time.monotonic() + TIMEOUT_S
    while not reached():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.005)


def wait_for_rows(path, n):
    # a row has 13 cells or fewer; the header fits a few hundred rows more
    wait_until(lambda: path.exists() and path.stat().st_size > 1024 + 104 * n)


@pytest.mark.parametrize("slots", [8192, 64])
def test_every_cycle_is_recorded_or_counted_as_dropped(start, tmp_path, slots):
    producer = start_producer(start, tmp_path / "table", slots)
    recorder = start(
        "-m", "io_bridge.recording.recorder", tmp_path / "table", tmp_path, "--pid", producer.pid
    )
    wait_for_rows(tmp_path / "slow.npy", 50)
    say(producer)
    cycles = dict(zip(("fast", "slow"), map(int, producer.stdout.readline().split()), strict=True))
    say(producer)
    producer.wait(timeout=TIMEOUT_S)
    result = summary(recorder)
    assert result == json.loads((tmp_path / "recorder.json").read_text())
    for task in ("fast", "slow"):
        record = np.load(tmp_path / f"{task}.npy", mmap_mode="r")
        assert len(record) == result[task]["rows"]
        assert len(record) + result[task]["dropped"] == cycles[task]
        if not result[task]["dropped"]:
            np.testing.assert_array_equal(record[f"loop/{task}/cycle"], np.arange(cycles[task]) + 1)
        assert (np.diff(record["t_ns"]) > 0).all()
    lost = any(entry["dropped"] for entry in result.values())
    assert recorder.returncode == int(lost)


def test_killed_producer_ends_the_recorder_with_all_it_had(start, tmp_path):
    producer = start_producer(start, tmp_path / "table")
    recorder = start(
        "-m", "io_bridge.recording.recorder", tmp_path / "table", tmp_path, "--pid", producer.pid
    )
    wait_for_rows(tmp_path / "fast.npy", 100)
    producer.send_signal(signal.SIGKILL)
    producer.wait(timeout=TIMEOUT_S)
    result = summary(recorder)
    with SignalTable.attach(tmp_path / "table") as table:
        # the image is published before it goes to the ring: the kill may fall between
        cycles = table.value("loop/fast/cycle")
    assert 0 <= cycles - result["fast"]["rows"] <= 1


def test_a_recorder_that_is_there_before_the_table_has_the_first_cycle(start, tmp_path):
    later = "import sys; sys.stdin.readline()\n" + textwrap.dedent(PRODUCER.format(slots=64))
    producer = start("-c", later, tmp_path / "table")
    ready = (tmp_path / "recorder.started").open("w")
    recorder = start(
        "-X", "importtime", "-m", "io_bridge.recording.recorder", tmp_path / "table", tmp_path,
        "--pid", producer.pid, "--wait", stderr=ready,
    )  # fmt: skip
    # all is imported, and it waits
    wait_until(lambda: "rt_core.signals.table" in (tmp_path / "recorder.started").read_text())
    say(producer)
    assert producer.stdout.readline() == "running\n"
    wait_for_rows(tmp_path / "slow.npy", 20)
    say(producer)
    say(producer)
    producer.wait(timeout=TIMEOUT_S)
    result = summary(recorder)
    ready.close()
    assert result["fast"]["rows"]
    assert np.load(tmp_path / "fast.npy", mmap_mode="r")["loop/fast/cycle"][0] == 1


def test_a_recorder_that_waits_for_no_table_ends_with_its_producer(start, tmp_path):
    producer = start("-c", "import sys; sys.stdin.readline()")
    recorder = start(
        "-m",
        "io_bridge.recording.recorder",
        tmp_path / "table",
        tmp_path,
        "--pid",
        producer.pid,
        "--wait",
    )
    say(producer)
    producer.wait(timeout=TIMEOUT_S)
    out, _ = recorder.communicate(timeout=TIMEOUT_S)
    assert (out, recorder.returncode, list(tmp_path.iterdir())) == ("", 0, [])


@pytest.mark.parametrize("end", ["unlink", "sigterm"])
def test_removed_table_or_sigterm_ends_it_and_sigint_does_not(start, tmp_path, end):
    table_path = tmp_path / "table"
    producer = start_producer(start, table_path)
    recorder = start("-m", "io_bridge.recording.recorder", table_path, tmp_path)
    wait_for_rows(tmp_path / "fast.npy", 50)
    recorder.send_signal(signal.SIGINT)
    say(producer)
    producer.stdout.readline()
    if end == "unlink":
        table_path.unlink()
    else:
        recorder.send_signal(signal.SIGTERM)
    assert summary(recorder)["fast"]["rows"] >= 50
    assert recorder.returncode == 0


def test_killed_recorder_leaves_a_record(start, tmp_path):
    start_producer(start, tmp_path / "table")
    recorder = start("-m", "io_bridge.recording.recorder", tmp_path / "table", tmp_path)
    wait_for_rows(tmp_path / "fast.npy", 200)
    recorder.send_signal(signal.SIGKILL)
    recorder.wait(timeout=TIMEOUT_S)
    record = open_record(tmp_path / "fast.npy")
    np.testing.assert_array_equal(record["loop/fast/cycle"], np.arange(len(record)) + 1)


@pytest.mark.slow
def test_full_disk_stops_the_writing_and_not_the_draining(start, tmp_path):
    # a limit on the size of files stands for the full disk
    limit = 60_000
    producer = start_producer(start, tmp_path / "table", slots=256)
    recorder = start(
        "-m", "io_bridge.recording.recorder", tmp_path / "table", tmp_path, "--pid", producer.pid,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    with SignalTable.attach(tmp_path / "table", writable=True) as table:
        # the file is full, and the loop goes on for many times what the ring holds
        wait_until(lambda: (tmp_path / "fast.npy").exists())
        first = table.value("loop/fast/cycle")
        wait_until(lambda: table.value("loop/fast/cycle") > first + 2500)
        # who watches the run sees it while it goes on
        ring = RingReader(table, "fast")
        told = ring.counters()
        ring.close()
        assert told["unwritten"] > 256
        assert told["unwritten_errno"] == errno.EFBIG
    say(producer)
    cycles = int(producer.stdout.readline().split()[0])
    say(producer)
    fast = summary(recorder)["fast"]
    assert recorder.returncode == 1
    record = np.load(tmp_path / "fast.npy")
    assert len(record) == fast["rows"] < 800
    assert (tmp_path / "fast.npy").stat().st_size <= limit
    assert fast["rows"] + fast["unwritten"] + fast["dropped"] == cycles
    assert fast["unwritten"] > 256
    assert fast["first_unwritten_ns"] > record["t_ns"][-1]
    assert "File too large" in fast["reason"]


def test_start_that_cannot_work_is_said_in_one_line(start, tmp_path):
    recorder = start(
        "-m", "io_bridge.recording.recorder", tmp_path / "none", tmp_path, stderr=subprocess.PIPE
    )
    _, error = recorder.communicate(timeout=TIMEOUT_S)
    assert recorder.returncode == 2
    assert "none" in error
    assert error.count("\n") == 1


def test_record_of_an_earlier_run_is_not_overwritten(start, tmp_path):
    plan = plan_table([Task("fast", [BusyBlock("a", 0)], 1_000_000)], ())
    with SignalTable.create(tmp_path / "table", plan):
        (tmp_path / "fast.npy").write_text("precious")
        recorder = start(
            "-m",
            "io_bridge.recording.recorder",
            tmp_path / "table",
            tmp_path,
            stderr=subprocess.PIPE,
        )
        _, error = recorder.communicate(timeout=TIMEOUT_S)
    assert recorder.returncode == 2
    assert "fast.npy" in error
    assert (tmp_path / "fast.npy").read_text() == "precious"
