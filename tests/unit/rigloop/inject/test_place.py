"""The place of faults among the blocks of a rig."""

import tomllib

import pytest
from swaps import swapped

from rig_configs.load import find_rig
from rigloop.blocks.catalogue import rig_model
from rigloop.compose.wiring import load
from rigloop.inject.place import block_name, stages
from rigloop.inject.request import again


@pytest.mark.parametrize(
    ("words", "task", "before"),
    [
        ("gas_guard/request-nan@1", "estimation", "gas_guard"),
        # all guards of a task see its fault in the same cycle
        ("gas_guard/block-fault@1", "estimation", "wheel_guard"),
        ("brake/model-guide-nan@1", "simulation", "brake"),
        ("gas_angle/sensor-nan@1", "estimation", "wheel_angle"),
        ("bus/gas/drive-fault@1", "estimation", "bus"),
    ],
)
def test_a_fault_stands_where_its_axis_sees_it(words, task, before):
    rig = load("pedals_and_wheel").rig
    order = stages(again([words], rig), rig)[task]
    assert order[order.index("inject1") + 1] == before


def test_a_fault_of_the_models_task_comes_last():
    rig = load("pedals_and_wheel").rig
    assert stages(again(["gas/model-fault@1"], rig), rig)["simulation"][-1] == "inject1"


def test_a_fault_takes_no_name_that_a_block_of_the_rig_has():
    text = find_rig("two_lines").read_text().replace("brake_angle", "inject1")
    rig = rig_model().model_validate(tomllib.loads(text))
    assert [block_name(n, rig) for n in range(2)] == ["inject2", "inject3"]
    order = stages(again(["brake_guard/request-nan@1"], rig), rig)["feet"]
    assert order == ["pedal_line", "inject1", "inject2", "brake_guard"]


@pytest.mark.parametrize(
    ("count", "order"),
    [
        ("wheel_line/wheel/position_count", ["wheel_line", "inject1", "pedal_line"]),
        ("pedal_line/brake/position_count", ["wheel_line", "pedal_line", "inject1"]),
        # of another task: its mirror is there from the start
        ("steering/guide/torque_nm", ["inject1", "wheel_line", "pedal_line"]),
    ],
)
def test_a_sensor_fault_stands_behind_the_block_that_writes_the_count(count, order):
    text = swapped(
        find_rig("two_lines").read_text(),
        ("loop/feet/", "loop/hands/"), ('"pedal_line/brake/position_count"', f'"{count}"'),
    )  # fmt: skip
    tables = tomllib.loads(text)
    feet = tables["tasks"].pop("feet")["blocks"]
    pairs = zip(tables["tasks"]["hands"]["blocks"], feet, strict=True)
    tables["tasks"]["hands"]["blocks"] = [block for pair in pairs for block in pair]
    rig = rig_model().model_validate(tables)
    made = stages(again(["brake_guard/sensor-nan@1"], rig), rig)["hands"]
    assert made[:3] == order
