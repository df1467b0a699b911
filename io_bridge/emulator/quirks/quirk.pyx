"""The base of every quirk: it is put between a slave controller and its device and passes on all other calls;
several can be stacked.

A quirk changes what the controller gets from the device, never the controller or the device itself, so that one
without quirks pays nothing for them.
"""
from libc.stdint cimport int64_t, uint8_t

from io_bridge.emulator.devices.described_device cimport DescribedDevice


cdef void powered(void *self) noexcept nogil:
    cdef Layer *layer = <Layer *> self
    layer.below.powered(layer.below.self)


cdef int map_pdos(void *self, int *n_outputs, int *n_inputs) noexcept nogil:
    cdef Layer *layer = <Layer *> self
    return layer.below.map_pdos(layer.below.self, n_outputs, n_inputs)


cdef void take_outputs(void *self, const uint8_t *data, int n) noexcept nogil:
    cdef Layer *layer = <Layer *> self
    layer.below.take_outputs(layer.below.self, data, n)


cdef void give_inputs(void *self, uint8_t *data, int n) noexcept nogil:
    cdef Layer *layer = <Layer *> self
    layer.below.give_inputs(layer.below.self, data, n)


cdef void advance(void *self, int64_t t_ns) noexcept nogil:
    cdef Layer *layer = <Layer *> self
    layer.below.advance(layer.below.self, t_ns)


cdef void al_changed(void *self, int state, int code) noexcept nogil:
    cdef Layer *layer = <Layer *> self
    layer.below.al_changed(layer.below.self, state, code)


cdef int mailbox(void *self, const uint8_t *request, int n, uint8_t *reply, int capacity, int al_state,
                 int *more) noexcept nogil:
    cdef Layer *layer = <Layer *> self
    return layer.below.mailbox(layer.below.self, request, n, reply, capacity, al_state, more)


cdef void fail(void *self, int error_code) noexcept nogil:
    cdef Layer *layer = <Layer *> self
    layer.below.fail(layer.below.self, error_code)


cdef int al_asked(void *self, int state) noexcept nogil:
    return ask_below(<Layer *> self, state)


cdef void written(void *self, int address, int n) noexcept nogil:
    written_below(<Layer *> self, address, n)


cdef class Quirk:
    """A deviation of a foreign slave from ours; each subclass is one."""

    def attach(self, DescribedDevice device not None) -> None:
        """Put it onto a device, over the quirks that are there; `DescribedDevice.add_quirk` calls this."""
        cdef Application *app = &device.esc.app
        if self.layer == NULL:
            raise TypeError("Quirk does nothing: use one of io_bridge.emulator.quirks")
        if self.layer.esc != NULL:
            raise ValueError("a quirk belongs to one device")
        self.layer.below = app[0]
        self.layer.esc = &device.esc
        self.layer.od = &device.behaviour.coe.od
        app.self = self.layer
        app.powered = powered
        app.map_pdos = map_pdos
        app.take_outputs = take_outputs
        app.give_inputs = give_inputs
        app.advance = advance
        app.al_changed = al_changed
        app.mailbox = mailbox
        app.fail = fail
        app.al_asked = al_asked
        app.written = written
        self.install(app)

    cdef void install(self, Application *app):
        """Put its own functions in place of those that pass on."""
        pass
