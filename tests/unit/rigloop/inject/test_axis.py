"""The parts that belong to a guard, and the names that lead to it."""

import tomllib

import pytest

from rig_configs.load import find_rig
from rigloop.blocks.catalogue import rig_model
from rigloop.compose.wiring import load
from rigloop.inject.axis import Axis, axes_named, axis_of, position_of


def changed(name, *changes):
    text = find_rig(name).read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return rig_model().model_validate(tomllib.loads(text))


def test_each_guard_has_the_parts_that_its_wiring_leads_to():
    rig = load("two_lines").rig
    assert axis_of(rig, "wheel_guard") == Axis(
        "wheel_guard", "wheel_line", "wheel", "wheel_angle", "steering"
    )
    assert axis_of(rig, "brake_guard") == Axis(
        "brake_guard", "pedal_line", "brake", "brake_angle", "brake"
    )


def test_a_request_without_a_model_is_that_of_no_other_axis():
    # the brake's guard follows a signal of its own bus; the wheel's model is none of its
    rig = changed(
        "two_lines",
        (
            'torque_request_nm = "brake/guide/torque_nm"',
            'torque_request_nm = "brake_angle/rate_rad_s"',
        ),
    )
    assert axis_of(rig, "brake_guard").model is None
    assert axis_of(rig, "wheel_guard").model == "steering"


@pytest.mark.parametrize(
    ("part", "names"),
    [
        ("", {}),
        ("guard", {"wheel_line/wheel": "wheel_guard", "pedal_line/brake": "brake_guard"}),
        ("model", {"steering": "wheel_guard", "brake": "brake_guard"}),
        ("bus", {"wheel_line": "wheel_guard", "pedal_line": "brake_guard"}),
    ],
)
def test_a_name_leads_to_one_guard(part, names):
    own = {name: name for name in ("wheel_guard", "brake_guard") if part}
    assert axes_named(load("two_lines").rig, part) == own | names


def test_what_several_axes_share_is_that_of_the_first():
    assert axes_named(load("pedals_and_wheel").rig, "bus")["bus"] == "wheel_guard"


def test_a_drive_has_its_place_in_the_ring_not_in_the_file():
    bus = changed(
        "pedals_and_wheel",
        ("[blocks.bus.drives.wheel]\n", "[blocks.bus.drives.wheel]\nposition = 2\n"),
    ).blocks["bus"]
    assert [position_of(bus, drive) for drive in ("wheel", "brake", "gas", None)] == [2, 0, 1, 2]
