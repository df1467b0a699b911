"""The busy block burns when it should, and only then."""

import threading
import time

import numpy as np
import pytest

from rt_core.injection.load import BusyBlock, SleepProbe
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table


def test_it_burns_in_the_chosen_steps():
    busy = BusyBlock("busy", 2_000_000, every=4, first=2)
    offline = Offline(plan_table([Task("t", [busy], 1000)]))
    image = offline.run("t", np.arange(11) * 1000)["t"]
    burned_ns = image[:, offline.paths("t").index("busy/burned_ns")]
    assert np.all(burned_ns[[2, 6, 10]] >= 2_000_000)
    # the others take two clock reads; half of the burn leaves room for a stolen moment
    assert np.median(np.delete(burned_ns, [2, 6, 10])) < 1_000_000


def test_a_block_that_sleeps_has_its_time_without_the_core():
    spins, sleeps = BusyBlock("a", 20_000_000), BusyBlock("b", 20_000_000, sleeps=True)
    offline = Offline(plan_table([Task("t", [spins, sleeps], 1000)]))
    image = offline.run("t", np.arange(5) * 1000)["t"]
    wall_a, cpu_a, wall_b, cpu_b = (
        image[:, offline.paths("t").index(path)]
        for path in ("a/burned_ns", "a/cpu_ns", "b/burned_ns", "b/cpu_ns")
    )
    assert np.all(wall_a >= 20_000_000)
    assert np.all(wall_b >= 20_000_000)
    assert np.all(cpu_a <= wall_a + 100_000)  # the two clocks are read one after the other
    assert np.all(cpu_b < np.max(cpu_a) / 2)


def test_a_block_of_processor_time_takes_all_of_it():
    busy = BusyBlock("busy", 2_000_000, of_cpu=True)
    offline = Offline(plan_table([Task("t", [busy], 1000)]))
    image = offline.run("t", np.arange(3) * 1000)["t"]
    assert np.all(image[:, offline.paths("t").index("busy/cpu_ns")] >= 2_000_000)


def test_the_probe_tells_a_thread_that_sleeps_from_one_that_runs():
    def look(thread):
        probe = SleepProbe("probe")
        probe.watch(thread.native_id)
        offline = Offline(plan_table([Task("t", [probe], 1000)]))
        time.sleep(0.05)  # until it sleeps
        image = offline.run("t", np.arange(5) * 1000)["t"]
        return image[:, offline.paths("t").index("probe/asleep")]

    over = threading.Event()
    sleeper = threading.Thread(target=over.wait)
    sleeper.start()
    try:
        assert np.all(look(sleeper) == 1)
        assert np.all(look(threading.current_thread()) == 0)
    finally:
        over.set()
        sleeper.join()
    with pytest.raises(FileNotFoundError):
        SleepProbe("gone").watch(2**30)


@pytest.mark.parametrize("bad", [{"burn_ns": -1}, {"every": 0}, {"first": -1}])
def test_bad_figures_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        BusyBlock("busy", **{"burn_ns": 1} | bad)
