import tomllib
from pathlib import Path

from io_bridge.scan import FoundSlave
from io_bridge.sii import Identity
from io_bridge.sii_contents import SiiPdo
from rig_configs.schema import Terminal
from rigloop.fieldbus.esi_notes import look_up
from rigloop.fieldbus.skeleton import bus_block

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
    known, mistakes = look_up(slaves, DATA)
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
    (known,), _ = look_up([slave], DATA / "rack.xml")
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
