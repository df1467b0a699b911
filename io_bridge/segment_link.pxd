from libc.stdint cimport int64_t, uint8_t

from io_bridge.frame cimport MAX_FRAME
from io_bridge.link cimport Link
from io_bridge.segment cimport Segment
from io_bridge.topology cimport Ring

cdef struct InProcess:
    Ring *ring
    int64_t offset_ns       # segment time minus the cycle's nominal time
    uint8_t waiting[MAX_FRAME]
    int n_waiting           # bytes of the frame that came back; 0 = none
    int held                # it comes back too late for this cycle
    int drop                # frames still to lose
    int delay               # frames still to bring back one cycle late


cdef class SegmentLink(Link):
    cdef readonly Segment segment
    cdef InProcess state
