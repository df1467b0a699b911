"""An emulated EtherCAT segment: one frame goes in, passes every slave in order and comes out."""
from collections.abc import Sequence

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from io_bridge.wire.frame cimport MAX_FRAME
from io_bridge.emulator.passage cimport MAX_SLAVES
from io_bridge.emulator.ring_pass cimport ring_advance, ring_process, ring_process_end
from io_bridge.emulator.devices.slave_device cimport SlaveDevice
from io_bridge.emulator.topology cimport ring_attach, ring_plug, ring_power, ring_route


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

    def run(self, frame: bytes, n: int, period_ns: int) -> bytes | None:
        """Let a frame that is the same each time pass n times, without Python in between; return it as
        it leaves at last."""
        cdef uint8_t sent[MAX_FRAME]
        cdef uint8_t buffer[MAX_FRAME]
        cdef int size = len(frame)
        cdef int left = 0
        cdef int64_t t_ns = self.ring.slaves[0].now_ns
        cdef int64_t step_ns = period_ns
        cdef int _i
        cdef int times = n
        if size > MAX_FRAME:
            return None
        memcpy(sent, PyBytes_AS_STRING(frame), size)
        with nogil:
            for _i in range(times):
                t_ns += step_ns
                memcpy(buffer, sent, size)
                left = ring_process(&self.ring, buffer, size, t_ns)
        return PyBytes_FromStringAndSize(<char *> buffer, left) if left else None

    def advance(self, t_ns: int) -> None:
        """Let time pass without a frame."""
        ring_advance(&self.ring, t_ns)

    @property
    def now_ns(self) -> int:
        return self.ring.slaves[0].now_ns
