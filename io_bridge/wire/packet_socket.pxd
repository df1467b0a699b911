from libc.stdint cimport int64_t, uint8_t

from io_bridge.wire.link cimport Link


cdef struct RawSocket:
    int fd
    int poll                # 1: never sleep while waiting (a core of its own)


cdef class PacketSocket(Link):
    cdef RawSocket state
    cdef object socket
    cdef readonly str interface


cdef int lines_receive(const RawSocket *lines, int n, int *at, uint8_t *frame, int capacity,
                       int64_t deadline_ns) noexcept nogil
cdef int socket_receive(const RawSocket *s, uint8_t *frame, int capacity,
                        int64_t deadline_ns) noexcept nogil
cdef int socket_send(const RawSocket *s, const uint8_t *frame, int size) noexcept nogil
