"""Working counters and data of every command against a small independent model of slaves with plain
memory."""

import struct
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.wire.frame import WireDatagram, build, parse

RAM = 0x2000
RAM_BYTES = 64
LOGICAL = 0x10000


@dataclass
class Model:
    """One slave as the standard's table of commands has it: RAM, a station address, two FMMUs on
    whole bytes."""

    station: int
    outputs: tuple[int, int, int]
    inputs: tuple[int, int, int]
    ram: bytearray = field(default_factory=lambda: bytearray(0x3000 - RAM))

    def read(self, address, size):
        inside = address >= RAM and address + size <= 0x3000
        return bytes(self.ram[address - RAM : address - RAM + size]) if inside else None

    def write(self, address, data):
        if not (address >= RAM and address + len(data) <= 0x3000):
            return 0
        self.ram[address - RAM : address - RAM + len(data)] = data
        return 1

    def logical(self, area, address, size):
        """Offset in the data, physical address and bytes where an FMMU meets the datagram."""
        start, length, physical = area
        first, last = max(start, address), min(start + length, address + size)
        return (first - address, physical + first - start, last - first) if first < last else None


def expected(models, command, address, data):
    """Pass one datagram round the ring; return address, data and counter as they come back."""
    data, wkc = bytearray(data), 0
    adp, ado = address & 0xFFFF, address >> 16
    for slave in models:
        reads = writes = False
        if command in (10, 11, 12):
            sent = bytes(data)
            put = slave.logical(slave.outputs, address, len(data)) if command != 10 else None
            get = slave.logical(slave.inputs, address, len(data)) if command != 11 else None
            if put:
                slave.write(put[1], sent[put[0] : put[0] + put[2]])
                wkc += 2 if command == 12 else 1
            if get:
                data[get[0] : get[0] + get[2]] = slave.read(get[1], get[2])
                wkc += 1
            continue
        if command in (1, 2, 3, 13):
            mine = adp == 0
            adp = (adp + 1) & 0xFFFF
        elif command in (4, 5, 6, 14):
            mine = adp == slave.station
        elif command in (7, 8, 9):
            mine = True
            adp = (adp + 1) & 0xFFFF
        else:
            continue
        if command in (13, 14):
            reads, writes = mine, not mine
        elif mine:
            reads, writes = command in (1, 3, 4, 6, 7, 9), command in (2, 3, 5, 6, 8, 9)
        sent = bytes(data)
        if reads and sent and (own := slave.read(ado, len(sent))) is not None:
            data[:] = bytes(a | b for a, b in zip(own, sent, strict=True)) if command == 7 else own
            wkc += 1
        if writes and sent:
            wkc += slave.write(ado, sent) * (2 if reads else 1)
    logical = command in (10, 11, 12)
    return address if logical else ado << 16 | adp, bytes(data), wkc


areas = st.builds(
    lambda start, size, at: (LOGICAL + start, size, at),
    st.integers(0, 40),
    st.integers(1, 24),
    st.integers(RAM, RAM + RAM_BYTES),
)
stations = st.sampled_from([0x1001, 0x1002, 0x1003, 9])
addresses = st.builds(
    lambda ado, adp: ado << 16 | adp,
    st.integers(RAM, RAM + RAM_BYTES) | st.sampled_from([0x2FF0, 0x2FFF, 0x3000, 0x8000]),
    stations | st.sampled_from([0, 0xFFFF, 0xFFFE]),
)
commands = st.one_of(
    st.tuples(st.integers(0, 9) | st.sampled_from([13, 14, 15, 200]), addresses),
    st.tuples(st.integers(10, 12), st.integers(LOGICAL - 8, LOGICAL + 70)),
)


def set_up(slave, position, segment):
    """Give the emulated slave its address and FMMUs by real datagrams."""

    def write(register, data):
        reply = segment.process(
            build([WireDatagram(2, 1, register << 16 | -position & 0xFFFF, data)]),
            segment.now_ns + 1000,
        )
        assert parse(reply)[0].wkc == 1

    write(0x0010, struct.pack("<H", slave.station))
    for number, (area, kind) in enumerate(((slave.outputs, 2), (slave.inputs, 1))):
        start, size, physical = area
        row = struct.pack("<IHBBHBBBxxx", start, size, 0, 7, physical, 0, kind, 1)
        write(0x0600 + 16 * number, row)


@settings(deadline=None)
@given(
    st.lists(st.tuples(stations, areas, areas), min_size=1, max_size=4),
    st.lists(
        st.tuples(commands, st.binary(max_size=40), st.integers(0, 9)), min_size=1, max_size=10
    ),
)
@pytest.mark.slow
def test_every_command_counts_and_acts_as_the_model(slaves, traffic):
    models = [Model(*slave) for slave in slaves]
    segment = Segment([DriveDevice() for _ in slaves])
    for position, slave in enumerate(models):
        set_up(slave, position, segment)
    sent, awaited = [], []
    for (command, address), data, wkc in traffic:
        sent.append(WireDatagram(command, 0x80, address, data, wkc))
        back, result, count = expected(models, command, address, data)
        awaited.append(WireDatagram(command, 0x80, back, result, wkc + count))
    assert parse(segment.process(build(sent), segment.now_ns + 1000)) == awaited
    for model, device in zip(models, segment.devices, strict=True):
        assert device.memory(RAM, 0x3000 - RAM) == bytes(model.ram)
