import shutil
from pathlib import Path

import pytest
from said import says_each
from swaps import swapped

from io_bridge.esi.document import EsiError
from io_bridge.esi.library import Library, find_esi
from io_bridge.esi.model import ClockMode, CoeServices, EsiEntry
from io_bridge.slaves.device_description import ARRAY, RECORD
from io_bridge.slaves.sii import Identity, SyncManager

DATA = Path(__file__).parents[3] / "data" / "esi"
SERVO, RACK = DATA / "servo.xml", DATA / "rack.xml"


@pytest.fixture
def written(tmp_path):
    """Write the servo's file with a text in place of another."""

    def write(old, new):
        text = SERVO.read_text()
        path = tmp_path / "changed.xml"
        path.write_text(swapped(text, (old, new)))
        return path

    return write


def test_a_device_is_read_with_all_that_a_master_asks_for():
    found = find_esi(f"{SERVO}#SD-1")
    assert found.identity == Identity(0x0B0B, 0x5E40, 0x20000)
    assert (found.vendor_name, found.type) == ("Example Drives", "SD-1")
    assert found.name == "SD-1 servo drive, with torque offset"
    assert found.ports == ("mii", "mii")
    assert found.managers[1] == SyncManager(0x1400, 512, 0x22, 2)
    assert found.coe == CoeServices(True, True, True, False, True)
    assert [(pdo.index, pdo.manager) for pdo in found.rx_pdos] == [(0x1600, 2), (0x1601, None)]
    assert found.rx_pdos[0].entries[2] == EsiEntry(0x60B2, 0, 16, "Torque offset", "INT")
    assert found.device_type == 0x00020192
    assert found.config == bytes.fromhex("080C08EE8813")
    assert found.clock_modes == (
        ClockMode("Synchron", "SM-Synchron", 0),
        ClockMode("DC", "DC-Synchron", 0x300, (0, 0), (-2, 0), (-25000, 0)),
    )


def test_a_dictionary_gives_types_values_and_rights():
    objects = {item.index: item for item in find_esi(f"{SERVO}#SD-1").objects}
    gains = objects[0x2000]
    assert gains.code == ARRAY
    assert [(e.sub, e.type, e.name, e.access, e.value) for e in gains.entries] == [
        (0, "UINT8", "SubIndex 000", "ro", 3),
        (1, "INT16", "Proportional", "rw", 1000),
        (2, "INT16", "Integral", "rw", 100),
        (3, "INT16", "Derivative", "rw", 0xFFFF),
    ]
    brake = objects[0x2001]
    assert brake.code == RECORD
    assert [(e.sub, e.type, e.access, e.value) for e in brake.entries[1:]] == [
        (1, "BIT2", "rw", 1),
        (3, "REAL32", "preop", 0x3FC00000),
    ]
    assert objects[0x1009].entries[0].value == "HW 2.1"
    assert objects[0x6071].entries[0].pdo == "rxtx"


@pytest.mark.parametrize(
    ("which", "revision"),
    [
        ("", 0x20000),
        ("#SD-1", 0x20000),
        ("#sd-1 servo drive", 0x10000),
        ("#0x5E40", 0x20000),
        ("#24128:65536", 0x10000),
        ("#SD-1:#x00010000", 0x10000),
    ],
)
def test_a_device_is_chosen_by_code_type_or_name_and_the_newest_revision(which, revision):
    assert find_esi(f"{SERVO}{which}").identity.revision == revision


@pytest.mark.parametrize("which", ["", "#EX9011", "#0x1:2", "#EX1100:9"])
def test_what_cannot_be_chosen_lists_what_there_is(which):
    with pytest.raises(EsiError) as caught:
        find_esi(f"{RACK}{which}")
    said = str(caught.value)
    assert f"{RACK}#" in said
    assert "FILE.xml#PRODUCT:REVISION" in said
    assert "EX1100 0x044c2c52:0x00110000" in said
    # a passive terminal has no controller
    assert "EX9011 0x" not in said


def test_all_mistakes_of_a_device_come_at_once_with_line_path_value_and_remedy(written):
    path = written('Physics="YY">', 'Physics="YQ">')
    text = swapped(
        path.read_text(),
        ("<Index>#x6041</Index><SubIndex>0", "<Index>6041h</Index><SubIndex>0"),
        ('<TxPdo Sm="3">', '<TxPdo Sm="7">'),
        ("<BitLen>32</BitLen>", "<BitLen>0</BitLen>"),
        ('DefaultSize="6" StartAddress="#x1800"', 'DefaultSize="-1" StartAddress="#x1800"'),
        ("<DefaultData>E803</DefaultData>", "<DefaultData>E8 0</DefaultData>"),
        ("<Access>rw</Access><PdoMapping>R<", "<Access>read</Access><PdoMapping>X<"),
        ('PdoConfig="1"', 'PdoConfig="maybe"'),
        ("<ProfileNo>402</ProfileNo>\n", "<ProfileNo>x</ProfileNo>\n"),
    )
    path.write_text(text)
    with pytest.raises(EsiError) as caught:
        find_esi(f"{path}#SD-1")
    lines = says_each(
        caught.value,
        "Device: Physics = 'YQ': up to four of Y, H",
        "TxPdo/Entry/Index: Index = '6041h': a whole number as 26 or #x1A",
        "TxPdo: Sm = 7: no sync manager for TxPdo",
        "Entry: <BitLen> 0: 1 to 255",
        "Sm: DefaultSize = '-1': a whole number",
        "DefaultData: 'E8 0': pairs of hexadecimal digits",
        "<Access> 'read': one of ro, rw, wo",
        "<PdoMapping> 'x': R, T or RT",
        "CoE: PdoConfig = 'maybe': 0 or 1",
        "ProfileNo: ProfileNo = 'x'",
    )
    numbers = [int(line.removeprefix(f"{path}:").partition(":")[0]) for line in lines]
    rows = path.read_text().splitlines()
    assert any("6041h" in rows[number - 1] for number in numbers)
    assert all("EtherCATInfo/Descriptions/Devices/Device" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no XML: no element found"),
        ("<EtherCATInfo>\n<Vendor>", ":2: no XML"),
        ("<html/>", "EtherCATInfo> with a <Vendor> is expected"),
        ("<EtherCATInfo><Vendor/></EtherCATInfo>", "<Id> is missing"),
        ('<?xml version="1.0" encoding="klingon"?><a/>', "unknown encoding"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "document type or entities"),
        ("<a>" * 100, "more than 64 levels"),
    ],
    ids=["empty", "cut off", "another", "no vendor", "encoding", "external", "deep"],
)
def test_what_is_no_esi_is_one_line_with_the_file(tmp_path, text, said):
    path = tmp_path / "bad.xml"
    path.write_text(text)
    with pytest.raises(EsiError) as caught:
        find_esi(str(path))
    assert str(caught.value).startswith(f"{path}:")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_bomb_of_entities_is_refused_before_it_goes_off(tmp_path):
    levels = "".join(
        f'<!ENTITY b{i} "{f"&b{i - 1};" * 10 if i else "boom" * 100}">' for i in range(12)
    )
    path = tmp_path / "bomb.xml"
    path.write_text(
        f'<?xml version="1.0"?><!DOCTYPE x [{levels}]><EtherCATInfo>&b11;</EtherCATInfo>'
    )
    with pytest.raises(EsiError, match="document type or entities, which no ESI needs"):
        find_esi(str(path))


def test_a_file_without_end_is_refused_by_its_size(tmp_path):
    path = tmp_path / "large.xml"
    with path.open("wb") as file:
        file.write(b"<EtherCATInfo>")
        file.truncate(65 << 20)
    with pytest.raises(EsiError, match=r"large\.xml"):
        find_esi(str(path))


def test_a_library_of_a_folder_finds_by_identity_and_leaves_bad_files_out(tmp_path):
    shutil.copy(SERVO, tmp_path)
    shutil.copy(RACK, tmp_path)
    (tmp_path / "broken.xml").write_text("<EtherCATInfo>")
    library = Library([tmp_path])
    assert len(library.mistakes) == 1
    assert "broken.xml" in library.mistakes[0]
    for revision, found in (
        (0x10000, 0x10000),
        (0x1FFFF, 0x10000),
        (0x90000, 0x20000),
        (1, 0x10000),
    ):
        device = library.find(0x0B0B, 0x5E40, revision)
        assert device is not None
        assert device.identity.revision == found
    assert library.find(0x0B0C, 0x5E40, 0x10000) is None
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(EsiError, match=r"no \*\.xml in this folder"):
        Library([empty])


def test_an_array_that_cannot_be_is_left_out_by_name_and_the_rest_is_used(written):
    path = written("<Elements>3</Elements>", "<Elements>512</Elements>")
    found = find_esi(f"{path}#SD-1")
    indices = [item.index for item in found.objects]
    assert 0x2000 not in indices
    assert {0x1009, 0x2001, 0x6071} <= set(indices)
    (note,) = [note for note in found.notes if "is left out" in note]
    assert "object #x2000 'Gains' is left out: 512 elements from 1" in note
    library = Library([path])
    assert library.find(0x0B0B, 0x5E40, 0x20000) is not None
    assert library.mistakes == [note]


def test_a_library_uses_what_is_right_of_a_device_and_names_the_rest(written):
    path = written("<DefaultData>E803</DefaultData>", "<DefaultData>E8 0</DefaultData>")
    library = Library([path])
    device = library.find(0x0B0B, 0x5E40, 0x20000)
    assert device.rx_pdos[0].entries[2] == EsiEntry(0x60B2, 0, 16, "Torque offset", "INT")
    assert any("DefaultData: 'E8 0': pairs of hexadecimal digits" in m for m in library.mistakes)


def test_a_device_without_a_readable_identity_does_not_hide_the_others(written):
    path = written(
        'ProductCode="#x00005E40" RevisionNo="#x00010000"',
        'ProductCode="5E40h" RevisionNo="#x00010000"',
    )
    library = Library([path])
    assert library.find(0x0B0B, 0x5E40, 0x20000).identity.revision == 0x20000
    assert "ProductCode = '5E40h'" in library.mistakes[0]
    with pytest.raises(EsiError, match="5E40h"):
        find_esi(f"{path}#0x1")


def test_a_library_says_why_it_does_not_know_a_slave(tmp_path):
    library = Library([SERVO, RACK])
    assert library.why_not(1, 2) == "none of the 2 ESI files is of vendor 0x00000001"
    assert "devices of Example Drives has product 0x00000001" in library.why_not(0x0B0B, 1)
    broken = tmp_path / "broken.xml"
    broken.write_text("<EtherCATInfo>")
    assert (
        Library([broken]).why_not(1, 2)
        == "no ESI file could be read; 1 things were left out, see above"
    )


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            lambda: b"<a " + b" ".join(b'a%d="1"' % i for i in range(100_000)) + b"/>",
            "a tag or text of more than 256",
        ),
        (lambda: b'<a b="' + b"x" * (1 << 20) + b'"/>', "a tag or text of more than 256 KiB"),
        (
            lambda: b"<a " + b" ".join(b'a%d="1"' % i for i in range(65)) + b"/>",
            "64 attributes of one",
        ),
        (
            lambda: b"<a>" + b"".join(b"<b%d/>" % i for i in range(5000)) + b"</a>",
            "4096 different names",
        ),
        (lambda: b"\x1f\x8b\x08" + bytes(100), "it is compressed; unpack it first"),
        (
            lambda: "<a b='{}'/>".format("x" * (1 << 19)).encode("utf-16"),
            "a tag or text of more than 256 KiB",
        ),
    ],
    ids=["attributes", "one attribute", "some attributes", "names", "gz", "utf-16"],
)
def test_a_bomb_of_anything_is_refused_by_its_limit(tmp_path, made, said):
    path = tmp_path / "bomb.xml"
    path.write_bytes(made())
    with pytest.raises(EsiError, match=said):
        find_esi(str(path))
