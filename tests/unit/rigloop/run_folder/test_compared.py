"""Records compared bit for bit: what differs, where first, and what was not compared at all."""

import numpy as np
import pytest

from rigloop.run_folder import common_rows as parts_module
from rigloop.run_folder.compared import compare
from rigloop.run_folder.manifest import ManifestError

MS = 1_000_000


def record(rows, **columns):
    made = np.zeros(len(rows), [("t_ns", "<i8"), *((name, "<f8") for name in columns)])
    made["t_ns"] = np.asarray(rows) * MS
    for name, values in columns.items():
        made[name] = values
    return made


def test_equal_records_are_equal_bit_for_bit_nan_included():
    one = {"loop": record(range(4), a=[0.0, np.nan, 1.0, 2.0])}
    found = compare(one, {"loop": one["loop"].copy()})
    assert found.is_equal
    assert found.words() == "equal bit for bit: 4 values of 1 signals"


def test_the_first_cycle_that_differs_is_told_with_its_values():
    one = {"loop": record(range(4), a=[0.0, 1.0, 2.0, 3.0], b=[0.0, 0.0, 0.0, 5.0])}
    other = {"loop": record(range(4), a=[0.0, 1.0, 2.5, 1.0], b=[0.0, 0.0, 0.0, 5.0])}
    found = compare(one, other)
    (difference,) = found.differences
    assert (difference.path, difference.first_row, difference.first_t_s) == ("a", 2, 0.002)
    assert (difference.before, difference.after, difference.largest) == (2, 2.5, 2)
    assert difference.differing == 2
    assert found.words() == "1 of 2 signals differ, first a at 0.002 s (row 2 of loop)"


def test_a_signal_in_the_records_of_two_tasks_is_one_signal():
    one = {task: record([0], a=[0.0], b=[1.0]) for task in ("fast", "slow")}
    other = {task: record([0], a=[2.0], b=[1.0]) for task in ("fast", "slow")}
    found = compare(one, other)
    assert [d.task for d in found.differences] == ["fast", "slow"]
    assert [(d.path, d.task) for d in found.firsts] == [("a", "fast")]
    other["fast"]["b"], other["slow"]["b"] = 3.0, 4.0
    both = compare(one, other).firsts
    assert [(d.path, d.task) for d in both] == [("a", "fast"), ("b", "fast")]
    assert found.words() == "1 of 2 signals differ, first a at 0 s (row 0 of fast)"


def test_a_zero_of_the_other_sign_is_another_bit():
    found = compare({"x": record([0], a=[0.0])}, {"x": record([0], a=[-0.0])})
    assert not found.is_equal
    assert found.differences[0].largest == 0


def test_cycles_are_matched_by_their_times():
    found = compare(
        {"x": record([0, 1, 3, 4], a=[0.0, 1.0, 3.0, 4.0])},
        {"x": record([1, 2, 3], a=[1.0, 2.0, 3.0])},
    )
    assert found.is_equal
    assert found.values == 2


def test_nothing_compared_is_not_equal():
    found = compare({"x": record([0], a=[0.0])}, {"x": record([0], b=[0.0])})
    assert not found.is_equal
    assert (found.only_before, found.only_after) == (["a"], ["b"])
    assert "nothing was compared" in found.words()
    assert not compare({"x": record([0], a=[0.0])}, {"x": record([5], a=[0.0])}).is_equal


def test_the_first_row_is_that_of_the_first_record():
    one = {"x": record([0, 1, 3, 4], a=[0.0, 1.0, 3.0, 4.0])}
    found = compare(one, {"x": record([1, 3, 4, 5], a=[1.0, 3.0, 9.0, 5.0])})
    (difference,) = found.differences
    assert one["x"]["a"][difference.first_row] == 4.0
    assert difference.first_t_s == 0.004


def test_cycles_and_signals_of_one_side_are_told():
    found = compare(
        {"x": record([0, 1, 3, 4], a=[0.0, 1.0, 3.0, 4.0], b=[0.0] * 4)},
        {"x": record([1, 2, 3], a=[1.0, 2.0, 3.0])},
    )
    assert found.is_equal
    assert not found.is_whole
    assert found.words() == (
        "equal bit for bit: 2 values of 1 signals; only before: 2 cycles of x, b; only after: 1 cycles of x"
    )


def test_records_are_compared_part_by_part_to_the_same_result(monkeypatch):
    random = np.random.default_rng(7)
    rows = [np.flatnonzero(random.random(400) < share) for share in (0.9, 0.8)]
    sides = [{"x": record(r, a=np.sin(r), b=r * 1.0, c=np.full(len(r), np.nan))} for r in rows]
    both = np.intersect1d(*rows)
    at = both[random.random(len(both)) < 0.2]
    sides[1]["x"]["a"][np.isin(rows[1], at)] += 0.25
    sides[1]["x"]["b"][rows[1] == at[3]] = np.inf
    whole = compare(*sides)
    for size in (1, 3, 7, 64):
        monkeypatch.setattr(parts_module, "PART_BYTES", size * 32)
        assert compare(*sides) == whole
    (a, b) = whole.differences
    assert (a.differing, a.first_t_s) == (len(at), at[0] * 1e-3)
    # the sums of squares of equal distances, which are exact in binary up to the rounding of sin() + 0.25
    assert a.rms == pytest.approx(0.25 * np.sqrt(len(at) / len(both)), rel=1e-14)
    assert (b.largest, b.rms) == ("nan", "nan")
    assert whole.cycles_before == {"x": len(rows[0]) - len(both)}


def test_a_record_whose_times_fall_is_damaged():
    with pytest.raises(ManifestError, match="t_ns = 1000000 at row 2, not after"):
        compare({"x": record([0, 2, 1], a=[0.0] * 3)}, {"x": record([0, 1, 2], a=[0.0] * 3)})
