"""Several axes on one line: what a rig file may not do with them, and which guards a fault reaches."""

import pytest
from swaps import swapped

from rig_configs.load import find_rig
from rig_configs.mistakes import ConfigError
from rigloop.blocks.axes import apart, drives_of, guards_of, reaching
from rigloop.compose.parts import guard_of, one_guard
from rigloop.compose.wiring import load
from rigloop.run_folder.not_started import NotStartedError

RIG = find_rig("pedals_and_wheel").read_text()


def mistakes(tmp_path, *swaps):
    with pytest.raises(ConfigError) as caught:
        changed(tmp_path, *swaps)
    return "\n".join(str(mistake) for mistake in caught.value.mistakes)


def changed(tmp_path, *swaps):
    path = tmp_path / "rig.toml"
    path.write_text(swapped(RIG, *swaps))
    return load(str(path)).rig


def test_each_guard_has_its_drive_and_the_reach_that_the_file_says():
    rig = load("pedals_and_wheel").rig
    assert list(guards_of(rig)) == ["wheel_guard", "brake_guard", "gas_guard"]
    assert [drives_of(rig, guard) for guard in guards_of(rig)] == [
        [("bus", "wheel")],
        [("bus", "brake")],
        [("bus", "gas")],
    ]
    assert reaching(rig, "wheel_guard") == []
    assert reaching(rig, "gas_guard") == ["wheel_guard", "brake_guard"]
    assert apart(rig, "bus") == {"wheel", "brake", "gas"}


def test_the_default_reach_is_all(tmp_path):
    rig = changed(tmp_path, ('reach = "group"\ngroup = "pedals"', ""))
    assert reaching(rig, "wheel_guard") == ["brake_guard", "gas_guard"]


def test_a_drive_whose_guard_does_not_see_it_is_the_fault_of_all(tmp_path):
    rig = changed(
        tmp_path,
        ('actuator_ready = "bus/gas/operational"', 'actuator_ready = "bus/wheel/operational"'),
    )
    assert apart(rig, "bus") == {"wheel", "brake"}


def test_one_guard_is_no_axis_beside_others():
    assert apart(load("steering_wheel").rig, "bus") == set()


def test_a_torque_past_its_guard_names_the_guards(tmp_path):
    told = mistakes(
        tmp_path,
        ('"gas/torque_nm" = "gas_guard/torque_nm"', '"gas/torque_nm" = "gas/guide/torque_nm"'),
    )
    assert "this torque does not come from a guard" in told
    assert "'wheel_guard/torque_nm', 'brake_guard/torque_nm', 'gas_guard/torque_nm'" in told
    assert "no drive takes its torque 'gas_guard/torque_nm'" in told


def test_one_guard_for_two_drives_is_refused(tmp_path):
    told = mistakes(
        tmp_path,
        ('"gas/torque_nm" = "gas_guard/torque_nm"', '"gas/torque_nm" = "brake_guard/torque_nm"'),
    )
    assert "its torque goes to 2 drives: bus/brake, bus/gas" in told


def test_guards_are_last_in_any_order(tmp_path):
    as_listed = (
        '"wheel_angle", "brake_angle", "gas_angle", "wheel_guard", "brake_guard", "gas_guard"'
    )
    other = '"wheel_angle", "brake_angle", "gas_angle", "gas_guard", "wheel_guard", "brake_guard"'
    assert changed(tmp_path, (as_listed, other))
    between = '"wheel_angle", "brake_angle", "wheel_guard", "gas_angle", "brake_guard", "gas_guard"'
    told = mistakes(tmp_path, (as_listed, between))
    assert "'wheel_guard' is not among the last blocks of the task that has the bus" in told


def test_a_group_has_a_name_and_others_in_it(tmp_path):
    assert "belongs to none" in mistakes(
        tmp_path, ('reach = "group"\ngroup = "pedals"', 'reach = "group"')
    )
    told = mistakes(tmp_path, ('reach = "all"', 'reach = "all"\ngroup = "alone"'))
    assert "no other guard belongs to this group" in told


def test_all_guards_arm_again_or_none(tmp_path):
    rearm = '[blocks.gas_guard.rearm]\nafter = "bus"\nat_most = 1\n\n[verdict]'
    told = mistakes(tmp_path, ("[verdict]", rearm))
    assert "blocks.wheel_guard" in told
    assert "give all of them a table `rearm`, or none" in told


def test_a_command_that_needs_one_guard_names_those_that_there_are():
    rig = load("pedals_and_wheel").rig
    with pytest.raises(NotStartedError, match=r"wheel_guard, brake_guard, gas_guard.*--guard"):
        one_guard(rig)
    assert one_guard(rig, "gas_guard") == "gas_guard"
    with pytest.raises(NotStartedError, match="--guard nobody: this rig has the guards wheel"):
        guard_of(rig, "nobody")
    assert one_guard(load("steering_wheel").rig) == "guard"
