from io_bridge.exchange.cycle cimport ExchangeState

cdef int own_cells(ExchangeState *x, int n_reads, int n_writes) except -1
cdef int connect_cells(ExchangeState *x, list reads, list writes) except -1
cdef void fill_cells(ExchangeState *x) noexcept
