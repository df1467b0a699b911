"""An incremental-encoder terminal: it counts quadrature edges of a shaft, can be set to a value, and
latches the count at the index pulse."""
import math

from libc.math cimport floor
from libc.stdint cimport int64_t, uint8_t, uint32_t

from io_bridge.emulator.drive.device cimport DriveDevice
from io_bridge.emulator.controller.memory cimport AL_OP


cdef void sample(void *device) noexcept nogil:
    """Count to where the shaft is now; an index pulse that it passed on the way may latch."""
    cdef Encoder *d = <Encoder *> device
    cdef double angle = d.own_rad if d.angle_rad == NULL else d.angle_rad[0]
    cdef int64_t count = <int64_t> floor(angle * d.counts_per_rad)
    cdef int64_t revolution = <int64_t> floor(<double> count / d.counts_per_rev)
    cdef int64_t pulse
    if revolution != d.revolution:
        # the pulse passed last, from whichever side
        pulse = revolution if revolution > d.revolution else revolution + 1
        if d.armed:
            d.latch[0] = <uint32_t> (pulse * <int64_t> d.counts_per_rev + d.zero)
            d.latch_valid[0] = 1
            d.armed = 0
        d.revolution = revolution
    d.count = count
    d.counter[0] = <uint32_t> (count + d.zero)


cdef void advance(void *device, int64_t t_ns) noexcept nogil:
    cdef Encoder *d = <Encoder *> device
    d.own_rad += 1e-9 * <double> (t_ns - d.now_ns) * d.rate_rad_s
    d.now_ns = t_ns


cdef void outputs(void *device) noexcept nogil:
    """Rising bits act: arm the latch, set the counter."""
    cdef Encoder *d = <Encoder *> device
    if not d.latch_enable[0]:
        d.armed = 0
        d.latch_valid[0] = 0
    elif not d.latch_valid[0]:
        d.armed = 1
    if not d.set_counter[0]:
        d.set_done[0] = 0
    elif not d.set_done[0]:
        d.zero = <int64_t> d.set_value[0] - d.count
        d.set_done[0] = 1
        sample(d)


cdef void changed(void *device, int state, int code) noexcept nogil:
    if state != AL_OP:
        (<Encoder *> device).armed = 0


cdef void powered(void *device) noexcept nogil:
    """An incremental encoder starts at zero wherever the shaft is."""
    cdef Encoder *d = <Encoder *> device
    sample(d)
    d.zero = -d.count
    d.armed = 0
    d.counter[0] = 0


cdef class EncoderInput(DescribedDevice):
    """An incremental-encoder terminal.

    Parameters
    ----------
    description : Description
    lines_per_rev : int
        Of the encoder; each line has four edges.
    rate_rad_s : float
        Of the shaft, unless it measures that of a drive.
    """

    def __init__(self, description, *, lines_per_rev: int = 1024, rate_rad_s: float = 0.0) -> None:
        cdef Encoder *d = &self.encoder
        if not 1 <= lines_per_rev <= 1 << 24:
            raise ValueError(f"lines_per_rev = {lines_per_rev}: 1 to {1 << 24}")
        self._describe(description)
        d.counts_per_rev = 4.0 * lines_per_rev
        d.counts_per_rad = d.counts_per_rev / (2.0 * math.pi)
        self.rate_rad_s = rate_rad_s
        d.latch_valid = <uint8_t *> self._value(0x6000, 1, 1)
        d.set_done = <uint8_t *> self._value(0x6000, 3, 1)
        d.counter = <uint32_t *> self._value(0x6000, 17, 4)
        d.latch = <uint32_t *> self._value(0x6000, 18, 4)
        d.latch_enable = <uint8_t *> self._value(0x7000, 1, 1)
        d.set_counter = <uint8_t *> self._value(0x7000, 3, 1)
        d.set_value = <uint32_t *> self._value(0x7000, 17, 4)
        self.behaviour.device = d
        self.behaviour.powered = powered
        self.behaviour.outputs = outputs
        self.behaviour.advance = advance
        self.behaviour.sample = sample
        self.behaviour.changed = changed
        self.power_on()

    cdef int connect(self, const double *angle_rad, owner) except -1:
        self.encoder.angle_rad = angle_rad
        self.connected = owner
        return 0

    def measure(self, DriveDevice drive not None) -> None:
        """Sit on the shaft of a drive from now on."""
        self.connect(&drive.drive.plant.angle_rad, drive)
        sample(&self.encoder)

    @property
    def rate_rad_s(self) -> float:
        """Speed of the terminal's own shaft."""
        return self.encoder.rate_rad_s

    @rate_rad_s.setter
    def rate_rad_s(self, value: float) -> None:
        if not -1e4 <= value <= 1e4:
            raise ValueError(f"rate_rad_s = {value}: -10000 to 10000")
        self.encoder.rate_rad_s = value
