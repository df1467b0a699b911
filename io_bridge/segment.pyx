"""An emulated EtherCAT segment: one frame goes in, passes every slave in order and comes out."""
from collections.abc import Sequence

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from io_bridge.esc_clock cimport clock_set_drift, clock_system_ns
from io_bridge.esc_fmmu cimport fmmu_read, fmmu_write
from io_bridge.esc_memory cimport ESC_MEMORY, PORT_MII, REG_ALIAS, REG_STATION, Esc
from io_bridge.esc_registers cimport (
    esc_advance, esc_power_on, esc_read, esc_sample, esc_serve, esc_write,
)
from io_bridge.frame cimport (
    APRD, APRW, APWR, ARMW, BRD, BRW, BWR, FIRST_DATAGRAM, FPRD, FPRW, FPWR, FRMW, LRD, LRW, LWR,
    MAX_FRAME, Datagram, datagram_at, frame_length,
)
from io_bridge.topology cimport FAR, NEAR, ring_attach, ring_plug, ring_power, ring_route
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
    """Let time pass for all at once, from one watchdog's end to the next, so that coupled devices
    move together. At most one more round than slaves."""
    cdef int64_t until = t_ns
    cdef int i, _turn
    for _turn in range(ring.n + 1):
        until = t_ns
        for i in range(ring.n):
            if 0 < ring.slaves[i].wd_deadline_ns < until:
                until = ring.slaves[i].wd_deadline_ns
        for i in range(ring.n):
            esc_advance(ring.slaves[i], until)
        if until == t_ns:
            break
    for i in range(ring.n):
        esc_sample(ring.slaves[i])


cdef int pass_through(Ring *ring, const int *order, int n, uint8_t *frame, int size,
                      int64_t t_ns) noexcept nogil:
    """Pass a frame through n slaves. Return its length, or 0 when it is malformed or foreign: then
    no slave has acted on it. Bounded: at most MAX_FRAME / 12 datagrams times the slaves."""
    cdef Datagram d
    cdef int length = frame_length(frame, size)
    cdef int at = FIRST_DATAGRAM
    cdef int i, wkc
    cdef Esc *esc
    if length < 0:
        return 0
    if n == 0:
        ring_advance(ring, t_ns)
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
        for i in range(n):
            esc = ring.slaves[order[i]]
            if not esc.mute:
                wkc = slave_process(esc, frame, at, &d)
                put16(frame + d.next - 2, <uint16_t> (get16(frame + d.next - 2) + wkc))
        if not d.more:
            break
        at = d.next
    frame[6] |= 0x02
    for i in range(n):
        if not ring.slaves[order[i]].mute:
            esc_serve(ring.slaves[order[i]])
    return size


cdef int ring_process(Ring *ring, uint8_t *frame, int size, int64_t t_ns) noexcept nogil:
    """Pass a frame from the master through the slaves it reaches at t_ns and back. Return its length
    (unchanged), or 0 when nothing comes back."""
    return pass_through(ring, ring.order, ring.n_order, frame, size, t_ns)


cdef int ring_process_end(Ring *ring, int *end, uint8_t *frame, int size,
                          int64_t t_ns) noexcept nogil:
    """The same for a master with a cable at both ends: the frame enters at `end`, and leaves at the
    end that is written there."""
    if end[0] == FAR:
        if not ring.closed:
            return pass_through(ring, ring.far_order, ring.n_far, frame, size, t_ns)
        # against the ring's sense nobody processes it
        end[0] = NEAR
        ring_advance(ring, t_ns)
        return size if frame_length(frame, size) >= 0 else 0
    if ring.closed:
        end[0] = FAR
    return ring_process(ring, frame, size, t_ns)


cdef class SlaveDevice:
    """A device behind an emulated slave controller; subclasses give the application its
    behaviour."""

    def __cinit__(self, *args, **kwargs):
        if type(self) is SlaveDevice:
            raise TypeError("SlaveDevice has no application: use a device such as DriveDevice")
        self.esc.ports[0] = PORT_MII
        self.esc.ports[1] = PORT_MII
        self.esc.has_mailbox = 1
        self.esc.sm_outputs = 2
        self.esc.sm_inputs = 3

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
    def clock_drift_ppm(self) -> float:
        """How much faster the local clock runs than the segment's time."""
        return 1e6 * self.esc.clock.drift

    @clock_drift_ppm.setter
    def clock_drift_ppm(self, value: float) -> None:
        if not -1000.0 <= value <= 1000.0:
            raise ValueError(f"clock_drift_ppm = {value}: -1000 to 1000")
        clock_set_drift(&self.esc, 1e-6 * value)

    @property
    def clock_start_ns(self) -> int:
        """What the local clock says at power-up; set it before the device comes into a segment."""
        return self.esc.clock.start_ns

    @clock_start_ns.setter
    def clock_start_ns(self, value: int) -> None:
        if not 0 <= value < 1 << 62:
            raise ValueError(f"clock_start_ns = {value}: 0 to 2^62 - 1")
        self.esc.clock.start_ns = value

    @property
    def system_time_ns(self) -> int:
        """What 0x0910 would say to a frame that is here now."""
        return clock_system_ns(&self.esc)

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

    Each slave is connected to the nearest one before it with a fitting free port, so the order is the
    one in which a master finds them.

    Parameters
    ----------
    devices : sequence of SlaveDevice
        1 to 32; each keeps its state between segments.
    cable_ns : int
        Delay of each cable.
    """

    def __init__(self, devices: Sequence[SlaveDevice], cable_ns: int = 100) -> None:
        cdef SlaveDevice device
        cdef int i
        if not 1 <= len(devices) <= MAX_SLAVES:
            raise ValueError(f"a segment of {len(devices)} slaves: 1 to {MAX_SLAVES} are possible")
        if len(set(map(id, devices))) != len(devices):
            raise ValueError("a device can be in the ring once only")
        if not 0 <= cable_ns <= 1_000_000:
            raise ValueError(f"cable_ns = {cable_ns}: 0 to 1000000")
        self.devices = tuple(devices)
        self.ring.n = len(devices)
        for i in range(self.ring.n):
            device = self.devices[i]
            self.ring.slaves[i] = &device.esc
            self.ring.cable_ns[i] = cable_ns
        i = ring_attach(&self.ring)
        if i >= 0:
            raise ValueError(f"slave {i} ({type(self.devices[i]).__name__}): nobody before it has a "
                             "free port of its kind (E-bus terminals go behind a coupler)")
        for device in self.devices:
            device.power_on()
        ring_route(&self.ring)

    cdef int _position(self, position) except -1:
        if not 0 <= position < self.ring.n:
            raise ValueError(f"slave {position}: the segment has 0 to {self.ring.n - 1}")
        return position

    cdef int _cable(self, position) except -1:
        return self.ring.n if position == self.ring.n else self._position(position)

    def unplug(self, position: int) -> None:
        """Pull the cable that leads from a slave towards the master: it and all behind it are
        gone, but keep their supply. The position after the last slave's is the second cable of a
        master with redundancy."""
        ring_plug(&self.ring, self._cable(position), 0)

    def plug(self, position: int) -> None:
        """Put that cable back."""
        ring_plug(&self.ring, self._cable(position), 1)

    def power_off(self, position: int) -> None:
        """Take a slave's supply away: it forgets its registers, and all behind it are gone too."""
        ring_power(&self.ring, self._position(position), 0)

    def power_on(self, position: int) -> None:
        """Give the supply back."""
        ring_power(&self.ring, self._position(position), 1)

    def power_cycle(self, position: int) -> None:
        """Off and on between two frames."""
        self.power_off(position)
        self.power_on(position)

    @property
    def parents(self) -> tuple[tuple[int, int], ...]:
        """For each slave the position of the one it is connected to (-1 = the master) and the port
        there."""
        return tuple((self.ring.parent[i], self.ring.parent_port[i]) for i in range(self.ring.n))

    def process_end(self, frame: bytes, t_ns: int, end: int) -> tuple[bytes | None, int]:
        """As `process` for a master with a cable at both ends: the frame enters at `end` (0 = near,
        1 = far); return it and the end where it leaves."""
        cdef uint8_t buffer[MAX_FRAME]
        cdef int size = len(frame)
        cdef int leaves = 1 if end else 0
        if size > MAX_FRAME:
            return None, leaves
        memcpy(buffer, PyBytes_AS_STRING(frame), size)
        size = ring_process_end(&self.ring, &leaves, buffer, size, t_ns)
        return PyBytes_FromStringAndSize(<char *> buffer, size) if size else None, leaves

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
