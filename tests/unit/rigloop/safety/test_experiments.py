"""The runs that show the answers of a rig: which injections share one, how long each may last, what is tried again."""

from functools import cache

import pytest

from rigloop.compose.wiring import load as load_again
from rigloop.inject.kinds import ON_VETH
from rigloop.inject.request import MOST
from rigloop.safety.answers import answers_of
from rigloop.safety.chosen import is_measured
from rigloop.safety.early_rig import Times
from rigloop.safety.experiments import experiments

load = cache(load_again)
TIMES = Times(0.3, 0.2)


def planned(rig, *names, repeats=1):
    answers = [a for a in answers_of(load(rig).rig) if not names or a.fault.name in names]
    return experiments(answers, TIMES, repeats)


def test_faults_after_which_a_rig_is_armed_again_share_a_run():
    names = ("request-nan", "frame-lost", "link-down")
    (run,) = planned("fault_bench", *names, repeats=2)
    asked = [words.partition("@")[0].partition("/")[2] for words in run.trial.asked]
    assert sorted(asked) == sorted(names * 2)
    assert len(run.trial.series) == len(run.shows) == 6
    assert [words.partition("@")[2] for words in run.trial.asked] == ["0.3", *["0.2"] * 5]
    assert run.trial.seconds > sum(run.trial.series)


@pytest.mark.parametrize(
    "name", ["cycle-hang", "model-hang", "off-core", "supervisor-kill", "cycle-term"]
)
def test_a_fault_that_ends_a_process_or_moves_a_thread_has_runs_of_its_own(name):
    runs = planned("fault_bench", name, "request-nan", repeats=3)
    assert [run.trial.series for run in runs].count(()) == 3
    for run in runs[1:]:
        assert [a.fault.name for group in run.shows for a in group] == [name]


def test_an_arming_lasts_until_all_that_is_stated_was_seen():
    answers = {a.fault.name: a for a in answers_of(load("steering_wheel").rig)}
    for name in ("overruns", "sensor-flicker", "frame-lost", "sensor-jump", "link-down"):
        (run,) = planned("steering_wheel", name)
        answer, (lasts_s,) = answers[name], run.trial.series
        zero_ms = answer.ms(answer.stated.zero) or 0.0
        assert lasts_s >= 0.3 + 1e-3 * zero_ms + 0.1


def test_no_run_has_more_than_a_command_line_may_ask_for():
    runs = planned("pedals_and_wheel", repeats=2)
    assert max(len(run.trial.asked) for run in runs) == MOST


def test_a_fault_that_needs_a_cable_has_a_virtual_one():
    (run,) = planned("fault_bench", "cycle-kill")
    assert (run.trial.asked, run.trial.bus) == (("cycle-kill@0.3",), "veth")


def test_a_fault_that_all_axes_see_is_injected_once():
    (shared,) = planned("pedals_and_wheel", "link-down")
    assert [a.guard for a in shared.shows[0]] == ["wheel_guard", "brake_guard", "gas_guard"]
    (apart,) = planned("pedals_and_wheel", "drive-fault")
    assert [[a.guard for a in group] for group in apart.shows] == [
        ["wheel_guard"],
        ["brake_guard"],
        ["gas_guard"],
    ]
    (lines,) = planned("two_lines", "link-down")
    assert len(lines.shows) == 2
    (killed,) = planned("two_lines", "supervisor-kill")
    assert killed.trial.asked == ("supervisor-kill@0.3",)
    assert len(killed.shows[0]) == 2


def test_each_reaction_that_can_be_seen_is_measured_as_often_as_asked():
    for rig in ("pedals_and_wheel", "fault_bench"):
        answers = [a for a in answers_of(load(rig).rig) if a.fault.needs not in ON_VETH]
        runs = experiments(answers, TIMES, 2)
        shown = [(a.guard, a.fault.name) for run in runs for group in run.shows for a in group]
        wanted = [(a.guard, a.fault.name) for a in answers if is_measured(a)]
        assert sorted(shown) == sorted(wanted * 2)
        names = {name for _, name in shown}
        assert {"link-down", "supervisor-stop", "frame-lost"} <= names
        assert not {"recorder-kill", "sensor-stuck"} & names


def test_what_a_run_did_not_show_is_tried_again_with_the_times_of_a_first_arming():
    (run,) = planned("fault_bench", "request-nan", "frame-lost", "link-down", repeats=2)
    left = run.only([1, 4])
    assert left.shows == (run.shows[1], run.shows[4])
    assert [words.partition("@")[2] for words in left.trial.asked] == ["0.3", "0.2"]
    assert len(left.trial.series) == 2
    alone = planned("fault_bench", "cycle-term")[0]
    assert alone.only([0]) == alone
