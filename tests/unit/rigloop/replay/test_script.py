"""A long replay is stepped in pieces: all cycles in order, whatever each saw of the others."""

import numpy as np
import pytest
from reading_block import Reader

from rigloop.replay.script import Pace, stepped
from rigloop.run_folder.not_started import NotStartedError
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table
from rt_core.steps import Steps

MS = 1_000_000


def offline():
    fast = Task("fast", [Reader("a", ["loop/slow/cycle"])], MS)
    return Offline(plan_table([fast, Task("slow", [Reader("b", ["loop/fast/cycle"])], 5 * MS)]))


def a_script(n, after, visible):
    seen = np.searchsorted(visible, np.arange(n), side="right")
    return {
        "fast": Steps(np.arange(n) * MS, {"slow": seen}),
        "slow": Steps(np.arange(len(after)) * 5 * MS, {"fast": np.asarray(after, np.int64)}),
    }


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [1, 50, 97, 1000])
def test_pieces_are_all_cycles_in_order_and_each_sees_what_it_saw(seed, size):
    rng = np.random.default_rng(seed)
    m = 150
    # a slow cycle may begin before the one before it is seen, and much later than its time says
    after = np.cumsum(rng.integers(1, 9, m))
    visible = np.maximum.accumulate(after + rng.integers(1, 12, m))
    n = int(visible[-1]) + 3
    script, stepper, pace = a_script(n, after, visible), offline(), Pace()
    found = {"fast": [], "slow": []}
    times = {"fast": [], "slow": []}
    for task, t_ns, images in stepped(stepper, script, pace, size):
        found[task].append(images)
        times[task].append(t_ns)
    for task, other in (("fast", "slow"), ("slow", "fast")):
        images = np.concatenate(found[task])
        assert np.array_equal(np.concatenate(times[task]), script[task].t_ns)
        seen = images[:, stepper.paths(task).index(f"loop/{other}/cycle")]
        assert np.array_equal(seen, script[task].seen[other])
    assert pace.cycles_s > 0.0


def test_what_cannot_have_been_seen_is_refused_in_one_sentence():
    script = a_script(100, [5, 10], [7, 12])
    script["slow"].seen["fast"][1] = 101
    with pytest.raises(
        NotStartedError, match=r"cycle 2 of task slow saw .* do not belong to one run"
    ):
        for _ in stepped(offline(), script, Pace(), 10):
            pass


def test_two_cycles_that_each_saw_the_other_are_refused():
    script = a_script(10, [5], [4])
    with pytest.raises(NotStartedError, match="do not belong to one run"):
        for _ in stepped(offline(), script, Pace(), 10):
            pass
