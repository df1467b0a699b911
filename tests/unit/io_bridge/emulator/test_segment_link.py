"""Faults that the emulated wire and its slaves have on order, as the master's exchange sees them."""

import ctypes
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.segment_link import Order
from io_bridge.slaves.drive_config import DrivePlant
from io_bridge.wire.frame import WireDatagram, build, parse

FREE = DrivePlant(hands="free")
MS = 1_000_000
LONG_S = 20.0  # nothing that works waits so long


@pytest.fixture
def pushing(cells):
    """A bus in OP that has pushed for 20 cycles; its table, a way to step it, and the cell of orders."""
    bus = SimulatedBus([FREE])
    table = cells(bus.block())
    bus.to_op()
    table["drive/enable"] = 1
    table["drive/torque_nm"] = 3.0
    order = ctypes.c_double.from_address(bus.link.order_address(0))
    k = 0

    def step(n=1, what=Order.NO_ORDER):
        nonlocal k
        order.value = float(what)
        faults = []
        for _ in range(n):
            faults.append(bus.block().step(k * MS))
            k += 1
        order.value = 0.0
        return faults

    assert step(20)[-1] == 0
    assert table["drive/valid"] == 1
    yield bus, table, step
    bus.close()


@pytest.mark.parametrize("what", [Order.LOSE_FRAME, Order.REFUSE_INPUTS, Order.FREEZE])
def test_one_bad_cycle_is_invalid_inputs_and_then_all_is_well(pushing, what):
    _, table, step = pushing
    before = table["drive/position_count"]
    assert step(1, what) == [0]
    assert table["drive/valid"] == 0
    # never a plausible zero
    assert table["drive/position_count"] == before
    assert table["drive/operational"] == 1
    assert step(2) == [0, 0]
    assert table["drive/valid"] == 1


@pytest.mark.parametrize(
    ("what", "fault"), [(Order.LOSE_FRAME, 2), (Order.REFUSE_INPUTS, 3), (Order.FREEZE, 4)]
)
def test_as_many_as_the_limit_are_a_lost_drive_with_its_cause(pushing, what, fault):
    _, table, step = pushing
    assert step(3, what) == [0, 0, fault]
    assert table["drive/operational"] == 0


def test_inputs_left_out_are_a_low_counter_of_that_drive(pushing):
    _, table, step = pushing
    step(1, Order.REFUSE_INPUTS)
    assert table["drive/wkc"] == 1


def test_without_frames_the_drives_own_watchdog_takes_the_torque(pushing):
    bus, _, step = pushing
    cycles = int(bus.block().drives[0].watchdog_ms)
    step(cycles - 1, Order.LOSE_FRAME)
    assert bus.devices[0].wanted_torque_nm > 2.9
    step(2, Order.LOSE_FRAME)
    assert bus.devices[0].wanted_torque_nm == 0
    assert bus.devices[0].al_code == 0x1B


@pytest.mark.parametrize(
    ("what", "fault", "al_code", "statusword"),
    [
        (Order.LOSE_OPERATION, 5, 0x1A, None),
        (Order.END_WATCHDOG, 5, 0x1B, 0x0008),
        (Order.FAIL_DRIVE, 6, 0, 0x0008),
    ],
)
def test_a_drive_that_leaves_is_seen_in_the_same_cycle(pushing, what, fault, al_code, statusword):
    bus, table, step = pushing
    assert step(1, what) == [fault]
    assert table["drive/operational"] == 0
    assert bus.devices[0].al_code == al_code
    assert bus.devices[0].wanted_torque_nm == 0
    if statusword is not None:
        assert table["drive/statusword"] == statusword
    # it is an event: the order's end does not bring the drive back
    assert step(3) == [fault] * 3


def test_a_device_frozen_by_hand_stays_frozen(pushing):
    bus, _, step = pushing
    bus.devices[0].frozen = True
    step(1)
    assert bus.devices[0].frozen
    step(1, Order.FREEZE)
    step(1)
    assert not bus.devices[0].frozen


def test_an_order_is_that_of_one_slave(cells):
    bus = SimulatedBus([FREE, FREE, FREE])
    table = cells(bus.block())
    bus.to_op()
    names = ("drive0", "drive1", "drive2")
    for name in names:
        table[f"{name}/enable"] = 1
        table[f"{name}/torque_nm"] = 2.0
    for k in range(20):
        assert bus.block().step(k * MS) == 0
    order = ctypes.c_double.from_address(bus.link.order_address(1))
    for k, what in ((20, Order.REFUSE_INPUTS), (30, Order.FREEZE)):
        order.value = float(what)
        assert bus.block().step(k * MS) == 0
        order.value = 0.0
        assert [table[f"{name}/valid"] for name in names] == [1, 0, 1]
        assert bus.block().step((k + 1) * MS) == 0
        assert [table[f"{name}/valid"] for name in names] == [1, 1, 1]
    order.value = float(Order.FAIL_DRIVE)
    bus.block().step(40 * MS)
    assert [table[f"{name}/statusword"] for name in names] == [0x0037, 0x0008, 0x0037]
    bus.close()


def test_an_order_for_a_slave_that_is_not_there_is_told():
    bus = SimulatedBus([FREE])
    for position in (-1, 1):
        with pytest.raises(
            ValueError, match=f"position {position}: the segment has the slaves 0 to 0"
        ):
            bus.link.order_address(position)


def asked(command, register, data):
    return build([WireDatagram(command, 1, register << 16 | 0x1001, data)])


@pytest.mark.parametrize("lost", [0, 1])
def test_a_frame_beside_the_cycle_passes_behind_its_own_and_costs_it_nothing(rig, lost):
    r = rig()
    r.step()
    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(r.bus.link.transact_beside, asked(4, 0x0130, bytes(2)), LONG_S)
        for _ in range(int(LONG_S / 0.001)):
            r.bus.link.drop_frames(lost)
            now_ns = r.bus.segment.now_ns
            r.step()
            assert r.cells["valid"] == 1 - lost
            assert r.bus.segment.now_ns - now_ns == MS
            if beside.done():
                break
            time.sleep(0.001)
        (reply,) = parse(beside.result())
    assert (reply.wkc, reply.data) == (1, b"\x08\x00")


def test_a_frame_that_no_cycle_takes_is_withdrawn_and_never_passes(rig):
    r = rig()
    assert r.bus.link.transact_beside(asked(5, 0x0012, b"\x55\x00"), 0.001) is None
    r.step(2)
    (reply,) = parse(r.bus.link.transact(asked(4, 0x0012, bytes(2))))
    assert (reply.wkc, reply.data) == (1, bytes(2))


def test_a_frame_beside_the_cycle_is_no_longer_than_a_frame(rig):
    with pytest.raises(ValueError, match="a frame of 9999 bytes"):
        rig().bus.link.transact_beside(bytes(9999), 0.001)
