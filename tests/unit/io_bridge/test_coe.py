import struct

import pytest

from io_bridge.bringup import BringUpError
from io_bridge.drive_config import DrivePlant
from io_bridge.drive_device import DriveDevice

STATION = 0x1001
LONG_NAME = "a name that takes several segments in a mailbox of 48 bytes size"


@pytest.fixture
def preop(segment_master):
    def connect(**plant):
        master = segment_master(DriveDevice(DrivePlant(**plant)))
        master.address(0)
        master.set_mailbox(STATION)
        master.request(STATION, 2)
        master.await_state(STATION, 2)
        return master

    return connect


def request(master, body, kind=3, service=2):
    """Send a raw mailbox request; return the reply's type, service and the bytes from the SDO
    command on."""
    payload = struct.pack("<H", service << 12) + body
    master.write(
        STATION,
        0x1000,
        (struct.pack("<HHBB", len(payload), 0, 0, kind) + payload).ljust(128, b"\0"),
    )
    data = master.read(STATION, 0x1100, 128)
    size = int.from_bytes(data[:2], "little")
    return data[5] & 0x0F, data[7] >> 4, data[8 : 6 + size]


def abort_code(reply):
    kind, service, sdo = reply
    assert (kind, service, sdo[0]) == (3, 2, 0x80)
    return int.from_bytes(sdo[4:8], "little")


def test_expedited_upload_gives_every_size(preop):
    master = preop()
    assert master.upload(STATION, 0x1000, 0) == (0x00020192).to_bytes(4, "little")
    assert master.upload(STATION, 0x1018, 0) == b"\4"
    assert master.upload(STATION, 0x6040, 0) == b"\0\0"


def test_normal_and_segmented_upload_give_the_same_text(preop):
    assert len(LONG_NAME) == 64
    assert preop(name=LONG_NAME).upload(STATION, 0x1008, 0).decode() == LONG_NAME
    small = preop(name=LONG_NAME, mailbox_bytes=48)
    assert small.upload(STATION, 0x1008, 0).decode() == LONG_NAME


def test_a_repeated_toggle_ends_a_segmented_upload(segment_master):
    master = segment_master(DriveDevice(DrivePlant(name=LONG_NAME, mailbox_bytes=48)))
    master.address(0)
    master.set_mailbox(STATION)
    master.request(STATION, 2)
    master._sdo(STATION, struct.pack("<BHBI", 0x40, 0x1008, 0, 0))
    with pytest.raises(BringUpError, match="0x05030000 toggle bit not alternated"):
        master._sdo(STATION, struct.pack("<B7x", 0x70))
    with pytest.raises(BringUpError, match="0x05040001"):
        master._sdo(STATION, struct.pack("<B7x", 0x60))


def test_download_writes_expedited_and_normal(preop):
    master = preop()
    master.download(STATION, 0x6072, 0, 1234, 2)
    assert master.upload(STATION, 0x6072, 0) == (1234).to_bytes(2, "little")
    normal = struct.pack("<BHBI", 0x21, 0x6072, 0, 2) + struct.pack("<H", 777)
    assert request(master, normal)[2][0] == 0x60
    assert master.upload(STATION, 0x6072, 0) == (777).to_bytes(2, "little")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (struct.pack("<BHBI", 0x40, 0x5000, 0, 0), 0x06020000),
        (struct.pack("<BHBI", 0x40, 0x1018, 9, 0), 0x06090011),
        (struct.pack("<BHBI", 0x23, 0x6041, 0, 0), 0x06010002),
        (struct.pack("<BHBI", 0x23, 0x6040, 0, 0), 0x06070010),
        (struct.pack("<BHBI", 0x23, 0x1600, 1, 0x60410010), 0x06040041),
        (struct.pack("<BHBI", 0x23, 0x1600, 1, 0x60400020), 0x06040041),
        (struct.pack("<BHBI", 0x50, 0x1C12, 0, 0), 0x06010000),
        (struct.pack("<BHBI", 0x31, 0x1C12, 0, 0), 0x06010000),
        (struct.pack("<BHBI", 0xE0, 0x1000, 0, 0), 0x05040001),
        (struct.pack("<BHBI", 0x21, 0x6072, 0, 500), 0x05040001),
    ],
    ids=[
        "no object",
        "no subindex",
        "read-only",
        "length",
        "input mapped as output",
        "wrong bits mapped",
        "complete access up",
        "complete access down",
        "unknown command",
        "more data than came",
    ],
)
def test_a_refused_transfer_says_why(preop, body, code):
    assert abort_code(request(preop(), body)) == code


def test_mapping_is_closed_outside_preop(segment_master):
    from io_bridge.bringup import to_safeop
    from io_bridge.drive_config import DriveConfig

    master = segment_master(DriveDevice())
    to_safeop(master, [DriveConfig()])
    with pytest.raises(BringUpError, match="0x1600:0 aborted: 0x08000022"):
        master.download(STATION, 0x1600, 0, 0, 1)


def test_other_protocols_get_a_mailbox_error(preop):
    kind, _, _ = request(preop(), bytes(8), kind=4)
    assert kind == 0


def test_the_information_service_is_refused_in_its_own_terms(preop):
    kind, service, body = request(preop(), struct.pack("<BBHH", 1, 0, 0, 1) + bytes(2), service=8)
    assert (kind, service, body[0]) == (3, 8, 7)
