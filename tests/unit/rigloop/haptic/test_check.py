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


def test_a_margin_is_told_of_what_the_drive_turns():
    brake = HandsMargin("off", 1.0, 2.5, 40.0, None, 10.0, 0.1, 0.02, "brake_guard", "brake")
    (line,) = in_words((brake,))
    assert line.startswith("brake_guard: hands off: gain 1, the brake sings from 2.5 on, at 40 Hz")
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


@pytest.mark.parametrize(("rig", "why"), [("latency_bench", "no output of a mechanism")])
def test_a_rig_without_such_a_loop_says_why(rig, why):
    with pytest.raises(NoPathError, match=why):
        haptic_path(load(rig).rig)
