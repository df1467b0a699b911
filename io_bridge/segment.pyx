"""An emulated EtherCAT segment: one frame goes in, passes every slave in ring order and comes
out."""
from collections.abc import Sequence

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from io_bridge.esc_memory cimport (
    ESC_MEMORY, REG_ALIAS, REG_DL_STATUS, REG_STATION, Esc,
)
from io_bridge.esc_registers cimport (
    esc_advance, esc_power_on, esc_read, esc_serve, esc_write, fmmu_read, fmmu_write,
)
from io_bridge.frame cimport (
    APRD, APRW, APWR, ARMW, BRD, BRW, BWR, FIRST_DATAGRAM, FPRD, FPRW, FPWR, FRMW, LRD, LRW, LWR,
    MAX_FRAME, Datagram, datagram_at, frame_length,
)
from io_bridge.wire cimport get16, put16


cdef int read_write(Esc *esc, int reading, int writing, int address, int n,
                    uint8_t *data) noexcept nogil:
    """Read and/or write the slave; a read returns what was there before the write. Return the
    counter's increment."""
    cdef uint8_t sent[MAX_FRAME]
    cdef int wkc = 0
    if reading and writing:
        memcpy(sent, data, n)
        wkc = esc_read(esc, address, n, data)
        return wkc + 2 * esc_write(esc, address, n, sent)
    if reading:
        return esc_read(esc, address, n, data)
    return esc_write(esc, address, n, data)


cdef int broadcast_read(Esc *esc, int address, int n, uint8_t *data) noexcept nogil:
    """BRD ORs what each slave holds into the data."""
    cdef uint8_t own[MAX_FRAME]
    cdef int i
    if not esc_read(esc, address, n, own):
        return 0
    for i in range(n):
        data[i] |= own[i]
    return 1


cdef int logical_access(Esc *esc, int reading, int writing, uint32_t logical, int n,
                        uint8_t *data) noexcept nogil:
    """Outputs are taken from what arrived before inputs are laid over it. Return the counter's
    increment."""
    cdef int wkc = 0
    if writing:
        wkc = fmmu_write(esc, logical, n, data) * (2 if reading else 1)
    if reading:
        wkc += fmmu_read(esc, logical, n, data)
    return wkc


cdef int slave_process(Esc *esc, uint8_t *frame, int at, const Datagram *d) noexcept nogil:
    """Let one slave act on the datagram at `at`. Return the counter's increment."""
    cdef uint8_t *data = frame + d.data
    cdef int command = d.command
    # each slave before may have counted the position up, so the header is read anew
    cdef uint16_t who = get16(frame + at + 2)
    cdef int register = get16(frame + at + 4)
    cdef int station = get16(esc.memory + REG_STATION)
    cdef int mine
    if command in (LRD, LWR, LRW):
        return logical_access(esc, command != LWR, command != LRD, d.address, d.size, data)
    if command in (APRD, APWR, APRW, ARMW):
        put16(frame + at + 2, <uint16_t> (who + 1))
        mine = who == 0
    elif command in (FPRD, FPWR, FPRW, FRMW):
        mine = who == station or (esc.memory[0x0103] & 1 and who == get16(esc.memory + REG_ALIAS))
    elif command in (BRD, BWR, BRW):
        put16(frame + at + 2, <uint16_t> (who + 1))
        if command == BRD:
            return broadcast_read(esc, register, d.size, data)
        if command == BWR:
            return esc_write(esc, register, d.size, data)
        return read_write(esc, 1, 1, register, d.size, data)
    else:
        return 0
    if command == ARMW or command == FRMW:
        return read_write(esc, mine, not mine, register, d.size, data)
    if not mine:
        return 0
    return read_write(esc, command in (APRD, APRW, FPRD, FPRW), command in (APWR, APRW, FPWR, FPRW),
                      register, d.size, data)


cdef void ring_advance(Ring *ring, int64_t t_ns) noexcept nogil:
    cdef int i
    for i in range(ring.n):
        esc_advance(ring.slaves[i], t_ns)


cdef int ring_process(Ring *ring, uint8_t *frame, int size, int64_t t_ns) noexcept nogil:
    """Pass a frame through every slave at local time t_ns.

    Return its length (unchanged), or 0 when it is malformed or foreign: then no slave has acted on
    it. Bounded: at most MAX_FRAME / 12 datagrams times the slaves.
    """
    cdef Datagram d
    cdef int length = frame_length(frame, size)
    cdef int at = FIRST_DATAGRAM
    cdef int i, wkc
    if length < 0:
        return 0
    while True:
        if datagram_at(frame, length, at, &d):
            return 0
        if not d.more:
            break
        at = d.next
    ring_advance(ring, t_ns)
    at = FIRST_DATAGRAM
    while True:
        datagram_at(frame, length, at, &d)
        for i in range(ring.n):
            if not ring.slaves[i].mute:
                wkc = slave_process(ring.slaves[i], frame, at, &d)
                put16(frame + d.next - 2, <uint16_t> (get16(frame + d.next - 2) + wkc))
        if not d.more:
            break
        at = d.next
    frame[6] |= 0x02
    for i in range(ring.n):
        if not ring.slaves[i].mute:
            esc_serve(ring.slaves[i])
    return size


cdef class SlaveDevice:
    """A device behind an emulated slave controller; subclasses give the application its
    behaviour."""

    def __cinit__(self, *args, **kwargs):
        if type(self) is SlaveDevice:
            raise TypeError("SlaveDevice has no application: use a device such as DriveDevice")

    def power_on(self) -> None:
        """Start over as after a power cycle."""
        esc_power_on(&self.esc)

    @property
    def al_status(self) -> int:
        """AL status register: state in the low nibble, bit 4 = error."""
        return self.esc.memory[0x0130]

    @property
    def al_code(self) -> int:
        return get16(self.esc.memory + 0x0134)

    @property
    def mute(self) -> bool:
        """True: without power; frames pass by (fault injection)."""
        return bool(self.esc.mute)

    @mute.setter
    def mute(self, value: bool) -> None:
        self.esc.mute = value

    @property
    def frozen(self) -> bool:
        """True: answers with right counters but old inputs and an old clock (fault injection)."""
        return bool(self.esc.frozen)

    @frozen.setter
    def frozen(self, value: bool) -> None:
        self.esc.frozen = value

    def memory(self, int address, int size) -> bytes:
        """Return controller memory as it is, without the effects a read on the wire has."""
        if address < 0 or size < 0 or address + size > ESC_MEMORY:
            raise ValueError(f"{size} bytes at {address:#06x}: there are {ESC_MEMORY:#06x}")
        return PyBytes_FromStringAndSize(<char *> self.esc.memory + address, size)


cdef class Segment:
    """Slaves in ring order; the first one is next to the master.

    Parameters
    ----------
    devices : sequence of SlaveDevice
        1 to 16; each keeps its state between segments.
    """

    def __init__(self, devices: Sequence[SlaveDevice]) -> None:
        cdef SlaveDevice device
        cdef int i
        if not 1 <= len(devices) <= MAX_SLAVES:
            raise ValueError(f"a segment of {len(devices)} slaves: 1 to {MAX_SLAVES} are possible")
        if len(set(map(id, devices))) != len(devices):
            raise ValueError("a device can be in the ring once only")
        self.devices = tuple(devices)
        self.ring.n = len(devices)
        for i in range(self.ring.n):
            device = self.devices[i]
            self.ring.slaves[i] = &device.esc
            device.power_on()
            if i + 1 < self.ring.n:
                put16(device.esc.memory + REG_DL_STATUS, 0x5A31)  # port 1 linked and open too

    def process(self, frame: bytes, t_ns: int) -> bytes | None:
        """Return the frame as it leaves the segment at `t_ns`, or None when the slaves ignore
        it."""
        cdef uint8_t buffer[MAX_FRAME]
        cdef int size = len(frame)
        if size > MAX_FRAME:
            return None
        memcpy(buffer, PyBytes_AS_STRING(frame), size)
        size = ring_process(&self.ring, buffer, size, t_ns)
        return PyBytes_FromStringAndSize(<char *> buffer, size) if size else None

    def advance(self, t_ns: int) -> None:
        """Let time pass without a frame."""
        ring_advance(&self.ring, t_ns)

    @property
    def now_ns(self) -> int:
        return self.ring.slaves[0].now_ns
