"""Quirks of the mailbox, message by message."""

import struct

import pytest

from io_bridge.emulator.quirks.catalogue import quirks

NAME = b"rigloop simulated CiA 402 drive"
VENDOR = (0x1018, 1)


def abort_code(message):
    """The code of an SDO abort; 0 when it is none."""
    return int.from_bytes(message[12:16], "little") if message[8] == 0x80 else 0


def service(message):
    return message[7] >> 4


def value(message):
    """Return the data of an expedited upload."""
    return int.from_bytes(message[12:16], "little")


def preop(wire, name):
    slave = wire(f"direct_drive+{name}")
    assert slave.preop() == (2, 0)
    return slave


def test_a_late_reply_comes_after_its_time_and_meanwhile_no_request_is_taken(wire):
    slave = preop(wire, "late_reply:ms=30")
    slave.upload(*VENDOR)
    slave.wait(29)
    assert slave.fetch() is None
    # the processor has emptied the mailbox; a second request waits there, a third is refused
    assert slave.send(struct.pack("<BHBI", 0x40, 0x1018, 2, 0))
    assert not slave.send(struct.pack("<BHBI", 0x40, 0x1018, 3, 0))
    slave.wait(1)
    # the frame at that time finds it in the making, the next one takes it
    assert slave.fetch() is None
    assert value(slave.fetch()) == 0xA7E
    slave.wait(29)
    assert slave.messages() == []
    slave.wait(2)
    slave.fetch()
    assert value(slave.fetch()) == 0x4B32484C


def test_an_answer_under_way_is_forgotten_in_init(wire):
    slave = preop(wire, "late_reply:ms=30")
    slave.upload(*VENDOR)
    slave.ask(1)
    slave.preop()
    slave.wait(100)
    assert slave.messages() == []


def test_every_reply_comes_twice_the_same(wire):
    slave = preop(wire, "duplicate_reply")
    slave.upload(*VENDOR)
    first, second = slave.messages()
    assert first == second
    assert value(first) == 0xA7E


def test_before_each_reply_comes_the_one_before(wire):
    slave = preop(wire, "stale_reply")
    slave.upload(*VENDOR)
    (first,) = slave.messages()
    slave.upload(0x1018, 2)
    stale, right = slave.messages()
    assert stale == first
    assert value(right) == 0x4B32484C
    assert right[5] != stale[5]


def test_an_emergency_comes_before_each_reply(wire):
    slave = preop(wire, "emergency:code=0x8110,register=0x11")
    for _ in range(3):
        slave.upload(*VENDOR)
        alarm, reply = slave.messages()
        assert service(alarm) == 1
        assert alarm[8:11] == b"\x10\x81\x11"
        assert len(alarm) == 16
        assert value(reply) == 0xA7E


@pytest.mark.parametrize("at", ["preop", "safeop", "op"])
def test_an_emergency_comes_once_in_a_state(wire, at):
    slave = preop(wire, f"emergency:at={at}")
    seen = {"preop": slave.messages()}
    slave.process_data(5, 13)
    assert slave.ask(4) == (4, 0)
    seen["safeop"] = slave.messages()
    slave.outputs(bytes(5))
    assert slave.ask(8) == (8, 0)
    seen["op"] = slave.messages()
    assert {state: len(found) for state, found in seen.items()} == {
        state: int(state == at) for state in seen
    }
    assert service(seen[at][0]) == 1


@pytest.mark.parametrize(
    ("field", "place"),
    [("counter", 5), ("index", 10), ("subindex", 11), ("service", 7), ("command", 8)],
)
def test_a_wrong_reply_differs_in_its_field_and_the_right_one_follows(wire, field, place):
    slave = preop(wire, f"wrong_reply:field={field}")
    slave.upload(*VENDOR)
    wrong, right = slave.messages()
    assert value(right) == 0xA7E
    assert right[9:12] == b"\x18\x10\x01"
    differing = [i for i, (a, b) in enumerate(zip(wrong, right, strict=True)) if a != b]
    assert differing == [place]


def test_a_wrong_reply_may_be_the_only_one_and_of_one_object(wire):
    slave = preop(wire, "wrong_reply:field=index,then_right=no,index=0x6072")
    slave.upload(*VENDOR)
    assert [value(m) for m in slave.messages()] == [0xA7E]
    slave.upload(0x6072)
    (wrong,) = slave.messages()
    assert wrong[9:11] != b"\x72\x60"


def test_the_toggle_bit_is_wrong_in_segments_only(wire):
    slave = preop(wire, "wrong_reply:field=toggle,then_right=false")
    slave.upload(0x2010)
    (first,) = slave.messages()
    assert first[8] == 0x41
    slave.send(struct.pack("<B7x", 0x60))
    (segment,) = slave.messages()
    assert segment[8] & 0xF0 == 0x10


@pytest.mark.parametrize("command", [0x50, 0x31])
def test_complete_access_is_refused_and_an_entry_is_not(wire, command):
    slave = preop(wire, "no_complete_access")
    slave.upload(0x1A00, 0, command)
    (answer,) = slave.messages()
    assert abort_code(answer) == 0x06010000
    assert answer[9:12] == b"\x00\x1a\x00"
    slave.upload(0x1A00, 0)
    assert value(slave.messages()[0]) == 5


def test_complete_access_may_be_answered_otherwise(wire):
    slave = preop(wire, "no_complete_access:answer=mailbox_error")
    slave.upload(0x1A00, 0, 0x50)
    (answer,) = slave.messages()
    assert answer[5] & 0x0F == 0
    assert answer[6:] == b"\x01\x00\x04\x00"
    slave = preop(wire, "no_complete_access:answer=silence")
    slave.upload(0x1A00, 0, 0x50)
    assert slave.messages() == []
    slave = preop(wire, "no_complete_access:answer=entry")
    slave.upload(0x1A00, 0, 0x50)
    (answer,) = slave.messages()
    assert answer[8] == 0x4F
    assert answer[12] == 5


@pytest.mark.parametrize(("claimed", "bit"), [("no", 0), ("yes", 0x20)])
def test_the_eeprom_says_whether_there_is_complete_access(wire, claimed, bit):
    from io_bridge.emulator.quirks.eeprom.eeprom import categories

    slave = wire(f"direct_drive+no_complete_access:claimed={claimed}")
    image = slave.device.eeprom
    (start,) = (start for kind, start, _ in categories(image) if kind == 30)
    assert image[start + 5] == 0x0F | bit


def test_an_endless_object_announces_much_and_never_says_that_a_segment_is_the_last(wire):
    slave = preop(wire, "endless_object:index=0x1008")
    slave.upload(0x1008)
    (first,) = slave.messages()
    assert first[8] == 0x41
    assert value(first) == 1 << 31
    for i in range(50):
        slave.send(struct.pack("<B7x", 0x60 | (i & 1) << 4))
        (segment,) = slave.messages()
        assert segment[8] == (i & 1) << 4
        assert len(segment) == 128
    # another object ends it
    slave.upload(*VENDOR)
    assert value(slave.messages()[0]) == 0xA7E
    slave.send(struct.pack("<B7x", 0x60))
    assert abort_code(slave.messages()[0])


def test_an_empty_object_has_no_bytes(wire):
    slave = preop(wire, "empty_object:index=0x1008")
    slave.upload(0x1008)
    (answer,) = slave.messages()
    assert answer[8] == 0x41
    assert value(answer) == 0
    assert len(answer) == 16


def test_the_first_downloads_meet_a_busy_device_in_each_preop(wire):
    slave = preop(wire, "busy_object:times=2")
    for _ in range(2):
        codes = []
        for _ in range(3):
            slave.download(0x6072, 0, 500, 2)
            codes.append(abort_code(slave.messages()[0]))
        assert codes == [0x08000022, 0x08000022, 0]
        slave.ask(1)
        slave.preop()
    slave.upload(*VENDOR)
    assert value(slave.messages()[0]) == 0xA7E


def test_quirks_lie_over_one_another(wire):
    slave = preop(wire, "busy_object+emergency+duplicate_reply+late_reply:ms=5")
    slave.download(0x6072, 0, 500, 2)
    seen = []
    for _ in range(10):
        slave.wait(5)
        seen += slave.messages()
    assert [service(m) for m in seen] == [1, 1, 2, 2]
    assert [abort_code(m) for m in seen[2:]] == [0x08000022] * 2


def test_a_list_in_fragments_passes_all_mailbox_quirks(wire):
    plain = preop(wire, "late_reply:ms=0")
    plain.send(struct.pack("<BBHH", 1, 0, 0, 1), service=8)
    expected = plain.messages()
    assert len(expected) > 0
    slave = preop(wire, "duplicate_reply")
    slave.send(struct.pack("<BBHH", 1, 0, 0, 1), service=8)
    assert slave.messages() == [m for m in expected for _ in range(2)]


@pytest.mark.parametrize("name", sorted(quirks()))
def test_every_quirk_leaves_a_coupler_alive(wire, name):
    """None of them needs a drive or a mailbox, but for those that say so."""
    if name == "needs_setup":
        with pytest.raises(ValueError, match="has no object 0x6072:0"):
            wire(f"ek_coupler+{name}")
        return
    if name == "mode_shown":
        with pytest.raises(ValueError, match="has no object 0x6041"):
            wire(f"ek_coupler+{name}")
        return
    if name == "second_manager":
        with pytest.raises(ValueError, match="0 output PDOs and 0 sync managers"):
            wire(f"ek_coupler+{name}")
        return
    slave = wire(f"ek_coupler+{name}")
    slave.wait(10)
    assert slave.read(0x0130, 2) == b"\x01\x00"
