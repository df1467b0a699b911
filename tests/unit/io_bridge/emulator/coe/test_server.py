import struct

import pytest
from al_states import await_now

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.master.bringup import BringUpError
from io_bridge.slaves.drive_config import DrivePlant

STATION = 0x1001
LONG_NAME = "a name that takes several segments in a mailbox of 48 bytes size"


@pytest.fixture
def preop(segment_master):
    def connect(**plant):
        master = segment_master(DriveDevice(DrivePlant(**plant)))
        master.address(0)
        master.set_mailbox(STATION)
        master.request(STATION, 2)
        await_now(master, STATION, 2)
        return master

    return connect


def request(master, body, kind=3, service=2, mailbox_bytes=128):
    """Send a raw mailbox request; return the reply's type, service and the bytes from the SDO
    command on."""
    payload = struct.pack("<H", service << 12) + body
    master.write(
        STATION,
        0x1000,
        (struct.pack("<HHBB", len(payload), 0, 0, kind) + payload).ljust(mailbox_bytes, b"\0"),
    )
    data = master.read(STATION, 0x1100, mailbox_bytes)
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
    await_now(master, STATION, 2)
    request(master, struct.pack("<BHBI", 0x40, 0x1008, 0, 0), mailbox_bytes=48)
    repeated = request(master, struct.pack("<B7x", 0x70), mailbox_bytes=48)
    assert abort_code(repeated) == 0x05030000
    ended = request(master, struct.pack("<B7x", 0x60), mailbox_bytes=48)
    assert abort_code(ended) == 0x05040001


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
        (struct.pack("<BHBI", 0x23, 0x1600, 1, 0x60400010), 0x06010003),
        (struct.pack("<BHBI", 0x2F, 0x1600, 0, 9), 0x06090031),
        (struct.pack("<BHBI", 0x50, 0x1C12, 2, 0), 0x06010000),
        (struct.pack("<BHBI", 0x50, 0x6040, 0, 0), 0x06010004),
        (struct.pack("<BHBI", 0x33, 0x1018, 0, 4), 0x06070010),
        (struct.pack("<BHBI", 0x33, 0x1018, 1, 4), 0x06010002),
        (struct.pack("<BHBI", 0xE0, 0x1000, 0, 0), 0x05040001),
        (struct.pack("<BHBI", 0x21, 0x6072, 0, 0), 0x06070010),
        (struct.pack("<BHBI", 0x21, 0x6072, 0, 0xFFFFFFFF), 0x06070010),
        (struct.pack("<B7x", 0x00), 0x05040001),
        (struct.pack("<B7x", 0x60), 0x05040001),
    ],
    ids=[
        "no object",
        "no subindex",
        "read-only",
        "length",
        "input mapped as output",
        "wrong bits mapped",
        "mapping changed while it counts",
        "count beyond the object",
        "complete access from subindex 2",
        "complete access to a variable",
        "complete access of the wrong length",
        "complete access to what is read-only",
        "unknown command",
        "no data",
        "data without end",
        "download segment without download",
        "upload segment without upload",
    ],
)
def test_a_refused_transfer_says_why(preop, body, code):
    assert abort_code(request(preop(), body)) == code


def test_mapping_is_closed_outside_preop(segment_master):
    from io_bridge.master.bringup import to_safeop
    from io_bridge.slaves.drive_config import DriveConfig

    master = segment_master(DriveDevice())
    to_safeop(master, [DriveConfig()])
    with pytest.raises(BringUpError, match="0x1600:0 aborted: 0x08000022"):
        master.download(STATION, 0x1600, 0, 0, 1)


def test_other_protocols_get_a_mailbox_error(preop):
    kind, _, _ = request(preop(), bytes(8), kind=4)
    assert kind == 0


def segments(data, size):
    return [data[i : i + size] for i in range(0, len(data), size)]


def download_in_segments(master, index, sub, data, first=8, size=16, command=0x21):
    """Return the reply to the last request."""
    reply = request(master, struct.pack("<BHBI", command, index, sub, len(data)) + data[:first])
    assert reply[2][0] & 0xEF == 0x60
    parts = segments(data[first:], size)
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        unused = max(0, 7 - len(part))
        head = (i & 1) << 4 | unused << 1 | last
        reply = request(master, bytes([head]) + part.ljust(7, b"\0"))
        if not last:
            assert reply[2][0] == 0x20 | (i & 1) << 4
    return reply


@pytest.mark.parametrize("size", [3, 7, 16, 60])
def test_a_download_in_segments_reads_back(preop, size):
    master = preop()
    data = bytes(range(101))
    assert download_in_segments(master, 0x2010, 0, data, size=size)[2][0] & 0xEF == 0x20
    assert master.upload(STATION, 0x2010, 0) == data


def test_more_in_segments_than_announced_is_refused(preop):
    master = preop()
    request(master, struct.pack("<BHBI", 0x21, 0x2010, 0, 10) + bytes(8))
    assert abort_code(request(master, bytes([0]) + bytes(7))) == 0x06070010


def test_an_end_before_all_has_come_is_refused(preop):
    master = preop()
    request(master, struct.pack("<BHBI", 0x21, 0x2010, 0, 100) + bytes(8))
    assert abort_code(request(master, bytes([1]) + bytes(7))) == 0x06070010


def test_a_repeated_toggle_ends_a_segmented_download(preop):
    master = preop()
    request(master, struct.pack("<BHBI", 0x21, 0x2010, 0, 100) + bytes(8))
    assert request(master, bytes([0]) + bytes(7))[2][0] == 0x20
    assert abort_code(request(master, bytes([0]) + bytes(7))) == 0x05030000


def test_an_abort_of_the_master_ends_a_transfer(preop):
    master = preop()
    request(master, struct.pack("<BHBI", 0x21, 0x2010, 0, 100) + bytes(8))
    payload = struct.pack("<HBHBI", 2 << 12, 0x80, 0x2010, 0, 0x08000000)
    header = struct.pack("<HHBB", len(payload), 0, 0, 3)
    master.write(STATION, 0x1000, (header + payload).ljust(128, b"\0"))
    assert master.access(4, STATION, 0x1100, bytes(128))[1] == 0
    assert abort_code(request(master, bytes([0]) + bytes(7))) == 0x05040001


def test_complete_access_gives_an_object_as_one_value(preop):
    master = preop()
    identity = request(master, struct.pack("<BHBI", 0x50, 0x1018, 0, 0))[2]
    assert identity[0] == 0x51
    assert struct.unpack("<IH4I", identity[4:])[:2] == (18, 4)
    assert identity[10:] == b"".join(master.upload(STATION, 0x1018, i) for i in range(1, 5))
    without_count = request(master, struct.pack("<BHBI", 0x50, 0x1018, 1, 0))[2]
    assert without_count[8:] == identity[10:]


def test_complete_access_writes_a_mapping_at_once(preop):
    master = preop(mailbox_bytes=48)
    words = [0x60410010, 0x60640020, 0x20770020]
    body = struct.pack("<BHBI", 0x31, 0x1A00, 0, 14) + struct.pack("<H3I", 3, *words)
    payload = struct.pack("<H", 2 << 12) + body
    header = struct.pack("<HHBB", len(payload), 0, 0, 3)
    master.write(STATION, 0x1000, (header + payload).ljust(48, b"\0"))
    assert master.read(STATION, 0x1100, 48)[8] == 0x70
    assert master.upload(STATION, 0x1A00, 0) == b"\3"
    read = [int.from_bytes(master.upload(STATION, 0x1A00, i), "little") for i in (1, 2, 3)]
    assert read == words


def test_complete_access_writes_all_or_nothing(preop):
    master = preop()
    before = master.upload(STATION, 0x1600, 0), master.upload(STATION, 0x1600, 1)
    bad = struct.pack("<H2I", 2, 0x60710010, 0x60410010)
    reply = request(master, struct.pack("<BHBI", 0x31, 0x1600, 0, 10) + bad)
    assert abort_code(reply) == 0x06040041
    assert (master.upload(STATION, 0x1600, 0), master.upload(STATION, 0x1600, 1)) == before


def ask_info(master, opcode, data, mailbox=128):
    """Return the fragments of an answer: (opcode with its incomplete bit, fragments left, data)."""
    payload = struct.pack("<HBBH", 8 << 12, opcode, 0, 0) + data.ljust(4, b"\0")
    header = struct.pack("<HHBB", len(payload), 0, 0, 3)
    master.write(STATION, 0x1000, (header + payload).ljust(mailbox, b"\0"))
    found = []
    while True:
        reply, wkc = master.access(4, STATION, 0x1100, bytes(mailbox))
        if not wkc:
            return found
        assert (reply[5] & 0x0F, reply[7] >> 4) == (3, 8)
        size = int.from_bytes(reply[:2], "little")
        left = int.from_bytes(reply[10:12], "little")
        found.append((reply[8], left, reply[12 : 6 + size]))


@pytest.mark.parametrize("mailbox", [48, 128])
def test_the_list_of_objects_comes_in_fragments_that_count_down(preop, mailbox):
    master = preop(mailbox_bytes=mailbox)
    (lengths,) = ask_info(master, 1, struct.pack("<H", 0), mailbox)
    counts = struct.unpack("<6H", lengths[2])[1:]
    for kind in range(1, 6):
        parts = ask_info(master, 1, struct.pack("<H", kind), mailbox)
        assert [left for _, left, _ in parts] == list(range(len(parts) - 1, -1, -1))
        assert [code for code, _, _ in parts] == [0x82] * (len(parts) - 1) + [0x02]
        data = b"".join(part for _, _, part in parts)
        kind_told, *indices = struct.unpack(f"<{len(data) // 2}H", data)
        assert kind_told == kind
        assert len(indices) == counts[kind - 1]
        assert indices == sorted(set(indices))
        for index in indices:
            ((code, _, _),) = ask_info(master, 3, struct.pack("<H", index), mailbox)
            assert code == 4
    assert {0x6040, 0x6071} <= set(rx_mappable(master, mailbox))


def rx_mappable(master, mailbox):
    data = b"".join(part for _, _, part in ask_info(master, 1, struct.pack("<H", 2), mailbox))
    return struct.unpack(f"<{len(data) // 2}H", data)[1:]


def test_an_object_and_an_entry_are_described(preop):
    master = preop()
    ((_, _, data),) = ask_info(master, 3, struct.pack("<H", 0x1018))
    assert struct.unpack_from("<HHBB", data) == (0x1018, 0, 4, 9)
    assert data[6:] == b"Identity"
    ((_, _, data),) = ask_info(master, 5, struct.pack("<HBB", 0x6071, 0, 0))
    # INT16 of 16 bits; read and written in every state, mappable into an RxPDO
    assert struct.unpack_from("<HBBHHH", data) == (0x6071, 0, 0, 0x0003, 16, 0x7F)
    assert data[10:] == b"Target torque"


@pytest.mark.parametrize(
    ("opcode", "data", "code"),
    [
        (3, struct.pack("<H", 0x5000), 0x06020000),
        (5, struct.pack("<HBB", 0x1018, 9, 0), 0x06090011),
        (1, struct.pack("<H", 6), 0x06010000),
        (9, struct.pack("<H", 0), 0x05040001),
    ],
    ids=["no object", "no entry", "no such list", "no such service"],
)
def test_the_information_service_refuses_in_its_own_terms(preop, opcode, data, code):
    ((answer, _, body),) = ask_info(preop(), opcode, data)
    assert answer == 7
    assert int.from_bytes(body, "little") == code
