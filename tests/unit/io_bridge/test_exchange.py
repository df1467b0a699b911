import math
import time

import pytest

from io_bridge.bringup import BringUpError
from io_bridge.bus import list_faults
from io_bridge.clock_config import ClockConfig
from io_bridge.drive_config import RX_PDO, TX_PDO, DriveConfig, DrivePlant
from io_bridge.exchange import Exchange
from io_bridge.pdo_layout import SlaveLayout
from io_bridge.simulated_bus import SimulatedBus, simulated_drive
from io_bridge.terminal_config import TerminalConfig
from rt_core.block import Block

MS = 1_000_000
TURN = 2**20


class Rig:
    """A simulated bus in OP with cells, stepped at 1 ms."""

    def __init__(self, cells, plants=None, drives=None, **options):
        self.bus = SimulatedBus(plants, drives, **options)
        self.block = self.bus.block()
        self.cells = cells(self.block)
        self.bus.to_op()
        self.cycle = 0

    def step(self, n=1):
        for _ in range(n):
            code = self.block.step(self.cycle * MS)
            self.cycle += 1
        return code

    def enable(self, name="drive"):
        self.cells[f"{name}/enable"] = 1
        self.step(6)
        assert self.cells[f"{name}/operational"] == 1


@pytest.fixture
def rig(cells):
    return lambda *args, **options: Rig(cells, *args, **options)


FREE = DrivePlant(hands="free")


def test_the_exchange_is_a_block():
    block = Exchange([DriveConfig()])
    assert isinstance(block, Block)
    assert "rigloop.block" in repr(block.capsule())
    assert list(block.reads) == ["drive/torque_nm", "drive/enable", "drive/reset"]
    assert block.writes["lost"] == "bus/lost"


def test_ports_can_be_given_other_paths():
    block = Exchange([DriveConfig()], paths={"drive/torque_nm": "guard/torque_nm"})
    assert block.reads["drive/torque_nm"] == "guard/torque_nm"
    with pytest.raises(ValueError, match="no port drive/speed"):
        Exchange([DriveConfig()], paths={"drive/speed": "x"})


def test_all_mistakes_are_named_at_once():
    with pytest.raises(ValueError, match="must differ; budget_us = 0") as caught:
        Exchange([DriveConfig("a"), DriveConfig("a")], budget_us=0, bad_limit=0)
    assert "bad_limit = 0" in str(caught.value)


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


def test_what_is_not_mapped_is_not_a_number(rig):
    r = rig([FREE], [DriveConfig(tx_pdo=TX_PDO[:2])])
    r.step()
    assert r.cells["drive/valid"] == 1
    for port in ("velocity_count_s", "torque_actual_nm", "sensor_torque_nm"):
        assert math.isnan(r.cells[f"drive/{port}"])


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


@pytest.mark.parametrize("command", [math.nan, math.inf, -math.inf])
def test_a_command_that_is_no_number_is_zero_torque_and_a_fault(rig, command):
    r = rig([FREE])
    r.enable()
    r.cells["drive/torque_nm"] = 1.0
    r.step(2)
    r.cells["drive/torque_nm"] = command
    assert r.step() == 7
    assert r.bus.devices[0].wanted_torque_nm == 0


def test_a_lost_frame_keeps_the_inputs_and_marks_them_invalid(rig):
    r = rig()
    r.step(300)
    before = r.cells["drive/position_count"]
    assert before != 0
    r.bus.link.drop_frames(1)
    assert r.step() == 0
    assert r.cells["drive/position_count"] == before
    assert (r.cells["drive/valid"], r.cells["lost"], r.cells["drive/wkc"]) == (0, 1, 0)
    assert r.step() == 0
    assert r.cells["drive/valid"] == 1
    assert r.cells["drive/position_count"] != before


def test_frames_lost_in_a_row_are_a_fault_that_ends_with_the_cause(rig):
    r = rig()
    r.enable()
    r.bus.link.drop_frames(3)
    assert [r.step() for _ in range(4)] == [0, 0, 2, 0]


def test_a_late_frame_is_not_taken_for_the_next_reply(rig):
    r = rig()
    r.step(100)
    r.bus.link.delay_frames(1)
    r.step()
    assert (r.cells["lost"], r.cells["late"], r.cells["drive/valid"]) == (1, 0, 0)
    r.step()
    assert (r.cells["lost"], r.cells["late"], r.cells["drive/valid"]) == (1, 1, 1)


def test_a_frozen_slave_is_caught_by_its_clock(rig):
    r = rig()
    r.enable()
    r.bus.devices[0].frozen = True
    codes = [r.step() for _ in range(4)]
    assert r.cells["drive/wkc"] == 2
    assert r.cells["drive/valid"] == 0
    assert codes[-1] == 4
    r.bus.devices[0].frozen = False
    r.step()
    assert r.cells["drive/valid"] == 1


def test_a_wrong_counter_names_its_drive(rig):
    r = rig([FREE, FREE])
    r.step()
    r.bus.devices[1].mute = True
    codes = [r.step() for _ in range(3)]
    assert (r.cells["drive0/valid"], r.cells["drive1/valid"]) == (1, 0)
    assert (r.cells["drive0/wkc"], r.cells["drive1/wkc"]) == (2, 0)
    assert codes == [0, 0, 3]
    assert [fault.source for fault in r.bus.faults()] == ["bus", "drive1"]


def test_a_drive_fault_is_reported_and_left_by_a_reset_edge(rig):
    r = rig([FREE])
    r.enable()
    r.bus.devices[0].trip(0x2310)
    assert r.step() == 6
    assert r.cells["drive/operational"] == 0
    assert any("fault" in fault.words for fault in r.bus.faults())
    r.cells["drive/reset"] = 1
    r.step(8)
    assert r.cells["drive/operational"] == 1
    assert r.step() == 0
    # a reset that stays does not clear the next fault
    r.bus.devices[0].trip(0x2310)
    r.step(5)
    assert r.cells["drive/operational"] == 0


def test_a_slave_that_leaves_op_is_a_fault_with_its_code_in_words(rig):
    r = rig([FREE])
    r.enable()
    r.cells["drive/torque_nm"] = 1.0
    r.step(5)
    r.bus.segment.advance(r.bus.segment.now_ns + 200 * MS)
    assert r.step(3) == 5
    assert (r.cells["drive/al_state"], r.cells["drive/al_code"]) == (0x14, 0x1B)
    assert r.bus.devices[0].wanted_torque_nm == 0
    assert any("process data watchdog" in fault.words for fault in list_faults(r.block))


def test_indices_of_the_cycle_never_meet_those_of_pysoem(rig):
    r = rig()
    # 128 indices, several times round
    r.step(400)
    assert r.cells["lost"] == r.cells["late"] == 0


def test_a_layout_that_contradicts_the_pdo_is_refused(rig):
    r = rig()
    with pytest.raises(ValueError, match="drive maps 4 bytes of outputs, its PDO has 5"):
        r.block.configure(r.bus.link, [SlaveLayout(0x1001, 0, 4, 4, 17)], n_slaves=1)
    with pytest.raises(ValueError, match="2 layouts for 1 slaves"):
        r.block.configure(r.bus.link, [SlaveLayout(0x1001, 0, 5, 5, 17)] * 2, n_slaves=1)


def test_cells_must_match_the_ports():
    block = Exchange([DriveConfig()])
    with pytest.raises(ValueError, match="0 and 0 cells for 3 inputs"):
        block.bind([], [])
    with pytest.raises(ValueError, match="address is 0"):
        block.bind([0] * len(block.reads), [0] * len(block.writes))


def test_eight_drives_share_a_frame(rig):
    r = rig([FREE] * 8)
    r.step(3)
    assert r.cells["wkc"] == r.cells["wkc_expected"] == 8 * 3
    assert all(r.cells[f"drive{i}/valid"] == 1 for i in range(8))


def test_more_than_one_frame_is_matched_as_one_exchange(rig):
    r = rig([FREE] * 16)
    assert r.block.n_frames == 2
    for i in range(16):
        r.cells[f"drive{i}/enable"] = 1
        r.cells[f"drive{i}/torque_nm"] = 0.1 * (i + 1)
    assert r.step(12) == 0
    assert r.cells["wkc"] == r.cells["wkc_expected"] == 16 * 3
    for i, device in enumerate(r.bus.devices):
        assert device.wanted_torque_nm == pytest.approx(0.1 * (i + 1), abs=0.00637)
    assert (r.cells["lost"], r.cells["late"], r.cells["duplicated"]) == (0, 0, 0)


def test_one_frame_lost_of_several_is_a_lost_cycle(rig):
    r = rig([FREE] * 16)
    r.step(3)
    r.bus.link.drop_frames(1)
    r.step()
    assert (r.cells["lost"], r.cells["valid"], r.cells["drive15/valid"]) == (1, 0, 0)
    r.step()
    assert (r.cells["lost"], r.cells["valid"], r.cells["drive15/valid"]) == (1, 1, 1)


def test_slaves_that_do_not_fit_four_frames_are_refused():
    big = {"tx_pdo": (*TX_PDO, *((0, 0, 64),) * 3), "rx_pdo": (*RX_PDO, *((0, 0, 64),) * 5)}
    drives = [DriveConfig(**{**vars(simulated_drive(FREE, i, 16)), **big}) for i in range(16)]
    layouts = [SlaveLayout(0x1001 + i, 80 * i, 45, 80 * i + 45, 37) for i in range(16)]
    exchange = Exchange(drives)
    exchange.configure(SimulatedBus().link, layouts, n_slaves=16)
    assert exchange.n_frames == 2
    huge = [SlaveLayout(0x1001 + i, 2000 * i, 0, 2000 * i, 1400) for i in range(5)]
    terminals = [TerminalConfig(f"t{i}") for i in range(5)]
    with pytest.raises(ValueError, match="exceed four frames"):
        Exchange(terminals).configure(SimulatedBus().link, huge, n_slaves=5)


def moving(rig, plants=(FREE,), torque_nm=1.0, **options):
    """A rig whose first drive pushes."""
    r = rig(list(plants), **options)
    name = r.block.drives[0].name
    r.enable(name)
    r.cells[f"{name}/torque_nm"] = torque_nm
    r.step(3)
    assert r.bus.devices[0].wanted_torque_nm == pytest.approx(torque_nm, abs=0.00637)
    return r


@pytest.mark.parametrize("again", ["enable", "reset"])
def test_torque_stays_off_after_a_fault_until_it_is_armed_again(rig, again):
    r = moving(rig)
    r.bus.link.drop_frames(3)
    assert [r.step() for _ in range(3)] == [0, 0, 2]
    assert r.step(10) == 0
    assert r.bus.devices[0].wanted_torque_nm == 0
    assert r.cells["drive/operational"] == 0
    if again == "reset":
        r.cells["drive/reset"] = 1
        r.step(6)
    else:
        r.cells["drive/enable"] = 0
        r.step()
        r.cells["drive/enable"] = 1
        r.step(6)
    assert r.bus.devices[0].wanted_torque_nm == pytest.approx(1.0, abs=0.00637)


def test_a_reset_that_is_not_let_go_arms_once_only(rig):
    r = moving(rig)
    r.cells["drive/reset"] = 1
    r.step()
    r.bus.link.drop_frames(3)
    r.step(10)
    assert r.bus.devices[0].wanted_torque_nm == 0


def test_a_fault_before_any_torque_holds_nothing(rig):
    r = rig([FREE])
    r.enable()
    r.bus.link.drop_frames(3)
    r.step(10)
    r.cells["drive/torque_nm"] = 1.0
    r.step(3)
    assert r.bus.devices[0].wanted_torque_nm == pytest.approx(1.0, abs=0.00637)


def test_a_reset_survives_the_loss_of_its_frame(rig):
    r = rig([FREE])
    r.enable()
    r.bus.devices[0].trip(0x2310)
    r.step()
    r.cells["drive/reset"] = 1
    r.bus.link.drop_frames(1)
    r.step()
    r.cells["drive/reset"] = 0
    r.step(8)
    assert r.cells["drive/operational"] == 1


def test_bad_cycles_in_a_row_and_bad_cycles_too_often_fill_the_same_bucket(rig):
    r = moving(rig, bad_limit=3, leak_cycles=4)
    codes = []
    for _ in range(3):
        r.bus.link.drop_frames(1)
        codes.append(r.step())
        r.step(2)
    # 4 - 2 + 4 - 2 + 4 = 8 of 12: not full
    assert codes == [0, 0, 0]
    assert r.block.counters["bad"] == 2
    r.step(40)
    assert r.block.counters["bad"] == 0
    codes = []
    for _ in range(8):
        r.bus.link.drop_frames(1)
        codes.append(r.step())
        r.step()
    assert 2 in codes


def test_a_frozen_slave_is_named_though_it_is_not_the_first(rig):
    r = rig([FREE, FREE])
    r.step()
    r.bus.devices[1].frozen = True
    codes = [r.step() for _ in range(3)]
    assert codes == [0, 0, 4]
    assert (r.cells["drive0/valid"], r.cells["drive1/valid"]) == (1, 0)
    assert r.cells["drive1/wkc"] == 2
    assert any("old data" in f.words and "drive1" in f.words for f in r.bus.faults())
    r.bus.devices[1].frozen = False
    r.step(2)
    assert r.cells["drive1/valid"] == 1


def test_each_slave_counts_its_own_bad_cycles(rig):
    r = rig([FREE, FREE])
    r.step(5)
    r.bus.devices[1].mute = True
    r.step(2)
    r.bus.devices[1].mute = False
    r.step(5)
    assert (r.cells["drive0/invalid_cycles"], r.cells["drive1/invalid_cycles"]) == (0, 2)
    assert (r.cells["drive0/wkc_min"], r.cells["drive1/wkc_min"]) == (2, 0)


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
