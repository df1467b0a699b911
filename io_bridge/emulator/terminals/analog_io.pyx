"""An analogue terminal of +-10 V at 16 bits: conversion, limits, and its connections."""
import math

from libc.math cimport floor
from libc.stdint cimport int16_t, uint8_t, uint64_t

from io_bridge.emulator.controller.memory cimport AL_OP

cdef enum:
    FULL_SCALE = 32767

cdef double RANGE_V = 10.0


cdef double noise(AnalogInput *a) noexcept nogil:
    """One value of mean zero and deviation one: the sum of twelve even ones, the same ones in every run."""
    cdef double total = -6.0
    cdef int _
    for _ in range(12):
        a.seed ^= a.seed << 13
        a.seed ^= a.seed >> 7
        a.seed ^= a.seed << 17
        total += <double> (a.seed >> 11) * 1.1102230246251565e-16  # 2^-53
    return total


cdef void convert(AnalogInput *a, double volts) noexcept nogil:
    """One conversion; beyond the range the value stops and the error bits say so."""
    cdef double count
    if a.noise_volts > 0.0:
        volts += a.noise_volts * noise(a)
    count = floor(volts / RANGE_V * FULL_SCALE + 0.5)
    a.overrange[0] = count > FULL_SCALE
    a.underrange[0] = count < -FULL_SCALE - 1
    a.error[0] = a.overrange[0] | a.underrange[0]
    a.toggle[0] ^= 1
    a.value[0] = <int16_t> max(-FULL_SCALE - 1.0, min(<double> FULL_SCALE, count))


cdef void sample(void *device) noexcept nogil:
    cdef Analog *d = <Analog *> device
    cdef AnalogInput *a
    cdef int i
    for i in range(d.n_inputs):
        a = &d.inputs[i]
        if a.source != NULL:
            convert(a, a.source[0] * a.volts_per_unit)
        elif d.loopback and i < d.n_outputs:
            convert(a, d.volts_out[i])
        else:
            convert(a, a.volts)


cdef void outputs(void *device) noexcept nogil:
    cdef Analog *d = <Analog *> device
    cdef int i
    for i in range(d.n_outputs):
        d.volts_out[i] = RANGE_V / FULL_SCALE * d.outputs[i][0]


cdef void changed(void *device, int state, int code) noexcept nogil:
    cdef Analog *d = <Analog *> device
    cdef int i
    if state != AL_OP:
        for i in range(d.n_outputs):
            d.volts_out[i] = 0.0


cdef class AnalogIo(DescribedDevice):
    """An analogue terminal.

    Parameters
    ----------
    description : Description
        Inputs are 0x6000, 0x6010, ... (underrange 1, overrange 2, error 7, toggle 16, value 17),
        outputs 0x7000:1 and on.
    loopback : bool
        Each output is wired to the input of its number.
    """

    def __init__(self, description, *, loopback: bool = False) -> None:
        cdef Analog *d = &self.analog
        cdef int index
        self._describe(description)
        rows = {item.index: len(item.entries) - 1 for item in description.objects}
        while d.n_inputs < MAX_CHANNELS and 0x6000 + 16 * d.n_inputs in rows:
            index = 0x6000 + 16 * d.n_inputs
            d.inputs[d.n_inputs].underrange = <uint8_t *> self._value(index, 1, 1)
            d.inputs[d.n_inputs].overrange = <uint8_t *> self._value(index, 2, 1)
            d.inputs[d.n_inputs].error = <uint8_t *> self._value(index, 7, 1)
            d.inputs[d.n_inputs].toggle = <uint8_t *> self._value(index, 16, 1)
            d.inputs[d.n_inputs].value = <int16_t *> self._value(index, 17, 2)
            d.n_inputs += 1
        d.n_outputs = rows.get(0x7000, 0)
        if d.n_outputs > MAX_CHANNELS:
            raise ValueError(f"an analogue terminal has at most {MAX_CHANNELS} outputs")
        for i in range(d.n_outputs):
            d.outputs[i] = <int16_t *> self._value(0x7000, i + 1, 2)
        d.loopback = loopback
        self.connected = []
        self.behaviour.device = d
        self.behaviour.outputs = outputs
        self.behaviour.sample = sample
        self.behaviour.changed = changed
        self.power_on()

    cdef int connect(self, int channel, const double *source, double volts_per_unit,
                     owner) except -1:
        """Have a channel measure a quantity that lives as long as its owner."""
        if not 0 <= channel < self.analog.n_inputs:
            raise ValueError(f"channel {channel}: the terminal has {self.analog.n_inputs} inputs")
        self.analog.inputs[channel].source = source
        self.analog.inputs[channel].volts_per_unit = volts_per_unit
        self.connected.append(owner)
        return 0

    def set_noise(self, int channel, double volts) -> None:
        """Have the amplifier of an input add white noise of this standard deviation."""
        if not 0 <= channel < self.analog.n_inputs:
            raise ValueError(f"channel {channel}: the terminal has {self.analog.n_inputs} inputs")
        if not 0.0 <= volts <= RANGE_V:
            raise ValueError(f"noise_volts = {volts}: must be from 0 to {RANGE_V:g}")
        self.analog.inputs[channel].noise_volts = volts
        self.analog.inputs[channel].seed = 0x9E3779B97F4A7C15 + <uint64_t> channel

    def set_volts(self, int channel, double volts) -> None:
        """Put a voltage on an input (0 = the first)."""
        if not 0 <= channel < self.analog.n_inputs:
            raise ValueError(f"channel {channel}: the terminal has {self.analog.n_inputs} inputs")
        if not math.isfinite(volts):
            raise ValueError(f"volts = {volts}: must be finite")
        self.analog.inputs[channel].volts = volts

    def volts_out(self, int channel) -> float:
        """Return the voltage of an output; 0 V without OP."""
        if not 0 <= channel < self.analog.n_outputs:
            raise ValueError(f"channel {channel}: the terminal has {self.analog.n_outputs} outputs")
        return self.analog.volts_out[channel]
