"""Rules between tasks of a file, and mistakes that stand beside others."""

import pytest

from rig_configs.load import find_rig
from rig_configs.mistakes import ConfigError
from rigloop.compose.wiring import load

RIG = find_rig("steering_wheel").read_text()


def keys_of(tmp_path, text):
    file = tmp_path / "rig.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(str(file))
    return [mistake.key for mistake in caught.value.mistakes]


def test_a_task_with_a_wrong_period_is_still_held_to_the_other_rules(tmp_path):
    keys = keys_of(tmp_path, RIG + '[tasks.more]\nperiod_us = "x"\nblocks = ["bus"]\n')
    assert {"tasks.more.period_us", "tasks.more.blocks"} <= set(keys)


def test_the_name_of_a_key_and_its_value_are_two_mistakes(tmp_path):
    text = RIG.replace("[blocks.wheel.reads]", '[blocks.wheel.reads]\n"bad name!" = 5', 1)
    assert len([key for key in keys_of(tmp_path, text) if "bad name!" in key]) == 2
