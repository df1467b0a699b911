"""The runs that show the answers of a rig, the rig that they run, and the count of their outcomes."""

from functools import cache

import numpy as np
import pytest

from rigloop.compose.wiring import load as load_again
from rigloop.inject.kinds import ON_VETH
from rigloop.run_folder.manifest import ENDED_BEFORE, Injected
from rigloop.safety.answers import answers_of
from rigloop.safety.chosen import is_measured
from rigloop.safety.measure import (
    NO_TORQUE,
    Measured,
    clock_ms,
    experiments,
    is_spoilt,
)

load = cache(load_again)


def planned(rig, *names):
    answers = [a for a in answers_of(load(rig).rig) if not names or a.fault.name in names]
    return experiments(answers, 0.3)


def outcome(**changed):
    given = {
        "asked": "link-down@0.3", "does": "", "reaction": "SAFE", "stated": "SAFE", "began": 7, "found": 9,
        "found_by": "ACTUATOR_LOST", "to_find": 2, "to_find_bound": 2, "zero": 9, "to_zero": 2, "to_zero_bound": 2,
        "good": True,
    }  # fmt: skip
    return Injected(**given | changed)


def test_a_fault_that_ends_the_torque_has_a_run_of_its_own():
    (run,) = planned("fault_bench", "request-nan")
    assert run.trial.asked == ("guard/request-nan@0.3",)
    assert [[a.guard for a in shown] for shown in run.shows] == [["guard"]]


def test_a_fault_on_a_virtual_cable_waits_until_its_drive_pushes():
    (run,) = planned("fault_bench", "cycle-kill")
    assert (run.trial.asked, run.trial.bus) == (("cycle-kill@1",), "veth")


def test_faults_that_are_held_share_a_run_and_what_lasts_comes_last():
    (run,) = planned("fault_bench", "sensor-jump", "sensor-nan-blip", "frame-lost")
    assert len(run.trial.asked) == len(run.shows) == 3
    assert run.trial.asked[-1].startswith("guard/sensor-jump@")
    assert run.trial.seconds > float(run.trial.asked[-1].partition("@")[2])


def test_a_fault_that_all_axes_see_is_injected_once():
    (shared,) = planned("pedals_and_wheel", "link-down")
    assert [a.guard for a in shared.shows[0]] == ["wheel_guard", "brake_guard", "gas_guard"]
    assert len(planned("pedals_and_wheel", "drive-fault")) == 3
    assert len(planned("two_lines", "link-down")) == 2
    (killed,) = planned("two_lines", "supervisor-kill")
    assert killed.trial.asked == ("supervisor-kill@0.3",)
    assert len(killed.shows[0]) == 2


def test_each_reaction_that_can_be_seen_is_measured():
    for rig in ("pedals_and_wheel", "fault_bench"):
        answers = [a for a in answers_of(load(rig).rig) if a.fault.needs not in ON_VETH]
        shown = [a for run in experiments(answers, 0.3) for group in run.shows for a in group]
        wanted = [a for a in answers if is_measured(a)]
        assert len(shown) == len(wanted) == len({(a.guard, a.fault.name) for a in shown})
        assert {"link-down", "supervisor-stop", "frame-lost"} <= {a.fault.name for a in shown}
        assert not {"recorder-kill", "sensor-stuck"} & {a.fault.name for a in shown}


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
        ({"good": False, "why": (NO_TORQUE,)}, True),
        ({"good": False, "why": (NO_TORQUE, "zero after 9 cycles, stated 2")}, False),
        ({"good": False, "why": ("zero after 9 cycles, stated 2",)}, False),
    ],
)
def test_a_reaction_that_was_late_is_never_dropped(changed, spoilt):
    assert is_spoilt(outcome(**changed)) == spoilt


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
