"""Topology of the slaves of a segment: which slave is connected to which port, and which slaves a
pulled cable or a lost supply cuts off."""
from libc.stdint cimport int64_t

from io_bridge.emulator.controller.memory cimport Esc
from io_bridge.emulator.passage cimport MAX_SLAVES, Passage

cdef enum:                       # the two ends of the segment
    NEAR = 0                     # the first slave's port 0, where the master is
    FAR = 1                      # the last slave's free port, for a master with two interfaces

cdef struct Ring:
    Esc *slaves[MAX_SLAVES]      # in the order in which a master finds them
    int n
    int parent[MAX_SLAVES]       # -1 = the master
    int parent_port[MAX_SLAVES]
    int64_t cable_ns[MAX_SLAVES]  # delay of the cable to the parent
    int unplugged[MAX_SLAVES + 1]  # that cable is out; after the slaves' own, the one from the far end
    int off[MAX_SLAVES]          # without supply
    # values that follow from it (ring_route)
    int order[MAX_SLAVES]        # slaves that a frame from the master passes, in order
    int n_order
    int far_order[MAX_SLAVES]    # slaves that only a frame from the far end passes
    int n_far
    int closed                   # the far end is connected all the way to the master
    Passage passages[2]          # from each end

cdef int ring_attach(Ring *ring) noexcept nogil
cdef void ring_route(Ring *ring) noexcept nogil
cdef void ring_plug(Ring *ring, int position, int plugged) noexcept nogil
cdef void ring_power(Ring *ring, int position, int on) noexcept nogil
