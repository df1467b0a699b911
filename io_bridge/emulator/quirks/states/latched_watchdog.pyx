"""Watchdog registers that count when SAFEOP is asked for, and not afterwards."""
from libc.stdint cimport int64_t

from io_bridge.emulator.controller.memory cimport AL_PREOP, AL_SAFEOP, REG_WD_DIVIDER, REG_WD_SM, Application, overlaps
from io_bridge.emulator.controller.registers cimport watchdog_ns
from io_bridge.emulator.quirks.quirk cimport Layer, Quirk, written_below


cdef struct Latch:
    Layer layer
    int state
    int64_t wd_ns


cdef void written(void *self, int address, int n) noexcept nogil:
    cdef Latch *latch = <Latch *> self
    if overlaps(address, n, REG_WD_DIVIDER, 2) or overlaps(address, n, REG_WD_SM, 2):
        latch.layer.esc.wd_ns = latch.wd_ns
    written_below(&latch.layer, address, n)


cdef void powered(void *self) noexcept nogil:
    cdef Latch *latch = <Latch *> self
    latch.wd_ns = latch.layer.esc.wd_ns
    latch.layer.below.powered(latch.layer.below.self)


cdef void al_changed(void *self, int state, int code) noexcept nogil:
    cdef Latch *latch = <Latch *> self
    if state == AL_SAFEOP and latch.state == AL_PREOP:
        latch.wd_ns = watchdog_ns(latch.layer.esc)
        latch.layer.esc.wd_ns = latch.wd_ns
    latch.state = state
    latch.layer.below.al_changed(latch.layer.below.self, state, code)


cdef class LatchedWatchdog(Quirk):
    """The watchdog takes over its registers 0x0400 and 0x0420 on the way from PREOP to SAFEOP; later writes wait."""

    cdef Latch latch

    OPTIONS = {}

    def __init__(self) -> None:
        self.layer = &self.latch.layer

    cdef void install(self, Application *app):
        app.written = written
        app.powered = powered
        app.al_changed = al_changed
