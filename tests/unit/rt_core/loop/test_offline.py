"""Offline stepping: what is forced, when a slow task sees and is seen, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_block import Reader

from estimators.encoder.filter import EncoderFilter
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table
from rt_core.safety.guard import READS, Guard
from rt_core.safety.trips import GuardConfig
from rt_core.steps import Steps

MS = 1_000_000


def two_tasks():
    """A fast and a slow task that watch each other's cycle counter."""
    fast = Task("fast", [Reader("a", ["loop/slow/cycle", "in/x"])], MS, inputs=("in/x",))
    return plan_table([fast, Task("slow", [Reader("b", ["in/x"])], 5 * MS)])


def column(offline, images, task, path):
    return images[task][:, offline.paths(task).index(path)]


def both(n=20, slow_sees=(0, 5, 11, 15), seen_from=(2, 8, 11, 20), **forced):
    """Fast and slow cycles: what each slow one sees, and the fast cycle from which on it is seen."""
    fast_sees = np.searchsorted(seen_from, np.arange(n), side="right")
    return {
        "fast": Steps(np.arange(n) * MS, {"slow": fast_sees}, forced),
        "slow": Steps(np.arange(len(slow_sees)) * 5 * MS, {"fast": np.array(slow_sees)}),
    }


def timeless(offline, task, images):
    """Return the bytes of images without the times that the probing blocks measure."""
    kept = [
        i
        for i, path in enumerate(offline.paths(task))
        if not path.endswith(("/cpu_ns", "/burned_ns"))
    ]
    return images[:, kept].tobytes()


def test_every_cycle_sees_what_its_steps_say():
    offline = Offline(two_tasks())
    images = offline.run_together(both(**{"in/x": np.arange(100.0, 120.0)}))
    # nothing was published before fast cycle 1, so the first slow cycle saw zero
    assert np.array_equal(column(offline, images, "slow", "in/x"), [0, 104, 110, 114])
    assert np.array_equal(column(offline, images, "slow", "loop/fast/cycle"), [0, 5, 11, 15])
    seen = column(offline, images, "fast", "loop/slow/cycle")
    assert np.array_equal(seen, np.searchsorted([2, 8, 11, 20], np.arange(20), side="right"))


def test_a_slow_cycle_may_begin_before_the_one_before_it_is_seen():
    offline = Offline(two_tasks())
    images = offline.run_together(both(8, (1, 2), (4, 6)))
    seen = column(offline, images, "fast", "loop/slow/cycle")
    assert np.array_equal(seen, [0, 0, 0, 0, 1, 1, 2, 2])


def test_a_forced_mirror_wins_over_what_was_published():
    offline = Offline(two_tasks())
    forced = np.arange(10.0) * 3
    images = offline.run_together(both(10, (1,), (1,), **{"loop/slow/cycle": forced}))
    assert np.array_equal(column(offline, images, "fast", "loop/slow/cycle"), forced)


def test_a_cycle_that_saw_what_is_not_there_yet_waits_for_the_next_call():
    steps = both(**{"in/x": np.arange(100.0, 120.0)})
    whole = Offline(two_tasks()).run_together(steps)
    offline = Offline(two_tasks())
    done, parts = {"fast": 0, "slow": 0}, {"fast": [], "slow": []}
    # fast cycle 8 saw the second slow one, slow cycle 2 the eleventh fast one
    for ends in (
        {"fast": 20, "slow": 1},
        {"fast": 20, "slow": 1},
        {"fast": 9, "slow": 4},
        {"fast": 20, "slow": 4},
    ):
        images = offline.run_together(
            {task: steps[task].part(done[task], ends[task]) for task in steps}
        )
        for task, made in images.items():
            done[task] += len(made)
            parts[task].append(made)
    assert [len(made) for made in parts["fast"]] == [8, 0, 1, 11]
    assert [len(made) for made in parts["slow"]] == [1, 0, 1, 2]
    for task, images in whole.items():
        assert timeless(offline, task, np.concatenate(parts[task])) == timeless(
            offline, task, images
        )


THREE = ("a", "b", "c")


def three_tasks():
    """Three tasks in a ring, each of which reads the counters of both others, and an input."""
    return plan_table([
        Task(
            name,
            [Reader(name, [f"in/{name}", *(f"loop/{o}/cycle" for o in THREE if o != name), f"in/{other}"])],
            period * MS,
            inputs=(f"in/{name}",),
        )
        for name, other, period in (("a", "b", 1), ("b", "c", 2), ("c", "a", 3))
    ])  # fmt: skip


@settings(deadline=None)
@given(st.data())
def test_three_tasks_see_what_they_saw_in_whatever_pieces(data):
    # a live run: cycles in some order, each sees for every other task some image between its last look and now
    order = data.draw(st.lists(st.sampled_from(THREE), min_size=1, max_size=60))
    done = dict.fromkeys(THREE, 0)
    views = {task: {other: [] for other in THREE if other != task} for task in THREE}
    for task in order:
        for other, seen in views[task].items():
            seen.append(data.draw(st.integers(seen[-1] if seen else 0, done[other])))
        done[task] += 1
    period = {"a": 1, "b": 2, "c": 3}
    steps = {
        task: Steps(
            np.arange(done[task]) * period[task] * MS,
            {other: np.array(seen, np.int64) for other, seen in views[task].items()},
            {f"in/{task}": np.arange(done[task]) + 1000.0 * period[task]},
        )
        for task in THREE
    }
    offline = Offline(three_tasks())
    images = offline.run_together(steps)
    for task in THREE:
        assert len(images[task]) == done[task]
        for other, seen in views[task].items():
            assert np.array_equal(column(offline, images, task, f"loop/{other}/cycle"), seen)
            if f"in/{other}" in offline.paths(task):
                wanted = [number - 1 + 1000.0 * period[other] if number else 0.0 for number in seen]
                assert np.array_equal(column(offline, images, task, f"in/{other}"), wanted)
    # the same in pieces that anybody may cut
    again, at = Offline(three_tasks()), dict.fromkeys(THREE, 0)
    parts = {task: [] for task in THREE}
    for cut in range(4):
        ends = {
            task: done[task] if cut == 3 else data.draw(st.integers(at[task], done[task]))
            for task in THREE
        }
        for task, made in again.run_together(
            {t: steps[t].part(at[t], ends[t]) for t in THREE}
        ).items():
            at[task] += len(made)
            parts[task].append(made)
    for task in THREE:
        made = np.concatenate([images[task][:0], *parts[task]])
        assert timeless(offline, task, made) == timeless(offline, task, images[task])


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
    ("seen", "reason"),
    [
        ({"fast": [5, 3]}, "must rise"),
        ({"fast": [-1, 5]}, "must rise from 0 on"),
        ({"fast": [0]}, r"has shape \(1,\), needs \(2,\)"),
        ({}, "reads of 'fast'"),
        ({"fast": [0, 1], "other": [0, 1]}, "'other' is no other task"),
        ({"fast": [0, 1], "slow": [0, 1]}, "'slow' is no other task"),
    ],
)
def test_an_impossible_order_is_refused(seen, reason):
    steps = both(10, (1, 2), (4, 6)) | {"slow": Steps([0, 5 * MS], seen)}
    with pytest.raises(ValueError, match=reason):
        Offline(two_tasks()).run_together(steps)


@pytest.mark.parametrize("at", [3, 20])
def test_rows_that_are_given_get_times_and_the_same_images(at):
    steps = {
        "fast": Steps(np.arange(20) * MS, {}, {"in/x": np.rint(50 * np.sin(0.3 * np.arange(20)))}),
        "slow": Steps(np.arange(4) * 5 * MS, {"fast": np.array([0, 5, 11, 15])}),
    }
    expected = Offline(filters()).run_together(steps)
    slow = int(np.searchsorted([0, 5, 11, 15], at))
    offline = Offline(filters())
    rows = {task: np.full((20, 1 + len(offline.paths(task))), -1.0) for task in steps}
    found = {task: [] for task in steps}
    for begin, end in (((0, 0), (at, slow)), ((at, slow), (20, 4))):
        part = {t: steps[t].part(b, e) for t, b, e in zip(steps, begin, end, strict=True)}
        if not any(len(one) for one in part.values()):
            continue
        # the same rows again: what a cycle of the first part left there is seen by none of the second
        for task, images in offline.run_together(part, rows=rows).items():
            assert np.shares_memory(images, rows[task]) or not len(images)
            found[task].append(rows[task][: len(images)].copy())
            rows[task][:] = -1.0
    for task, images in expected.items():
        made = np.concatenate(found[task])
        assert made[:, 0].view(np.int64).tolist() == list(steps[task].t_ns)
        assert np.ascontiguousarray(made[:, 1:]).tobytes() == images.tobytes()


@pytest.mark.parametrize("shape", [(1, 5), (2, 4), (10,)])
def test_rows_with_too_little_room_are_refused(shape):
    offline = Offline(filters())
    rows = {task: np.zeros((2, 1 + len(offline.paths(task)))) for task in ("fast", "slow")}
    rows["slow"] = np.zeros(shape)
    steps = {
        "fast": Steps([0, MS], {}, {"in/x": np.zeros(2)}),
        "slow": Steps([0, 5 * MS], {"fast": np.array([0, 2])}),
    }
    with pytest.raises(ValueError, match="rows of task 'slow' have shape"):
        offline.run_together(steps, rows=rows)


def test_images_of_long_ago_are_not_asked_for():
    offline = Offline(two_tasks())
    offline.run_together(both(10, (9,), (10,)))
    with pytest.raises(ValueError, match="must rise from 9 on"):
        offline.run_together({
            "fast": Steps([10 * MS], {"slow": [1]}), "slow": Steps([5 * MS], {"fast": [3]}),
        })  # fmt: skip


def test_unknown_tasks_are_answered_with_what_there_is():
    with pytest.raises(KeyError, match="fast, slow"):
        Offline(two_tasks()).run("quick", [0])


def filters():
    """A fast filter, and a slow one that reads what the fast one took."""

    def made(name, task, ms, count):
        reads = {"position_count": count, "elapsed": f"loop/{task}/elapsed"}
        return EncoderFilter(
            name, reads, {"unwrapped_count": f"{name}/count", "rate_rad_s": f"{name}/rate_rad_s"},
            counts_per_rev=4096.0, period_s=1e-3 * ms, bandwidth_rad_s=60.0,
        )  # fmt: skip

    fast = Task("fast", [made("a", "fast", 1, "in/x")], MS, inputs=("in/x",))
    return plan_table([fast, Task("slow", [made("b", "slow", 5, "a/count")], 5 * MS)])


@pytest.mark.parametrize("at", [3, 11, 16])
def test_another_one_goes_on_from_a_place_with_the_same_bits(at):
    steps = {
        "fast": Steps(np.arange(20) * MS, {}, {"in/x": np.rint(50 * np.sin(0.3 * np.arange(20)))}),
        "slow": Steps(np.arange(4) * 5 * MS, {"fast": np.array([0, 5, 11, 15])}),
    }
    slow = int(np.searchsorted([0, 5, 11, 15], at))
    first = {"fast": steps["fast"].part(0, at), "slow": steps["slow"].part(0, slow)}
    rest = {"fast": steps["fast"].part(at, 20), "slow": steps["slow"].part(slow, 4)}
    before = Offline(filters())
    before.run_together(first)
    place = before.place
    expected = before.run_together(rest)
    after = Offline(filters())
    after.put_back(place)
    found = after.run_together(rest)
    assert len(expected["slow"]) == 4 - slow
    for task, images in expected.items():
        assert images.tobytes() == found[task].tobytes()
    # cells of the table are elsewhere in each of them, and no address is taken along
    assert all(len(where) < size for given in place.values() for size, where, _ in given["blocks"])


def test_a_place_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="does not say how large"):
        _ = Offline(two_tasks()).place
    place = Offline(filters()).place
    with pytest.raises(ValueError, match="other tasks"):
        Offline(filters()).put_back({"fast": place["fast"]})
    stepped = Offline(filters())
    stepped.run("fast", [0], forced={"in/x": [1.0]})
    with pytest.raises(ValueError, match="stepped already"):
        stepped.put_back(place)
    place["slow"]["blocks"][0][0] += 1
    with pytest.raises(ValueError, match="other states"):
        Offline(filters()).put_back(place)
