import sys
from pathlib import Path

import pytest
from said import says_each

from io_bridge.emulator import terminals
from io_bridge.emulator.catalogue.device_file import (
    DeviceError,
    drive_text,
    find_device,
    load_device,
    shipped,
)
from io_bridge.emulator.segment import Segment
from io_bridge.master.bringup import Master
from io_bridge.slaves.drive_config import SIMULATED_IDENTITY, DrivePlant


@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_device_that_ships_can_be_made_and_says_who_it_is(name):
    device = load_device(find_device(name))
    coupler = (
        [] if device.description.ports[0] == "mii" else [load_device(find_device("ek_coupler"))]
    )
    segment = Segment([*coupler, device])
    master = Master(lambda frame: segment.process(frame, segment.now_ns + 1000))
    station = master.address(len(coupler))
    assert master.identity(station) == device.description.identity


def test_every_device_that_ships_has_its_title_in_the_first_line():
    for path in shipped().values():
        assert path.read_text().startswith("# ")


RESISTOR = """
from io_bridge.emulator.devices.described_device import DescribedDevice

class Resistor(DescribedDevice):
    def __init__(self, description, *, ohms=1.0):
        super().__init__(description)
        self.ohms = ohms
"""
RESISTOR_FILE = """
kind = "resistor"
name = "two wires"
ports = ["ebus", "ebus"]
identity = { vendor = 1, product = 2, revision = 3 }
options = { ohms = 47.0 }
"""


def test_a_module_beside_the_terminals_is_a_kind_and_nothing_else_has_to_know_it(
    tmp_path, monkeypatch
):
    (tmp_path / "resistor.py").write_text(RESISTOR)
    (tmp_path / "device.toml").write_text(RESISTOR_FILE)
    with pytest.raises(DeviceError, match="kind = 'resistor'"):
        load_device(tmp_path / "device.toml")
    monkeypatch.setattr(terminals, "__path__", [*terminals.__path__, str(tmp_path)])
    try:
        assert load_device(tmp_path / "device.toml").ohms == 47.0
        (tmp_path / "device.toml").write_text(RESISTOR_FILE.replace("resistor", "resister"))
        with pytest.raises(DeviceError, match=r"one of .*digital_io.*resistor"):
            load_device(tmp_path / "device.toml")
    finally:
        sys.modules.pop(f"{terminals.__name__}.resistor", None)


def test_an_unknown_device_names_those_that_ship():
    with pytest.raises(DeviceError, match=r"no_such: no device file.*direct_drive"):
        find_device("no_such")


WRONG = """
kind = "digital_io"
name = ""
ports = ["ebus", "usb"]
mailbox_bytes = 20
colour = "red"
[identity]
vendor = -1
[[objects]]
index = 0x6000
name = "Inputs"
entries = [{ sub = 1, type = "BIT", name = "x" }, { sub = 2, type = "BOOL", name = "y", pdo = "tx" }]
[[objects]]
index = 0x6001
entries = 5
[[objects]]
index = 0x6002
entries = [{ sub = 1, type = "INT8", name = "z", access = ["ro"], value = 1000 }]
[[objects]]
index = 0x6003
entries = [{ sub = 1, type = "INT8", name = "z", value = 1000 }]
[[tx_pdos]]
index = 0x1600
entries = ["0x6000:9", "0x6000:2", 7, "0x6000"]
"""


def test_all_mistakes_of_a_file_come_at_once_with_its_name(tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(WRONG)
    with pytest.raises(DeviceError) as caught:
        load_device(path)
    lines = says_each(
        caught.value,
        "colour = 'red': unknown key",
        "identity.vendor = -1",
        "name = '': must be 1 to 64 ASCII characters",
        "ports.1 = 'usb': input should be 'mii', 'ebus' or ''",
        "mailbox_bytes = 20: must be 0, or 48 to 256",
        "objects.0.entries.0.type = 'BIT': is not a type; known are BOOL",
        "tx_pdos.0.index = 5632",
        "objects.1.entries = 5: input should be a valid list",
        "objects.2.entries.0.access = ['ro']",
        "value 1000 does not fit INT8",
        "tx_pdos.0.entries.2 = 7: input should be a valid string",
        """tx_pdos.0.entries.3 = '0x6000': is not an entry; write "0x6000:1" or "pad:4\"""",
    )
    assert all(line.startswith(f"{path}: ") for line in lines)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[[objects]]\nindex = 1\n[[objects]]\nindex = 2\ntype = "INT8"\nvalue = 300\n',
         ["has no values; give entries, or a type", "value 300 does not fit INT8"]),
        ('[[objects]]\nindex = 0x6000\ntype = "INT8"\n[[tx_pdos]]\nindex = 0x1A00\n'
         'entries = ["0x6000:0", "0x6000:9", "pad:4"]\n',
         ['0x1a00: 0x6000:0 is not an object with pdo = "tx"', '0x1a00: 0x6000:9 is not an object']),
    ],
)  # fmt: skip
def test_objects_and_what_pdos_carry_must_be_there(tmp_path, text, told):
    path = tmp_path / "wrong.toml"
    head = 'kind = "plain"\nname = "p"\nports = ["mii", "mii"]\n[identity]\nvendor = 1\n'
    path.write_text(head + text)
    with pytest.raises(DeviceError) as caught:
        load_device(path)
    says_each(caught.value, *told)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind = ", "Invalid value"),
        ('kind = "toaster"', "kind = 'toaster': one of plain, drive"),
        ("kind = []", "kind = []: one of plain, drive"),
        ('kind = "drive"\n[identity]\nvendor=1\n[options]\nmass = 3', "mass unknown; known are"),
        ('kind = "drive"\n[identity]\nvendor=1\n[options]\ninertia_kg_m2 = -1.0', "inertia_kg_m2"),
        (
            'kind = "encoder_input"\nname="e"\nports=["mii","mii"]\n[identity]\nvendor=1',
            "EncoderInput needs object 0x6000:1",
        ),
    ],
    ids=[
        "no TOML",
        "kind",
        "kind of another type",
        "option",
        "value",
        "objects that the behaviour needs",
    ],
)
def test_a_wrong_file_is_told_with_its_name(tmp_path, text, message):
    path = tmp_path / "device.toml"
    path.write_text(text)
    with pytest.raises(DeviceError) as caught:
        load_device(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_a_drive_written_to_a_file_comes_back_with_every_number(tmp_path):
    plant = DrivePlant(
        hands="free", inertia_kg_m2=1e-7, offset_rad=-1 / 3, counts_per_rev=1 << 24, name='a "b"'
    )
    path = tmp_path / "drive.toml"
    path.write_text(drive_text(plant))
    made = load_device(path)
    assert made.parameters == plant
    assert made.description.identity == SIMULATED_IDENTITY


def test_the_example_of_the_manual_works(tmp_path):
    text = (Path(__file__).parents[5] / "docs" / "segment.md").read_text()
    path = tmp_path / "example.toml"
    path.write_text(text.partition("```toml\n")[2].partition("```")[0])
    device = load_device(path)
    device.inputs = 0b10
    segment = Segment([load_device(find_device("ek_coupler")), device])
    segment.advance(1)
    assert [device.object_value(0x6000, i) for i in (1, 2)] == [b"\0", b"\1"]
