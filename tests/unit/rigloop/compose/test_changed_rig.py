"""Keys of a rig set from the command line: values as in the file, and mistakes with their remedy."""

import pytest

from rig_configs.mistakes import ConfigError
from rigloop.compose.changed_rig import changed_rig, read_setting, read_value
from rigloop.compose.wiring import load


def test_a_key_may_have_quoted_steps():
    assert read_setting('a.b."mass/rack/mass_kg" = 2') == (("a", "b", "mass/rack/mass_kg"), "2")
    assert read_setting("a.b.mass/rack/mass_kg=2") == (("a", "b", "mass/rack/mass_kg"), "2")


@pytest.mark.parametrize(
    ("text", "value"),
    [("2", 2), ("2.5", 2.5), ("true", True), ('"x"', "x"), ("five_bar", "five_bar"), ("[1]", [1])],
)
def test_a_value_is_that_of_a_rig_file_or_a_word(text, value):
    assert read_value(text) == value


def test_a_changed_rig_is_checked_and_the_others_keys_stay(rigs, tmp_path):
    loaded = rigs("steering_wheel")
    settings = ["blocks.wheel.bandwidth_rad_s=250.0", "verdict.max_given_j=3.0"]
    changed = changed_rig(loaded, settings, tmp_path)
    assert changed.rig.blocks["wheel"].bandwidth_rad_s == 250
    assert changed.rig.verdict.max_given_j == 3
    assert changed.rig.blocks["guard"] == loaded.rig.blocks["guard"]
    assert load(str(changed.path)).sha256 == changed.sha256
    assert changed_rig(loaded, [], tmp_path) is loaded


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("blocks.wheel", "write KEY=VALUE"),
        ("bandwidth=3", "write KEY=VALUE"),
        ("blocks.whel.bandwidth_rad_s=3", "'wheel'"),
        ("blocks.wheel.bandwith_rad_s=3", "'bandwidth_rad_s'"),
        ("blocks.wheel.kind.x=3", "is a value"),
        ("blocks.guard.limit_nm=-1.0", "greater than"),
    ],
)
def test_a_wrong_setting_is_told_with_its_remedy(rigs, tmp_path, setting, words):
    with pytest.raises(ConfigError) as caught:
        changed_rig(rigs("steering_wheel"), [setting], tmp_path)
    assert words in str(caught.value)


def test_all_wrong_settings_are_told_at_once_and_name_the_users_file(rigs, tmp_path):
    loaded = rigs("steering_wheel")
    settings = ["nosuch.x=1", "blocks.whel.y=2", "bandwidth", "a.b=1", "a.b=2"]
    with pytest.raises(ConfigError) as caught:
        changed_rig(loaded, settings, tmp_path)
    for words in ("nosuch", "blocks.whel", "bandwidth", "is set twice, to 1 and 2"):
        assert words in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        changed_rig(loaded, ["blocks.guard.limit_nm=-1.0"], tmp_path)
    (mistake,) = caught.value.mistakes
    assert mistake.file == f"{loaded.path} with --set"
