"""Captures of given cycles: where the trigger is, that none is lost, and that pieces make no difference."""

from itertools import pairwise

import numpy as np
import pytest
from given_cycles import MS, GivenCycles, rows_of
from hypothesis import given
from hypothesis import strategies as st

from rigloop.scope.scope import Scope
from rigloop.scope.setup import Setup, SetupError, checked
from rigloop.scope.trigger import read_trigger

VALUES = st.lists(st.integers(-3, 3), min_size=1, max_size=60)
CUTS = st.lists(st.integers(0, 60 * MS), max_size=8)
TIMES = st.integers(0, 12)  # ms before and after the trigger
EDGES = st.sampled_from(["", " rising", " falling", " either"])
MODES = st.sampled_from(["single", "normal", "auto"])


def captures(rows, text, cuts=(), live=False, periods=None, **settings):
    source = GivenCycles(rows, cuts, periods, live)
    signals = tuple(path for path in source.homes if path.endswith("/x"))
    setup = checked(Setup(signals=signals, trigger=text, **settings))
    scope = Scope(source, setup, read_trigger(text, source.homes))
    found = []
    for _ in range(len(cuts) + 3):
        found += scope.poll()
    assert scope.state in ("done", "ended")
    return found


def expected_triggers(values, edge, post):
    """The law, cycle by cycle: the first cycle that fires after the last capture is over."""
    found, free = [], 0
    for i, value in enumerate(values):
        now, before = value > 0, values[i - 1] > 0 if i else None
        fires = {
            "": now,
            " rising": now and before is False,
            " falling": not now and before is True,
            " either": before is not None and now != before,
        }[edge]
        if fires and i >= free:
            found.append(i)
            free = max(i + post, i + 1)
    return found


@given(VALUES, CUTS, TIMES, TIMES, EDGES)
def test_each_trigger_is_the_first_cycle_that_fires_and_all_cycles_around_it_are_there(
    values, cuts, pre, post, edge
):
    pre = pre or (not post)
    rows = rows_of("a", values)
    found = captures(
        {"a": rows}, f"a/x > 0{edge}", cuts, mode="normal", pre_s=pre * 1e-3, post_s=post * 1e-3
    )
    assert [capture.trigger_ns // MS for capture in found] == expected_triggers(values, edge, post)
    for capture in found:
        (group,) = capture.groups
        i = capture.trigger_ns // MS
        assert group.rows.tobytes() == rows[max(0, i - pre) : i + post].tobytes()
        assert capture.gaps == {"a": ()}
        assert capture.complete == (i + post <= len(values))


@given(VALUES, VALUES, CUTS, TIMES, TIMES, MODES)
def test_pieces_make_no_difference_and_signals_of_a_slower_task_keep_their_newest_value(
    fast, slow, cuts, pre, post, mode
):
    rows = {"a": rows_of("a", fast), "b": rows_of("b", slow, 5 * MS)}
    settings = {
        "mode": mode, "pre_s": pre * 1e-3, "post_s": (post + 1) * 1e-3, "auto_after_s": 7e-3,
        "periods": {"a": MS, "b": 5 * MS},
    }  # fmt: skip
    text = "a/x > b/x rising"
    whole, pieces = (captures(rows, text, cut, **settings) for cut in ((), cuts))
    assert len(whole) == len(pieces)
    for one, other in zip(whole, pieces, strict=True):
        assert (one.why, one.trigger_ns, one.complete) == (
            other.why, other.trigger_ns, other.complete,
        )  # fmt: skip
        for a, b in zip(one.groups, other.groups, strict=True):
            assert a.rows.tobytes() == b.rows.tobytes()
        if one.why == "trigger":
            i = one.trigger_ns // MS
            assert fast[i] > slow[min(i // 5, len(slow) - 1)]


@given(st.lists(st.booleans(), min_size=3, max_size=80), CUTS)
def test_a_capture_after_another_has_every_cycle_and_counts_those_that_are_missing(keep, cuts):
    keep[0] = keep[-1] = True
    rows = rows_of("a", np.arange(len(keep)), keep=keep)
    found = captures({"a": rows}, "now", cuts, mode="normal", pre_s=0.0, post_s=0.01)
    there = np.concatenate([capture.groups[0].rows for capture in found])
    assert there.tobytes() == rows.tobytes()
    # a gap over the end of a capture is known on both sides, each with its part
    assert sum(capture.lost for capture in found) == len(keep) - sum(keep)
    (whole,) = captures({"a": rows}, "now", cuts, pre_s=0.0, post_s=1.0)
    assert whole.lost == len(keep) - sum(keep)
    assert not whole.complete
    ends = [(int(a), int(b)) for a, b in pairwise(rows["t_ns"]) if b - a > MS]
    assert [gap.t_ns for gap in whole.gaps["a"]] == [a for a, _ in ends]


def test_periods_that_the_loop_skipped_are_no_lost_cycles():
    rows = rows_of("a", np.arange(6))
    rows["t_ns"][3:] += 2 * MS
    (capture,) = captures({"a": rows}, "now", pre_s=0.0, post_s=1.0)
    ((gap,),) = capture.gaps.values()
    assert (gap.t_ns, gap.lost, gap.skipped) == (2 * MS, 0, 2)


def test_of_a_run_that_goes_on_older_cycles_are_only_before_the_trigger():
    values = [0, 1, 0, 1, 0, 0, 1, 1, 1]
    rows = {"a": rows_of("a", values)}
    text = "a/x > 0 rising"
    (capture,) = captures(rows, text, [4 * MS], live=True, pre_s=0.005, post_s=0.001)
    assert capture.trigger_ns == 6 * MS
    assert capture.groups[0].rows["a/x"].tolist() == [1, 0, 1, 0, 0, 1]


def test_without_a_trigger_an_automatic_scope_captures_all_the_same():
    rows = {"a": rows_of("a", [0] * 40 + [1] * 10)}
    found = captures(
        rows, "a/x > 0", mode="auto", auto_after_s=0.015, pre_s=0.0, post_s=0.005, count=3
    )
    assert [(c.why, c.trigger_ns // MS) for c in found] == [
        ("auto", 15),
        ("auto", 35),
        ("trigger", 40),
    ]


def test_a_fault_is_that_of_any_task_and_any_guard():
    known = ("loop/a/fault", "loop/b/fault", "g/trip", "g/trip_cycle", "other/trip")
    trigger = read_trigger("fault", known)
    assert trigger.paths == ("loop/a/fault", "loop/b/fault", "g/trip")
    assert read_trigger("late", ("loop/a/overruns",)).terms[0].edge == "grows"


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"signals": ()}, "length"),
        ({"pre_s": -1.0}, "pre_s"),
        ({"mode": "twice"}, "mode"),
        ({"signals": ("a/x", "a/x")}, "given twice"),
        ({"pre_s": 0.0, "post_s": 0.0}, "both 0"),
    ],
)
def test_settings_beyond_their_limits_are_refused(keys, words):
    with pytest.raises(SetupError, match=words):
        checked(Setup(**{"signals": ("a/x",)} | keys))
