"""Who has the frames: the cycle, the keeper before it, the watchdog in its place, a datagram beside it."""

import math
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.exchange.exchange import Exchange
from io_bridge.master.bringup import prepare
from io_bridge.master.master import Master
from io_bridge.slaves.clock_config import ClockConfig
from io_bridge.slaves.drive_config import DriveConfig, DrivePlant
from io_bridge.slaves.pdo_layout import SlaveLayout
from io_bridge.wire.redundant_socket import RedundantSocket

MS = 1_000_000
FREE = DrivePlant(hands="free")
LONG_S = 20.0  # nothing that works waits so long


@pytest.fixture
def safe_step(step_of):
    """Take the entry that the watchdog calls."""
    return lambda block: step_of(SimpleNamespace(capsule=block.safe_capsule))


@contextmanager
def kept(block, period_us=1000.0):
    """Keep the bus alive in a thread, as before the first cycle."""
    block.stop_keeping(False)
    with ThreadPoolExecutor(1) as pool:
        keeping = pool.submit(block.keep, period_us)
        try:
            yield keeping
        finally:
            block.stop_keeping()
            keeping.result(LONG_S)


def wait_until(true):
    end = time.monotonic() + LONG_S
    while not true():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_what_is_lent_is_taken_once_and_given_back(rig):
    r = rig([FREE])
    r.step()
    r.bus.link.catch_frames()

    def use():
        began = time.monotonic()
        with pytest.raises(TimeoutError, match="'bus': the cycle does not give its frames away"):
            r.block.lend(lambda: None, 0.02)
        assert time.monotonic() - began >= 0.02
        # a cycle that comes meanwhile loses its inputs
        assert r.step() == 0
        return r.cells["valid"], r.cells["drive/valid"]

    assert r.block.lend(use) == (0, 0)
    assert r.bus.link.caught_frames() == []
    r.step()
    assert len(r.bus.link.caught_frames()) == 1
    assert (r.cells["valid"], r.cells["drive/valid"]) == (1, 1)


@pytest.mark.parametrize("lent", [{0}, {1}, {2}, {0, 1, 2}])
def test_cycles_without_their_frames_end_in_a_fault_in_time_lost_or_lent(rig, lent):
    r = rig([FREE], bad_limit=3)
    r.enable()

    def bad(cycle):
        if cycle in lent:
            return r.block.lend(r.step)
        r.bus.link.drop_frames(1)
        return r.step()

    assert [bad(cycle) for cycle in range(3)] == [0, 0, 2]
    assert r.cells["drive/operational"] == 0
    # the fault stays while nothing is seen, and is over when enough was
    assert r.block.lend(r.step) == 2
    assert r.step() == 0
    assert r.block.counters["held"] == 0


def test_a_cycle_without_its_frames_fills_the_bucket_as_a_lost_frame_does(rig):
    r = rig([FREE], bad_limit=3, leak_cycles=4)
    for n in (1, 2, 3, 3):
        r.block.lend(r.step)
        assert r.block.counters["bad"] == n
    r.step(12)
    assert r.block.counters["bad"] == 0


def test_who_needs_the_frames_waits_until_they_are_given_back(rig):
    r = rig([FREE])
    with ThreadPoolExecutor(1) as pool:

        def use():
            waiting = pool.submit(r.block.lend, lambda: "had them", LONG_S)
            time.sleep(0.02)
            assert not waiting.done()
            return waiting

        assert r.block.lend(use).result(LONG_S) == "had them"


def test_frames_come_back_from_a_use_that_fails(rig):
    r = rig([FREE])

    def use():
        raise RuntimeError("no answer")

    with pytest.raises(RuntimeError, match="no answer"):
        r.block.lend(use)
    assert r.block.lend(lambda: "had them") == "had them"


def test_the_watchdog_sends_nothing_into_the_middle_of_an_exchange_and_nothing_before_bring_up(
    rig, safe_step
):
    assert safe_step(Exchange([DriveConfig()]))(0) == 1
    r = rig([FREE])
    r.bus.link.catch_frames()
    assert r.block.lend(lambda: safe_step(r.block)(MS)) == 1
    assert r.bus.link.caught_frames() == []
    assert safe_step(r.block)(2 * MS) == 0
    assert len(r.bus.link.caught_frames()) == 1


def test_a_bus_that_is_configured_again_is_no_longer_the_watchdogs(rig, safe_step):
    r = rig([FREE])
    assert safe_step(r.block)(MS) == 0
    r.step()
    assert r.cells["valid"] == 0
    r.bus.close()
    r.bus.to_op()
    assert r.step() == 0
    assert r.cells["valid"] == 1


def test_a_keeper_sends_zero_and_no_enable_at_its_period_whatever_the_cells_say(rig):
    r = rig([FREE])
    r.enable()
    r.cells["drive/torque_nm"] = 1.0
    r.step(2)
    device = r.bus.devices[0]
    assert device.wanted_torque_nm == pytest.approx(1.0, abs=0.00637)
    cycles, segment_ns, began = r.block.counters["cycles"], r.bus.segment.now_ns, time.monotonic()
    with kept(r.block):
        wait_until(lambda: r.block.counters["cycles"] >= cycles + 20)
    passed_s = time.monotonic() - began
    assert device.wanted_torque_nm == 0
    assert (r.cells["drive/operational"], r.cells["valid"]) == (0, 1)
    # no more than one exchange a period, and time on the bus that goes with them
    exchanges = r.block.counters["cycles"] - cycles
    assert exchanges <= passed_s / 1e-3 + 1
    passed_on_bus_s = 1e-9 * (r.bus.segment.now_ns - segment_ns)
    assert 0.9e-3 * (exchanges - 1) <= passed_on_bus_s <= passed_s + 1e-3


@pytest.mark.parametrize("ahead_ns", [3_000_000, -3_000_000])
def test_a_keeper_that_is_steered_sends_no_more_often_than_once_a_period(rig, ahead_ns):
    # at its limit of 1 % of the period, which is longer than an exchange on this bus takes
    clock = ClockConfig(20 * MS, shift_ns=10 * MS, bandwidth_hz=5.0, settle_s=0.1)
    r = rig([FREE], clock=clock)
    r.step()
    r.bus.segment.advance(r.bus.segment.now_ns + 20 * MS + ahead_ns)
    cycles, began = r.block.counters["cycles"], time.monotonic()
    with kept(r.block, 20_000.0):
        wait_until(lambda: r.block.counters["cycles"] >= cycles + 12)
    passed_s = time.monotonic() - began
    # each deadline is at most 1 % nearer than a period
    assert r.block.counters["cycles"] - cycles <= passed_s / (0.99 * 20e-3) + 1


def test_a_keeper_that_comes_late_goes_on_with_the_next_period(rig):
    # an exchange takes longer than this period
    r = rig([FREE])
    r.step()
    cycles = r.block.counters["cycles"]
    with kept(r.block, 1.0):
        wait_until(lambda: r.block.counters["cycles"] >= cycles + 5)


def test_the_first_cycle_ends_the_keeper(rig):
    r = rig([FREE])
    with kept(r.block) as keeping:
        cycles = r.block.counters["cycles"]
        wait_until(lambda: r.block.counters["cycles"] > cycles)
        # the keeper may be in the middle of a frame: then the cycle loses its inputs, never time
        r.step()
        keeping.result(LONG_S)
    assert r.step() == 0
    assert r.cells["valid"] == 1


def test_a_keeper_comes_into_step_with_the_reference_clock_and_the_cycle_after_it_begins_again(rig):
    # so quick a lock that a bus whose time were steered more than once would swing
    clock = ClockConfig(MS, shift_ns=400_000, bandwidth_hz=100.0, settle_s=0.005)
    r = rig([FREE], clock=clock)
    r.step()
    # off by so much that the lock has to be found
    r.bus.segment.advance(r.bus.segment.now_ns + 300_000)
    with kept(r.block):
        wait_until(lambda: r.cells["dc_locked"] == 0)
        wait_until(lambda: r.cells["dc_locked"] == 1)
        wait_until(lambda: abs(r.cells["dc_error_ns"]) < 1000)
        for _ in range(20):
            cycles = r.block.counters["cycles"]
            wait_until(lambda cycles=cycles: r.block.counters["cycles"] > cycles)
            assert abs(r.cells["dc_error_ns"]) < 1000
    assert r.block.lock_state[0]
    r.step()
    assert r.cells["dc_locked"] == 0
    assert math.isfinite(r.cells["dc_error_ns"])


def test_a_bus_that_is_not_configured_cannot_be_kept():
    with pytest.raises(RuntimeError, match="'bus': configure it first"):
        Exchange([DriveConfig()]).keep(1000.0)


def test_the_watchdog_sends_as_often_as_it_likes_though_nobody_answers(safe_step):
    pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2)]
    block = Exchange([DriveConfig()])
    block.configure(
        RedundantSocket(pairs[0][0], pairs[1][0]), [SlaveLayout(0x1001, 0, 5, 5, 13)], n_slaves=1
    )
    safe = safe_step(block)
    assert [safe(k * MS) for k in range(9)] == [0] * 9
    for _, far in pairs:
        assert len([far.recv(2048) for _ in range(9)]) == 9


def test_a_ring_that_opens_is_seen_in_the_cells_with_its_gap(cells):
    pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2)]
    far = [pair[1] for pair in pairs]
    segment = Segment([DriveDevice(FREE)])
    master = Master(lambda frame: segment.process(frame, segment.now_ns + 1000))
    block = Exchange([DriveConfig()], budget_us=1e6 * LONG_S / 20, bad_limit=1000)
    table = cells(block)
    (record,) = prepare(master, block.slaves)
    block.configure(RedundantSocket(pairs[0][0], pairs[1][0]), [record.layout], n_slaves=1)

    def ring():
        return [table[f"ring_{what}"] for what in ("open", "near", "breaks")], block.gap

    assert ring() == ([0, 0, 0], None)
    with ThreadPoolExecutor(1) as pool:
        for k, (is_open, expected) in enumerate(
            [
                (False, ([0, 0, 0], None)),
                (True, ([1, 1, 1], 1)),
                (True, ([1, 1, 1], 1)),
                (False, ([0, 1, 1], None)),
                (True, ([1, 1, 2], 1)),
            ]
        ):
            stepping = pool.submit(block.step, k * MS)
            first, second = (end.recv(2048) for end in far)
            answer = segment.process(first, segment.now_ns + MS)
            # the slave is on the first line's side; nobody touches what comes from the second
            far[0 if is_open else 1].send(answer)
            far[1 if is_open else 0].send(second)
            stepping.result(LONG_S)
            assert table["al_state"] == 4
            assert ring() == expected
            assert table["duplicated"] == block.counters["duplicated"] == k
            # a reply that had come already
            far[0].send(answer)
    block.disconnect()
    assert block.gap is None


def test_a_keeper_exchanges_in_every_period(rig):
    r = rig([FREE])
    times = {r.cells["dc_time_ns"]}
    with kept(r.block, 5000.0):

        def follows_by_a_period():
            times.add(r.cells["dc_time_ns"])
            return any(t + 5 * MS in times for t in times)

        wait_until(follows_by_a_period)


def test_the_frames_are_waited_for_no_longer_than_was_said(rig):
    r = rig([FREE])

    def waited_s():
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            r.block.lend(lambda: None, 0.02)
        return time.monotonic() - began

    # one that is put off by others waits longer: but not every one
    assert r.block.lend(lambda: any(waited_s() < 0.04 for _ in range(50)))
