"""What a cycle makes of lost, wrong and old answers, and how the torque comes back."""

import math

import pytest

from io_bridge.bus import list_faults
from io_bridge.slaves.drive_config import DriveConfig, DrivePlant
from io_bridge.slaves.pdo_layout import SlaveLayout

MS = 1_000_000
FREE = DrivePlant(hands="free")


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


@pytest.mark.parametrize(
    ("port", "value", "held"),
    [("enable", 0.5, 0), ("enable", 0.75, 1), ("reset", 0.5, 1), ("reset", 0.75, 0)],
)
def test_a_fault_is_held_until_the_enable_is_half_or_less_or_the_reset_more(rig, port, value, held):
    r = moving(rig)
    r.bus.link.drop_frames(3)
    r.step(5)
    assert r.block.counters["held"] == 1
    r.cells[f"drive/{port}"] = value
    r.step()
    assert r.block.counters["held"] == held


@pytest.mark.parametrize("enabled", [0, 1])
def test_a_fault_is_held_while_any_drive_is_enabled(rig, enabled):
    r = rig([FREE, FREE])
    r.enable(f"drive{enabled}")
    r.cells[f"drive{enabled}/torque_nm"] = 1.0
    r.step(2)
    r.bus.link.drop_frames(3)
    r.step(20)
    assert r.block.counters["held"] == 1
    assert [device.wanted_torque_nm for device in r.bus.devices] == [0, 0]
    r.cells[f"drive{enabled}/enable"] = 0
    r.step()
    assert r.block.counters["held"] == 0


def test_a_torque_that_was_taken_back_to_zero_is_held_by_a_fault_too(rig):
    r = moving(rig)
    r.cells["drive/torque_nm"] = 0.0
    r.step(5)
    r.bus.link.drop_frames(3)
    r.step(3)
    assert r.block.counters["held"] == 1


@pytest.mark.parametrize(("torque_nm", "held"), [(0.49e-3, 0), (0.5e-3, 1), (-0.5e-3, 1)])
def test_a_torque_of_less_than_half_a_per_mille_is_none_to_hold(rig, torque_nm, held):
    r = rig([FREE], [DriveConfig(rated_torque_nm=1.0, peak_torque_nm=3.0)])
    r.enable()
    r.cells["drive/torque_nm"] = torque_nm
    r.step(3)
    r.bus.link.drop_frames(3)
    r.step(3)
    assert r.block.counters["held"] == held


def test_a_velocity_of_zero_is_a_command_to_hold(rig):
    r = rig([FREE], [DriveConfig(mode="velocity")])
    r.enable()
    r.bus.link.drop_frames(3)
    r.step(3)
    assert r.block.counters["held"] == 1


def test_a_cycle_that_saw_nothing_clears_no_fault_but_that_of_a_command(rig):
    r = rig([FREE])
    r.enable()
    r.cells["drive/torque_nm"] = math.nan
    r.bus.link.drop_frames(1)
    assert [r.step(), r.step()] == [7, 7]
    r.cells["drive/torque_nm"] = 0.0
    r.bus.link.drop_frames(1)
    assert [r.step(), r.step()] == [0, 0]
    r.step(20)
    r.bus.devices[0].trip(0x2310)
    assert r.step() == 6
    r.bus.link.drop_frames(1)
    assert [r.step(), r.step()] == [6, 6]


def test_a_ring_with_a_slave_less_than_at_bring_up_is_a_fault_of_no_slave_that_is_described(rig):
    r = rig([FREE, FREE])
    r.step()
    r.bus.devices[1].frozen = True
    assert r.step(3) == 4
    assert r.block.culprit == 1
    r.bus.devices[1].frozen = False
    layouts = [SlaveLayout(0x1001 + i, 18 * i, 5, 18 * i + 5, 17, True) for i in range(2)]
    r.block.configure(r.bus.link, layouts, n_slaves=3, clock_station=0x1001)
    r.block.in_service = True
    assert [r.step() for _ in range(3)] == [0, 0, 3]
    assert r.block.culprit is None
    assert [fault.source for fault in r.bus.faults()][:1] == ["bus"]
    assert (r.cells["valid"], r.cells["al_state"]) == (0, 8)


def test_a_lost_cycle_has_no_counter_and_is_counted_as_sent_only(rig, work_of):
    r = rig([FREE])
    r.step()
    assert r.cells["wkc"] == 3
    moved, cycles = work_of(r.block), r.block.counters["cycles"]
    before = moved()
    r.bus.link.drop_frames(1)
    r.step()
    assert (r.cells["wkc"], r.cells["valid"]) == (0, 0)
    assert moved() - before == 1
    r.step()
    assert moved() - before == 3
    assert r.block.counters["cycles"] == cycles + 2


def test_every_frame_of_a_cycle_is_counted_on_its_way_out_and_back(rig, work_of):
    r = rig([FREE] * 16)
    assert r.block.n_frames == 2
    moved = work_of(r.block)
    before = moved()
    r.step()
    assert moved() - before == 4


def test_a_drive_that_is_no_longer_heard_is_not_shown_as_operational(rig):
    r = moving(rig)
    r.bus.link.drop_frames(4)
    shown = []
    for _ in range(4):
        r.step()
        shown.append(r.cells["drive/operational"])
    assert shown == [1, 1, 0, 0]


def test_a_fault_is_left_behind_by_enough_good_cycles_however_long_it_was(rig):
    r = rig([FREE], bad_limit=3, leak_cycles=4)
    r.bus.link.drop_frames(500)
    r.step(500)
    assert r.block.counters["bad"] == 3
    r.step(11)
    assert r.block.counters["bad"] == 1
    r.step(1)
    assert r.block.counters["bad"] == 0


def test_nothing_is_judged_and_no_torque_leaves_out_of_service(rig):
    r = moving(rig)
    r.bus.link.drop_frames(2)
    assert r.step(2) == 0
    r.block.in_service = False
    assert r.block.counters["bad"] == 0
    r.bus.link.drop_frames(9)
    assert r.step(10) == 0
    assert r.bus.devices[0].wanted_torque_nm == 0
