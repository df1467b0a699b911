from io_bridge.exchange.cycle cimport ExchangeState
from io_bridge.wire.link cimport Link
from rt_core.block cimport BlockView


cdef class Exchange:
    cdef ExchangeState state
    cdef BlockView view
    cdef BlockView safe_view
    cdef Link link
    cdef readonly str name
    cdef readonly tuple slaves
    cdef readonly tuple drives
    cdef readonly object clock
    cdef readonly dict reads
    cdef readonly dict writes
    cdef readonly dict bringup_counters
