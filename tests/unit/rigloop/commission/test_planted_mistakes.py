"""Each step of the walk finds the mistake that it is for, planted in an emulated drive or in its rig."""

from dataclasses import replace

import pytest
from walked_rig import write_rig
from walks import stand_of, walk_of

from io_bridge.slaves.drive_config import SIMULATED_IDENTITY
from io_bridge.slaves.sii import Identity
from rigloop.commission.axis import Spring, axis_of
from rigloop.commission.hands import EmulatedHands
from rigloop.commission.step import Bench
from rigloop.commission.walk import find_steps, measured
from rigloop.compose.parts import backends_of
from rigloop.run_folder.not_started import NotStartedError

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
    "wrong counts, double": ("counts_per_turn", {"counts_per_rev": 1 << 21}),
    "encoder and torque both swapped": (
        "encoder_direction",
        {"encoder_sign": -1, "torque_sign": -1},
    ),
    # half of it is a torque that always acts
    "torque in one way only": ("torque_limit", {"torque_one_way": True}),
    "slow current loop": ("rate_limit", {"torque_lag_s": 0.008}),
    "torque that outlasts the watchdog": ("watchdog", {"torque_outlasts_s": 0.15}),
    "watchdog that works once": ("watchdog", {"watchdog_once": True}),
    "stop that only warns": ("emergency_stop", {"stop_does": "warn"}),
    "stop that ends the operation and not the torque": ("emergency_stop", {"stop_does": "run on"}),
    "stop that leaves the torque on and says that it is off": (
        "emergency_stop",
        {"stop_does": "run on", "says_no_torque": True},
    ),
    "watchdog that says that the torque is off": (
        "watchdog",
        {"torque_outlasts_s": 1.0, "says_no_torque": True},
    ),
    "low bit of the encoder stuck": ("counts_per_turn", {"encoder_stuck_bits": 1 << 4}),
    "high bit of the encoder stuck": ("counts_per_turn", {"encoder_stuck_bits": 1 << 16}),
    "torque beside that of the drive": ("torque_limit", {"torque_bias_nm": 0.15}),
    "spring at the wheel": ("torque_limit", {"spring_nm_rad": 4.0}),
    "drive that clips and does not say so": ("torque_limit", {"torque_clip_nm": 0.35}),
    "torque turned round at low speed": (
        "torque_direction",
        {"torque_inverts_below_rad_s": 0.1},
    ),
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


ODD = {
    "much dry friction": {"coulomb_nm": 0.4},
    "sharp dry friction": {"coulomb_nm": 0.25, "coulomb_rad_s": 0.002},
    "heavy rim": {"inertia_kg_m2": 0.5},
    "heavy rim on a dry bearing": {
        "inertia_kg_m2": 0.3,
        "coulomb_nm": 0.2,
        "coulomb_rad_s": 0.003,
    },
    "light wheel": {"inertia_kg_m2": 0.01},
    "thick grease": {"viscous_nms": 0.5},
    "a little play": {"encoder_play_rad": 0.001},
    "a little out of balance": {"torque_bias_nm": 0.05},
    "four turns from straight ahead": {"offset_rad": 25.0},
    "slow current loop, declared": {"torque_lag_s": 0.005},
}


@pytest.mark.parametrize("odd", ODD)
def test_a_right_drive_with_an_odd_wheel_passes_every_step(odd, tmp_path):
    plant = ODD[odd]
    inertia, lag = plant.get("inertia_kg_m2", 0.06), plant.get("torque_lag_s", 0.0005)
    stated = f"inertia_kg_m2 = {inertia}\ntorque_lag_s = {lag}"
    loaded = write_rig(tmp_path, "simulated", ("inertia_kg_m2 = 0.06", stated))
    with stand_of(loaded, **plant) as stand:
        walked = walk_of(stand)
    assert found_at(walked) == (None, "")


@pytest.mark.parametrize("counts", [4096, 10_000])
def test_a_coarse_encoder_passes_every_step(counts, tmp_path):
    coarse = ("counts_per_rev = 1048576", f"counts_per_rev = {counts}")
    loaded = write_rig(tmp_path, "simulated", coarse, coarse)
    with stand_of(loaded, counts_per_rev=counts) as stand:
        assert found_at(walk_of(stand)) == (None, "")


def test_a_drive_with_a_larger_rated_torque_is_given_none(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated"), rated_torque_nm=19.1) as stand:
        bench = Bench(stand, EmulatedHands(stand))
        stand.play = None
        found = measured(next(s for s in find_steps() if s.name == "torque_direction"), bench)
    assert found.words.startswith("Nothing was commanded")
    assert "19.1 Nm (0x6076), the rig has 6.37" in found.words


def test_a_drive_that_gives_less_than_the_rig_has_is_given_no_torque(tmp_path):
    # a twentieth of 12 Nm is a tenth of the 6 Nm that this drive gives at most
    with stand_of(write_rig(tmp_path, "simulated"), peak_torque_nm=6.0) as stand:
        bench = Bench(stand, EmulatedHands(stand))
        stand.play = None
        found = measured(next(s for s in find_steps() if s.name == "torque_direction"), bench)
    assert found.words.startswith("Nothing was commanded")
    assert "at most 5.99 Nm (0x6072), the rig up to 12" in found.words
    assert "limit_nm" in found.remedy


def test_a_drive_without_a_serial_number_is_said_to_pass_for_any_of_its_type(tmp_path):
    words = "has no serial number: another one of its type would pass for it"
    for serial, said in ((0, True), (7, False)):
        who = replace(SIMULATED_IDENTITY, serial=serial)
        with stand_of(write_rig(tmp_path, "simulated"), identity=who) as stand:
            found = measured(find_steps()[0], Bench(stand, EmulatedHands(stand)))
        assert found.good
        assert (words in found.words) == said


FILTER = """
[blocks.other]
kind = "encoder_filter"
counts_per_rev = {counts}
bandwidth_rad_s = 310.4
reads = {{ position_count = "bus/wheel/position_count", valid = "bus/wheel/valid", elapsed = "loop/fast/elapsed" }}

[blocks.relay]
"""


def two_filters(folder, counts, guard_watches):
    """Write a rig whose model follows one filter of the encoder, and whose guard watches another."""
    return write_rig(
        folder,
        "simulated",
        ('blocks = ["bus", "wheel", "guard"]', 'blocks = ["bus", "wheel", "other", "guard"]'),
        ("[blocks.relay]\n", FILTER.format(counts=counts)),
        *(
            (f'= "wheel/{signal}"\n', f'= "{guard_watches}/{signal}"\n')
            for signal in ("trusted", "rate_rad_s")
        ),
        (
            'angle_rad = "wheel/angle_rad"\nrate',
            f'angle_rad = "{guard_watches}/angle_rad"\nrate',
        ),
    )


def test_filters_of_one_encoder_that_differ_are_not_walked(tmp_path):
    loaded = two_filters(tmp_path, 524288, "other")
    with pytest.raises(NotStartedError, match="'other' and 'wheel' differ in counts_per_rev"):
        axis_of(loaded, None, backends_of(loaded.rig))
    same = two_filters(tmp_path, 1048576, "other")
    assert axis_of(same, None, backends_of(same.rig)).counts_per_rev == 1048576


def test_an_angle_that_no_filter_of_the_encoder_makes_is_not_walked(tmp_path):
    gain = (
        "[blocks.relay]\n",
        '[blocks.twice]\nkind = "gain"\ngain = 2.0\nunit = "rad"\n'
        'reads = { u = "wheel/angle_rad" }\n\n[blocks.relay]\n',
    )
    loaded = write_rig(
        tmp_path,
        "simulated",
        ('blocks = ["bus", "wheel", "guard"]', 'blocks = ["bus", "wheel", "twice", "guard"]'),
        gain,
        ('angle_rad = "wheel/angle_rad"\nrate', 'angle_rad = "twice/y"\nrate'),
    )
    with pytest.raises(NotStartedError, match="the guard watches 'twice/y', which no filter"):
        axis_of(loaded, None, backends_of(loaded.rig))


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
