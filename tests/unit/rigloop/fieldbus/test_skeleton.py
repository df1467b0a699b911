import tomllib
from pathlib import Path

import pytest

from io_bridge.attendant.scan import FoundSlave, Line, _read_slave
from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.slaves.sii import Identity
from io_bridge.slaves.sii_contents import SiiPdo
from rig_configs.slaves import Drive, Terminal
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.slaves import drive_config, joined
from rigloop.fieldbus.esi_notes import limits_of, look_up, open_library
from rigloop.fieldbus.skeleton import bus_block

SERVO = "<Mailbox><CoE"
TIMES = """<Info>
  <StateMachine><Timeout><PreopTimeout>8000</PreopTimeout><BackToInitTimeout>5000</BackToInitTimeout>
    <BackToSafeopTimeout>200</BackToSafeopTimeout></Timeout></StateMachine>
  <Mailbox><Timeout><RequestTimeout>100</RequestTimeout><ResponseTimeout>4500</ResponseTimeout></Timeout></Mailbox>
</Info><Mailbox><CoE"""
DATA = Path(__file__).parents[3] / "data" / "esi"


def terminal(position, **changes):
    given = {
        "identity": Identity(2827, 0x03FC3052, 0x00100000),
        "name": "EX1859",
        "has_clock": False,
        "has_coe": False,
        "outputs": [SiiPdo(0x1600, 0, "", ((0x7000, 1, 1), (0, 0, 3), (0x7010, 1, 4)))],
        "inputs": [SiiPdo(0x1A00, 1, "", ((0x6000, 1, 1), (0x6000, 2, 1), (0, 0, 6)))],
    }
    given |= changes
    return FoundSlave(position, 0x1001 + position, al_status=1, al_code=0, **given)


def test_channels_and_slaves_are_called_as_their_esi_calls_them():
    slaves = [terminal(0), terminal(1, identity=Identity(1, 2, 3), name="")]
    known, mistakes = look_up(slaves, open_library(DATA))
    assert not mistakes
    assert known[0].notes == ()
    assert known[1] is None
    bus = tomllib.loads(bus_block("eth1", slaves, known))["blocks"]["bus"]
    named, bare = (Terminal.model_validate(table) for table in bus["terminals"].values())
    assert set(named.inputs) == {"door_1", "door_2"}
    assert (named.outputs["lamp_1"].bit, named.outputs["level"].bit) == (0, 4)
    assert named.outputs["level"].bits == 4
    assert set(bare.inputs) == {"x6000_1", "x6000_2"}


def test_every_difference_from_an_esi_has_a_line():
    other = [SiiPdo(0x1A02, 1, "", ((0x6000, 1, 1),))]
    slave = terminal(0, has_coe=True, inputs=other)
    slave.identity = Identity(2827, 0x03FC3052, 0x00100001)
    (known,), _ = look_up([slave], open_library(DATA / "rack.xml"))
    assert [note.partition(";")[0] for note in known.notes] == [
        "revision 0x00100001",
        "mailbox with CoE: yes",
        "inputs: assigned 0x1a02",
        "inputs: PDO 0x1a02 is not in the ESI",
    ]


def test_a_name_of_an_eeprom_adds_no_line_and_no_escape_sequence():
    hostile = 'EX1\n[blocks.evil]\nkind = "guard"\n\x1b]0;owned\x07\u202e"\\'
    text = bus_block('eth"1\n', [terminal(0, name=hostile)])
    assert set(tomllib.loads(text)["blocks"]) == {"bus"}
    assert tomllib.loads(text)["blocks"]["bus"]["backend"] == 'eth"1\n'
    assert not set(text) & {"\x1b", "\x07", "\u202e"}


@pytest.fixture
def servo(tmp_path):
    """Write the ESI of a servo drive with time limits of its own, and return a slave that is one."""
    text = (DATA / "servo.xml").read_text()
    assert SERVO in text
    (tmp_path / "servo.xml").write_text(text.replace(SERVO, TIMES))
    mapped = [SiiPdo(0x1A00, 3, "", ((0x6041, 0, 16), (0x6064, 0, 32)))]
    who = Identity(0x0B0B, 0x5E40, 0x00010000)
    return tmp_path, terminal(0, identity=who, has_coe=True, outputs=[], inputs=mapped)


def test_time_limits_of_an_esi_become_limits_of_the_drive(servo):
    folder, slave = servo
    library = open_library(folder)
    limits = limits_of(library, slave.identity)
    assert (limits.preop_s, limits.safeop_op_s, limits.back_s) == (8.0, 10.0, 5.0)
    known, _ = look_up([slave], library)
    table = tomllib.loads(bus_block("eth1", [slave], known))["blocks"]["bus"]["drives"]["drive0"]
    assert table["limits"] == {"preop_s": 8.0, "mailbox_response_s": 4.5}
    made = drive_config("drive0", Drive.model_validate(table), emulated=False)
    assert made.limits == limits


def test_the_skeleton_of_a_drive_with_two_axes_runs():
    device = make_device("two_axis_drive")
    bare = SimulatedBus(drives=[DriveConfig(mapping="fixed")], devices=[device])
    bare.open()
    slave = scanned(bare._master)
    bare.close()
    text = bus_block("eth1", [terminal(0, outputs=[], inputs=[]), slave])
    config = BusBlock.model_validate(tomllib.loads(text)["blocks"]["bus"])
    assert [(drive.position, drive.axis) for drive in config.drives.values()] == [(1, 0), (1, 1)]
    assert {"drive0/torque_nm", "drive1/torque_nm"} <= set(config.reads)
    slaves = [
        drive_config(name, drive, emulated=False, is_joined=name in joined(config))
        for name, drive in config.drives.items()
    ]
    bus = SimulatedBus(drives=slaves, devices=[make_device("two_axis_drive")])
    bus.to_op()
    assert bus.devices[0].al_status == 8
    bus.close()


def scanned(master):
    """What a scan finds of the only slave of a bus."""
    master.address(0)
    line = Line.__new__(Line)
    line.master, line.mailbox, line.heard, line.states = master, None, [], [(1, 0)]
    line.limits_of = None
    found = _read_slave(line, 0, 0x1001)
    found.position = 1
    return found
