"""Whatever an emulated device is, its ESI file describes the same device."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_bridge.emulator.catalogue.device_file import find_device, load_device, shipped
from io_bridge.esi.describe import describe
from io_bridge.esi.library import find_esi, open_esi
from io_bridge.esi.write import esi_text
from io_bridge.slaves.device_description import (
    ARRAY,
    MAPPABLE,
    RECORD,
    TYPES,
    VARIABLE,
    Description,
    Entry,
    Object,
    Pdo,
    all_objects,
)
from io_bridge.slaves.sii import Identity

WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20).map(
    lambda text: text.replace("#", "+")
)
U32 = st.integers(1, 0xFFFFFFFF)


@st.composite
def entries(draw, sub, kind=None, access=None):
    kind = kind or draw(st.sampled_from([*TYPES, "STRING(5)", "OCTETS(3)"]))
    access = access or draw(st.sampled_from(["ro", "rw", "wo", "preop"]))
    entry = Entry(sub, kind, draw(WORDS), access, draw(st.sampled_from(list(MAPPABLE))))
    if kind.startswith("STRING"):
        return replace(entry, value=draw(st.text("abcXYZ 012", max_size=5)).strip())
    return replace(entry, value=draw(st.integers(0, (1 << entry.bits) - 1)))


@st.composite
def objects(draw, index):
    code = draw(st.sampled_from([VARIABLE, ARRAY, RECORD]))
    name = draw(WORDS)
    if code == VARIABLE:
        entry = draw(entries(0))
        return Object(index, name, (replace(entry, name=name),), code)
    subs = sorted(draw(st.sets(st.integers(1, 254), min_size=1, max_size=4)))
    if code == ARRAY:
        kind, access = draw(st.sampled_from(sorted(TYPES))), draw(st.sampled_from(["ro", "rw"]))
        subs = list(range(1, len(subs) + 1))
        first = draw(entries(1, kind, access))
        rows = [replace(draw(entries(sub, kind, access)), pdo=first.pdo) for sub in subs]
    else:
        rows = [draw(entries(sub)) for sub in subs]
    return Object(index, name, (Entry(0, "UINT8", "SubIndex 000", value=subs[-1]), *rows), code)


@st.composite
def devices(draw):
    indices = draw(st.lists(st.integers(0x2000, 0x9FFF), min_size=1, max_size=5, unique=True))
    made = tuple(draw(objects(index)) for index in sorted(indices))
    pdos = {}
    for way, first in (("rx", 0x1600), ("tx", 0x1A00)):
        mapped = [
            (item.index, entry.sub, entry.bits)
            for item in made
            for entry in item.entries
            if way in entry.pdo and entry.bits <= 64
        ]
        pad = draw(st.integers(1, 16))
        pdos[way] = tuple(
            Pdo(first + i, draw(WORDS), tuple(rows), draw(st.sampled_from([0, 8])), assigned)
            for i, (rows, assigned) in enumerate([(mapped[:8], True), ([(0, 0, pad)], False)])
        )
    return Description(
        draw(WORDS),
        Identity(draw(U32), draw(U32), draw(U32)),
        draw(st.sampled_from([("mii", "mii"), ("ebus", "ebus"), ("mii", "ebus", "mii")])),
        draw(st.sampled_from([48, 128, 256])),
        draw(U32),
        made,
        pdos["rx"],
        pdos["tx"],
        assign=4,
    )


def plain(item):
    """An object, whatever the sign of the number that stands for its bytes."""
    return (
        item.index,
        item.name,
        item.code,
        [
            replace(e, value=e.value % (1 << e.bits) if isinstance(e.value, int) else e.value)
            for e in item.entries
        ],
    )


def again(device):
    """The device, through an ESI file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "device.xml"
        path.write_bytes(esi_text([device]))
        return describe(find_esi(str(path)))


def expect_same(device, found):
    assert (found.name, found.identity, found.ports) == (device.name, device.identity, device.ports)
    assert found.mailbox_bytes == device.mailbox_bytes
    assert found.managers == device.managers
    assert found.config == device.config
    for mine, its in ((device.rx_pdos, found.rx_pdos), (device.tx_pdos, found.tx_pdos)):
        assert [(p.index, p.name, p.entries, p.assigned) for p in its] == [
            (p.index, p.name, p.entries, p.assigned) for p in mine
        ]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(devices())
def test_a_device_with_a_mailbox_comes_back_with_every_object(device):
    found = again(device)
    expect_same(device, found)
    assert found.coe_details == device.coe_details
    assert [plain(o) for o in all_objects(found)] == [plain(o) for o in all_objects(device)]


@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_device_that_ships_comes_back(name):
    device = load_device(find_device(name)).description
    found = again(device)
    expect_same(device, found)
    if device.mailbox_bytes:
        assert [plain(o) for o in all_objects(found)] == [plain(o) for o in all_objects(device)]
    for item in device.objects:
        for entry in item.entries:
            if entry.pdo:
                its = found.entry(item.index, entry.sub)
                assert (its.type, its.name, its.pdo) == (entry.type, entry.name, entry.pdo)


def test_devices_of_a_ring_are_listed_once_each(tmp_path):
    names = ("ek_coupler", "digital_io", "direct_drive", "direct_drive")
    path = tmp_path / "ring.xml"
    path.write_bytes(esi_text([load_device(find_device(name)).description for name in names]))
    assert len(open_esi(path).devices) == 3
    other = replace(load_device(find_device("ek_coupler")).description, identity=Identity(1, 2, 3))
    with pytest.raises(ValueError, match="2 vendors"):
        esi_text([other, load_device(find_device("digital_io")).description])
