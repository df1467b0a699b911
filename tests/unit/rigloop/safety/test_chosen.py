"""The faults that may be asked for."""

from functools import cache

import pytest

from rig_configs.mistakes import ConfigError
from rigloop.compose.wiring import load as load_again
from rigloop.safety.answers import answers_of
from rigloop.safety.chosen import chosen, known_faults

load = cache(load_again)


@pytest.mark.parametrize("name", ["request-huge", "overrun", "ring-break", "sensor-stuck"])
def test_a_fault_without_a_measured_reaction_is_refused_with_those_that_have_one(name):
    answers = answers_of(load("steering_wheel").rig)
    with pytest.raises(ConfigError, match=r"no reaction to it that is measured.*link-down") as told:
        chosen([name, "al-error"], answers)
    assert len(told.value.mistakes) == 1
    may = told.value.mistakes[0].remedy.removeprefix("give one of: ").split(", ")
    assert name not in may
    assert "al-error" in may
    assert [a.fault.name for a in chosen(["al-error"], answers)] == ["al-error"]
    assert chosen(None, answers) == answers


def test_a_fault_that_there_is_not_is_refused():
    assert known_faults(["link-down"]) == {"link-down"}
    assert "sensor-nan" in known_faults(None)
    with pytest.raises(ConfigError, match="did you mean 'link-down'"):
        known_faults(["link-dwn"])
