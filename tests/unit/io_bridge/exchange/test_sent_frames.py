"""What the master itself sends: controlword and target of each frame, whatever the drive would make of them."""

import itertools
import math
import struct
from types import SimpleNamespace

import pytest

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.slaves.drive_config import DriveConfig, DrivePlant
from io_bridge.slaves.pdo_layout import SlaveLayout
from io_bridge.wire.frame import parse

MS = 1_000_000
FREE = DrivePlant(hands="free")
FPRD, FPWR, LWR = 4, 5, 11
AL_CONTROL, FMMU_ACTIVE, SM_ACTIVE = 0x0120, 0x060C, 0x0806
RATED_NM = 6.37


def outputs(link, form="<Hh"):
    """Return the beginning of the outputs in each frame since the last call: controlword and target."""
    return [
        struct.unpack_from(form, datagram.data)
        for frame in link.caught_frames()
        for datagram in parse(frame)
        if datagram.command == LWR
    ]


@pytest.fixture
def watched(rig):
    """Give a rig whose frames are caught from the first cycle in service on."""

    def start(*args, **options):
        r = rig(*args, **options)
        r.bus.link.catch_frames()
        return r

    return start


@pytest.fixture
def pushing(watched):
    """Give a rig whose drive is told 1 Nm; what was sent until then is read."""

    def start(**options):
        r = watched([FREE], **options)
        r.enable()
        r.cells["drive/torque_nm"] = 1.0
        r.step(2)
        assert outputs(r.bus.link)[-1] == (0x0F, round(1000 / RATED_NM))
        return r

    return start


def test_no_torque_is_sent_before_the_drive_says_that_it_is_enabled(watched):
    r = watched([FREE])
    r.cells["drive/torque_nm"] = 1.0
    r.cells["drive/enable"] = 1
    sent = []
    for _ in range(9):
        known = r.cells["drive/operational"]
        r.step()
        sent += [(known, *pair) for pair in outputs(r.bus.link)]
    assert list(dict.fromkeys(sent)) == [(0, 6, 0), (0, 7, 0), (0, 15, 0), (1, 15, 157)]


@pytest.mark.parametrize(("control", "target"), [(0x0006, 0), (0x0002, 0)])
def test_a_drive_that_is_no_longer_enabled_is_told_zero_in_the_same_frame(watched, control, target):
    drive = DriveConfig(quick_stop=control == 0x0002)
    r = watched([FREE], [drive])
    r.enable()
    r.cells["drive/torque_nm"] = 1.0
    r.step(2)
    outputs(r.bus.link)
    r.cells["drive/enable"] = 0
    r.step()
    assert outputs(r.bus.link) == [(control, target)]


def test_after_a_drive_fault_neither_torque_nor_enable_is_sent(pushing):
    r = pushing()
    r.bus.devices[0].trip(0x2310)
    r.step(5)
    # the frame on which the drive answers with its fault was filled before
    first, *others = outputs(r.bus.link)
    assert first == (0x0F, 157)
    assert set(others) == {(0, 0)}


def test_the_reset_of_a_fault_is_sent_until_the_drive_has_left_it_and_carries_no_torque(pushing):
    r = pushing()
    r.bus.devices[0].trip(0x2310)
    r.step(2)
    outputs(r.bus.link)
    r.cells["drive/reset"] = 1
    r.step(2)
    assert outputs(r.bus.link)[0] == (0x80, 0)


@pytest.mark.parametrize("quick_stop", [False, True])
def test_outputs_that_are_forced_to_rest_carry_neither_torque_nor_enable(watched, quick_stop):
    r = watched([FREE], [DriveConfig(quick_stop=quick_stop)])
    r.enable()
    r.cells["drive/torque_nm"] = 1.0
    r.step(2)
    outputs(r.bus.link)
    r.block.safe = True
    assert r.block.safe
    r.step(2)
    assert outputs(r.bus.link)[0] == (0x02 if quick_stop else 0x06, 0)
    r.block.safe = False
    assert not r.block.safe
    r.step(12)
    assert outputs(r.bus.link)[-1] == (0x0F, 157)


def test_a_bus_that_is_configured_again_does_not_know_yet_what_its_drives_do(pushing):
    r = pushing()
    layouts = [SlaveLayout(0x1001, 0, 5, 5, 17, True)]
    r.block.configure(r.bus.link, layouts, n_slaves=1, clock_station=0x1001)
    r.block.in_service = True
    r.step()
    assert outputs(r.bus.link) == [(0, 0)]


@pytest.mark.parametrize("lost", ["frames", "outputs", "inputs", "clock"])
def test_bad_cycles_up_to_the_limit_are_bridged_and_then_nothing_is_enabled(pushing, lost):
    r = pushing(bad_limit=3)
    device = r.bus.devices[0]
    if lost == "frames":
        r.bus.link.drop_frames(10)
    elif lost == "clock":
        device.frozen = True
    else:
        stop_manager(r.bus.link, 2 if lost == "outputs" else 3)
    codes = [r.step() for _ in range(6)]
    assert codes[:3] == [0, 0, {"frames": 2, "clock": 4}.get(lost, 3)]
    sent = outputs(r.bus.link)
    assert set(sent[:3]) == {(0x0F, 157)}
    assert set(sent[3:]) == {(0, 0)}
    assert r.cells["drive/valid"] == 0


def stop_manager(link, manager):
    """Take one FMMU and sync manager of a slave out of service, as a slave that lost half of its setup."""
    from io_bridge.wire.frame import WireDatagram, build

    for register in (FMMU_ACTIVE + 16 * (manager - 2), SM_ACTIVE + 8 * manager):
        link.transact(build([WireDatagram(FPWR, 0, register << 16 | 0x1001, b"\0")]), 0)


def test_outputs_that_no_slave_takes_make_the_data_of_the_slave_invalid(watched):
    r = watched([FREE])
    r.step()
    assert (r.cells["drive/valid"], r.cells["drive/wkc"]) == (1, 2)
    stop_manager(r.bus.link, 2)
    r.step()
    assert (r.cells["drive/valid"], r.cells["drive/wkc"]) == (0, 1)


def test_a_slave_that_leaves_op_is_told_zero_in_the_next_frame_and_no_torque_after_it_is_back(
    pushing,
):
    r = pushing()
    r.bus.segment.advance(r.bus.segment.now_ns + 200 * MS)
    assert r.step() == 5
    outputs(r.bus.link)
    r.step(3)
    assert all(target == 0 for _, target in outputs(r.bus.link))


def test_the_watchdog_entry_sends_zero_and_no_enable_whatever_the_cells_say(pushing, step_of):
    r = pushing()
    safe = step_of(SimpleNamespace(capsule=r.block.safe_capsule))
    assert safe(r.cycle * MS) == 0
    assert safe((r.cycle + 1) * MS) == 0
    assert outputs(r.bus.link) == [(6, 0), (6, 0)]
    # the cycle that goes on after all has lost its frames
    r.step(3)
    assert outputs(r.bus.link) == []
    assert r.cells["valid"] == 0


@pytest.mark.parametrize(("quick_stop", "control"), [(False, 6), (True, 2)])
def test_the_watchdog_entry_brakes_a_drive_that_is_to_be_braked(
    watched, step_of, quick_stop, control
):
    r = watched([FREE], [DriveConfig(quick_stop=quick_stop)])
    r.enable()
    outputs(r.bus.link)
    step_of(SimpleNamespace(capsule=r.block.safe_capsule))(r.cycle * MS)
    assert outputs(r.bus.link) == [(control, 0)]


def test_the_watchdog_entry_resets_no_fault(pushing, step_of):
    r = pushing()
    r.bus.devices[0].trip(0x2310)
    r.step()
    r.cells["drive/reset"] = 1
    outputs(r.bus.link)
    step_of(SimpleNamespace(capsule=r.block.safe_capsule))(r.cycle * MS)
    assert outputs(r.bus.link) == [(0, 0)]


def test_torque_is_clamped_to_the_peak_with_the_sign_of_the_drive(watched):
    drive = DriveConfig(rated_torque_nm=2.0, peak_torque_nm=5.0, sign=-1)
    r = watched([FREE], [drive])
    r.enable()
    for torque_nm, permille in ((1.0, -500), (7.0, -2500), (-7.0, 2500), (0.0014, -1), (0.0009, 0)):
        r.cells["drive/torque_nm"] = torque_nm
        r.step()
        assert outputs(r.bus.link)[-1] == (0x0F, permille)


def test_a_position_target_starts_where_the_drive_is_however_long_it_had_to_wait(rig):
    # a command far away while the drive is disabled is not wound up
    drive = DriveConfig(mode="position", velocity_limit_rad_s=1.0, rx_pdo=POSITION_PDO)
    r = rig([FREE], [drive])
    r.bus.link.catch_frames()
    r.cells["drive/position_rad"] = 3.0
    r.step(500)
    r.cells["drive/enable"] = 1
    r.step(8)
    targets = [target for _, target in outputs(r.bus.link, "<Hi")]
    reach = drive.counts_per_rev / 6.283185307179586 * 1e-3
    steps = [after - before for before, after in itertools.pairwise(targets)]
    assert abs(targets[0]) <= 1
    assert 0 < max(steps) <= reach + 1
    assert targets[-1] <= 8 * reach + 1


POSITION_PDO = ((0x6040, 0, 16), (0x607A, 0, 32), (0x6060, 0, 8))


def test_an_error_of_a_slave_is_acknowledged_in_its_state_before_op_is_asked_for(rig, monkeypatch):
    r = rig([FREE])
    asked, beside = [], SimulatedBus._beside

    def recorded(bus, frame):
        asked.extend(
            d.data[0] for d in parse(frame) if d.command == FPWR and d.address >> 16 == AL_CONTROL
        )
        return beside(bus, frame)

    monkeypatch.setattr(SimulatedBus, "_beside", recorded)
    recovery = r.bus.recovery()
    r.bus.segment.advance(r.bus.segment.now_ns + 200 * MS)
    r.step()
    assert r.cells["drive/al_state"] == 0x14
    for _ in range(30):
        recovery.look()
        r.step()
    assert r.cells["drive/al_state"] == 8
    assert asked[0] == 0x14
    assert asked[-1] == 0x18
    assert all(control & 0x10 for control in asked)


@pytest.mark.parametrize("bad", [0, 1])
def test_a_command_that_is_no_number_stops_every_drive_whichever_has_it(watched, bad):
    r = watched([FREE, FREE])
    for name in ("drive0", "drive1"):
        r.enable(name)
    outputs(r.bus.link)
    r.cells[f"drive{bad}/torque_nm"] = math.nan
    assert r.step() == 7
    # nothing was acting, so nothing is held; yet no torque leaves as long as the fault stands
    r.cells[f"drive{1 - bad}/torque_nm"] = 1.0
    assert r.step(3) == 7
    assert [target for _, target in outputs(r.bus.link)] == [0] * 8


def test_the_culprit_of_a_fault_is_the_slave_that_it_is_about(rig):
    r = rig([FREE, FREE])
    r.step()
    r.bus.devices[1].trip(0x2310)
    assert r.step(2) == 6
    assert r.block.culprit == 1
    r.bus.link.drop_frames(3)
    assert r.step(3) == 2
    assert r.block.culprit is None
    r.bus.segment.advance(r.bus.segment.now_ns + 200 * MS)
    assert r.step() == 5
    assert r.block.culprit == 0
