import math
import time

import pytest

from io_bridge.bringup import BringUpError
from io_bridge.clock_config import ClockConfig
from io_bridge.drive_config import DriveConfig, DrivePlant
from io_bridge.exchange import Exchange
from io_bridge.pdo_layout import SlaveLayout
from io_bridge.simulated_bus import SimulatedBus
from rt_core.block import Block

MS = 1_000_000
TURN = 2**20
FREE = DrivePlant(hands="free")


def test_the_exchange_is_a_block():
    block = Exchange([DriveConfig()])
    assert isinstance(block, Block)
    assert "rigloop.block" in repr(block.capsule())
    assert list(block.reads) == ["drive/torque_nm", "drive/enable", "drive/reset"]
    assert block.writes["lost"] == "bus/lost"


def test_a_step_before_bring_up_is_a_fault_and_gives_no_data(cells):
    block = Exchange([DriveConfig()])
    table = cells(block)
    assert block.step(0) == 1
    assert table["drive/valid"] == 0


def test_a_good_cycle_is_valid_with_every_counter_right(rig):
    r = rig()
    assert r.step(3) == 0
    assert r.cells["drive/valid"] == r.cells["valid"] == 1
    assert r.cells["drive/wkc"] == r.cells["drive/wkc_expected"] == 2
    assert r.cells["wkc"] == r.cells["wkc_expected"] == 3
    assert r.cells["al_state"] == r.cells["drive/al_state"] == 8
    assert r.bus.faults() == []


def test_units_are_those_of_the_ports(rig):
    r = rig([FREE])
    r.enable()
    r.cells["drive/torque_nm"] = 2.0
    r.step(100)
    device = r.bus.devices[0]
    # what the reply shows was latched when the frame passed, so it is the device's present state
    assert r.cells["drive/position_count"] == math.floor(device.angle_rad / (2 * math.pi) * TURN)
    rate = device.rate_rad_s / (2 * math.pi) * TURN
    assert r.cells["drive/velocity_count_s"] == pytest.approx(rate, abs=0.51)
    assert r.cells["drive/torque_actual_nm"] == pytest.approx(2.0, abs=0.00637)
    assert r.cells["drive/sensor_torque_nm"] == 0.0


def test_the_sign_turns_position_velocity_and_torque_together(rig):
    plain, turned = rig([FREE]), rig([FREE], [DriveConfig(sign=-1)])
    for r in (plain, turned):
        r.enable()
        r.cells["drive/torque_nm"] = 2.0
        r.step(50)
    assert plain.bus.devices[0].rate_rad_s == -turned.bus.devices[0].rate_rad_s != 0
    for port in ("velocity_count_s", "torque_actual_nm"):
        assert turned.cells[f"drive/{port}"] == pytest.approx(plain.cells[f"drive/{port}"], abs=1)
    assert turned.cells["drive/position_count"] == pytest.approx(
        plain.cells["drive/position_count"], abs=1
    )


def test_a_torque_is_at_the_drive_with_the_frame_of_its_own_step(rig):
    r = rig([FREE])
    r.enable()
    r.cells["drive/torque_nm"] = 2.0
    r.step()
    assert r.bus.devices[0].wanted_torque_nm == pytest.approx(2.0, abs=0.00637)
    r.cells["drive/torque_nm"] = -2.0
    before = time.monotonic_ns()
    r.step()
    assert r.bus.devices[0].wanted_torque_nm == pytest.approx(-2.0, abs=0.00637)
    # the moment of sending lies within the exchange, on the clock of the loop
    assert before <= r.cells["sent_ns"] <= time.monotonic_ns()


def test_no_torque_flows_before_the_drive_is_enabled(rig):
    r = rig([FREE])
    r.cells["drive/torque_nm"] = 2.0
    r.step(20)
    assert r.bus.devices[0].wanted_torque_nm == 0
    r.cells["drive/enable"] = 1
    r.step(10)
    assert r.bus.devices[0].wanted_torque_nm == pytest.approx(2.0, abs=0.00637)
    r.cells["drive/enable"] = 0
    r.step()
    assert r.bus.devices[0].wanted_torque_nm == 0


@pytest.mark.parametrize("command", [1e9, -1e9, 19.2, 25.0])
def test_the_torque_is_saturated_at_the_configured_peak(rig, command):
    r = rig([FREE], [DriveConfig(peak_torque_nm=3.0)])
    r.enable()
    r.cells["drive/torque_nm"] = command
    r.step(2)
    limit = math.copysign(math.floor(3.0 / 6.37 * 1000) * 0.00637, command)
    assert r.bus.devices[0].wanted_torque_nm == pytest.approx(limit, rel=1e-12)


def test_a_drive_that_shows_another_mode_is_not_operational(rig):
    r = rig([FREE])
    r.enable()
    master = r.bus.recovery().master
    # the PDO has no 0x6060 here, so what the mailbox writes stays
    slim = rig([FREE], [DriveConfig(rx_pdo=((0x6040, 0, 16), (0x6071, 0, 16)))])
    slim.enable()
    slim.bus.recovery().master.download(0x1001, 0x6060, 0, 8, 1)
    slim.step(2)
    assert slim.cells["drive/operational"] == 0
    assert master.upload(0x1001, 0x6061, 0) == b"\x0a"


def test_a_quick_stop_brakes_a_drive_that_is_no_longer_enabled(rig):
    r = rig([FREE], [DriveConfig(quick_stop=True)])
    r.enable()
    r.cells["drive/enable"] = 0
    r.step(3)
    assert r.bus.devices[0].statusword & 0x6F == 0x07
    r.cells["drive/enable"] = 1
    r.step(9)
    assert r.cells["drive/operational"] == 1


def test_a_clock_that_nobody_has_is_refused():
    block = Exchange([DriveConfig()], clock=ClockConfig(MS))
    with pytest.raises(ValueError, match="no slave has a clock"):
        block.configure(SimulatedBus().link, [SlaveLayout(0x1001, 0, 5, 5, 13)], n_slaves=1)


def test_the_cycle_keeps_step_with_a_clock_that_drifts(rig):
    # the segment's clock runs by the nominal time of the cycle: a step of 1.00002 ms is a drift of 20 ppm
    clock = ClockConfig(MS, shift_ns=200_000)
    r = rig([FREE], clock=clock)
    drift_ns = 20
    errors = []
    for k in range(4000):
        assert r.block.step(k * (MS + drift_ns)) == 0
        errors.append(r.cells["dc_error_ns"])
    assert r.cells["dc_locked"] == 1
    settled = errors[2000:]
    assert math.sqrt(sum(e * e for e in settled) / len(settled)) < 50.0
    assert r.cells["dc_time_ns"] % MS == pytest.approx(200_000, abs=100)
    assert r.block.lock_state[2] == pytest.approx(20.0, abs=0.1)
    assert r.cells["drive/dc_difference_ns"] == 0


def test_no_drive_is_enabled_before_the_cycle_is_in_step(rig):
    r = rig([FREE], clock=ClockConfig(MS))
    r.cells["drive/enable"] = 1
    locked_at = enabled_at = None
    for k in range(3000):
        r.block.step(k * MS)
        if r.cells["dc_locked"] == 1 and locked_at is None:
            locked_at = k
        if r.cells["drive/operational"] == 1 and enabled_at is None:
            enabled_at = k
    assert 0 < locked_at < enabled_at


def test_a_clock_that_jumps_ends_the_torque(rig):
    r = rig([FREE], clock=ClockConfig(MS))
    r.cells["drive/enable"] = 1
    r.cells["drive/torque_nm"] = 1.0
    for k in range(2000):
        r.block.step(k * MS)
    assert r.bus.devices[0].wanted_torque_nm > 0.9
    codes = [r.block.step(k * MS + 400_000) for k in range(2000, 2100)]
    assert 8 in codes
    assert r.bus.devices[0].wanted_torque_nm == 0
    assert any("not in step" in f.words for f in r.bus.faults()) or codes[-1] == 0


def test_bring_up_says_what_it_waits_for():
    clock = ClockConfig(MS, timeout_s=0.05, settle_s=1.0)
    with pytest.raises(BringUpError, match=r"still waiting: the cycle is .* us off .* drift"):
        SimulatedBus([FREE], clock=clock).to_op()
