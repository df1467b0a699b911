"""An EEPROM that is read slowly, as one behind an I2C bus or emulated by the slave's processor."""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from io_bridge.emulator.controller.memory cimport REG_EEPROM_CONTROL, REG_EEPROM_DATA, Application, overlaps
from io_bridge.emulator.quirks.quirk cimport Layer, Quirk, written_below

from io_bridge.emulator.quirks.option import Option

cdef enum:
    BUSY = 0x80                # of the control register's second byte


cdef struct Slow:
    Layer layer
    int64_t delay_ns
    int64_t due_ns             # 0 = not busy
    uint8_t data[4]


cdef void written(void *self, int address, int n) noexcept nogil:
    cdef Slow *s = <Slow *> self
    cdef uint8_t *memory = s.layer.esc.memory
    # the command is in the second byte
    if overlaps(address, n, REG_EEPROM_CONTROL + 1, 1):
        memcpy(s.data, memory + REG_EEPROM_DATA, 4)
        memset(memory + REG_EEPROM_DATA, 0, 4)
        memory[REG_EEPROM_CONTROL + 1] |= BUSY
        s.due_ns = s.layer.esc.now_ns + s.delay_ns
    written_below(&s.layer, address, n)


cdef void advance(void *self, int64_t t_ns) noexcept nogil:
    cdef Slow *s = <Slow *> self
    cdef uint8_t *memory = s.layer.esc.memory
    if s.due_ns and t_ns >= s.due_ns:
        s.due_ns = 0
        memory[REG_EEPROM_CONTROL + 1] &= 0xFF ^ BUSY
        memcpy(memory + REG_EEPROM_DATA, s.data, 4)
    s.layer.below.advance(s.layer.below.self, t_ns)


cdef void powered(void *self) noexcept nogil:
    cdef Slow *s = <Slow *> self
    s.due_ns = 0
    s.layer.below.powered(s.layer.below.self)


cdef class BusyEeprom(Quirk):
    """After each EEPROM command the busy bit stands for so long, and the data come with its end."""

    cdef Slow slow

    OPTIONS = {"ms": Option(50.0, "of the busy bit", 0.0, 60_000.0)}

    def __init__(self, *, ms: float) -> None:
        self.slow.delay_ns = <int64_t> (1e6 * ms)
        self.layer = &self.slow.layer

    cdef void install(self, Application *app):
        app.written = written
        app.advance = advance
        app.powered = powered
