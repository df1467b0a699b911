from libc.stdint cimport uint8_t

from io_bridge.emulator.devices.described_device cimport DescribedDevice

cdef enum:
    MAX_CHANNELS = 32

cdef struct Digital:
    int n_inputs
    int n_outputs
    uint8_t *inputs[MAX_CHANNELS]      # 0x6000:1 ..., one byte each
    uint8_t *outputs[MAX_CHANNELS]     # 0x7000:1 ...
    unsigned int wires_in              # levels at the input terminals, bit 0 = channel 1
    unsigned int wires_out             # levels that the output terminals drive
    int loopback                       # outputs are wired to the inputs


cdef class DigitalIo(DescribedDevice):
    cdef Digital digital
