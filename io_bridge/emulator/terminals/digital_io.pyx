"""A digital terminal: levels at its inputs, and levels that its outputs drive."""
from libc.stdint cimport uint8_t

from io_bridge.emulator.controller.memory cimport AL_OP


cdef void outputs(void *device) noexcept nogil:
    cdef Digital *d = <Digital *> device
    cdef int i
    d.wires_out = 0
    for i in range(d.n_outputs):
        d.wires_out |= <unsigned int> (d.outputs[i][0] & 1) << i


cdef void sample(void *device) noexcept nogil:
    cdef Digital *d = <Digital *> device
    cdef unsigned int level = d.wires_out if d.loopback else d.wires_in
    cdef int i
    for i in range(d.n_inputs):
        d.inputs[i][0] = <uint8_t> (level >> i & 1)


cdef void changed(void *device, int state, int code) noexcept nogil:
    if state != AL_OP:
        (<Digital *> device).wires_out = 0


cdef class DigitalIo(DescribedDevice):
    """A digital terminal.

    Parameters
    ----------
    description : Description
        Inputs are 0x6000:1 and on, outputs 0x7000:1 and on; either may be missing.
    loopback : bool
        Each output is wired to the input of its number.
    """

    def __init__(self, description, *, loopback: bool = False) -> None:
        cdef Digital *d = &self.digital
        self._describe(description)
        rows = {item.index: len(item.entries) - 1 for item in description.objects}
        d.n_inputs = rows.get(0x6000, 0)
        d.n_outputs = rows.get(0x7000, 0)
        if max(d.n_inputs, d.n_outputs) > MAX_CHANNELS:
            raise ValueError(f"a digital terminal has at most {MAX_CHANNELS} channels a direction")
        for i in range(d.n_inputs):
            d.inputs[i] = <uint8_t *> self._value(0x6000, i + 1, 1)
        for i in range(d.n_outputs):
            d.outputs[i] = <uint8_t *> self._value(0x7000, i + 1, 1)
        d.loopback = loopback
        self.behaviour.device = d
        self.behaviour.outputs = outputs
        self.behaviour.sample = sample
        self.behaviour.changed = changed
        self.power_on()

    @property
    def inputs(self) -> int:
        """Levels at the input terminals, bit 0 = channel 1."""
        return self.digital.wires_in

    @inputs.setter
    def inputs(self, value: int) -> None:
        if not 0 <= value < 1 << self.digital.n_inputs:
            raise ValueError(f"inputs = {value:#x}: the terminal has {self.digital.n_inputs}")
        self.digital.wires_in = value

    @property
    def outputs(self) -> int:
        """Levels that the output terminals drive; zero without OP."""
        return self.digital.wires_out
