from io_bridge.exchange.cycle cimport ExchangeState

cdef int lay_out_frames(ExchangeState *x, str bus, slaves, layouts, int clock_station) except -1
