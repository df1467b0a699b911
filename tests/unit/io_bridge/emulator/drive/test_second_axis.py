"""The second axis of a drive with two: its own status, mode, fault, sensor, and what it refuses, by its own objects."""

import dataclasses

import pytest

from io_bridge.attendant.drives_in_fault import drives_in_fault
from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.master.bringup import BringUpError
from io_bridge.slaves.cia402 import drive_state
from io_bridge.slaves.drive_config import SENSOR, TX_PDO, DriveConfig, SdoWrite, of_axis
from io_bridge.slaves.words import DRIVE_STATES

MS = 1_000_000
LEFT, RIGHT = DriveConfig("left"), DriveConfig("right", axis=1, joined=True)


class Pair:
    """A two-axis drive on the bus."""

    def __init__(self, cells, *slaves, device="two_axis_drive"):
        self.device = make_device(device)
        self.bus = SimulatedBus(drives=slaves or (LEFT, RIGHT), devices=[self.device])
        self.table = cells(self.bus.block())
        self.bus.to_op()
        self.n = 0

    def step(self, n=1):
        for _ in range(n):
            self.bus.block().step(self.n * MS)
            self.n += 1

    def enable(self, left=1.0, right=1.0):
        self.table["left/enable"], self.table["right/enable"] = left, right

    def states(self):
        return [DRIVE_STATES[drive_state(axis.statusword)] for axis in self.device.axes]

    def operational(self):
        return [self.table[f"{name}/operational"] for name in ("left", "right")]

    def object(self, index):
        return int.from_bytes(self.bus._master.upload(0x1001, index, 0), "little", signed=True)


@pytest.fixture
def pair(cells):
    made = []

    def make(*slaves, **more):
        made.append(Pair(cells, *slaves, **more))
        return made[-1]

    yield make
    for one in made:
        one.bus.close()


@pytest.mark.parametrize("which", [0, 1])
def test_one_axis_in_fault_is_named_and_takes_the_torque_of_all_until_it_is_reset(pair, which):
    p = pair()
    p.enable()
    p.table["left/torque_nm"] = p.table["right/torque_nm"] = 1.0
    p.step(20)
    assert p.operational() == [1.0, 1.0]
    p.device.axes[which].trip(0x2310)
    p.step(5)
    states = p.states()
    assert states[which] == "fault"
    # all drives of a bus rest, until they are armed again or reset
    assert states[1 - which] == "ready to switch on"
    assert p.operational() == [0.0, 0.0]
    assert [axis.wanted_torque_nm for axis in p.device.axes] == [0.0, 0.0]
    (words,) = drives_in_fault(p.bus.block(), p.bus._master, p.bus._records)
    assert f"slave 0 ({('left', 'right')[which]})" in words
    assert f"{0x603F + 0x800 * which:#06x}: 0x2310" in words
    p.table[f"{('left', 'right')[which]}/reset"] = 1.0
    p.step(20)
    assert p.states() == ["operation enabled", "operation enabled"]
    assert p.device.axes[which].wanted_torque_nm == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("which", [0, 1])
def test_a_reset_is_that_of_its_own_axis(pair, which):
    names = ("left", "right")
    p = pair()
    p.enable()
    p.step(20)
    for axis in p.device.axes:
        axis.trip(0x2310)
    p.step(5)
    assert p.states() == ["fault", "fault"]
    p.table[f"{names[which]}/reset"] = 1.0
    p.step(20)
    assert p.states()[1 - which] == "fault"
    assert p.operational() == [float(which == 0), float(which == 1)]


def test_each_axis_has_a_mode_of_its_own_and_is_not_operational_in_another(pair):
    p = pair(LEFT, dataclasses.replace(RIGHT, mode="velocity", rx_pdo=()))
    p.enable()
    p.table["right/velocity_rad_s"] = 0.5
    p.step(30)
    assert p.operational() == [1.0, 1.0]
    assert (p.object(0x6060), p.object(0x6860)) == (10, 9)
    assert (p.object(0x6061), p.object(0x6861)) == (10, 9)


@pytest.mark.parametrize(
    ("index", "name"), [(0x6060, "left"), (0x6860, "right")], ids=["left", "right"]
)
def test_a_mode_that_is_refused_names_the_axis_and_its_object(pair, index, name):
    device = f"two_axis_drive+busy_object:times=99,index={index:#06x},code=0x06090030"
    with pytest.raises(BringUpError, match=rf"{name}: mode 'torque' .*{index:#06x}"):
        pair(device=device)


@pytest.mark.parametrize(("slave", "index"), [(0, 0x6072), (1, 0x6872)], ids=["left", "right"])
def test_a_setup_that_is_refused_names_the_axis_that_asked_for_it(pair, slave, index):
    slaves = [LEFT, RIGHT]
    slaves[slave] = dataclasses.replace(slaves[slave], setup=(SdoWrite(index, 0, 500, 2),))
    device = f"two_axis_drive+busy_object:times=99,index={index:#06x},code=0x06090030"
    with pytest.raises(BringUpError) as caught:
        pair(*slaves, device=device)
    assert f"{slaves[slave].name}: SDO {index:#06x}:0" in str(caught.value)


def test_an_object_of_the_second_axis_that_is_busy_once_is_asked_again(pair):
    p = pair(device="two_axis_drive+busy_object:times=2,index=0x6860")
    p.enable()
    p.step(20)
    assert p.operational() == [1.0, 1.0]


def test_mappings_that_may_not_be_written_leave_both_axes_what_they_have(pair):
    p = pair(device="two_axis_drive+fixed_mapping")
    p.enable()
    p.step(20)
    assert p.operational() == [1.0, 1.0]


@pytest.mark.parametrize("with_left", [True, False])
def test_the_torque_sensor_of_an_axis_is_its_own(pair, with_left):
    left = dataclasses.replace(LEFT, tx_pdo=(*TX_PDO, SENSOR)) if with_left else LEFT
    own = (SENSOR[0] + 0x800, *SENSOR[1:])
    right = dataclasses.replace(RIGHT, tx_pdo=(*of_axis(TX_PDO, 1), own))
    p = pair(left, right)
    p.enable(left=0.0)
    p.table["right/torque_nm"] = 2.0
    p.step(300)
    said = p.object(own[0]) * 1e-3
    assert said != 0.0
    assert p.table["right/sensor_torque_nm"] == pytest.approx(said, abs=0.02)


def test_an_axis_without_a_torque_sensor_does_not_give_that_of_another(pair):
    p = pair(dataclasses.replace(LEFT, tx_pdo=(*TX_PDO, SENSOR)), RIGHT)
    p.step(20)
    assert p.table["right/sensor_torque_nm"] != p.table["right/sensor_torque_nm"]
