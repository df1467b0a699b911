"""What `--inject` takes, and every way in which it can be wrong."""

import math

import pytest

from rig_configs.mistakes import ConfigError
from rigloop.bench.fault_trials import rigs_for
from rigloop.compose.wiring import load
from rigloop.inject.limits import limits_of
from rigloop.inject.request import again, parse, stay_s


@pytest.fixture(scope="module")
def lim():
    return limits_of(load("fault_bench").rig)


def asked(lim, *words, backend="simulated", telemetry=False, seconds=None):
    return parse(words, lim.rig, {lim.bus_name: backend}, telemetry, seconds)


def test_a_name_and_a_time_are_enough(lim):
    (found,) = asked(lim, "sensor-nan@1.5")
    assert (found.fault.name, found.at_s) == ("sensor-nan", 1.5)
    assert math.isnan(found.value)


def test_an_argument_takes_the_place_of_the_rigs_own(lim):
    default, given = asked(lim, "overrun@1", "overrun:2500@1")
    assert (default.value, given.value) == (1500, 2500)


def test_what_was_found_right_is_read_again_as_it_was(lim):
    words = ["overrun:2500@1", "link-down@2"]
    first, second = asked(lim, *words), again(words, lim)
    assert [(i.words, i.value, i.at_s) for i in first] == [
        (i.words, i.value, i.at_s) for i in second
    ]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("sensor-nan", "not FAULT@T"),
        ("sensor-nam@1", "did you mean 'sensor-nan'"),
        ("sensor-nan@soon", "T = 'soon'"),
        ("sensor-nan@-1", "T = '-1'"),
        ("sensor-nan@nan", "T = 'nan'"),
        ("sensor-nan@9", "after the end; --for is 5"),
        ("overrun:fast@1", "VALUE = 'fast'"),
        ("overrun:nan@1", "VALUE = 'nan'"),
        ("overrun:-5@1", "VALUE = '-5'"),
        ("link-down:3@1", "takes no value"),
        ("cycle-kill@1", "add --bus veth"),
        ("cable-pull@1", "add --bus veth"),
        ("ring-break@1", "add --bus veth"),
        ("telemetry-kill@1", "add --telemetry"),
    ],
)
def test_a_mistake_names_the_words_and_the_remedy(lim, words, problem):
    with pytest.raises(ConfigError) as told:
        asked(lim, words, seconds=5.0)
    (mistake,) = told.value.mistakes
    assert f"--inject = {words!r}" in str(mistake)
    assert problem in str(mistake)


def test_a_cable_needs_the_wire_that_it_belongs_to_and_time_to_come_back(lim):
    for words, problem in (
        ("cable-pull@3", "it takes 2.8 s, --for is 5"),
        ("ring-break@1", "give the bus a second_interface"),
    ):
        with pytest.raises(ConfigError, match=problem):
            asked(lim, words, backend="veth", seconds=5.0)
    ring = rigs_for(load("fault_bench"))["ring"].rig
    with pytest.raises(ConfigError, match="take `ring-break`"):
        parse(["cable-pull@1"], ring, {"bus": "veth"}, False, 5.0)
    (found,) = parse(["ring-break@1"], ring, {"bus": "veth"}, False, 5.0)
    assert stay_s([found]) == found.fault.lasts_s == 1.0
    assert stay_s(asked(lim, "link-down@1")) == 0.0


def test_all_mistakes_are_told_at_once(lim):
    with pytest.raises(ConfigError) as told:
        asked(lim, "nothing@1", "overrun:0@-1", "al-error@1", backend="veth")
    assert len(told.value.mistakes) == 4
