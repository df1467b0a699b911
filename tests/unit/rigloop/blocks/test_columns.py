"""Columns of simulated drives in a rig file, and the terminals that measure them."""

import pytest

from io_bridge.emulator.segment import Segment
from rig_configs.load import find_rig
from rig_configs.mistakes import ConfigError
from rigloop.blocks.slaves import emulated_devices
from rigloop.compose.wiring import load

RIG = find_rig("flexible_column").read_text()


def ring(tmp_path, *changes):
    text = RIG
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "rig.toml"
    path.write_text(text)
    return load(str(path)).rig.blocks["bus"]


def test_a_rig_with_a_column_makes_its_ring_and_twists(tmp_path):
    angles = []
    for stiffness in ("377.0", "1e6"):
        devices = emulated_devices(
            ring(tmp_path, ("stiffness_nm_rad = 377.0", f"stiffness_nm_rad = {stiffness}"))
        )
        Segment(devices).advance(600_000_000)
        angles.append(devices[0].angle_rad)
    soft, stiff = angles
    # hands of 6 Nm and more turn the wheel a hundredth of a radian before the motor
    assert 1e-4 < abs(soft - stiff) < 0.1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('drive = "wheel", gauge = "bow"', 'drive = "brake", gauge = "bow"', "has no plant.column; wheel has"),
        ("gauges.1 =", "gauges.7 =", "the terminal has 2 inputs"),
        ('hands = "spring"', 'hands = "prescribed"', 'take "spring"'),
        ('device = "analog_io"', 'device = "digital_io"', "digital_io is not an analogue terminal; take analog_io"),
    ],
)  # fmt: skip
def test_a_column_that_cannot_be_is_refused(tmp_path, old, new, words):
    with pytest.raises((ValueError, ConfigError), match=words.replace(".", r"\.")):
        emulated_devices(ring(tmp_path, (old, new)))
