import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.master.bringup import Master, to_safeop
from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.wire.frame import WireDatagram, build, parse
from io_bridge.wire.frame_halves import merge

FPRD, FPWR, FPRW, BRD, BWR, LRD, LWR, FRMW = 4, 5, 6, 7, 8, 10, 11, 14
NEAR, FAR = 0, 1
N = 3


def in_safeop():
    segment = Segment([DriveDevice() for _ in range(N)])
    master = Master(lambda frame: segment.process(frame, segment.now_ns + 1000))
    layouts = to_safeop(master, [DriveConfig(f"d{i}") for i in range(N)])
    return segment, layouts


LAYOUTS = in_safeop()[1]
# no datagram of a clock: its time is where the frame is, and that changes with a cable
stations = st.sampled_from([0x1001, 0x1002, 0x1003, 0x1004])
registers = st.sampled_from([0x0000, 0x0010, 0x0130, 0x0400, 0x0800])
datagrams = st.lists(
    st.one_of(
        st.builds(
            lambda station, register, size: WireDatagram(
                FPRD, 0x80, register << 16 | station, bytes(size)
            ),
            stations,
            registers,
            st.integers(1, 16),
        ),
        st.builds(
            lambda command, station, data: WireDatagram(
                command, 0x80, 0x0F80 << 16 | station, data
            ),
            st.sampled_from([FPWR, FPRW]),
            stations,
            st.binary(min_size=1, max_size=8),
        ),
        st.builds(
            lambda register, size: WireDatagram(BRD, 0x80, register << 16, bytes(size)),
            registers,
            st.integers(1, 4),
        ),
        st.builds(lambda data: WireDatagram(BWR, 0x80, 0x0F80 << 16, data), st.binary(max_size=4)),
        st.builds(
            lambda i: WireDatagram(LRD, 0x80, LAYOUTS[i].inputs_at, bytes(LAYOUTS[i].n_inputs)),
            st.integers(0, N - 1),
        ),
        st.builds(
            lambda i, byte: WireDatagram(
                LWR, 0x80, LAYOUTS[i].outputs_at, bytes([byte]) * LAYOUTS[i].n_outputs
            ),
            st.integers(0, N - 1),
            st.integers(0, 255),
        ),
    ),
    min_size=1,
    max_size=10,
)


def content(frame):
    return [(d.command, d.data, d.wkc) for d in parse(frame)]


@settings(max_examples=60, deadline=None)
@given(datagrams, st.integers(1, N - 1), st.booleans())
@pytest.mark.slow
def test_the_halves_of_an_open_ring_make_what_the_whole_one_answers(chain, cut, swapped):
    whole, _ = in_safeop()
    opened, _ = in_safeop()
    frame = build(chain)
    expected = whole.process(frame, whole.now_ns + 1000)
    opened.unplug(cut)
    t_ns = opened.now_ns + 1000
    halves = [opened.process_end(frame, t_ns, end) for end in (NEAR, FAR)]
    assert [leaves for _, leaves in halves] == [NEAR, FAR]
    first, second = (reply for reply, _ in (reversed(halves) if swapped else halves))
    assert content(merge(first, second)) == content(expected)


def test_a_clock_is_taken_from_the_side_that_read_it():
    time = (123_456_789).to_bytes(8, "little")
    address = 0x0910 << 16 | 0x1001
    # slaves without a reference count a datagram that brings them zeros
    others = build([WireDatagram(FRMW, 0x80, address, bytes(8), 2)])
    read = build([WireDatagram(FPRD, 0x80, address, time, 1)])
    (merged,) = parse(merge(others, read))
    assert (merged.command, merged.data) == (FRMW, time)


@pytest.mark.parametrize(
    "other",
    [
        build([WireDatagram(FPRD, 0x81, 0x0130 << 16, bytes(2))]),
        build([WireDatagram(FPRD, 0x80, 0x0130 << 16, bytes(3))]),
        build([WireDatagram(BRD, 0x80, 0x0130 << 16, bytes(2))]),
        build([WireDatagram(FPRD, 0x80, 0x0130 << 16, bytes(2))] * 2),
        b"\0" * 60,
        b"",
    ],
    ids=["index", "size", "command", "chain", "no frame", "nothing"],
)
def test_what_is_no_half_of_the_same_frame_is_not_merged(other):
    frame = build([WireDatagram(FPRD, 0x80, 0x0130 << 16, bytes(2))])
    assert merge(frame, other) is None
    assert merge(other, frame) is None


@pytest.mark.slow
@given(st.binary(max_size=1600), datagrams)
def test_garbage_is_no_half(garbage, chain):
    frame = build(chain)
    assert merge(frame, garbage) is None or len(garbage) >= len(frame)
