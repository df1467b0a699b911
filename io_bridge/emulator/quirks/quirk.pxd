"""A layer between a slave controller and the device behind it (`Application` of esc_memory)."""
from libc.stdint cimport uint8_t

from io_bridge.emulator.controller.memory cimport Application, Esc
from io_bridge.emulator.coe.object_dictionary cimport ObjectDictionary

cdef struct Layer:
    # a quirk's own state begins with this
    Application below            # the device, or the quirk put on before
    Esc *esc
    ObjectDictionary *od


cdef inline int ask_below(const Layer *layer, int state) noexcept nogil:
    """Ask the device below about a higher AL state; return its answer."""
    if layer.below.al_asked == NULL:
        return 0
    return layer.below.al_asked(layer.below.self, state)


cdef inline void written_below(const Layer *layer, int address, int n) noexcept nogil:
    if layer.below.written != NULL:
        layer.below.written(layer.below.self, address, n)


cdef class Quirk:
    cdef Layer *layer            # set by a subclass that takes part in the device's steps

    cdef void install(self, Application *app)
