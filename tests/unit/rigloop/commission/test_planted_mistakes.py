"""Each step of the walk finds the mistake that it is for, planted in an emulated drive or in its rig."""

import pytest
from walked_rig import write_rig
from walks import stand_of, walk_of

from io_bridge.slaves.sii import Identity
from rigloop.commission.axis import Spring
from rigloop.commission.hands import EmulatedHands
from rigloop.commission.step import Bench
from rigloop.commission.walk import find_steps, measured

COUNTS = "counts_per_rev = 1048576"
IN_DRIVE = {
    # the step that finds it, and the plant of the drive
    "swapped encoder": ("encoder_direction", {"encoder_sign": -1}),
    "wrong counts": ("counts_per_turn", {"counts_per_rev": 1 << 19}),
    "edges counted four times": ("counts_per_turn", {"counts_per_rev": 1 << 22}),
    "wrong zero": ("zero", {"encoder_offset_count": 20_000}),
    "swapped torque": ("torque_direction", {"torque_sign": -1}),
    "larger rated torque": ("torque_direction", {"rated_torque_nm": 19.1}),
    "torque limit absent": ("torque_limit", {"keeps_max_torque": False}),
    "torque limit too high": ("torque_limit", {"peak_torque_nm": 40.0}),
    "wrong torque constant": ("torque_constant", {"torque_factor": 1.3}),
    "heavier wheel": ("torque_constant", {"inertia_kg_m2": 0.08}),
    "slow torque": ("rate_limit", {"torque_slope_nm_s": 100.0}),
    "long delay": ("exchange_delay", {"torque_delay_s": 0.004}),
    "dead watchdog": ("watchdog", {"has_watchdog": False}),
    "unconnected stop": ("emergency_stop", {"stop_wired": False}),
}


def found_at(walked):
    """Return the step that was bad, with what it said."""
    bad = [result for result in walked.results if not result.good]
    assert len(bad) <= 1
    return (bad[0].step, bad[0].words) if bad else (None, "")


@pytest.mark.parametrize("mistake", IN_DRIVE)
def test_a_planted_mistake_ends_the_walk_at_its_step(mistake, tmp_path):
    step, plant = IN_DRIVE[mistake]
    with stand_of(write_rig(tmp_path, "simulated"), **plant) as stand:
        walked = walk_of(stand)
    at, words = found_at(walked)
    assert at == step, words
    assert not walked.good


def test_a_drive_with_a_larger_rated_torque_is_given_none(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated"), rated_torque_nm=19.1) as stand:
        bench = Bench(stand, EmulatedHands(stand))
        stand.play = None
        found = measured(next(s for s in find_steps() if s.name == "torque_direction"), bench)
    assert found.words.startswith("Nothing was commanded")
    assert "19.1 Nm (0x6076), the rig has 6.37" in found.words


def test_another_drive_ends_the_walk_at_its_first_step(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated"), identity=Identity(1, 2, 3, 4)) as stand:
        walked = walk_of(stand)
    assert found_at(walked)[0] == "identity"
    assert "vendor 0x1, product 0x2" in walked.results[0].words


def test_a_rig_that_sings_at_its_stiffness_ends_at_the_last_step(tmp_path):
    # the lag is declared, and so is no mistake of its own
    lag = ("inertia_kg_m2 = 0.06", "inertia_kg_m2 = 0.06\ntorque_lag_s = 0.006")
    loaded = write_rig(tmp_path, "simulated", lag)
    stiff = Spring(100.0, 0.3)
    with stand_of(loaded, torque_lag_s=0.006, spring=stiff) as stand:
        walked = walk_of(stand)
    assert found_at(walked)[0] == "stability", walked.results
    with stand_of(loaded, spring=stiff) as stand:
        assert walk_of(stand, names=["stability"]).good


def test_a_right_drive_passes_every_step(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        walked = walk_of(stand)
    assert found_at(walked) == (None, "")
    assert walked.good
    assert [result.step for result in walked.results] == [step.name for step in find_steps()]
