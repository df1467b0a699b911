from libc.stdint cimport int64_t, uint8_t

from io_bridge.wire.frame cimport MAX_FRAME
from io_bridge.wire.link cimport Link
from io_bridge.emulator.segment cimport Segment
from io_bridge.emulator.passage cimport MAX_SLAVES
from io_bridge.emulator.topology cimport Ring

cpdef enum Order:           # fault injection: the fault of this frame, at one slave
    NO_ORDER = 0
    LOSE_FRAME = 1          # of the whole wire, whichever slave has the order
    REFUSE_INPUTS = 2       # working counter too low
    FREEZE = 3              # old inputs and an old clock under right counters
    LOSE_OPERATION = 4      # leaves OP by itself
    FAIL_DRIVE = 5          # CiA 402 fault
    END_WATCHDOG = 6        # its process data watchdog runs out

cdef struct Beside:         # a frame that the cycle passes on behind its own, for a thread beside it
    int turn                # NOTHING, ASKED, IN_PASSAGE or BACK; taken atomically
    int size
    uint8_t frame[MAX_FRAME]

cdef struct InProcess:
    Ring *ring
    int64_t offset_ns       # segment time minus the cycle's nominal time
    uint8_t waiting[MAX_FRAME]
    int n_waiting           # bytes of the frame that came back; 0 = none
    int held                # it comes back too late for this cycle
    int drop                # frames still to lose
    double orders[MAX_SLAVES]   # an Order of each slave; a cell, so that a block can set it
    int orders_before[MAX_SLAVES]
    int delay               # frames still to bring back one cycle late
    Beside beside
    uint8_t *caught         # NULL: nobody looks; else each frame as it was sent, after its size in two bytes
    int room
    int filled


cdef class SegmentLink(Link):
    cdef readonly Segment segment
    cdef InProcess state
    cdef object buffer
