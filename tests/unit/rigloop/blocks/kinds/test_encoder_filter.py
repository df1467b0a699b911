"""What a rig file says of an encoder filter reaches the filter."""

import pytest

from rig_configs.load import find_rig
from rig_configs.mistakes import ConfigError
from rigloop.blocks.kind import Making
from rigloop.blocks.kinds.encoder_filter import make
from rigloop.compose.wiring import load


def rig_with(tmp_path, lines):
    text = find_rig("steering_wheel").read_text()
    path = tmp_path / "rig.toml"
    path.write_text(
        text.replace('kind = "encoder_filter"\n', f'kind = "encoder_filter"\n{lines}\n')
    )
    return load(str(path)).rig


def test_model_and_noise_of_the_rig_are_those_of_the_filter(tmp_path):
    rig = rig_with(
        tmp_path,
        'model = "constant_jerk"\nnoise_rad = 1e-5\ngate_nis = 25.0',
    )
    block = make(Making(rig, "wheel", rig.blocks["wheel"]))
    assert len(block.gain) == 4
    assert block.covariance[0, 0] == pytest.approx(1e-10)
    # a port that the rig leaves bare is not asked for an address
    assert "sample_age_s" not in block.reads
    assert "wheel/nis" in block.writes.values()


def test_rig_as_it_ships_has_three_states(tmp_path):
    rig = rig_with(tmp_path, "")
    assert len(make(Making(rig, "wheel", rig.blocks["wheel"])).gain) == 3


def test_unknown_model_is_a_mistake_of_the_file(tmp_path):
    with pytest.raises(ConfigError, match=r"blocks\.wheel\.model"):
        rig_with(tmp_path, 'model = "cubic"')


def test_fixed_gains_are_a_mistake_of_the_file_with_key_value_and_remedy(tmp_path):
    with pytest.raises(ConfigError, match=r"blocks\.wheel\.gains = 'steady'") as caught:
        rig_with(tmp_path, 'gains = "steady"')
    (mistake,) = caught.value.mistakes
    assert "unstable" in mistake.problem
    assert "leave the key out" in mistake.remedy
    rig = rig_with(tmp_path, 'gains = "time_varying"')
    assert make(Making(rig, "wheel", rig.blocks["wheel"])).name == "wheel"
