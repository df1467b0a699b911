"""The SDO client beside slaves that say other things than the answer."""

import struct
import time

import pytest
from al_states import await_now

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.master.mailbox import LEAST_BYTES, MailboxError
from io_bridge.master.master import Master
from io_bridge.slaves.drive_config import DrivePlant
from io_bridge.slaves.errors import BringUpError, SdoAbortError
from io_bridge.slaves.state_limits import StateLimits

STATION = 0x1001
LIMIT = 0x6072


@pytest.fixture
def talk(scripted):
    """Connect a master with a script; the time for an answer is short where none will come."""

    def connect(script, size=128, taken_over=False, limit_s=0.2):
        slave = scripted.ScriptedSlave(script, size)
        master = Master(slave.transact, pause_s=0.0005)
        master.limits[STATION] = StateLimits(mailbox_response_s=limit_s)
        master.know_mailbox(STATION, slave.managers, taken_over=taken_over)
        return master, slave

    return connect


def test_an_emergency_before_the_abort_does_not_make_a_refused_write_a_written_one(scripted, talk):
    master, _ = talk(lambda body: [scripted.emergency(), scripted.refused(LIMIT, 0)])
    with pytest.raises(SdoAbortError, match="0x6072:0 aborted: 0x06010002 object is read-only"):
        master.download(STATION, LIMIT, 0, 500, 2)


def test_a_refusal_names_the_slave_by_its_place_and_the_name_in_the_rig(scripted, talk):
    master, _ = talk(lambda body: [scripted.refused(LIMIT, 0)])
    with pytest.raises(SdoAbortError, match=r"^slave 0: SDO 0x6072:0 aborted"):
        master.upload(STATION, LIMIT, 0)
    master.names[STATION] = "wheel"
    with pytest.raises(SdoAbortError, match=r"^slave 0 \(wheel\): SDO 0x6072:0 aborted"):
        master.upload(STATION, LIMIT, 0)
    with pytest.raises(MailboxError, match=r"^slave 0x0007: it has no mailbox"):
        master.upload(7, LIMIT, 0)


def test_the_answer_for_another_object_is_not_taken(scripted, talk):
    vendor = scripted.uploaded(0x1018, 1, b"\x7e\x0a\0\0", counter=1)
    master, _ = talk(lambda body: [vendor, 3, scripted.uploaded(LIMIT, 0, b"\x39\x05", counter=2)])
    assert master.upload(STATION, LIMIT, 0) == b"\x39\x05"
    master, _ = talk(lambda body: [vendor])
    with pytest.raises(
        MailboxError, match=r"no answer .*in its place came 1 others: service 3 with 43 18 10"
    ):
        master.upload(STATION, LIMIT, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong", ["index", "subindex", "command", "service", "protocol", "short", "long"]
)
def test_a_write_is_confirmed_by_its_own_answer_only(scripted, talk, wrong):
    said = {
        "index": scripted.downloaded(LIMIT + 1, 0),
        "subindex": scripted.downloaded(LIMIT, 1),
        "command": scripted.uploaded(LIMIT, 0, b"\1"),
        "service": scripted.sdo(struct.pack("<BHBI", 0x60, LIMIT, 0, 0), service=2),
        "protocol": scripted.message(b"\0\x30" + struct.pack("<BHBI", 0x60, LIMIT, 0, 0), kind=4),
        "short": scripted.sdo(b"\x60\x72"),
        "long": scripted.message(b"\0\x30\x60\x72\x60\0", size=5000),
    }[wrong]
    master, _ = talk(lambda body: [said])
    with pytest.raises(
        MailboxError, match=r"no answer in its mailbox within 0\.2 s; in its place came"
    ):
        master.download(STATION, LIMIT, 0, 500, 2)


def test_emergencies_are_kept_with_slave_time_and_words(scripted, talk, caplog):
    before = time.monotonic_ns()
    master, slave = talk(
        lambda body: [
            scripted.emergency(0x8611, counter=1),
            scripted.downloaded(LIMIT, 0, counter=2),
        ]
    )
    slave.waiting.append(scripted.emergency(0x4310, data=b"\1\2\3\4\5", counter=7))
    master.download(STATION, LIMIT, 0, 500, 2)
    hot, away = master.emergencies.of(STATION)
    assert before < hot.time_ns <= away.time_ns < time.monotonic_ns()
    assert str(hot) == "emergency 0x4310 drive too hot, register 0x20, data 01 02 03 04 05"
    assert away.code == 0x8611
    assert "slave 0: emergency 0x8611 following error" in caplog.text
    assert master.emergencies.of(0x1002) == []


def test_a_flood_of_emergencies_is_bounded_in_memory_log_and_time(scripted, talk, caplog):
    master, slave = talk(lambda body: [])
    slave._look = lambda: scripted.emergency(
        data=struct.pack("<Ix", slave.looks), counter=slave.looks % 7 + 1
    )
    began = time.monotonic()
    with pytest.raises(MailboxError, match="others: an emergency"):
        master.upload(STATION, LIMIT, 0)
    assert time.monotonic() - began < 2.0
    assert master.emergencies.counts[STATION] > 64
    assert len(master.emergencies.of(STATION)) <= 64
    assert len(caplog.records) == 16


def test_a_late_answer_to_a_request_given_up_is_not_taken_for_the_next(scripted, talk):
    answers = iter(
        [
            [],
            [scripted.refused(LIMIT, 0, counter=2)],
        ]
    )
    master, slave = talk(lambda body: next(answers))
    with pytest.raises(MailboxError):
        master.download(STATION, LIMIT, 0, 500, 2)
    slave.waiting.append(scripted.downloaded(LIMIT, 0, counter=1))
    with pytest.raises(SdoAbortError):
        master.download(STATION, LIMIT, 0, 500, 2)


def test_a_repeated_answer_does_not_confirm_the_next_write(scripted, talk):
    written, refused = (
        scripted.downloaded(LIMIT, 0, counter=4),
        scripted.refused(LIMIT, 0, counter=5),
    )
    answers = iter(
        [[scripted.downloaded(LIMIT, 0, counter=3)], [written], [2, written, 20, refused]]
    )
    master, _ = talk(lambda body: next(answers))
    master.download(STATION, LIMIT, 0, 500, 2)
    master.download(STATION, LIMIT, 0, 500, 2)
    with pytest.raises(SdoAbortError):
        master.download(STATION, LIMIT, 0, 500, 2)


@pytest.mark.parametrize("counter", [0, 5])
def test_a_slave_whose_counter_stands_still_is_understood(scripted, talk, counter):
    master, _ = talk(lambda body: [scripted.uploaded(LIMIT, 0, b"\1\2", counter=counter)])
    for _ in range(4):
        assert master.upload(STATION, LIMIT, 0) == b"\1\2"


def test_a_slave_that_takes_the_counter_of_a_master_before_for_a_repetition_is_asked_again(
    scripted, talk
):
    seen = [1]

    def script(body):
        counter = slave.requests[-1][5] >> 4
        seen.append(counter)
        if counter in (0, seen[-2]):
            return []
        return [scripted.uploaded(LIMIT, 0, b"\1\2", counter=counter)]

    master, slave = talk(script, taken_over=True)
    assert master.upload(STATION, LIMIT, 0) == b"\1\2"


def test_segments_are_put_together_and_a_repeated_one_is_passed_over(scripted, talk):
    text = b"a name in parts of seven"
    parts = [text[i : i + 7] for i in range(0, len(text), 7)]

    def script(body):
        if body[0] == 0x40:
            script.at = 0
            return [scripted.sdo(struct.pack("<BHBI", 0x41, 0x1008, 0, len(text)), counter=1)]
        toggle, at = body[0] & 0x10, script.at
        script.at += 1
        last = at == len(parts) - 1
        command = toggle | (7 - len(parts[at])) << 1 | last
        answer = scripted.sdo(
            bytes([command]) + parts[at].ljust(7, b"\0"), counter=(at + 1) % 7 + 1
        )
        stale = scripted.sdo(bytes([toggle ^ 0x10]) + b"stale..", counter=7)
        return [stale, 2, answer]

    master, _ = talk(script)
    assert master.upload(STATION, 0x1008, 0) == text


def endless(scripted, size, part=b"1234567", command=0x41):
    """A slave that announces a size and sends segments for ever."""

    def script(body):
        if body[0] == 0x40:
            return [scripted.sdo(struct.pack("<BHBI", command, 0x1008, 0, size))]
        if body[0] == 0x80:
            return []
        return [scripted.sdo(bytes([body[0] & 0x10]) + part)]

    return script


@pytest.mark.parametrize(
    ("size", "part", "command", "words", "code"),
    [
        (
            1 << 31,
            b"1234567",
            0x41,
            "announces 2147483648 bytes; 65536 are taken at most",
            0x05040005,
        ),
        (100, b"1234567", 0x41, "sends more than 100 bytes", 0x05040005),
        (0, b"x" * 100, 0x40, "sends more than 65536 bytes", 0x05040005),
        (100, b"", 0x41, "a segment with nothing in it", 0x06070010),
    ],
)
def test_an_object_that_never_ends_is_given_up_and_aborted(
    scripted, talk, size, part, command, words, code
):
    master, slave = talk(endless(scripted, size, part, command))
    with pytest.raises(MailboxError, match=words):
        master.upload(STATION, 0x1008, 0)
    assert slave.aborts == [code]


@pytest.mark.slow
def test_segments_that_take_too_long_are_given_up_and_aborted(scripted, talk, monkeypatch):
    monkeypatch.setattr("io_bridge.master.coe_client.TRANSFER_S", 0.05)
    master, slave = talk(endless(scripted, 60_000, b"1"))
    with pytest.raises(MailboxError, match="segments do not end"):
        master.upload(STATION, 0x1008, 0)
    assert slave.aborts == [0x05040000]


def test_a_wrong_toggle_bit_for_ever_ends_in_an_abort(scripted, talk):
    def script(body):
        if body[0] == 0x40:
            return [scripted.sdo(struct.pack("<BHBI", 0x41, 0x1008, 0, 20))]
        return (
            [] if body[0] == 0x80 else [scripted.sdo(bytes([body[0] & 0x10 ^ 0x10]) + b"1234567")]
        )

    master, slave = talk(script)
    with pytest.raises(MailboxError, match="in its place came"):
        master.upload(STATION, 0x1008, 0)
    assert slave.aborts == [0x05040000]


def test_an_empty_object_is_empty(scripted, talk):
    master, _ = talk(lambda body: [scripted.sdo(struct.pack("<BHBI", 0x41, 0x1008, 0, 0))])
    assert master.upload(STATION, 0x1008, 0) == b""


def test_a_refusal_of_the_mailbox_itself_is_said_in_words(scripted, talk):
    master, _ = talk(lambda body: [scripted.message(struct.pack("<HH", 1, 2), kind=0)])
    with pytest.raises(MailboxError, match="refuses the message: 0x0002 protocol not supported"):
        master.upload(STATION, 0x1008, 0)


@pytest.mark.parametrize("size", [0, 4, 15, 2000])
def test_a_mailbox_too_small_or_too_large_to_be_used_is_refused(scripted, size):
    slave = scripted.ScriptedSlave(lambda body: [], size)
    master = Master(slave.transact)
    if size == 0:
        master.know_mailbox(STATION, slave.managers)
        assert not master.has_mailbox(STATION)
        with pytest.raises(MailboxError, match="it has no mailbox"):
            master.upload(STATION, 0x1000, 0)
        return
    with pytest.raises(MailboxError, match=f"a mailbox of {size} bytes; {LEAST_BYTES} to 1486"):
        master.know_mailbox(STATION, slave.managers)


def test_a_lost_frame_brings_the_answer_again(segment_master):
    device = DriveDevice(DrivePlant())
    master = segment_master(device)
    master.address(0)
    master.set_mailbox(STATION)
    master.request(STATION, 2)
    await_now(master, STATION, 2)
    plain = master._transact
    lost = []

    def lossy(frame):
        reply = plain(frame)
        # a frame that comes back with a message from the slave
        if frame[16] == 4 and reply[16 + 10 + 5] & 0x0F == 3 and not lost:
            lost.append(reply)
            return None
        return reply

    master._transact = lossy
    master.download(STATION, LIMIT, 0, 1234, 2)
    assert lost
    assert master.upload(STATION, LIMIT, 0) == (1234).to_bytes(2, "little")


def test_a_damaged_frame_is_an_error_of_the_wire(segment_master):
    master = segment_master(DriveDevice(DrivePlant()))
    plain = master._transact
    for damaged in (
        lambda f: f[:20],
        lambda f: b"",
        lambda f: f[:17] + bytes([f[17] ^ 1]) + f[18:],
    ):
        master._transact = lambda frame, damage=damaged: damage(plain(frame))
        with pytest.raises(BringUpError, match=r"came back damaged|answered by another frame"):
            master.count()


def test_numbers_and_long_objects_are_written_in_the_way_that_their_size_needs(scripted, talk):
    got = bytearray()

    def script(body):
        index, sub = struct.unpack_from("<HB", body, 1)
        if body[0] & 0xE0 == 0x20:
            got[:] = body[4 : 8 - (body[0] >> 2 & 3)] if body[0] & 2 else body[8:]
            return [scripted.downloaded(index, sub)]
        part = body[1:]
        got.extend(part[: 7 - (body[0] >> 1 & 7)] if len(part) == 7 else part)
        return [scripted.sdo(bytes([0x20 | body[0] & 0x10]) + bytes(7))]

    master, _ = talk(script, size=48)
    for size in (1, 2, 4, 8):
        master.download(STATION, LIMIT, 0, -5, size)
        assert got == (-5).to_bytes(size, "little", signed=True)
    for size in (5, 30, 31, 69, 70, 75, 76, 500):
        data = bytes(i & 0xFF for i in range(size))
        master.client(STATION).download(LIMIT, 0, data)
        assert got == data
    with pytest.raises(ValueError, match="0x6072:0 = 70000: does not fit 2 bytes"):
        master.download(STATION, LIMIT, 0, 70000, 2)
