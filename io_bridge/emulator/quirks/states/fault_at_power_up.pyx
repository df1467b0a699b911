"""A drive that wakes up in its fault state."""
from io_bridge.emulator.controller.memory cimport Application
from io_bridge.emulator.quirks.quirk cimport Layer, Quirk

from io_bridge.emulator.quirks.option import Option


cdef struct Fault:
    Layer layer
    int code


cdef void powered(void *self) noexcept nogil:
    cdef Fault *f = <Fault *> self
    f.layer.below.powered(f.layer.below.self)
    f.layer.below.fail(f.layer.below.self, f.code)


cdef class FaultAtPowerUp(Quirk):
    """A drive is in fault when its supply comes, its code in 0x603F; a rising edge of the reset bit ends it."""

    cdef Fault fault

    OPTIONS = {"code": Option(0x7305, "error code in 0x603F", 0, 0xFFFF)}

    def __init__(self, *, code: int) -> None:
        self.fault.code = code
        self.layer = &self.fault.layer

    cdef void install(self, Application *app):
        app.powered = powered
