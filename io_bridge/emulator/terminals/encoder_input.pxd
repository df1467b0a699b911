from libc.stdint cimport int64_t, uint8_t, uint32_t

from io_bridge.emulator.devices.described_device cimport DescribedDevice

cdef struct Encoder:
    double counts_per_rad
    double counts_per_rev
    double rate_rad_s             # of the own shaft, where no other is connected
    const double *angle_rad       # a shaft that is measured; NULL = the own one
    double own_rad
    int64_t now_ns
    int64_t count                 # edges since the start
    int64_t revolution            # index pulses passed
    int64_t zero                  # counter value minus count
    int armed                     # the next index pulse latches
    uint8_t *latch_valid          # 0x6000:1
    uint8_t *set_done             # 0x6000:3
    uint32_t *counter             # 0x6000:17
    uint32_t *latch               # 0x6000:18
    uint8_t *latch_enable         # 0x7000:1
    uint8_t *set_counter          # 0x7000:3
    uint32_t *set_value           # 0x7000:17


cdef class EncoderInput(DescribedDevice):
    cdef Encoder encoder
    cdef object connected         # owner of the shaft

    cdef int connect(self, const double *angle_rad, owner) except -1
