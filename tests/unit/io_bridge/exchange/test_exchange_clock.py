"""A cycle that follows the reference clock: without its answer, without a clock, and too long out of step."""

import itertools
import math

import pytest

from io_bridge.slaves.clock_config import ClockConfig
from io_bridge.slaves.drive_config import DrivePlant
from io_bridge.slaves.pdo_layout import SlaveLayout

MS = 1_000_000
FREE = DrivePlant(hands="free")
QUICK = ClockConfig(MS, shift_ns=200_000, bandwidth_hz=20.0, settle_s=0.005, timeout_s=0.2)


@pytest.fixture
def drifting(rig):
    """Give a rig in step with a clock that gains 20 ns a cycle, but for the last cycle, which came 5 us too late."""

    def start(n=1):
        r = rig([FREE] * n, clock=QUICK)
        r.k = 0

        def step(late_ns=0):
            code = r.block.step(r.k * (MS + 20) + late_ns)
            r.k += 1
            return code

        r.drift = step
        for _ in range(400):
            assert step() == 0
        assert r.cells["dc_locked"] == 1
        assert r.block.lock_state[2] == pytest.approx(20.0, abs=0.1)
        step(5000)
        assert r.cells["dc_error_ns"] == pytest.approx(5000, abs=50)
        return r

    return start


def test_the_cycle_is_steered_against_its_error(drifting):
    r = drifting()
    assert r.cells["dc_steer_ns"] < -500
    assert r.block.steer == "bus/dc_steer_ns"
    locked, error_ns, drift_ppm = r.block.lock_state
    assert locked
    assert 0 < error_ns < r.cells["dc_error_ns"]
    assert 20.0 < drift_ppm < 120.0


@pytest.mark.parametrize("wrong", ["mute", "frozen", "dropped"])
def test_without_a_new_time_the_cycle_goes_on_at_the_rate_that_was_learnt(drifting, wrong):
    r = drifting()
    before = r.cells["dc_time_ns"]
    error_ns = r.cells["dc_error_ns"]
    if wrong == "dropped":
        r.bus.link.drop_frames(2)
    else:
        setattr(r.bus.devices[0], wrong, True)
    for _ in range(2):
        r.drift()
        assert r.cells["dc_time_ns"] == before
        assert r.cells["dc_error_ns"] == error_ns
        assert r.cells["dc_steer_ns"] == -r.block.lock_state[2] * MS / 1e6
    if wrong != "dropped":
        setattr(r.bus.devices[0], wrong, False)
    r.drift()
    assert r.cells["dc_time_ns"] > before


def test_a_bus_without_a_clock_has_no_time_and_no_lock(rig):
    r = rig([FREE])
    r.block.configure(r.bus.link, [SlaveLayout(0x1001, 0, 5, 5, 17)], n_slaves=1)
    r.block.in_service = True
    before = r.cells["dc_time_ns"]
    assert r.step(3) == 0
    assert (r.cells["valid"], r.cells["dc_time_ns"]) == (1, before)
    assert math.isnan(r.cells["dc_error_ns"])
    assert (r.cells["dc_locked"], r.cells["dc_steer_ns"]) == (0, 0)
    assert r.block.steer is None
    locked, *numbers = r.block.lock_state
    assert not locked
    assert all(math.isnan(number) for number in numbers)
    assert all(math.isnan(difference) for difference in r.block.differences_ns)


def test_the_time_of_the_reference_clock_is_shown_without_a_lock_too(rig):
    r = rig([FREE])
    times = []
    for _ in range(3):
        r.step()
        times.append(r.cells["dc_time_ns"])
    assert [after - before for before, after in itertools.pairwise(times)] == [MS, MS]
    assert math.isnan(r.cells["dc_error_ns"])


def test_longer_out_of_step_than_the_limit_is_a_fault_of_no_slave(rig):
    r = rig([FREE, FREE], clock=QUICK)
    k = 0
    for _ in range(300):
        r.block.step(k * MS)
        k += 1
    r.bus.devices[1].mute = True
    for _ in range(3):
        code = r.block.step(k * MS)
        k += 1
    assert (code, r.block.culprit) == (3, 1)
    r.bus.devices[1].mute = False
    # it begins again, and every other frame is 400 us late
    r.block.begin_phase()
    codes = []
    for i in range(202):
        codes.append(r.block.step(k * MS + i % 2 * 400_000))
        k += 1
    assert codes == [0] * 200 + [8, 8]
    assert r.block.culprit is None


def test_a_phase_that_begins_again_keeps_the_drift(drifting):
    r = drifting()
    for _ in range(200):
        r.drift()
    r.block.begin_phase()
    r.drift()
    assert r.cells["dc_locked"] == 0
    assert r.block.lock_state[2] == pytest.approx(20.0, abs=0.5)
    codes = {r.drift() for _ in range(20)}
    assert codes == {0}
    assert r.cells["dc_locked"] == 1
