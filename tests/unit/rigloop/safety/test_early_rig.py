"""The rig that is measured has no interface, and the limits of the rig."""

import pytest

from rigloop.compose.wiring import load
from rigloop.safety.early_rig import early_rig, times_of


def test_a_rig_is_measured_on_emulated_segments_only():
    loaded = load("steering_wheel_veth")
    text = loaded.text.replace('backend = "veth"', 'backend = "eth7"')
    assert text != loaded.text
    real = type(loaded)(loaded.name, loaded.path, text, loaded.rig)
    for backend in ("simulated", "veth"):
        made = early_rig(real, backend)
        assert made.rig.blocks["bus"].backend == backend
        assert "eth7" not in made.text


def test_the_rig_that_is_measured_has_the_limits_of_the_rig():
    loaded = load("pedals_and_wheel")
    found = early_rig(loaded, "simulated")
    # and its runs are not recorded as those of the rig
    assert (found.name, found.origin) == ("pedals_and_wheel_early", loaded)
    made = found.rig
    for name, block in loaded.rig.blocks.items():
        if block.kind == "guard":
            assert made.blocks[name].ramp_in_s == 0.1
            assert made.blocks[name].model_copy(update={"ramp_in_s": block.ramp_in_s}) == block
    assert made.tasks == loaded.rig.tasks
    assert made.blocks["bus"].drives["gas"].plant.start_s == 0.1
    assert times_of(made) == pytest.approx((0.3, 0.2))
