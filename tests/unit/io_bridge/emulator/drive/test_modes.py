"""Cyclic synchronous velocity and position, on a drive that has these modes."""

import math

import pytest

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.slaves.drive_config import DriveConfig, DrivePlant

MS = 1_000_000
TURN = 2**20


class Rig:
    def __init__(self, cells, **config):
        self.bus = SimulatedBus([DrivePlant(hands="free")], [DriveConfig(**config)])
        self.block = self.bus.block()
        self.cells = cells(self.block)
        self.bus.to_op()
        self.cycle = 0
        self.cells["drive/enable"] = 1
        self.step(8)
        assert self.cells["drive/operational"] == 1

    def step(self, n=1):
        for _ in range(n):
            code = self.block.step(self.cycle * MS)
            self.cycle += 1
        return code

    @property
    def rate_rad_s(self):
        return self.bus.devices[0].rate_rad_s

    @property
    def angle_rad(self):
        return self.bus.devices[0].angle_rad


@pytest.fixture
def rig(cells):
    return lambda **config: Rig(cells, **config)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_velocity_is_reached_and_held(rig, sign):
    r = rig(mode="velocity", sign=sign)
    r.cells["drive/velocity_rad_s"] = 3.0
    assert r.step(1000) == 0
    assert r.rate_rad_s == pytest.approx(3.0 * sign, abs=0.02)
    assert r.cells["drive/velocity_count_s"] == pytest.approx(3.0 / (2 * math.pi) * TURN, rel=0.01)
    r.cells["drive/enable"] = 0
    r.step()
    assert r.bus.devices[0].wanted_torque_nm == 0


def test_a_velocity_is_held_within_its_limit(rig):
    r = rig(mode="velocity", velocity_limit_rad_s=2.0)
    r.cells["drive/velocity_rad_s"] = 50.0
    r.step(1000)
    assert r.rate_rad_s == pytest.approx(2.0, abs=0.02)


def test_velocity_units_of_a_drive_are_its_own(rig):
    # the simulated drive counts counts a second, so a unit of ten makes it ten times too slow
    r = rig(mode="velocity", velocity_unit_counts_s=10.0)
    r.cells["drive/velocity_rad_s"] = 10.0
    r.step(1000)
    assert r.rate_rad_s == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_position_is_followed_no_faster_than_the_limit(rig, sign):
    r = rig(mode="position", sign=sign, velocity_limit_rad_s=1.0)
    r.cells["drive/position_rad"] = 0.5
    r.step(250)
    # a ramp of 1 rad/s for a quarter of a second, and the lag of the drive's loop
    assert 0.1 < sign * r.angle_rad < 0.26
    r.step(1500)
    assert sign * r.angle_rad == pytest.approx(0.5, abs=0.005)


def test_a_position_drive_does_not_jump_when_it_is_enabled_again(rig):
    r = rig(mode="position", velocity_limit_rad_s=1.0)
    r.cells["drive/position_rad"] = 0.3
    r.step(1000)
    r.cells["drive/enable"] = 0
    r.step(20)
    here = r.angle_rad
    r.cells["drive/position_rad"] = -1.0
    r.cells["drive/enable"] = 1
    r.step(16)
    # no further than the limit lets it in the cycles that it had
    assert abs(r.angle_rad - here) < 0.03


def test_torque_stays_off_after_a_fault_in_every_mode(rig):
    r = rig(mode="velocity")
    r.cells["drive/velocity_rad_s"] = 1.0
    r.step(200)
    r.bus.link.drop_frames(3)
    r.step(20)
    assert r.bus.devices[0].wanted_torque_nm == 0


def test_a_mode_that_there_is_not_is_named():
    with pytest.raises(
        ValueError, match="mode = 'homing': input should be 'torque', 'velocity' or 'position'"
    ):
        DriveConfig(mode="homing")
    with pytest.raises(ValueError, match="velocity_limit_rad_s = 0"):
        DriveConfig(velocity_limit_rad_s=0)
