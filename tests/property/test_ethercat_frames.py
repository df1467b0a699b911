"""Bytes off the wire: what is built reads back, and what is garbage changes nothing and breaks
nothing."""

import struct

import pytest
from al_states import await_now
from hypothesis import given, settings
from hypothesis import strategies as st

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.master.bringup import Master, to_safeop
from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.wire.frame import WireDatagram, build, parse

datagrams = st.lists(
    st.builds(
        WireDatagram,
        st.integers(0, 255),
        st.integers(0, 255),
        st.integers(0, 2**32 - 1),
        st.binary(max_size=100),
        st.integers(0, 2**16 - 1),
    ),
    min_size=1,
    max_size=12,
)


@given(datagrams)
def test_what_is_built_reads_back(chain):
    assert parse(build(chain)) == chain


@given(st.binary(max_size=1600))
def test_parsing_anything_gives_datagrams_or_a_value_error(data):
    try:
        found = parse(data)
    except ValueError:
        return
    assert sum(12 + len(datagram.data) for datagram in found) <= len(data) - 16


def in_op():
    """Two drives in OP, so that every access path is open."""
    segment = Segment([DriveDevice(), DriveDevice()])
    master = Master(lambda frame: segment.process(frame, segment.now_ns + 1000))
    layouts = to_safeop(master, [DriveConfig("a"), DriveConfig("b")])
    for layout in layouts:
        master.access(11, layout.outputs_at, 0, bytes(layout.n_outputs))
        master.request(layout.station, 8)
        await_now(master, layout.station, 8)
    return segment, master


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.binary(max_size=1600), max_size=5))
def test_arbitrary_bytes_are_ignored_or_answered_at_their_length(frames):
    segment, master = in_op()
    for frame in frames:
        reply = segment.process(frame, segment.now_ns + 1000)
        assert reply is None or len(reply) == len(frame)
    assert master.count() == 2


# where accesses have effects: registers, mailboxes, process data, the last bytes of memory, and
# beyond
REGISTERS = [0x0000, 0x0010, 0x0100, 0x0120, 0x0130, 0x0400, 0x0420, 0x0440, 0x0500, 0x0502, 0x0600]
MANAGERS = [0x0800, 0x0808, 0x0810, 0x0818, 0x0900, 0x0910, 0x0920, 0x0FFF]
RAM = [0x1000, 0x1100, 0x1200, 0x1800, 0x2FFE, 0x2FFF, 0x3000, 0xFFFF]
places = st.integers(0, 0xFFFF) | st.sampled_from([*REGISTERS, *MANAGERS, *RAM])
who = st.sampled_from([0, 0xFFFF, 0x1001, 0x1002, 7])
hostile = st.builds(
    WireDatagram,
    st.integers(0, 15),
    st.integers(0, 255),
    st.builds(lambda place, adp: place << 16 | adp, places, who) | st.integers(0, 80),
    st.binary(max_size=300) | st.integers(0, 1400).map(bytes),
    st.just(0),
)


@settings(deadline=None)
@given(st.lists(hostile, max_size=30))
@pytest.mark.slow
def test_hostile_datagrams_leave_a_slave_that_can_be_started_again(attack):
    segment, _ = in_op()
    for datagram in attack:
        frame = build([datagram])
        reply = segment.process(frame, segment.now_ns + 100_000)
        assert len(reply) == len(frame)
        assert parse(reply)[0].wkc <= 6
    for device in segment.devices:
        device.power_on()
    master = Master(lambda frame: segment.process(frame, segment.now_ns + 1000))
    assert len(to_safeop(master, [DriveConfig("a"), DriveConfig("b")])) == 2


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.binary(min_size=1, max_size=128), st.sampled_from([None, 2, 8])), max_size=12
    )
)
@pytest.mark.slow
def test_any_mailbox_content_gets_at_most_a_well_formed_reply(requests):
    _, master = in_op()
    for request, service in requests:
        if service is not None:
            body = struct.pack("<H", service << 12) + request[:100]
            request = struct.pack("<HHBB", len(body), 0, 0, 3) + body
        master.write(0x1001, 0x1000, request.ljust(128, b"\0"))
        data, wkc = master.access(4, 0x1001, 0x1100, bytes(128))
        if wkc:
            assert int.from_bytes(data[:2], "little") <= 122
            assert data[5] & 0x0F in (0, 3)
        while master.access(4, 0x1001, 0x1100, bytes(128))[1]:
            pass  # the fragments of a list
    assert master.upload(0x1001, 0x1000, 0) == (0x00020192).to_bytes(4, "little")


values = st.binary(min_size=1, max_size=128)


@pytest.mark.slow
@settings(deadline=None)
@given(values, st.integers(1, 100), st.integers(0, 40))
def test_a_value_sent_in_any_segments_reads_back(data, size, first):
    _, master = in_op()

    def request(body):
        payload = b"\0\x20" + body
        header = struct.pack("<HHBB", len(payload), 0, 0, 3)
        master.write(0x1001, 0x1000, (header + payload).ljust(128, b"\0"))
        return master.read(0x1001, 0x1100, 128)

    first = min(first, len(data))
    reply = request(struct.pack("<BHBI", 0x21, 0x2010, 0, len(data)) + data[:first])
    assert reply[8] == 0x60
    for number, at in enumerate(range(first, len(data), size)):
        part = data[at : at + size]
        last = at + size >= len(data)
        unused = max(0, 7 - len(part))
        reply = request(bytes([(number & 1) << 4 | unused << 1 | last]) + part.ljust(7, b"\0"))
        assert reply[8] == 0x20 | (number & 1) << 4
    assert master.upload(0x1001, 0x2010, 0) == data
