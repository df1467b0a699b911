from dataclasses import replace

import pytest

from io_bridge.bus import list_faults
from io_bridge.buses.simulated_bus import SimulatedBus, simulated_drive
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.master.bringup import BringUpError
from io_bridge.slaves.clock_config import ClockConfig
from io_bridge.slaves.drive_config import SIMULATED_IDENTITY, DriveConfig, DrivePlant, SdoWrite

MS = 1_000_000
FREE = DrivePlant(hands="free")
PUSH_NM = 1.0


class Rig:
    """Drives in OP with a recovery that looks after every cycle, as the attendant does beside it."""

    def __init__(self, cells, n=2, **options):
        self.bus = SimulatedBus([FREE] * n, **options)
        self.block = self.bus.block()
        self.cells = cells(self.block)
        self.bus.to_op()
        self.recovery = self.bus.recovery()
        self.names = [drive.name for drive in self.block.drives]
        self.cycle = 0
        for name in self.names:
            self.cells[f"{name}/enable"] = 1
            self.cells[f"{name}/torque_nm"] = PUSH_NM
        self.step(10 if "clock" not in options else 1500)
        assert self.torques == pytest.approx([PUSH_NM] * n, abs=0.00637)

    @property
    def torques(self):
        return [device.wanted_torque_nm for device in self.bus.devices]

    def step(self, n=1, look=False):
        for _ in range(n):
            code = self.block.step(self.cycle * MS)
            self.cycle += 1
            if look:
                self.recovery.look()
        return code

    def all_in_op(self):
        return all(self.block.slave_status(i)[0] == 8 for i in range(len(self.names)))

    def arm(self):
        for name in self.names:
            self.cells[f"{name}/reset"] = 1
        self.step(10)
        for name in self.names:
            self.cells[f"{name}/reset"] = 0


@pytest.fixture
def rig(cells):
    return lambda n=2, **options: Rig(cells, n, **options)


def test_a_slave_watchdog_is_acknowledged_and_the_torque_waits_for_arming(rig):
    r = rig()
    r.bus.segment.advance(r.bus.segment.now_ns + 200 * MS)
    assert r.step() == 5
    assert any("process data watchdog" in fault.words for fault in r.bus.faults())
    r.step(10, look=True)
    assert r.all_in_op()
    assert r.torques == [0, 0]
    assert r.recovery.problems == {}
    r.arm()
    assert r.torques == pytest.approx([PUSH_NM] * 2, abs=0.00637)


@pytest.mark.parametrize("lost", [0, 1])
def test_a_power_cycle_is_configured_again_from_the_start(rig, lost):
    r = rig()
    device = r.bus.devices[lost]
    device.mute = True
    codes = [r.step(look=True) for _ in range(5)]
    assert codes[2] == 3
    assert r.torques[1 - lost] == 0
    device.power_on()
    device.mute = False
    assert device.memory(0x0010, 2) == bytes(2)
    r.step(20, look=True)
    assert r.all_in_op()
    assert device.memory(0x0010, 2) == (0x1001 + lost).to_bytes(2, "little")
    # the watchdog registers too, which a slave forgets
    assert device.memory(0x0420, 2) == (1000).to_bytes(2, "little")
    assert r.torques == [0, 0]
    r.arm()
    assert r.torques == pytest.approx([PUSH_NM] * 2, abs=0.00637)


def test_a_slave_that_stays_away_is_named_once_and_the_others_are_left_alone(rig, caplog):
    r = rig(3)
    r.bus.devices[2].mute = True
    r.step(30, look=True)
    assert r.recovery.problems == {2: "slave 2 does not answer: cable or power; it is tried again"}
    assert [r.block.slave_status(i)[0] for i in range(3)] == [8, 8, 0]
    assert sum("slave 2 does not answer" in record.message for record in caplog.records) == 1
    assert any(
        "does not answer: cable" in fault.words
        for fault in list_faults(r.block, r.recovery.problems)
    )


def test_a_start_is_no_loss_of_op(rig, caplog):
    bus = SimulatedBus([FREE])
    block = bus.block()
    bus.to_op()
    recovery = bus.recovery()
    recovery.look()  # beside a cycle whose first frame is still to come
    block.step(0)
    recovery.look()
    assert block.slave_status(0)[0] == 8
    assert "OP" not in caplog.text
    bus.devices[0].mute = True
    for k in range(1, 10):
        block.step(k * MS)
    recovery.look()
    assert "left OP: it does not answer" in caplog.text


def test_a_problem_of_a_slave_that_was_not_in_op_yet_ends_with_it(caplog):
    bus = SimulatedBus([FREE])
    block = bus.block()
    bus.to_op()
    recovery = bus.recovery()
    bus.devices[0].mute = True
    block.step(0)
    recovery.look()
    assert "does not answer" in recovery.problems[0]
    bus.devices[0].mute = False
    for k in range(1, 10):
        block.step(k * MS)
        recovery.look()
    assert block.slave_status(0)[0] == 8
    assert recovery.problems == {}
    assert "in OP" in caplog.messages[-1]


def test_the_setup_of_a_drive_is_written_again(rig):
    drives = [
        DriveConfig(**{**vars(simulated_drive(FREE)), "setup": (SdoWrite(0x6072, 0, 1234, 2),)})
    ]
    r = rig(1, drives=drives)
    master = r.bus.recovery().master
    assert master.upload(0x1001, 0x6072, 0) == (1234).to_bytes(2, "little")
    master.download(0x1001, 0x6072, 0, 55, 2)
    r.bus.devices[0].power_on()
    r.step(20, look=True)
    assert r.all_in_op()
    assert master.upload(0x1001, 0x6072, 0) == (1234).to_bytes(2, "little")


def test_a_slave_that_fell_to_init_alone_comes_back(rig):
    r = rig(1)
    r.recovery.master.request(0x1001, 1)
    assert r.step() == 5
    r.step(10, look=True)
    assert r.all_in_op()


@pytest.mark.parametrize(
    ("word", "differs"),
    [(10, "product 0x4b320bad, the rig has"), (14, "serial 0xbad, the run began with 0x7")],
)
def test_another_drive_in_the_place_of_one_is_refused(rig, word, differs):
    device = DriveDevice(FREE, replace(SIMULATED_IDENTITY, serial=7))
    r = rig(1, devices=[device])
    device = r.bus.devices[0]
    device.power_on()
    # what is plugged in says another product, or another number, of itself
    r.recovery.master.address(0)
    r.recovery.master.write(0x1001, 0x0508, (0xBAD).to_bytes(4, "little"))
    r.recovery.master.write(0x1001, 0x0502, b"\x01\x02" + word.to_bytes(4, "little"))
    device.power_on()
    r.step(10, look=True)
    assert differs in r.recovery.problems[0]
    assert not r.all_in_op()
    assert device.al_status == 1


def test_a_clock_is_set_again_after_a_power_cycle(rig):
    r = rig(2, clock=ClockConfig(MS))
    device = r.bus.devices[1]
    device.power_on()
    r.step(40, look=True)
    assert r.all_in_op()
    assert abs(r.cells["drive1/dc_difference_ns"]) < 1000


def test_a_wrong_object_of_the_setup_is_named():
    drive = DriveConfig(setup=(SdoWrite(0x2FFF, 1, 1, 4),))
    with pytest.raises(BringUpError, match="0x2fff:1 aborted: 0x06020000 object does not exist"):
        SimulatedBus([FREE], [drive]).to_op()
    with pytest.raises(ValueError, match="does not fit 1 bytes"):
        SdoWrite(0x6060, 0, 300, 1)
