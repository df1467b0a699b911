"""A slave that does not run until an object has been set."""
from libc.stdint cimport int64_t, uint8_t

from io_bridge.emulator.devices.described_device cimport DescribedDevice
from io_bridge.emulator.controller.memory cimport AL_SAFEOP, Application
from io_bridge.emulator.coe.object_dictionary cimport Entry, od_find
from io_bridge.emulator.quirks.quirk cimport Layer, Quirk, ask_below

from io_bridge.emulator.quirks.option import Option

cdef enum:
    INVALID_SETUP = 0x0003     # AL status code: invalid device setup


cdef struct Setup:
    Layer layer
    int index
    int subindex
    int64_t value


cdef int al_asked(void *self, int state) noexcept nogil:
    cdef Setup *s = <Setup *> self
    cdef Entry *entry
    cdef int i
    if state == AL_SAFEOP:
        entry = od_find(s.layer.od, s.index, s.subindex)
        if entry == NULL:
            return INVALID_SETUP
        for i in range(min(<int> entry.size, 8)):
            if entry.value[i] != <uint8_t> (s.value >> 8 * i & 0xFF):
                return INVALID_SETUP
    return ask_below(&s.layer, state)


cdef class NeedsSetup(Quirk):
    """SAFEOP is refused with 0x0003 until an object has its value, which a master must write in PREOP."""

    cdef Setup setup

    OPTIONS = {
        "index": Option(0x6072, "of the object", 1, 0xFFFF),
        "sub": Option(0, "subindex", 0, 254),
        "value": Option(1000, "what it must be", -0x80000000, 0xFFFFFFFF),
    }

    def __init__(self, *, index: int, sub: int, value: int) -> None:
        self.setup.index = index
        self.setup.subindex = sub
        self.setup.value = value
        self.layer = &self.setup.layer

    def attach(self, DescribedDevice device not None) -> None:
        if od_find(&device.behaviour.coe.od, self.setup.index, self.setup.subindex) == NULL:
            raise ValueError(f"quirk needs_setup: {device.description.name} has no object "
                             f"{self.setup.index:#06x}:{self.setup.subindex}")
        Quirk.attach(self, device)

    cdef void install(self, Application *app):
        app.al_asked = al_asked
