"""The scale of a drive's torque in its own words."""

import pytest

from io_bridge.buses.buses import Buses
from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.slaves.drive_config import DriveConfig, DrivePlant
from io_bridge.slaves.errors import BringUpError


def buses(plant):
    bus = SimulatedBus(name="bus", drives=[DriveConfig("wheel")], devices=[DriveDevice(plant)])
    return Buses({"bus": bus})


def test_a_drive_says_its_rated_torque_and_its_limit():
    with buses(DrivePlant(rated_torque_nm=5.0, peak_torque_nm=12.0)) as ring:
        ring.to_op()
        (scale,) = ring.own_scales().values()
        assert list(ring.own_scales()) == ["bus/wheel"]
    assert scale.rated_nm == pytest.approx(5.0)
    # whatever the rig states
    assert scale.most_nm(6.37) == pytest.approx(12.0)


def test_a_drive_that_does_not_answer_has_said_nothing(monkeypatch):
    with buses(DrivePlant()) as ring:
        ring.to_op()
        with monkeypatch.context() as patched:
            patched.setattr(ring.each["bus"]._master, "_transact", lambda frame: None)
            with pytest.raises(BringUpError):
                ring.own_scales()
