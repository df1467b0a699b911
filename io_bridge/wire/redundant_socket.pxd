from libc.stdint cimport int64_t, uint8_t

from io_bridge.wire.cycle_frames cimport MAX_FRAMES, N_INDICES
from io_bridge.wire.frame cimport MAX_FRAME
from io_bridge.wire.link cimport Link, RingWatch
from io_bridge.wire.packet_socket cimport RawSocket

cdef enum:                       # the lines, and the frames that leave on each
    FIRST = 0                    # the frame itself
    SECOND = 1                   # its copy
    N_LINES = 2

cdef struct Flight:              # a frame of this cycle
    uint8_t frame[MAX_FRAME]     # as it was sent, then its reply
    int has                      # anything has come back
    int size
    uint8_t index
    int clock_at                 # offset of the datagram that hands the clock on, 0 = none
    int whole_answers            # counters of the last one of which both halves came

cdef struct Pair:
    RawSocket lines[N_LINES]
    int at                       # the line that the last frame came on
    int n                        # frames of this cycle
    Flight flights[MAX_FRAMES]
    uint8_t seen[N_INDICES]      # by index: which halves were sent, came, and whether it was handed over
    int missed[N_LINES]          # consecutive cycles without the frame that left there
    int clock_beyond             # the reference clock answered the last copy
    uint8_t copy[MAX_FRAME]
    uint8_t found[MAX_FRAME]
    RingWatch watch


cdef class RedundantSocket(Link):
    cdef Pair state
    cdef tuple sockets
