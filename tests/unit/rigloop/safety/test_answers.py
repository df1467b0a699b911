"""The answers of the axes of a rig: names, scopes, limits and times."""

import tomllib
from functools import cache

import pytest

from rig_configs.load import shipped_rigs
from rig_configs.named_files import find_named
from rigloop.blocks.catalogue import rig_model_of
from rigloop.compose.wiring import load as load_again
from rigloop.inject.faults import ROWS
from rigloop.safety.answers import answers_of

load = cache(load_again)


@cache
def answers(rig):
    return {(answer.guard, answer.fault.name): answer for answer in answers_of(load(rig).rig)}


def changed_wheel(old, new):
    loaded = load("steering_wheel")
    assert loaded.text.count(old) == 1
    data = tomllib.loads(loaded.text.replace(old, new))
    find_named(data, loaded.path.parent)
    return rig_model_of(data).model_validate(data)


@pytest.mark.parametrize("rig", shipped_rigs())
def test_each_axis_answers_every_fault(rig):
    loaded = load(rig).rig
    guards = {name for name, block in loaded.blocks.items() if block.kind == "guard"}
    assert set(answers(rig)) == {(guard, fault.name) for guard in guards for fault in ROWS}
    for answer in answers(rig).values():
        assert [limit.key for limit in answer.limits if "." not in limit.key] == []


def test_a_time_is_the_cycles_of_its_own_axis():
    found = answers("two_lines")
    wheel, brake = found["wheel_guard", "link-down"], found["brake_guard", "link-down"]
    assert (wheel.stated.zero, brake.stated.zero) == (2, 2)
    assert (wheel.ms(2), brake.ms(2)) == pytest.approx((0.4, 2.0))
    assert brake.ms(None) is None


def test_a_fault_that_takes_the_processor_is_in_its_own_time():
    found = answers("fault_bench")
    gap = found["guard", "time-gap"]
    assert gap.ms(31) == pytest.approx(31 + 1.2 * 80)
    # on this rig the watchdog of the task ends it before the core is given back
    watched = answers("steering_wheel")["guard", "time-gap"]
    assert watched.ms(watched.stated.zero) == pytest.approx(204.4)
    each = found["guard", "overruns"]
    assert each.ms(129) == pytest.approx(2 * 129)  # 1.5 periods of work make each cycle two
    model = found["guard", "model-hang"]
    assert model.ms(153) == pytest.approx(153)  # the guard's own task goes on


def test_the_drive_is_later_than_its_guard_by_a_frame_and_its_own_delay():
    rig = changed_wheel("watchdog_ms = 200.0", "torque_delay_ms = 1.5\nwatchdog_ms = 200.0")
    found = {answer.fault.name: answer for answer in answers_of(rig)}
    error = found["al-error"]
    assert (error.ms(error.stated.zero), error.at_drive_ms) == pytest.approx((0.2, 0.2 + 0.2 + 1.5))
    # no frame carries the zero: the drive's own watchdog ends the torque
    assert found["link-down"].at_drive_ms == pytest.approx(200 + 0.2 + 1.5)
    assert found["cable-pull"].cuts_off
    assert not found["frame-lost"].cuts_off
    assert found["request-huge"].at_drive_ms is None


def test_a_bus_behind_its_guard_takes_the_zero_along_in_the_same_cycle():
    rig = changed_wheel('["bus", "wheel", "guard"]', '["wheel", "guard", "bus"]')
    (error,) = (answer for answer in answers_of(rig) if answer.fault.name == "al-error")
    assert error.at_drive_ms == error.ms(error.stated.zero)


def test_axes_that_see_the_same_fault_have_the_same_scope():
    pedals, lines = answers("pedals_and_wheel"), answers("two_lines")

    def same(found, fault, *guards):
        return len({found[guard, fault].scope for guard in guards}) == 1

    assert same(pedals, "link-down", "wheel_guard", "brake_guard", "gas_guard")
    assert not same(lines, "link-down", "wheel_guard", "brake_guard")
    assert same(lines, "supervisor-kill", "wheel_guard", "brake_guard")
    assert same(lines, "model-hang", "wheel_guard", "brake_guard")
    assert not same(pedals, "angle-range", "wheel_guard", "brake_guard")
    assert not same(pedals, "drive-fault", "wheel_guard", "brake_guard")
    assert same(pedals, "block-fault", "wheel_guard", "brake_guard")


def test_limits_are_those_of_the_axis():
    found = answers("pedals_and_wheel")
    (range_,) = found["brake_guard", "angle-range"].limits
    assert str(range_) == "blocks.brake_guard.max_angle_rad = 0.6"
    (watchdog,) = found["gas_guard", "cycle-kill"].limits
    assert str(watchdog) == "blocks.bus.drives.gas.watchdog_ms = 200"
    model, task = found["gas_guard", "model-hang"].limits
    assert (model.key, task.key) == (
        "blocks.gas_guard.max_request_age_ms", "tasks.simulation.stall_cycles"
    )  # fmt: skip


def test_an_encoder_that_sticks_is_unseen_while_it_does():
    found = answers("steering_wheel")
    assert found["guard", "sensor-stuck"].shows_late
    assert not found["guard", "skips"].shows_late  # it is counted at once
    assert not found["guard", "frame-lost"].shows_late


def test_a_fault_that_a_rig_cannot_have_says_why():
    found = answers("steering_wheel")
    assert not found["guard", "link-down"].cannot
    assert "one cable" in found["guard", "ring-break"].cannot
    assert not found["guard", "cycle-kill"].cannot  # on a virtual cable
