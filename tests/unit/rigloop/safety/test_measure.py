"""The count of what became of injections, and their time on the clock."""

from functools import cache

import numpy as np
import pytest

from rigloop.bench.fault_trials import Tried
from rigloop.compose.wiring import load as load_again
from rigloop.inject.seen import NO_PUSH, NO_TORQUE
from rigloop.run_folder.manifest import ENDED_BEFORE, NOT_ARMED, Injected
from rigloop.safety.answers import answers_of
from rigloop.safety.measure import TRIES, Measured, clock_ms, is_spoilt, measure

load = cache(load_again)


def outcome(**changed):
    given = {
        "asked": "link-down@0.3", "does": "", "reaction": "SAFE", "stated": "SAFE", "began": 7, "found": 9,
        "found_by": "ACTUATOR_LOST", "to_find": 2, "to_find_bound": 2, "zero": 9, "to_zero": 2, "to_zero_bound": 2,
        "good": True,
    }  # fmt: skip
    return Injected(**given | changed)


def test_the_worst_of_all_repeats_is_kept():
    row = Measured()
    row.add(outcome(to_zero=1, to_find=1), 0.5)
    row.add(outcome(), 4.0)
    row.add(outcome(to_zero=1, to_find=0), 1.0)
    assert (row.repeats, row.worst_to_find, row.worst_to_zero, row.not_as_stated) == (3, 2, 2, [])
    assert row.worst_ms == 4.0
    row.add(outcome(good=False, why=("zero after 3 cycles, stated 2",), to_zero=3), 2.0)
    assert row.worst_to_zero == 3
    assert row.not_as_stated == ["zero after 3 cycles, stated 2"]


@pytest.mark.parametrize(
    ("changed", "spoilt"),
    [
        ({}, False),
        ({"good": False, "began": None, "why": ("it did not begin before the run ended",)}, True),
        ({"good": False, "why": (f"{ENDED_BEFORE}: TIME_GAP",)}, True),
        ({"good": False, "why": (NO_TORQUE, NOT_ARMED, "COUNT, stated SAFE")}, True),
        ({"good": False, "why": (NO_TORQUE,)}, True),
        ({"good": False, "why": (NO_TORQUE, "zero after 9 cycles, stated 2")}, False),
        ({"good": False, "why": (NO_PUSH, "the drive says OP, 0x0000: not its watchdog")}, False),
        ({"good": False, "why": (NO_PUSH, "the drive says OP, 0x0000", NO_TORQUE)}, True),
        ({"good": False, "why": ("zero after 9 cycles, stated 2",)}, False),
    ],
)
def test_a_reaction_that_was_late_is_never_dropped(changed, spoilt):
    assert is_spoilt(outcome(**changed)) == spoilt


NOT_COME_TO = {"good": False, "began": None, "why": ("it did not begin before the run ended",)}


@pytest.fixture
def runs_that_show(monkeypatch, tmp_path):
    """Measure three faults of a rig in runs that show their first so many; return what came of it, and the runs."""

    def measured(shown):
        asked = []

        def attempt(loaded, trial, runs):
            asked.append(trial.asked)
            found = [
                (w, outcome(**({} if i < shown else NOT_COME_TO)))
                for i, w in enumerate(trial.asked)
            ]
            return Tried(found, [], 0.0, tmp_path / "no run")

        part = "rigloop.safety.measure"
        monkeypatch.setattr(f"{part}.attempt", attempt)
        monkeypatch.setattr(f"{part}.warm_up", lambda rig: None)
        monkeypatch.setattr(f"{part}.clock_ms", lambda *what: 1.0)
        names = ("request-nan", "link-down", "al-error")
        loaded = load("fault_bench")
        answers = [a for a in answers_of(loaded.rig) if a.fault.name in names]
        return measure(loaded, answers, 1, tmp_path / "runs", lambda words: None), asked

    return measured


def test_a_fault_that_its_series_did_not_come_to_is_tried_in_further_runs(runs_that_show):
    found, asked = runs_that_show(1)
    assert [len(words) for words in asked] == [3, 2, 1]
    assert {row.repeats for row in found.values()} == {1}
    assert sorted(row.spoilt for row in found.values()) == [0, 1, 2]


def test_runs_that_show_nothing_at_all_are_not_tried_for_ever(runs_that_show):
    found, asked = runs_that_show(0)
    assert [len(words) for words in asked] == [3] * TRIES
    assert {(row.repeats, row.spoilt) for row in found.values()} == {(0, TRIES)}


def test_the_time_on_the_clock_has_the_cycles_that_a_host_took(tmp_path):
    answer = next(a for a in answers_of(load("fault_bench").rig) if a.fault.name == "link-down")
    record = np.zeros(4, dtype=[("t_ns", "<i8"), ("loop/estimation/cycle", "<f8")])
    record["loop/estimation/cycle"] = [6, 7, 8, 9]
    record["t_ns"] = [5_000_000, 6_000_000, 40_000_000, 41_000_000]
    np.save(tmp_path / "estimation.npy", record)
    assert clock_ms(answer, outcome(), tmp_path) == pytest.approx(35.0)
    # one whose cycle was never published: the watchdog's own time
    hung = outcome(began=10, zero=14, found_by="watchdog")
    assert clock_ms(answer, hung, tmp_path) == pytest.approx(4.0)
    assert clock_ms(answer, outcome(zero=11), tmp_path) == pytest.approx(37.0)
    assert clock_ms(answer, outcome(zero=None), tmp_path) == 0.0
