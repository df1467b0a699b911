"""The place of faults among the blocks of a rig."""

import tomllib

import pytest

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
