"""A task that stands still: the watchdog takes its drive to zero torque, and says who it was and when.

In processes of their own, because a thread that hangs can only be ended with its process.
"""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import json, os, sys, time
from io_bridge.buses.simulated_bus import SimulatedBus
from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import SignalTable

MS = 1_000_000
path, hang_ns, where, stall_cycles = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
cells = {f"drive/{port}": f"supervisor/{port}" for port in ("torque_nm", "enable", "reset")}
bus = SimulatedBus(paths=cells)
drive = bus.devices[0]
hang = BusyBlock("hang", hang_ns, every=1 << 60, first=400)
tasks = {
    "drive": [Task("fast", [bus.block(), hang], MS, stall_cycles=stall_cycles)],
    "other": [
        Task("fast", [bus.block()], MS, stall_cycles=10_000),
        Task("slow", [hang], MS, stall_cycles=stall_cycles),
    ],
}[where]
plan = plan_table(tasks, cells.values())
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(80))
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    fifo = where == "drive"
except PermissionError:
    fifo = False
bus.to_op()
table = SignalTable.create(path, plan)
loop = Loop(plan, table, fifo=fifo)
pushed = 0.0
loop.start()
def lookers():
    tasks = os.listdir("/proc/self/task")
    return [t for t in tasks if open(f"/proc/self/task/{t}/comm").read() == "rt-watchdog\\n"]
looker, = lookers()
thread = {
    "fifo": os.sched_getscheduler(int(looker)) == os.SCHED_FIFO,
    "priority": os.sched_getparam(int(looker)).sched_priority,
}
try:
    thread["slack_ns"] = int(open(f"/proc/{looker}/timerslack_ns").read())
except PermissionError:
    thread["slack_ns"] = None  # the kernel tells it to root alone
table.publish({"supervisor/torque_nm": 2.0, "supervisor/enable": 1.0})
until = time.monotonic() + 10
while not loop.stop_requested and time.monotonic() < until:
    if loop.stall is None:
        pushed = max(pushed, drive.wanted_torque_nm)
    time.sleep(0.0005)
until = time.monotonic() + 1
while loop.stall and loop.stall.task == "fast" and not loop.stall.sent and time.monotonic() < until:
    time.sleep(0.0005)
after = [drive.wanted_torque_nm]
time.sleep(0.3)
after.append(drive.wanted_torque_nm)
with open(f"/proc/self/task/{looker}/status") as status:
    (line,) = [line for line in status if line.startswith("voluntary_ctxt_switches")]
    thread["sleeps"] = int(line.split()[1])
hung, at_rest = False, None
try:
    loop.stop()
except TimeoutError:
    hung = True
until = time.monotonic() + 1
while (left := len(lookers())) and time.monotonic() < until:
    time.sleep(0.001)
stall = loop.stall
if stall is not None and where == "other":
    after = [drive.wanted_torque_nm]
print(json.dumps({
    "pushed": pushed, "after": after, "hung": hung, "at_rest": loop.at_rest,
    "stall": stall and stall._asdict(), "asked_fifo": fifo, "thread": thread, "left": left,
}))
sys.stdout.flush()
os._exit(0)
"""
FOREVER, A_WHILE = 1 << 60, 500_000_000
# more periods of 1 ms than a busy host takes a task away for
STALL_CYCLES = 200


def run(tmp_path, hang_ns, where):
    arguments = [tmp_path / "table", str(hang_ns), where, str(STALL_CYCLES)]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def hung(tmp_path_factory):
    return run(tmp_path_factory.mktemp("hung"), FOREVER, "drive")


def test_a_task_that_hangs_ends_at_zero_torque_at_the_drive(hung):
    assert hung["pushed"] == pytest.approx(2.0, abs=0.01)
    assert hung["after"] == [0.0, 0.0]
    assert hung["stall"]["sent"] >= 1
    assert hung["at_rest"]


def test_the_stall_names_task_cycle_and_time(hung):
    assert hung["hung"]
    stall = hung["stall"]
    assert stall["task"] == "fast"
    # the cycle that hangs is number 401, unless the host stopped an earlier one for as long
    assert stall["cycle"] <= 401
    assert stall["for_ns"] > STALL_CYCLES * 1_000_000


def test_the_watchdog_is_above_all_tasks_where_it_may_and_wakes_when_it_asks_to(hung):
    assert hung["thread"]["fifo"] == hung["asked_fifo"]
    assert hung["thread"]["priority"] == (95 if hung["asked_fifo"] else 0)
    # some hundred times until here
    assert hung["thread"]["sleeps"] > 10
    assert hung["left"] == 0


def test_a_cycle_that_goes_on_after_all_moves_the_drive_no_more(tmp_path):
    found = run(tmp_path, A_WHILE, "drive")
    assert found["pushed"] == pytest.approx(2.0, abs=0.01)
    assert not found["hung"]
    assert found["after"] == [0.0, 0.0]


def test_a_stall_elsewhere_leaves_the_drive_to_the_task_that_has_it(tmp_path):
    found = run(tmp_path, FOREVER, "other")
    assert found["stall"]["task"] == "slow"
    assert found["stall"]["sent"] == 0
    # no priority was asked for: an ordinary thread may be woken 50 us late
    assert not found["thread"]["fifo"]
    assert found["thread"]["slack_ns"] in (1, None)
    assert found["hung"]


ENDINGS = """
import os, sys
from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import SignalTable

def state(thread):
    # of a thread: S asleep; X, Z and none at all: ended
    try:
        name, rest = open(f"/proc/self/task/{thread}/stat").read().rsplit(")", 1)
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return rest.split()[0] if name.endswith("rt-watchdog") else ""

plan = plan_table([Task("fast", [BusyBlock("work", 1000)], 1_000_000, stall_cycles=1000)])
for i in range(20):
    loop = Loop(plan, SignalTable.create(f"{sys.argv[1]}{i}", plan), fifo=False)
    loop.start()
    assert any(state(thread) for thread in os.listdir("/proc/self/task"))
    loop.finish()
    left = "".join(state(thread) for thread in os.listdir("/proc/self/task"))
    loop.finish()
    print(f"[{left}]")
"""


def test_a_loop_that_ended_has_no_watchdog_that_still_sleeps(tmp_path):
    # its memory goes with the loop: a watchdog that wakes up later looks at what is not there
    done = subprocess.run(
        [sys.executable, "-c", ENDINGS, tmp_path / "table"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 20
    assert "S" not in done.stdout


ASKED = """
import json, os, signal, sys, time
from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import SignalTable

number = signal.Signals[sys.argv[2]]
heard = []
signal.signal(number, lambda *given: heard.append(given))
signal.pthread_sigmask(signal.SIG_BLOCK, {number})
plan = plan_table([Task("t", [BusyBlock("busy", 0)], 1_000_000, stall_cycles=10_000)], [])
table = SignalTable.create(sys.argv[1], plan)
loop = Loop(plan, table)
loop.start()
while table.value("loop/t/cycle") < 5:
    time.sleep(0.001)
before = loop.stop_requested
os.kill(os.getpid(), number)
until = time.monotonic() + 10
while not loop.stop_requested and time.monotonic() < until:
    pass  # this thread handles no signal, and lets nobody else have the interpreter for long
asked = loop.stop_requested
heard_before = len(heard)
loop.stop()
signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
print(json.dumps({"before": before, "asked": asked, "heard_before": heard_before, "heard": len(heard)}))
table.close(unlink=True)
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_that_no_thread_takes_ends_the_loop_and_stays_for_its_handler(tmp_path, name):
    done = subprocess.run(
        [sys.executable, "-c", ASKED, tmp_path / "table", name],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout or "{}") == {
        "before": False, "asked": True, "heard_before": 0, "heard": 1
    }, done.stderr  # fmt: skip
