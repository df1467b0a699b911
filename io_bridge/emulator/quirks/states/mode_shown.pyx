"""A drive that shows another mode in 0x6061 than the one it is in: until it operates, or always."""
from libc.stdint cimport uint8_t

from io_bridge.emulator.devices.described_device cimport DescribedDevice
from io_bridge.emulator.controller.memory cimport Application
from io_bridge.emulator.coe.object_dictionary cimport Entry, od_find
from io_bridge.emulator.quirks.quirk cimport Layer, Quirk
from io_bridge.slaves.cia402 cimport OPERATION_ENABLED, decode
from io_bridge.wire.fields cimport get16

from io_bridge.emulator.quirks.option import Option

UNTIL = ("operating", "never")

cdef enum:
    STATUSWORD = 0x6041
    SHOWN = 0x6061


cdef struct Display:
    Layer layer
    int value
    int ends                     # once the drive operates


cdef void give_inputs(void *self, uint8_t *data, int n) noexcept nogil:
    cdef Display *d = <Display *> self
    cdef Entry *status = od_find(d.layer.od, STATUSWORD, 0)
    if not (d.ends and decode(get16(status.value)) == OPERATION_ENABLED):
        od_find(d.layer.od, SHOWN, 0).value[0] = <uint8_t> d.value
    d.layer.below.give_inputs(d.layer.below.self, data, n)


cdef class ModeShown(Quirk):
    """0x6061 has another value than the mode: until the drive operates, as with some makers, or always."""

    cdef Display display

    OPTIONS = {
        "value": Option(0, "what it shows", -128, 127),
        "until": Option("operating", "when it shows its mode", choices=UNTIL),
    }

    def __init__(self, *, value: int, until: str) -> None:
        self.display.value = value
        self.display.ends = until == "operating"
        self.layer = &self.display.layer

    def attach(self, DescribedDevice device not None) -> None:
        for index in (STATUSWORD, SHOWN):
            if od_find(&device.behaviour.coe.od, index, 0) == NULL:
                raise ValueError(f"quirk mode_shown: {device.description.name} has no object {index:#06x}")
        Quirk.attach(self, device)

    cdef void install(self, Application *app):
        app.give_inputs = give_inputs
