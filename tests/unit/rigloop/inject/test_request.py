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
    first, second = asked(lim, *words), again(words, lim.rig)
    assert [(i.words, i.value, i.at_s) for i in first] == [
        (i.words, i.value, i.at_s) for i in second
    ]


def test_of_a_series_each_strikes_in_an_arming_of_its_own(lim):
    words = ["link-down@0.3", "overrun@0.2"]
    assert [i.arming for i in again(words, lim.rig, series=True)] == [1, 2]
    assert [i.arming for i in again(words, lim.rig)] == [0, 0]


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
        ("guard/supervisor-term@1", "strikes a process, and no axis"),
        ("gard/request-nan@1", "cannot strike 'gard'; it strikes one of guard, bus/wheel"),
        ("/request-nan@1", "cannot strike ''"),
        ("steering/sensor-nan@1", "it strikes one of guard, wheel, bus/wheel"),
        ("wheel/model-fault@1", "it strikes one of guard, steering"),
        ("bus/drive-fault@1", "it strikes one of guard, bus/wheel"),
        ("bus/wheel/link-down@1", "it strikes one of guard, bus"),
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


@pytest.mark.parametrize(
    ("words", "guard"),
    [
        ("request-nan@1", "wheel_guard"),
        ("brake_guard/request-nan@1", "brake_guard"),
        ("bus/gas/drive-fault@1", "gas_guard"),
        ("gas_angle/sensor-jump:500@1", "gas_guard"),
        ("brake/model-fault@1", "brake_guard"),
        ("bus/link-down@1", "wheel_guard"),
        ("supervisor-term@1", "wheel_guard"),
    ],
)
def test_the_name_before_a_fault_says_which_axis_it_strikes(words, guard):
    rig = load("pedals_and_wheel").rig
    (found,) = parse([words], rig, {"bus": "simulated"}, False, 5.0)
    assert found.lim.axis.guard == guard
    assert found.words == words


def test_a_fault_of_a_line_needs_the_back_end_of_that_line():
    rig = load("two_lines").rig
    backends = {"wheel_line": "veth", "pedal_line": "simulated"}
    (found,) = parse(["pedal_line/link-down@1"], rig, backends, False, 5.0)
    assert found.lim.bus_name == "pedal_line"
    with pytest.raises(ConfigError, match="add --bus simulated"):
        parse(["wheel_line/link-down@1"], rig, backends, False, 5.0)
    with pytest.raises(
        ConfigError, match="one of wheel_guard, brake_guard, wheel_line, pedal_line"
    ):
        parse(["brake_line/link-down@1"], rig, backends, False, 5.0)
