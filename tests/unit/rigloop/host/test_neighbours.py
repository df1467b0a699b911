import os
import subprocess
import sys
import tomllib

import pytest

from rig_configs.load import find_rig
from rigloop.blocks.catalogue import rig_model
from rigloop.host.neighbours import shared_by_tasks, shared_with_others

# a process that looks like another run's loop: its command line, and a thread with a task's name on a core
OTHER = """
import ctypes, os, sys, threading
def step():
    ctypes.CDLL(None).prctl(15, b"rt:theirs", 0, 0, 0)
    os.sched_setaffinity(0, [int(sys.argv[2])])
    print("up", flush=True)
    sys.stdin.read()
threading.Thread(target=step).start()
"""


def rig_with(**tasks):
    data = tomllib.loads(find_rig("steering_wheel").read_text())
    for name, changes in tasks.items():
        data["tasks"][name] |= changes
    return rig_model().model_validate(data)


@pytest.fixture
def core():
    return min(os.sched_getaffinity(0))


@pytest.fixture
def other(core):
    command = [sys.executable, "-c", OTHER, "rigloop.live.cycle", str(core)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "up\n"
    yield child.pid
    child.communicate()


def test_a_task_on_the_core_of_another_run_is_told_of_it(other, core):
    rig = rig_with(estimation={"core": core, "priority": 90}, simulation={"core": None})
    told = [words for words in shared_with_others(rig.tasks, 0) if str(other) in words]
    assert told == [
        f"another run (process {other}) steps its task theirs on core {core} at priority 0, where task "
        "estimation of this run has priority 90: it waits for estimation"
    ]
    assert not [words for words in shared_with_others(rig.tasks, other) if str(other) in words]


def test_a_run_without_priorities_waits_as_the_other_does(other, core):
    rig = rig_with(estimation={"core": core}, simulation={"core": None})
    (words,) = [w for w in shared_with_others(rig.tasks, 0, fifo=False) if str(other) in w]
    assert words.endswith("priority 0: either waits for the other")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) == 1, reason="one core is shared by all")
def test_a_task_that_may_go_anywhere_shares_no_core_with_another_priority(other):
    rig = rig_with(estimation={"core": None}, simulation={"core": None})
    assert not [words for words in shared_with_others(rig.tasks, 0) if str(other) in words]


def test_two_tasks_of_a_rig_on_one_core_are_named():
    same = rig_with(
        estimation={"core": 1, "priority": 80, "spin_us": 0},
        simulation={"core": 1, "priority": 80, "spin_us": 0},
    )
    (words,) = shared_by_tasks(same)
    assert words.startswith("tasks estimation and simulation share core 1 at one priority, 80")
    ranked = rig_with(
        estimation={"core": 1, "priority": 90, "spin_us": 0},
        simulation={"core": 1, "priority": 80, "spin_us": 0},
    )
    (words,) = shared_by_tasks(ranked)
    assert "simulation waits while estimation steps" in words
    assert not shared_by_tasks(rig_with(estimation={"core": 0}, simulation={"core": 1}))
