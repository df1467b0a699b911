"""Offline stepping: what is forced, when a slow task sees and is seen, and what is refused."""

import numpy as np
import pytest

from rt_core.injection.load import BusyBlock
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table
from rt_core.safety.guard import READS, Guard
from rt_core.safety.trips import GuardConfig

MS = 1_000_000


def two_tasks():
    """A fast and a slow task that watch each other's cycle counter."""
    fast = Task("fast", [Reader("a", ["loop/slow/cycle", "in/x"])], MS, inputs=("in/x",))
    return plan_table([fast, Task("slow", [Reader("b", ["in/x"])], 5 * MS)])


class Reader(BusyBlock):
    """A block that does nothing, with ports to make mirrors."""

    def __new__(cls, name, paths):
        return BusyBlock.__new__(cls, name, 0)

    def __init__(self, name, paths):
        BusyBlock.__init__(self, name, 0)
        self._reads = {f"in{i}": path for i, path in enumerate(paths)}

    @property
    def reads(self):
        return self._reads


def column(offline, images, task, path):
    return images[task][:, offline.paths(task).index(path)]


def test_a_slow_cycle_sees_and_is_seen_when_the_schedule_says():
    offline = Offline(two_tasks())
    x = np.arange(100.0, 120.0)
    images = offline.run(
        "fast", np.arange(20) * MS, forced={"in/x": x},
        slow="slow", slow_t_ns=np.arange(4) * 5 * MS,
        slow_after=[0, 5, 11, 15], slow_visible=[2, 8, 11, 20],
    )  # fmt: skip
    # nothing was published before fast cycle 1, so the first slow cycle saw zero
    assert np.array_equal(column(offline, images, "slow", "in/x"), [0, 104, 110, 114])
    assert np.array_equal(column(offline, images, "slow", "loop/fast/cycle"), [0, 5, 11, 15])
    seen = column(offline, images, "fast", "loop/slow/cycle")
    assert np.array_equal(seen, np.searchsorted([2, 8, 11, 20], np.arange(20), side="right"))


def test_a_slow_cycle_may_begin_before_the_one_before_it_is_seen():
    offline = Offline(two_tasks())
    images = offline.run(
        "fast", np.arange(8) * MS, slow="slow", slow_t_ns=[0, 5 * MS],
        slow_after=[1, 2], slow_visible=[4, 6],
    )  # fmt: skip
    seen = column(offline, images, "fast", "loop/slow/cycle")
    assert np.array_equal(seen, [0, 0, 0, 0, 1, 1, 2, 2])


def test_a_forced_mirror_wins_over_what_was_published():
    offline = Offline(two_tasks())
    forced = np.arange(10.0) * 3
    images = offline.run(
        "fast", np.arange(10) * MS, forced={"loop/slow/cycle": forced},
        slow="slow", slow_t_ns=[0], slow_after=[1],
    )  # fmt: skip
    assert np.array_equal(column(offline, images, "fast", "loop/slow/cycle"), forced)


def test_skipped_periods_show_as_elapsed():
    offline = Offline(two_tasks())
    images = offline.run("fast", np.array([0, 1, 4, 5]) * MS)
    assert np.array_equal(column(offline, images, "fast", "loop/fast/elapsed"), [1, 1, 3, 1])
    assert column(offline, images, "fast", "loop/fast/skipped")[-1] == 2
    assert column(offline, images, "fast", "loop/fast/overruns")[-1] == 1


def test_runs_in_pieces_give_the_bits_of_one_run():
    rng = np.random.default_rng(3)
    n = 500
    inputs = {f"in/{port}": rng.uniform(-2, 2, n) for port in READS}
    inputs["in/actuator_ready"] = np.ones(n)
    inputs["in/own_fault"] = inputs["in/request_fault"] = np.zeros(n)
    t_ns = np.arange(n) * MS

    def stepper():
        config = GuardConfig(
            10, 1e4, 100, 100, request_hold_ms=5, sensor_bucket_ms=1000, skip_bucket_ms=1000
        )
        guard = Guard(config, period_ns=MS, reads={port: f"in/{port}" for port in READS})
        return Offline(plan_table([Task("fast", [guard], MS, inputs=tuple(inputs))]))

    whole = stepper().run("fast", t_ns, forced=inputs)["fast"]
    pieces = stepper()
    parts = [
        pieces.run("fast", t_ns[part], forced={path: x[part] for path, x in inputs.items()})["fast"]
        for part in (slice(0, 1), slice(1, 200), slice(200, 200), slice(200, n))
    ]
    assert np.concatenate(parts).tobytes() == whole.tobytes()


def test_all_impossible_inputs_are_told_at_once():
    offline = Offline(two_tasks())
    with pytest.raises(ValueError, match="in/y") as caught:
        offline.run("fast", [0, MS, MS], forced={"in/y": [1, 2, 3], "in/x": [1, 2]})
    assert "'in/x' has shape (2,)" in str(caught.value)
    assert "must rise" in str(caught.value)


@pytest.mark.parametrize(
    ("after", "visible", "reason"),
    [
        ([5, 3], None, "slow_after must rise"),
        ([0, 99], None, "10 fast cycles"),
        ([-1, 5], None, "slow_after"),
        ([0, 5], [7, 6], "slow_visible must rise"),
        ([0, 5], [0, 4], "slow_visible"),
        ([0], None, "shapes"),
    ],
)
def test_an_impossible_schedule_is_refused(after, visible, reason):
    with pytest.raises(ValueError, match=reason):
        Offline(two_tasks()).run(
            "fast", np.arange(10) * MS,
            slow="slow", slow_t_ns=[0, 5 * MS], slow_after=after, slow_visible=visible,
        )  # fmt: skip


def test_unknown_tasks_are_answered_with_what_there_is():
    with pytest.raises(KeyError, match="fast, slow"):
        Offline(two_tasks()).run("quick", [0])
