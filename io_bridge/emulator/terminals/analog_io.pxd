from libc.stdint cimport int16_t, uint8_t, uint64_t

from io_bridge.emulator.devices.described_device cimport DescribedDevice

cdef enum:
    MAX_CHANNELS = 8

cdef struct AnalogInput:
    double volts                  # at the terminals, where nothing else is connected
    const double *source          # a quantity that is measured there; NULL = none
    double volts_per_unit
    double noise_volts            # standard deviation of what an amplifier adds
    uint64_t seed
    uint8_t *underrange
    uint8_t *overrange
    uint8_t *error
    uint8_t *toggle
    int16_t *value

cdef struct Analog:
    int n_inputs
    int n_outputs
    AnalogInput inputs[MAX_CHANNELS]
    int16_t *outputs[MAX_CHANNELS]
    double volts_out[MAX_CHANNELS]
    int loopback                  # outputs are wired to the inputs


cdef class AnalogIo(DescribedDevice):
    cdef Analog analog
    cdef list connected           # owners of the measured values

    cdef int connect(self, int channel, const double *source, double volts_per_unit,
                     owner) except -1
