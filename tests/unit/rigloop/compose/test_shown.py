"""The signals that the live table and the report show."""

import re
import tomllib

from rig_configs.load import find_rig
from rigloop.blocks.catalogue import rig_model
from rigloop.compose.shown import MOST, shown_roles
from rigloop.compose.wiring import load


def without_show(name):
    text = re.sub(r"(?s)\[show\].*\Z", "", find_rig(name).read_text())
    return rig_model().model_validate(tomllib.loads(text))


def test_a_rig_shows_what_it_names_by_its_role():
    roles = shown_roles(load("steering_wheel").rig)
    assert roles["angle"] == "wheel/angle_rad"
    named = shown_roles(load("two_lines").rig)
    assert named["brake_guard/torque_nm"] == "brake_guard/torque_nm"


def test_a_rig_that_names_nothing_shows_angle_and_torque_of_each_axis():
    assert list(shown_roles(without_show("pedals_and_wheel"))) == [
        "wheel_angle/angle_rad", "wheel_guard/torque_nm", "brake_angle/angle_rad", "brake_guard/torque_nm",
        "gas_angle/angle_rad", "gas_guard/torque_nm",
    ]  # fmt: skip
    assert list(shown_roles(without_show("steering_wheel"))) == [
        "wheel/angle_rad",
        "guard/torque_nm",
    ]


def test_no_more_are_shown_than_a_table_holds():
    rig = without_show("pedals_and_wheel")
    rig.blocks.update({f"guard{i}": rig.blocks["gas_guard"] for i in range(5)})
    assert len(shown_roles(rig)) == MOST
