from libc.stdint cimport int64_t

from io_bridge.emulator.coe.message cimport CoeServer
from io_bridge.emulator.devices.slave_device cimport SlaveDevice

cdef struct Behaviour:
    # a device's objects, and the physics behind them; NULL = nothing to do
    CoeServer coe
    void *device
    # the supply came back: objects have their first values
    void (*powered)(void *device) noexcept nogil
    # outputs were written into their objects, in OP
    void (*outputs)(void *device) noexcept nogil
    # bring the physics to t_ns
    void (*advance)(void *device, int64_t t_ns) noexcept nogil
    # all devices have moved: bring the input objects up to date
    void (*sample)(void *device) noexcept nogil
    # the AL state changed; outputs are to be safe unless state is AL_OP
    void (*changed)(void *device, int state, int code) noexcept nogil
    # break down with an error code (fault injection)
    void (*fail)(void *device, int error_code) noexcept nogil


cdef class DescribedDevice(SlaveDevice):
    cdef Behaviour behaviour
    cdef readonly object description
    cdef readonly tuple quirks   # their state lies between controller and behaviour: they live as long

    cdef int _describe(self, description) except -1
    cdef int _add_entry(self, entry) except -1
    cdef void *_value(self, int index, int subindex, int size) except NULL
