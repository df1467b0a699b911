"""The live loop with real threads, files, signals and processes; no time is asserted."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.loop.offline import Offline
from rt_core.plan import (
    LOOP_SIGNALS,
    MOST_BLOCK_HISTOGRAMS,
    OTHER_BLOCKS,
    Task,
    loop_signal,
    plan_table,
)
from rt_core.safety.guard import Guard
from rt_core.safety.trips import GuardConfig, State
from rt_core.signals.table import RingReader, SignalTable
from rt_core.steps import Steps

MS = 1_000_000

# blocks of another compiler run, as generated kernels are: they know the contract, not the package
SOURCE = """
#include <stdint.h>
#include <math.h>
#include <time.h>
struct mix { const double *in; double *out, *seen_t; double x; };
int step_mix(void *self, int64_t t_ns) {
    struct mix *m = self;
    m->x = sin(1.1 * m->x + *m->in + 1e-9 * (double)t_ns);
    *m->out = m->x; *m->seen_t = (double)t_ns;
    return 0;
}
struct same { double *a, *b, *c; double n; };
int step_same(void *self, int64_t t_ns) {
    struct same *s = self;
    s->n += 1; *s->a = s->n; *s->b = s->n; *s->c = s->n;
    return 0;
}
struct fail { double *count; double at; int status; };
int step_fail(void *self, int64_t t_ns) {
    struct fail *f = self;
    *f->count += 1;
    return *f->count >= f->at ? f->status : 0;
}
int waited_for(const volatile double *count, double least, double seconds) {
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (*count < least && now.tv_sec - from.tv_sec < seconds);
    return *count >= least;
}
"""


class View(ctypes.Structure):
    _fields_ = [
        ("abi", ctypes.c_int64), ("step", ctypes.c_void_p), ("self", ctypes.c_void_p),
        ("work", ctypes.c_void_p), ("bytes", ctypes.c_int64),
    ]  # fmt: skip


class Foreign:
    """A block of a compiled library; `state` is its struct, pointers first, in port order."""

    def __init__(self, library, step, name, reads, writes, numbers, abi=2):
        self.name, self.reads, self.writes = name, reads, writes
        kinds = [ctypes.c_void_p] * (len(reads) + len(writes)) + [kind for kind, _ in numbers]
        fields = [(f"f{i}", kind) for i, kind in enumerate(kinds)]
        self._state = type("State", (ctypes.Structure,), {"_fields_": fields})()
        for i, (_, value) in enumerate(numbers):
            setattr(self._state, f"f{len(reads) + len(writes) + i}", value)
        address = ctypes.cast(getattr(library, step), ctypes.c_void_p).value
        self._view = View(abi, address, ctypes.addressof(self._state))

    def bind(self, reads, writes):
        for i, address in enumerate([*reads, *writes]):
            setattr(self._state, f"f{i}", address)

    def capsule(self):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = (
            ctypes.py_object,
            [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
        )
        self._name = b"rigloop.block"
        return new(ctypes.addressof(self._view), self._name, None)


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    (folder / "blocks.c").write_text(SOURCE)
    built = folder / "blocks.so"
    subprocess.run(
        ["gcc", "-O2", "-shared", "-fPIC", "-o", built, folder / "blocks.c", "-lm"], check=True
    )
    return ctypes.CDLL(str(built))


def mix(library, name, read):
    writes = {"x": f"{name}/x", "t_ns": f"{name}/t_ns"}
    return Foreign(library, "step_mix", name, {"in": read}, writes, [(ctypes.c_double, 0.3)])


def same(library, name):
    writes = {port: f"{name}/{port}" for port in "abc"}
    return Foreign(library, "step_same", name, {}, writes, [(ctypes.c_double, 0)])


def fail(library, name, at, status):
    numbers = [(ctypes.c_double, at), (ctypes.c_int, status)]
    return Foreign(library, "step_fail", name, {}, {"count": f"{name}/count"}, numbers)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table"


def wait_for_cycles(table, loop, task, least):
    """Wait until a task has made so many cycles, however many of them the host takes away."""
    deadline = time.monotonic() + 30
    while table.value(loop_signal(task, "cycle")) < least and not loop.wait(0.005):
        assert time.monotonic() < deadline


def record(plan, path, cycles, **options):
    """Run a loop until its first task has made so many cycles; return all cycles per task, and the counters."""
    with SignalTable.create(path, plan) as table:
        readers = {task.name: RingReader(table, task.name) for task in plan.tasks}
        with Loop(plan, table, **options) as loop:
            wait_for_cycles(table, loop, plan.tasks[0].name, cycles)
        rows = {name: reader.drain() for name, reader in readers.items()}
        counters = {name: reader.counters() for name, reader in readers.items()}
        latest = {name: table.latest(name) for name in rows}
        histograms = {name: table.histograms(name) for name in rows}
        for reader in readers.values():
            reader.close()
    return rows, counters, latest, histograms


@pytest.mark.slow
def test_overruns_skip_whole_periods_and_keep_the_phase(library, path):
    # every 10th step takes three periods and a half
    busy = BusyBlock("busy", 3_500_000, every=10, first=5)
    plan = plan_table([Task("t", [busy, mix(library, "m", "busy/burned_ns")], MS)])
    rows, _, latest, _ = record(plan, path, 110)
    rows = rows["t"]
    elapsed = rows[loop_signal("t", "elapsed")]
    assert np.all(rows["t_ns"] % MS == 0)
    assert np.array_equal(np.diff(rows["t_ns"]), elapsed[1:] * MS)
    assert np.array_equal(rows["m/t_ns"], rows["t_ns"])
    # after each long step at least three periods are gone, all of them are counted
    after_long = np.flatnonzero(rows["busy/burned_ns"][:-1] >= 3_500_000) + 1
    assert len(after_long) >= 10
    assert np.all(elapsed[after_long] >= 4)
    skipped = dict(zip(rows.dtype.names[1:], latest["t"], strict=True))
    causes = ("late_wake", "stolen", "own", "bus", "untold")
    assert sum(skipped[f"loop/t/overruns_{c}"] for c in causes) == skipped["loop/t/overruns"]
    assert skipped["loop/t/skipped"] == np.sum(elapsed - 1)
    assert skipped["loop/t/overruns"] == np.count_nonzero(elapsed > 1)
    assert np.array_equal(rows[loop_signal("t", "cycle")], np.arange(1, len(rows) + 1))
    assert np.all(rows[loop_signal("t", "late_ns")] >= 0)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["safe", "stop"])
def test_the_overrun_policy_acts_after_its_limit(policy, path):
    task = Task(
        "t", [BusyBlock("busy", 2_500_000)], MS, overrun=policy, overrun_limit=6,
        overrun_window=100_000,
    )  # fmt: skip
    # nothing but the policy ends a loop that is to make so many cycles
    cycles = 1_000_000 if policy == "stop" else 20
    rows, _, _, _ = record(plan_table([task]), path, cycles)
    rows = rows["t"]
    # work of its own making counts twice, as does a cause that nobody told; that of the host counts once
    own = rows["loop/t/overruns_own"] + rows["loop/t/overruns_untold"]
    points = rows["loop/t/overruns"] + own
    at = int(np.flatnonzero(points >= 6)[0])
    assert rows["loop/t/overrun_trip"][-1] == rows["loop/t/cycle"][at]
    assert rows["loop/t/overrun_level"][at] == 6
    if policy == "stop":
        assert np.all(rows["loop/t/stop"][at:] == 1)
        assert not np.any(rows["loop/t/stop"][:at])
    else:
        assert np.all(rows["loop/t/fault"][at:] == 1)
        assert np.all(rows["loop/t/fault_block"] == 0)
        assert np.all(rows["loop/t/fault"][:at] == 0)


@pytest.mark.slow
def test_overruns_far_apart_never_trip(path):
    task = Task(
        "t", [BusyBlock("busy", 1_500_000, every=20)], MS, overrun="safe", overrun_limit=64,
        overrun_window=40,
    )  # fmt: skip
    rows, _, _, _ = record(plan_table([task]), path, 200)
    assert rows["t"]["loop/t/overruns"][-1] >= 5
    assert np.all(rows["t"]["loop/t/fault"] == 0)


def test_a_fault_is_told_with_its_block_and_the_others_are_still_stepped(library, path):
    blocks = [same(library, "s"), fail(library, "f", 20, -7), fail(library, "g", 30, 9)]
    rows, _, _, _ = record(
        plan_table([Task("t", [*blocks, mix(library, "m", "s/a")], MS)]), path, 40
    )
    rows = rows["t"]
    fault = rows["loop/t/fault"]
    assert np.all(fault[:19] == 0)
    assert np.all(fault[19:] == -7)
    assert np.all(rows["loop/t/fault_block"][19:] == 2)
    assert np.array_equal(rows["m/t_ns"], rows["t_ns"])


def test_every_cycle_is_produced_and_is_consumed_or_dropped(library, path):
    task = Task("t", [same(library, "s")], MS // 2, ring_slots=64)
    plan = plan_table([task])
    with SignalTable.create(path, plan) as table:
        reader = RingReader(table, "t")
        rows = []
        with Loop(plan, table) as loop:
            for more in (20, 200, 4, 300, 20):
                wait_for_cycles(table, loop, "t", table.latest("t")[0] + more)
                rows.append(reader.drain(most=40))
        rows.append(reader.drain())
        counters = reader.counters()
        cycles = table.latest("t")[0]
        reader.close()
    rows = np.concatenate(rows)
    assert counters["dropped"] > 0
    assert counters["produced"] == counters["consumed"] + counters["dropped"] == cycles
    assert counters["consumed"] == len(rows)
    assert np.all(np.diff(rows["loop/t/cycle"]) >= 1)
    assert np.array_equal(rows["s/a"], rows["loop/t/cycle"])


@pytest.mark.slow
def test_the_recorder_may_be_another_process_that_dies_and_comes_again(library, path):
    plan = plan_table([Task("t", [same(library, "s")], MS)])
    drain = (
        "import sys, time; from rt_core.signals.table import *;"
        "reader = RingReader(SignalTable.attach(sys.argv[1], writable=True), 't');"
        "print(len(reader.drain()), flush=True); time.sleep(60)"
    )
    with SignalTable.create(path, plan) as table, Loop(plan, table) as loop:
        loop.wait(0.05)
        consumed = 0
        for _ in range(2):
            other = subprocess.Popen([sys.executable, "-c", drain, path], stdout=subprocess.PIPE)
            consumed += int(other.stdout.readline())
            other.kill()
            other.wait()
        assert loop.running
        reader = RingReader(table, "t")
        assert reader.counters()["consumed"] == consumed > 0
        reader.close()


@pytest.mark.slow
def test_images_are_never_torn_however_hard_they_are_read(library, path):
    # three cells that are equal in every image, at the fastest rate the loop is made for
    fast = Task("fast", [same(library, "s")], MS // 10, spin_ns=8 * MS // 100)
    slow = Task("slow", [mix(library, "m", "s/a"), mix(library, "n", "s/c")], MS)
    plan = plan_table([fast, slow])
    with SignalTable.create(path, plan) as table:
        torn, reads, stop = [], [0, 0], threading.Event()

        def hammer(k):
            with SignalTable.attach(path) as reader:
                a, b, c = (reader.paths("fast").index(f"s/{x}") for x in "abc")
                while not stop.is_set():
                    image = reader.latest("fast")
                    reads[k] += 1
                    if not image[a] == image[b] == image[c]:
                        torn.append(image)

        threads = [threading.Thread(target=hammer, args=(k,)) for k in range(2)]
        recorder = RingReader(table, "slow")
        with Loop(plan, table) as loop:
            for thread in threads:
                thread.start()
            loop.wait(1.5)
            stop.set()
            for thread in threads:
                thread.join()
        mirrored = recorder.drain()
        recorder.close()
    assert not torn
    assert min(reads) > 1000
    assert np.array_equal(mirrored["s/a"], mirrored["s/c"])
    assert np.array_equal(mirrored["s/a"], mirrored["loop/fast/cycle"])


@pytest.mark.slow
def test_offline_stepping_gives_the_bits_of_the_live_loop(library, path):
    def build():
        # a closed ring across both tasks
        fast = Task("fast", [mix(library, "a", "c/x"), mix(library, "b", "a/x")], MS // 2)
        slow = Task("slow", [mix(library, "c", "b/x")], 5 * MS // 2)
        return plan_table([fast, slow])

    rows, counters, _, _ = record(build(), path, 1200)
    fast, slow = rows["fast"], rows["slow"]
    assert counters["fast"]["dropped"] == counters["slow"]["dropped"] == 0
    offline = Offline(build())
    images = offline.run_together({
        "fast": Steps(fast["t_ns"], {"slow": fast["loop/slow/cycle"].astype(int)}),
        "slow": Steps(slow["t_ns"], {"fast": slow["loop/fast/cycle"].astype(int)}),
    })  # fmt: skip
    for name, live in rows.items():
        # what only a clock can tell
        untimed = LOOP_SIGNALS[: LOOP_SIGNALS.index("late_cycles")]
        known = {
            loop_signal(name, x) for x in set(untimed) - {"late_ns", "step_ns", "bus_ns", "stop"}
        }
        timing = {loop_signal(name, x) for x in LOOP_SIGNALS} - known
        for i, signal_path in enumerate(offline.paths(name)):
            if signal_path not in timing:
                again = images[name][:, i]
                assert live[signal_path].tobytes() == again.tobytes(), signal_path
    assert len(np.unique(fast["a/x"])) > 500


def test_forcing_the_logged_mirrors_gives_the_same_bits(library, path):
    def build():
        fast = Task("fast", [mix(library, "a", "c/x")], MS)
        return plan_table([fast, Task("slow", [mix(library, "c", "a/x")], 5 * MS)])

    rows, _, _, _ = record(build(), path, 200)
    fast = rows["fast"]
    offline = Offline(build())
    image = offline.run("fast", fast["t_ns"], forced={"c/x": fast["c/x"]})["fast"]
    column = offline.paths("fast").index("a/x")
    assert image[:, column].tobytes() == fast["a/x"].tobytes()


def test_the_last_cycle_is_published(library, path):
    rows, _, latest, histograms = record(
        plan_table([Task("t", [same(library, "s")], MS)]), path, 50
    )
    assert rows["t"][-1].tolist()[1:] == tuple(latest["t"])
    for name in ("late", "step", "bus", "total", "block/s"):
        assert histograms["t"][name].n == len(rows["t"])


def test_many_blocks_share_one_histogram_beyond_the_first(path):
    n = MOST_BLOCK_HISTOGRAMS + 300
    blocks = [BusyBlock(f"b{i}", 0) for i in range(n)]
    rows, _, _, histograms = record(plan_table([Task("t", blocks, 10 * MS)]), path, 10)
    own = [name for name in histograms["t"] if name.startswith("block/")]
    assert len(own) == MOST_BLOCK_HISTOGRAMS + 1
    assert histograms["t"]["block/b0"].n == len(rows["t"])
    assert histograms["t"][f"block/b{MOST_BLOCK_HISTOGRAMS - 1}"].n == len(rows["t"])
    assert histograms["t"][OTHER_BLOCKS].n == 300 * len(rows["t"])


def test_bus_blocks_are_timed_as_bus(path):
    blocks = [BusyBlock("wire", 200_000), BusyBlock("work", 50_000)]
    plan = plan_table([Task("t", blocks, 2 * MS, bus=("wire",))])
    rows, _, _, histograms = record(plan, path, 50)
    assert np.all(rows["t"]["loop/t/bus_ns"] >= 200_000)
    assert np.all(rows["t"]["loop/t/step_ns"] >= 50_000)
    assert histograms["t"]["bus"].percentile(0) >= 200_000
    assert histograms["t"]["total"].sum_ns >= np.sum(
        rows["t"]["loop/t/bus_ns"] + rows["t"]["loop/t/step_ns"]
    )


def guarded_plan(library):
    """The rig's two tasks in small: the guard in the fast one, a request from the slow one."""
    own = {f"own_{x}": loop_signal("fast", x) for x in ("fault", "cycle", "stop")}
    guard = Guard(
        # wide time limits: a stall of a shared host is not what is tested
        GuardConfig(
            limit_nm=10, rate_nm_s=1000, max_angle_rad=10, max_rate_rad_s=100,
            ramp_in_s=0.01, ramp_out_s=0.02,
            max_request_age_ms=5000, max_gap_ms=5000, skip_bucket_ms=100_000, sensor_bucket_ms=100_000,
            heartbeat_timeout_ms=500,
        ),
        period_ns=MS,
        reads=own | {
            "torque_request_nm": "supervisor/request_nm",
            "request_cycle": "loop/slow/cycle",
            "request_fault": "loop/slow/fault",
            "elapsed": "loop/fast/elapsed",
            "sensor_valid": "supervisor/good",
            "angle_rad": "m/x",
            "rate_rad_s": "m/x",
            "actuator_ready": "supervisor/good",
            "heartbeat": "supervisor/heartbeat",
            "arm": "supervisor/arm",
            "stop": "supervisor/stop",
        },
    )  # fmt: skip
    fast = Task("fast", [mix(library, "m", "loop/fast/elapsed"), guard], MS)
    slow = Task("slow", [mix(library, "k", "m/x")], 5 * MS)
    signals = [f"supervisor/{x}" for x in ("request_nm", "good", "heartbeat", "arm", "stop")]
    return plan_table([fast, slow], signals)


def arm(table, loop):
    """Arm a healthy rig, and wait until it drives."""
    good = {"supervisor/good": 1, "supervisor/request_nm": 4}
    deadline = time.monotonic() + 10
    beat = 0
    while table.value("guard/torque_nm") != 4:
        assert time.monotonic() < deadline
        ready = table.value("guard/state") != State.INIT
        beat += 1
        table.publish({**good, "supervisor/heartbeat": beat, "supervisor/arm": ready})
        loop.wait(0.01)


def assert_ramped_out(rows):
    torque = rows["guard/torque_nm"]
    driven = np.flatnonzero(torque)
    assert 4 in torque
    assert np.all(np.abs(np.diff(torque)) <= 1 + 1e-12)
    # two more cycles at zero, so that a bus exchange carries it out
    assert len(torque) - 1 - driven[-1] >= 2
    assert rows["guard/safe"][-1] == 1


@pytest.mark.parametrize("way", ["end of the block", "exception", "SIGTERM"])
def test_every_way_out_ramps_the_torque_out(way, library, path):
    plan = guarded_plan(library)
    with SignalTable.create(path, plan) as table:
        reader = RingReader(table, "fast")
        loop = Loop(plan, table, safe="guard/safe", stop_timeout_s=5)
        before = signal.signal(signal.SIGTERM, lambda *_: loop.request_stop())
        try:
            with loop:
                arm(table, loop)
                if way == "exception":
                    raise ZeroDivisionError
                if way == "SIGTERM":
                    os.kill(os.getpid(), signal.SIGTERM)
                    assert loop.wait(10)
        except ZeroDivisionError:
            assert way == "exception"
        finally:
            signal.signal(signal.SIGTERM, before)
        assert not loop.running
        rows = reader.drain()
        reader.close()
    assert_ramped_out(rows)
    assert rows["guard/state"][-1] != State.FAULT


@pytest.mark.slow
def test_a_dead_supervisor_ends_at_zero_torque(library, path):
    plan = guarded_plan(library)
    with SignalTable.create(path, plan) as table, Loop(plan, table, safe="guard/safe") as loop:
        arm(table, loop)
        deadline = time.monotonic() + 10
        while table.value("guard/state") != State.FAULT and time.monotonic() < deadline:
            loop.wait(0.02)
        assert table.value("guard/torque_nm") == 0


@pytest.mark.slow
def test_a_hanging_block_is_reported_and_nothing_is_freed_under_it(path):
    # in a process of its own, because its thread goes on
    code = """
import sys, os
from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import SignalTable
plan = plan_table([Task("t", [BusyBlock("hang", 1 << 60)], 1_000_000)])
table = SignalTable.create(sys.argv[1], plan)
loop = Loop(plan, table)
loop.start()
try:
    loop.finish(timeout_s=0.2)
except TimeoutError as error:
    print(error)
try:
    table.close()
except RuntimeError as error:
    print(error)
sys.stdout.flush()
os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60, check=True
    )
    hang, in_use = done.stdout.splitlines()
    assert "hangs" in hang
    assert "in use" in in_use


def test_a_block_of_another_abi_is_refused(library, path):
    block = Foreign(library, "step_same", "s", {}, {p: f"s/{p}" for p in "abc"}, [], abi=99)
    plan = plan_table([Task("t", [block], MS)])
    with SignalTable.create(path, plan) as table, pytest.raises(TypeError, match="ABI 99"):
        Loop(plan, table)


def test_a_core_that_is_not_there_stops_the_start_cleanly(library, path):
    plan = plan_table([Task("t", [same(library, "s")], MS, core=1000)])
    with SignalTable.create(path, plan) as table:
        loop = Loop(plan, table)
        with pytest.raises(OSError, match="core 1000"):
            loop.start()
        assert not loop.running


@pytest.fixture
def memory_path():
    # a disk's file system takes pages back to write them out, memory's does not
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder) / "table"


@pytest.mark.slow
def test_the_cycle_faults_no_page(library, memory_path):
    """By the kernel's count for each task thread, after its first cycles."""
    plan = plan_table(
        [
            Task("fast", [mix(library, "a", "loop/fast/elapsed")], MS // 2, ring_slots=1 << 12),
            Task("slow", [mix(library, "b", "a/x")], MS, ring_slots=1 << 12),
        ]
    )
    with SignalTable.create(memory_path, plan) as table, Loop(plan, table) as loop:
        loop.wait(0.3)
        before = task_faults()
        loop.wait(1.0)
        after = task_faults()
    assert set(before) == {"rt:fast", "rt:slow"}
    assert before == after


def task_faults():
    """Minor and major page faults of each thread of the loop."""
    found = {}
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/stat") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(")")
        columns = rest.split()
        if name.startswith("rt:"):
            found[name] = (int(columns[7]), int(columns[9]))
    return found


def test_cycles_go_on_while_python_holds_its_lock(library, path):
    block = same(library, "s")
    counted = ctypes.c_double.from_address(ctypes.addressof(block._state) + 3 * 8)
    # a C call that does not let go of the lock, as those of the library itself would
    holding = ctypes.PyDLL(library._name).waited_for
    holding.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double]
    plan = plan_table([Task("t", [block], MS)])
    with SignalTable.create(path, plan) as table, Loop(plan, table) as loop:
        wait_for_cycles(table, loop, "t", 1)
        assert holding(ctypes.addressof(counted), counted.value + 100, 20)


def test_a_reader_that_writes_nonsense_only_loses_cycles(library, path):
    plan = plan_table([Task("t", [same(library, "s")], MS, ring_slots=64)])
    with SignalTable.create(path, plan) as table, Loop(plan, table) as loop:
        consumed = 8 * (table.layout.areas["t"].ring + 8)
        for nonsense in (1 << 62, -1, -(1 << 63)):
            with open(path, "r+b") as file:
                file.seek(consumed)
                file.write(nonsense.to_bytes(8, "little", signed=True))
            wait_for_cycles(table, loop, "t", table.value("loop/t/cycle") + 30)
            assert loop.running
        reader = RingReader(table, "t")
        assert reader.counters()["dropped"] > 0
        reader.close()


def test_a_thread_that_cannot_have_its_priority_says_so_and_nothing_runs(path):
    code = """
import os, sys
from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.host.rights import acquire_rights
from rt_core.signals.table import SignalTable
plan = plan_table([Task("t", [BusyBlock("b", 0)], 1_000_000, priority=80)])
table = SignalTable.create(sys.argv[1], plan)
if os.geteuid() == 0:
    os.setuid(65534)
if acquire_rights(80).fifo:
    sys.exit("held")
try:
    Loop(plan, table, fifo=True).start()
except PermissionError as error:
    print(error, table.value("loop/t/cycle"))
table.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60
    )
    if done.stderr.strip() == "held":
        pytest.skip("an ordinary user may use FIFO here")
    assert "FIFO priority 80" in done.stdout
    assert "rights report" in done.stdout
    assert done.stdout.split()[-1] == "0.0"


def test_each_task_tells_all_its_loop_signals(library, path):
    rows, _, _, _ = record(plan_table([Task("t", [same(library, "s")], MS)]), path, 20)
    assert rows["t"].dtype.names == (
        "t_ns", *(loop_signal("t", x) for x in LOOP_SIGNALS), "s/a", "s/b", "s/c",
    )  # fmt: skip


def test_a_thread_that_does_not_start_in_time_is_told_by_its_task(tmp_path):
    plan = plan_table([Task(name, [BusyBlock(name, 1000)], 10 * MS) for name in ("one", "two")])
    for attempt in range(200):
        with SignalTable.create(str(tmp_path / f"table{attempt}"), plan) as table:
            loop = Loop(plan, table, start_timeout_s=0.0)
            try:
                loop.start()
            except TimeoutError as error:
                said = str(error)
                break
            finally:
                loop.stop()
    assert re.search(r"did not start \(task (one|two)\) within 0\.0 s", said)
