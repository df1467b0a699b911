"""`rigloop check` of rigs whose wheel would sing, and of rigs that have no such loop."""

import json
import re

import msgspec
import pytest
from swaps import swapped
from typer.testing import CliRunner

from rig_configs.load import find_rig
from rigloop.cli import app
from rigloop.compose.wiring import load
from rigloop.haptic.check import HandsMargin, examine_loop, in_words
from rigloop.haptic.gains import End, Gain, ends
from rigloop.haptic.path import NoPathError, haptic_path

RIG = find_rig("steering_wheel").read_text()


@pytest.fixture
def changed(tmp_path):
    """Write the steering rig with other lines."""

    def write(*pairs):
        path = tmp_path / "rig.toml"
        path.write_text(swapped(RIG, *pairs))
        return str(path)

    return write


def with_gain(gain):
    return ("request_sign = -1", f"request_sign = -1\nrequest_gain = {gain}")


@pytest.mark.slow
def test_a_rig_that_would_sing_is_refused_with_a_gain_that_does(changed):
    ran = CliRunner().invoke(app, ["check", changed(with_gain(3.0)), "--json"])
    assert ran.exit_code == 2
    (words,) = json.loads(ran.stdout)["mistakes"]
    assert re.search(
        r"blocks\.guard\.request_gain = 3.0: with hands off the wheel would sing at 5\d\.\d Hz",
        words,
    )
    assert "limit 2.1" in words
    would = re.search(r"; ([\d.]+) would do", words)[1]
    ran = CliRunner().invoke(app, ["check", changed(with_gain(would)), "--json"])
    assert ran.exit_code == 0, ran.output
    for margin in json.loads(ran.stdout)["haptic"]:
        assert margin["limit"] > 2.0 * float(would)


@pytest.mark.slow
def test_a_margin_that_is_little_is_noted(changed):
    found = examine_loop(load(changed(with_gain(1.5))))
    assert not found.mistakes
    assert any("a margin of 1.4" in note for note in found.notes)


@pytest.mark.slow
def test_a_drive_that_is_slower_leaves_less(changed):
    slow = changed(("rated_torque_nm = 6.37", "rated_torque_nm = 6.37\ntorque_delay_ms = 4.0"))
    quick = min(m.limit for m in examine_loop(load("steering_wheel")).margins)
    assert min(m.limit for m in examine_loop(load(slow)).margins) < 0.8 * quick


def through_gain(lower, upper, task="simulation"):
    """Lines of a live gain between the model and its guard."""
    order = {
        "simulation": ('blocks = ["steering"]', 'blocks = ["steering", "assist"]'),
        "estimation": ('"wheel", "guard"]', '"wheel", "assist", "guard"]'),
        "late": ('blocks = ["steering"]', 'blocks = ["assist", "steering"]'),
    }
    return (
        order[task],
        ('torque_request_nm = "steering/guide/torque_nm"', 'torque_request_nm = "assist/y"'),
        (
            "[blocks.guard]",
            '[blocks.assist]\nkind = "gain"\ngain = 0.5\nunit = "Nm"\nreads = { u = "steering/guide/torque_nm" }\n'
            '[live.knob]\nblock = "assist"\nparameter = "gain"\nunit = "1"\nrate_per_s = 1.0\nstart = 0.5\n'
            f"lower = {lower}\nupper = {upper}\n[blocks.guard]",
        ),
    )


@pytest.mark.slow
def test_a_live_gain_is_looked_at_where_its_limits_are(changed):
    alone = {m.hands: m for m in examine_loop(load("steering_wheel")).margins}
    found = examine_loop(load(changed(*through_gain(0.0, 1.0))))
    assert not found.mistakes
    for m in found.margins:
        # the limit is the same torque, however far the value is from it as the run begins
        assert (m.live, m.request_gain) == ("live.knob.upper", 1.0)
        assert m.limit == pytest.approx(alone[m.hands].limit, rel=1e-6)
    (mistake,) = examine_loop(load(changed(*through_gain(0.0, 3.0)))).mistakes
    words = str(mistake)
    assert "live.knob.upper = 3.0: with hands off the wheel would sing at 5" in words
    assert "limit 2.1" in words
    assert "; 1 would do" in words


def test_a_gain_behind_the_model_takes_no_cycle_and_one_before_it_has_no_margin(changed):
    direct = haptic_path(load("steering_wheel").rig)
    for task in ("simulation", "estimation"):
        found = haptic_path(load(changed(*through_gain(0.0, 1.0, task))).rig)
        assert (found.model, found.torque_port, found.age_out) == (
            "steering",
            direct.torque_port,
            1,
        )
        assert [(gain.block, gain.live) for gain in found.gains] == [("assist", "knob")]
    with pytest.raises(NoPathError, match="assist: the torque takes 2 hand-overs"):
        haptic_path(load(changed(*through_gain(0.0, 1.0, "late"))).rig)


def test_gains_are_taken_at_the_ends_of_what_they_make_together():
    constant, knob = Gain("a", -2.0, -2.0, -2.0), Gain("b", 0.5, -1.0, 3.0, "knob")
    assert ends(()) == [End(1.0)]
    assert ends((constant,)) == [End(-2.0)]
    assert ends((knob,)) == [End(3.0, "live.knob.upper", 3.0), End(-1.0, "live.knob.lower", -1.0)]
    both = ends((constant, knob))
    assert both == [End(2.0, "live.knob.lower", -1.0), End(-6.0, "live.knob.upper", 3.0)]


def test_a_margin_is_told_of_what_the_drive_turns():
    brake = HandsMargin("off", 1.0, 2.5, 40.0, None, 10.0, 0.1, 0.02, "brake_guard", "brake")
    (line,) = in_words((brake,))
    assert line.startswith("brake_guard: hands off: gain 1, the brake sings above 2.5, at 40 Hz")
    (line,) = in_words((msgspec.structs.replace(brake, limit=None),))
    assert line.endswith("the brake does not sing at any gain up to 1000")


def test_a_wheel_that_nothing_is_said_of_has_no_margin(changed):
    text = RIG[RIG.index("[blocks.bus.drives.wheel.plant]") : RIG.index("[blocks.wheel]")]
    found = examine_loop(load(changed((text, ""))))
    assert not found.margins
    assert "plant.inertia_kg_m2" in found.notes[0]


def test_hand_overs_are_those_of_the_tasks(changed):
    two = haptic_path(load("steering_wheel").rig)
    assert (two.every, two.age_in, two.age_out, two.sample, two.guide) == (5, 1, 1, 0, (0, 1, 2))
    tasks = RIG[RIG.index("[tasks.estimation]") : RIG.index("[blocks.bus]")]
    one_task = """[tasks.loop]
period_us = 1000
blocks = ["bus", "wheel", "steering", "guard"]

"""
    one = haptic_path(
        load(
            changed(
                (tasks, one_task),
                ("loop/estimation/", "loop/loop/"),
                ("loop/simulation/", "loop/loop/"),
            )
        ).rig
    )
    assert (one.every, one.age_in, one.age_out, one.sample) == (1, 0, 0, 0)


@pytest.mark.parametrize(("rig", "why"), [("latency_bench", "not an output of a mechanism")])
def test_a_rig_without_such_a_loop_says_why(rig, why):
    with pytest.raises(NoPathError, match=why):
        haptic_path(load(rig).rig)
