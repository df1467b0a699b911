import math
import socket
import sys
import time

import pytest
from block_view import view_of

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.catalogue import device_file
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.exchange.exchange import BUS_LOST, FAULTS, Exchange
from io_bridge.master.bringup import BringUpError
from io_bridge.slaves.clock_config import ClockConfig
from io_bridge.slaves.drive_config import DriveConfig, DrivePlant
from io_bridge.slaves.pdo_layout import SlaveLayout
from io_bridge.slaves.terminal_config import TerminalConfig
from io_bridge.wire.redundant_socket import RedundantSocket
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


def test_a_cycle_waits_for_its_replies_as_long_as_its_budget(cells):
    def waited_ns():
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2)]
        block = Exchange([DriveConfig()], budget_us=20_000.0)
        table = cells(block)
        block.configure(
            RedundantSocket(pairs[0][0], pairs[1][0]),
            [SlaveLayout(0x1001, 0, 5, 5, 13)],
            n_slaves=1,
        )
        before = time.monotonic_ns()
        block.step(0)
        took = time.monotonic_ns() - before
        assert 20 * MS <= table["exchange_ns"] <= took
        assert table["lost"] == 1
        return table["exchange_ns"]

    # one that is put off by others waits longer: but not every one
    assert any(waited_ns() < 40 * MS for _ in range(50))


def test_a_configured_exchange_begins_without_what_the_last_one_left(rig):
    r = rig([FREE])
    r.enable()
    r.cells["drive/torque_nm"] = 1.0
    r.step(3)
    r.bus.link.drop_frames(3)
    assert r.step(3) == 2
    found = r.block.counters
    assert (found["bad"], found["fault"], found["held"]) == (3, 2, 1)
    r.bus.segment.advance(r.bus.segment.now_ns + 200 * MS)
    r.step()
    assert r.block.slave_status(0) == (0x14, 0x1B, 2, 2, True)
    assert r.cells["drive/wkc_min"] == 0
    layout = SlaveLayout(0x1001, 0, 5, 5, 17, True)
    r.block.configure(r.bus.link, [layout], n_slaves=1, clock_station=0x1001)
    found = r.block.counters
    assert (found["bad"], found["fault"], found["held"], found["lost"]) == (0, 0, 0, 0)
    al_status, al_code, _, expected, answers = r.block.slave_status(0)
    assert (al_status, al_code, expected, answers) == (0, 0, 2, False)
    assert (r.cells["drive/wkc_min"], r.cells["drive/invalid_cycles"]) == (2, 0)


def test_what_was_lost_before_service_is_kept_apart(rig):
    r = rig([FREE])
    r.bus.link.drop_frames(2)
    r.step(3)
    r.block.begin_service()
    assert r.block.bringup_counters["lost"] == 2
    assert r.block.counters["lost"] == 0
    assert (r.cells["drive/wkc_min"], r.cells["drive/invalid_cycles"]) == (2, 0)
    assert r.block.in_service
    assert not r.block.safe


@pytest.mark.parametrize(("n", "reads", "writes"), [(1, 2, 30), (1, 3, 29), (1, 4, 30)])
def test_as_many_cells_as_ports_are_taken(n, reads, writes):
    block = Exchange([DriveConfig()] * n)
    with pytest.raises(ValueError, match=f"{reads} and {writes} cells for 3 inputs and 30 outputs"):
        block.bind([8] * reads, [8] * writes)


@pytest.mark.parametrize("empty", [0, 1])
def test_a_cell_without_an_address_is_refused(empty):
    block = Exchange([DriveConfig()])
    cells = [[8] * 3, [8] * 30]
    cells[empty][1] = 0
    with pytest.raises(ValueError, match="'bus': a cell address is 0"):
        block.bind(*cells)


def test_status_is_asked_for_by_a_place_that_there_is(rig):
    r = rig([FREE, FREE])
    r.enable("drive1")
    assert [r.block.slave_status(i) for i in (0, 1)] == [(8, 0, 2, 2, True)] * 2
    assert r.block.drive_status(0)[2] == r.bus.devices[0].statusword
    assert r.block.drive_status(1)[2] == r.bus.devices[1].statusword != r.bus.devices[0].statusword
    for i in (-1, 2):
        with pytest.raises(IndexError, match=f"slave {i} of 2"):
            r.block.slave_status(i)
        with pytest.raises(IndexError, match=f"drive {i} of 2"):
            r.block.drive_status(i)


def test_the_place_of_a_drive_counts_the_terminals_before_it(rig):
    coupler = device_file.load_device(device_file.find_device("ek_coupler"))
    r = rig(drives=[TerminalConfig("coupler"), DriveConfig()], devices=[coupler, DriveDevice(FREE)])
    r.step()
    r.bus.devices[1].trip(0x2310)
    assert r.step(2) == 6
    assert r.block.culprit == 1
    assert r.block.drive_status(0) == (8, 0, r.bus.devices[1].statusword, 2)
    assert r.block.slave_status(0) == (8, 0, 0, 0, True)
    assert [fault.source for fault in r.bus.faults()] == ["bus", "drive"]


def test_the_view_says_how_large_the_state_is(rig):
    block = Exchange([DriveConfig()])
    view = view_of(block)
    # the witness lies in it, and four frames and their replies have room
    assert view.state < view.work < view.state + view.bytes
    assert 2 * 4 * 1500 < view.bytes < 1_000_000


def test_every_code_has_words_and_those_of_the_wire_may_end_by_themselves():
    assert sorted(FAULTS) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert sorted(BUS_LOST) == [2, 3, 4, 5]


def test_the_loop_steps_it_by_its_capsule(rig, step_of):
    r = rig([FREE])
    assert step_of(r.block)(r.cycle * MS) == 0
    assert r.cells["valid"] == 1


def test_nothing_was_lost_before_a_bus_was_brought_up():
    assert Exchange([DriveConfig()]).bringup_counters == {}


def test_a_link_is_held_until_the_exchange_is_disconnected(rig):
    r = rig([FREE])
    block = Exchange([DriveConfig()])
    link = r.bus.link
    counts = [sys.getrefcount(link)]
    block.configure(link, [SlaveLayout(0x1001, 0, 5, 5, 13)], n_slaves=1)
    counts.append(sys.getrefcount(link))
    block.in_service = True
    block.disconnect()
    counts.append(sys.getrefcount(link))
    assert counts == [counts[0], counts[0] + 1, counts[0]]
    assert not block.in_service


def test_what_is_put_out_of_service_has_no_fault(rig):
    r = rig([FREE])
    r.bus.link.drop_frames(3)
    assert r.step(3) == 2
    r.block.in_service = False
    assert r.block.counters["fault"] == 0
