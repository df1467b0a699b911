"""Every object of a drive at its place and in its units: the inputs are written by the test, the outputs read from
the frames that the master sends."""

import math
import struct
from types import SimpleNamespace

import pytest

from io_bridge.emulator.devices.described_device import DescribedDevice
from io_bridge.exchange.exchange import Exchange
from io_bridge.slaves.device_description import VARIABLE, Description, Entry, Object, Pdo
from io_bridge.slaves.drive_config import DriveConfig, SdoWrite, pdo_offset
from io_bridge.slaves.sii import Identity
from io_bridge.wire.frame import parse

MS = 1_000_000
LWR = 11
TURN = 2**20
IDENTITY = Identity(0xA7E, 0x77, 1)
READY, SWITCHED_ON, OPERATING = 0x0231, 0x0233, 0x0237
REACTING, FAULT, NO_STATE = 0x021F, 0x0218, 0x0203
TYPES = {
    0x6040: ("UINT16", "<H"),
    0x6041: ("UINT16", "<H"),
    0x6060: ("INT8", "<b"),
    0x6061: ("INT8", "<b"),
    0x6064: ("INT32", "<i"),
    0x606C: ("INT32", "<i"),
    0x6071: ("INT16", "<h"),
    0x6077: ("INT16", "<h"),
    0x607A: ("INT32", "<i"),
    0x60FF: ("INT32", "<i"),
    0x2077: ("INT32", "<i"),
}
BITS = {"UINT16": 16, "INT8": 8, "INT32": 32, "INT16": 16}
COMMANDS = {"torque": 0x6071, "velocity": 0x60FF, "position": 0x607A}
MODES = {"torque": 10, "velocity": 9, "position": 8}


def pdo(*indices):
    return tuple((index, 0, BITS[TYPES[index][0]]) for index in indices)


# nothing is where the usual order has it
INPUTS = pdo(0x2077, 0x6061, 0x6041, 0x6077, 0x606C, 0x6064)


class Puppet:
    """A slave that has the objects of a drive and does nothing by itself, with its master in OP."""

    def __init__(self, rig, outputs, inputs, **config):
        config = {"rated_torque_nm": 2.0, "peak_torque_nm": 5.0} | config
        objects = [
            Object(i, "value", (Entry(0, kind, "value", "rw", "rxtx"),), VARIABLE)
            for i, (kind, _) in TYPES.items()
        ]
        device = DescribedDevice(
            Description(
                "puppet",
                IDENTITY,
                ("mii", "mii"),
                mailbox_bytes=128,
                device_type=0,
                objects=tuple(objects),
                rx_pdos=(Pdo(0x1600, "outputs", outputs),),
                tx_pdos=(Pdo(0x1A00, "inputs", inputs),),
                assign=1,
            )
        )
        self.outputs = outputs
        mode = MODES[config.get("mode", "torque")]
        shown = (SdoWrite(0x6061, 0, mode, 1),)
        self.drive = DriveConfig(
            rx_pdo=outputs, tx_pdo=inputs, mapping="fixed", setup=shown, **config
        )
        self.rig = rig(drives=[self.drive], devices=[device])
        self.rig.bus.link.catch_frames()
        self.master = self.rig.bus.recovery().master
        self.command = {"torque": "torque_nm", "velocity": "velocity_rad_s"}.get(
            self.drive.mode, "position_rad"
        )
        self.show(status=READY, mode=mode)

    def __getitem__(self, port):
        return self.rig.cells[f"drive/{port}"]

    def __setitem__(self, port, value):
        self.rig.cells[f"drive/{port}"] = value

    def show(self, status=None, mode=None, position=None, velocity=None, torque=None, sensor=None):
        """Put values into the slave's inputs."""
        values = {0x6041: status, 0x6061: mode, 0x6064: position, 0x606C: velocity}
        for index, value in (values | {0x6077: torque, 0x2077: sensor}).items():
            if value is not None:
                size = struct.calcsize(TYPES[index][1])
                self.master.download(0x1001, index, 0, value % (1 << 8 * size), size)

    def step(self, command=None, after_ns=None):
        """Run a cycle; return controlword, target and mode as they were sent."""
        if command is not None:
            self[self.command] = command
        r = self.rig
        self.code = r.step() if after_ns is None else r.block.step(r.cycle * MS + after_ns)
        return self.sent()

    def sent(self):
        """Return controlword, target and mode of the one frame since the last look."""
        (data,) = (
            datagram.data
            for frame in self.rig.bus.link.caught_frames()
            for datagram in parse(frame)
            if datagram.command == LWR
        )
        sent = {
            index: struct.unpack_from(TYPES[index][1], data, pdo_offset(self.outputs, index))[0]
            for index, _, _ in self.outputs
        }
        return tuple(sent.get(i) for i in (0x6040, COMMANDS[self.drive.mode], 0x6060))

    def operate(self, **shown):
        """Enable it; the drive says that it operates."""
        self["enable"] = 1
        self.show(status=OPERATING, **shown)
        self.step(0.0)
        assert self["operational"] == 1


@pytest.fixture
def puppet(rig):
    def make(mode="torque", outputs=None, inputs=INPUTS, **config):
        outputs = pdo(0x6060, COMMANDS[mode], 0x6040) if outputs is None else outputs
        return Puppet(rig, outputs, inputs, mode=mode, **config)

    return make


@pytest.mark.parametrize("sign", [1, -1])
def test_inputs_are_taken_from_their_places_in_their_units(puppet, sign):
    p = puppet(sign=sign, velocity_unit_counts_s=10.0)
    p.show(position=-123456789, velocity=-2000, torque=-250, sensor=-1500)
    p.step()
    assert p["position_count"] == sign * -123456789
    assert p["velocity_count_s"] == sign * -20000.0
    assert p["torque_actual_nm"] == sign * -0.5
    assert p["sensor_torque_nm"] == pytest.approx(sign * -1.5)
    assert p["statusword"] == READY
    assert p["operational"] == 0


def test_a_turned_counter_turns_over_where_the_drive_has_it(puppet):
    p = puppet(sign=-1)
    for position, count in ((-(2**31), -(2**31)), (2**31 - 1, 1 - 2**31), (0, 0), (-1, 1)):
        p.show(position=position)
        p.step()
        assert p["position_count"] == count


def test_what_is_not_mapped_is_no_number_before_bring_up_too(cells):
    table = cells(Exchange([DriveConfig(tx_pdo=pdo(0x6064, 0x6041))]))
    for port in ("velocity_count_s", "torque_actual_nm", "sensor_torque_nm"):
        assert math.isnan(table[f"drive/{port}"])
    assert table["drive/position_count"] == 0


def test_what_is_not_mapped_is_no_number_and_stays_so(puppet):
    p = puppet(outputs=pdo(0x6040, 0x6071), inputs=pdo(0x6064, 0x6041))
    p.show(position=77)
    p.operate()
    assert p.step(1.0) == (0x0F, 500, None)
    assert p["position_count"] == 77
    for port in ("velocity_count_s", "torque_actual_nm", "sensor_torque_nm"):
        assert math.isnan(p[port])


@pytest.mark.parametrize("first", [0x6061, 0x606C, 0x6077])
def test_any_object_may_be_the_first_of_the_inputs(puppet, first):
    p = puppet(
        inputs=pdo(first, *(i for i in (0x6061, 0x606C, 0x6077, 0x6041, 0x6064) if i != first))
    )
    p.show(velocity=300, torque=250)
    p.operate()
    assert (p["velocity_count_s"], p["torque_actual_nm"]) == (300, 0.5)
    p.show(mode=9)
    p.step()
    assert p["operational"] == 0


@pytest.mark.parametrize(("mode", "code"), [("torque", 10), ("velocity", 9), ("position", 8)])
def test_the_mode_is_sent_in_every_cycle_and_has_to_be_shown(puppet, mode, code):
    p = puppet(mode)
    assert p.step()[2] == code
    p.operate()
    assert p.step()[2] == code
    for other in {8, 9, 10} - {code}:
        p.show(mode=other)
        p.step()
        assert p["operational"] == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("status", [READY, SWITCHED_ON, OPERATING])
def test_no_operation_is_enabled_in_a_mode_that_nobody_asked_for(puppet, mode, status):
    p, code = puppet(mode), MODES[mode]
    p.show(status=status, position=0)
    p["enable"] = 1
    for other in {0, 1, -1, *MODES.values()} - {code}:
        p.show(mode=other)
        p.step(1.0)
        assert [p.step(1.0) for _ in range(2)] == [(0x06, 0, code)] * 2
    p.show(mode=code)
    p.step(1.0)
    assert p.step(1.0)[0] == (0x07 if status == READY else 0x0F)


def test_a_drive_that_changes_its_mode_under_torque_is_at_rest_until_it_is_armed_again(puppet):
    p = puppet()
    p.operate()
    assert p.step(1.0) == (0x0F, 500, 10)
    p.show(mode=8)
    p.step(1.0)
    assert p["operational"] == 0
    assert p.step(1.0) == (0x06, 0, 10)
    # a mode that comes back is no arming
    p.show(mode=10)
    p.step(1.0)
    assert [p.step(1.0) for _ in range(2)] == [(0x06, 0, 10)] * 2
    p["enable"] = 0
    p.step(1.0)
    p["enable"] = 1
    assert p.step(1.0) == (0x0F, 500, 10)


def test_a_mode_that_is_lost_without_a_command_holds_nobody(puppet):
    p = puppet()
    p.operate()
    p.show(mode=0)
    p.step(0.0)
    assert p.step(0.0) == (0x06, 0, 10)
    p.show(mode=10)
    p.step(0.0)
    assert p.step(1.0) == (0x0F, 500, 10)


def test_torque_is_rounded_to_the_nearest_per_mille_of_the_rated_one(puppet):
    p = puppet()
    p.operate()
    for torque_nm, permille in ((1.0009, 500), (1.0011, 501), (-1.0009, -500), (-1.0011, -501)):
        assert p.step(torque_nm) == (0x0F, permille, 10)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_velocity_is_sent_in_the_units_of_the_drive(puppet, sign):
    p = puppet("velocity", sign=sign, velocity_unit_counts_s=10.0, velocity_limit_rad_s=4.0)
    p.operate()
    assert p.step(1.0)[1] == sign * round(TURN / (2 * math.pi) / 10.0)
    assert p.step(9.0)[1] == sign * round(4.0 * TURN / (2 * math.pi) / 10.0)
    assert p.step(-9.0)[1] == -sign * round(4.0 * TURN / (2 * math.pi) / 10.0)
    p["enable"] = 0
    assert p.step() == (0x06, 0, 9)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_velocity_that_its_object_cannot_hold_keeps_its_direction(puppet, sign):
    p = puppet("velocity", velocity_limit_rad_s=1e6)
    p.operate()
    assert p.step(sign * 1e6)[1] == sign * (2**31 - 1)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_position_goes_no_further_than_the_limit_lets_it_in_the_time_between_two_commands(
    puppet, sign
):
    # 10 rad/s of 2^20 counts are 1668.9 a millisecond
    p = puppet("position", sign=sign, velocity_limit_rad_s=10.0, watchdog_ms=1000.0)
    p.show(position=5000)
    p.step(0.0)
    p.operate()
    far = sign * 100.0
    reach = 10.0 * TURN / (2 * math.pi) / 1000.0
    here = p.step(5000 * sign * 2 * math.pi / TURN)[1]
    assert here == 5000
    assert p.step(far)[1] == round(here + reach)
    assert p.step(far)[1] == round(here + 2 * reach)
    # a task that skipped 5 periods; one that stood for most of a second; a time that goes backwards
    p.rig.cycle += 5
    assert p.step(far)[1] == round(here + 8 * reach)
    p.rig.cycle += 900
    assert p.step(far)[1] == round(here + 108 * reach)
    p.rig.cycle -= 500
    assert p.step(far)[1] == round(here + 108 * reach)
    near = (here + 100 * reach) * sign * 2 * math.pi / TURN
    assert p.step(near)[1] == round(here + 107 * reach)


def test_a_position_that_is_told_twice_for_one_time_does_not_move(puppet):
    p = puppet("position", velocity_limit_rad_s=1e7)
    p.operate()
    # ten nanoseconds are 16689 counts
    before = p.step(100.0, after_ns=0)[1]
    assert p.step(1e3, after_ns=0)[1] == before


def test_a_position_drive_that_is_let_go_is_told_where_it_is(puppet):
    p = puppet("position", velocity_limit_rad_s=10.0)
    p.show(position=-1234)
    p.operate()
    p.step(1.0)
    p.show(position=777)
    p["enable"] = 0
    p.step()
    assert p.step()[:2] == (0x06, 777)
    p["enable"] = 1
    # from there it begins again
    assert p.step(-1.0)[:2] == (0x0F, round(777 - 10.0 * TURN / (2 * math.pi) / 1000.0))


@pytest.mark.parametrize(("asked", "acts"), [(0.5, False), (0.51, True), (math.nan, False)])
def test_a_reset_is_more_than_half_and_sent_while_the_drive_shows_its_fault(puppet, asked, acts):
    p = puppet()
    p.show(status=FAULT)
    p.step()
    assert p.code == 6
    p["reset"] = asked
    sent = [p.step()[0] for _ in range(3)]
    assert sent == [0x80 if acts else 0] * 3
    # the request is over, the fault is not
    p["reset"] = 0
    assert p.step()[0] == sent[0]
    p.show(status=READY)
    p.step()
    p.show(status=FAULT)
    p.step()
    assert p.step()[0] == 0


def test_no_reset_is_sent_while_outputs_are_forced_to_rest(puppet):
    p = puppet()
    p.show(status=FAULT)
    p.step()
    p.rig.block.safe = True
    p["reset"] = 1
    assert [p.step()[0] for _ in range(2)] == [0, 0]
    p.rig.block.safe = False
    # the edge was then, and is over
    assert p.step()[0] == 0


def test_the_watchdog_entry_puts_rest_where_the_objects_are(puppet, step_of):
    p = puppet()
    p.operate()
    assert p.step(1.0) == (0x0F, 500, 10)
    safe = step_of(SimpleNamespace(capsule=p.rig.block.safe_capsule))
    assert safe(p.rig.cycle * MS) == 0
    assert p.sent() == (0x06, 0, 10)


@pytest.mark.parametrize("status", [REACTING, FAULT, NO_STATE])
def test_every_state_beyond_the_quick_stop_is_a_fault_of_the_drive(puppet, status):
    p = puppet()
    p.operate()
    p.show(status=status)
    p.step()
    assert (p.code, p["operational"], p.rig.block.culprit) == (6, 0, 0)
    assert p.rig.block.drive_status(0) == (8, 0, status, 2)


@pytest.mark.parametrize("missing", [0x6040, 0x6071, 0x6041, 0x6064])
def test_process_data_without_an_object_that_is_needed_are_refused(puppet, missing):
    p = puppet()
    block = p.rig.block
    layout = p.rig.bus._records[0].layout
    outputs, inputs = (
        tuple(
            (0, 0, bits) if index == missing else (index, sub, bits) for index, sub, bits in entries
        )
        for entries in (p.outputs, INPUTS)
    )
    with pytest.raises(ValueError, match="'drive': its process data lack what it needs"):
        block.configure(
            p.rig.bus.link, [layout._replace(outputs=outputs, inputs=inputs)], n_slaves=1
        )
    # what is refused is not sent
    assert block.step(0) == 1
    assert p.rig.bus.link.caught_frames() == []
