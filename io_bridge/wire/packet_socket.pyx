"""EtherCAT frames on a Linux network interface: one AF_PACKET socket with a filter in the
kernel."""
import ctypes
import socket
import struct

from libc.errno cimport EAGAIN, EINTR, errno
from libc.stdint cimport int64_t, uint8_t
from posix.time cimport timespec

from io_bridge.wire.monotonic cimport monotonic_ns

from io_bridge.wire.raw_socket import raw_socket

cdef extern from "<poll.h>" nogil:
    struct pollfd:
        int fd
        short events
        short revents
    int ppoll(pollfd *fds, unsigned long n, const timespec *timeout, const void *mask)
    enum: POLLIN

cdef extern from "<sys/socket.h>" nogil:
    ssize_t c_recv "recv" (int fd, void *data, size_t size, int flags)
    ssize_t c_send "send" (int fd, const void *data, size_t size, int flags)
    enum: MSG_DONTWAIT

ETHERTYPE = 0x88A4
SO_ATTACH_FILTER = 26
SOL_PACKET = 263
PACKET_IGNORE_OUTGOING = 23

cdef enum:
    DRAIN_LIMIT = 64        # frames thrown away in one cycle at most
    MOST_LINES = 2


cdef int lines_receive(const RawSocket *lines, int n, int *at, uint8_t *frame, int capacity,
                       int64_t deadline_ns) noexcept nogil:
    """Return the size of the next frame on any of n lines, 0 at the deadline, -1 when every interface is
    gone. The line after `at` is looked at first; where the frame came is written there."""
    cdef pollfd waiting[MOST_LINES]
    cdef timespec left
    cdef int64_t rest
    cdef ssize_t size
    cdef int i, k, gone
    for i in range(n):
        waiting[i].fd = lines[i].fd
        waiting[i].events = POLLIN
    while True:
        gone = 0
        for i in range(1, n + 1):
            k = (at[0] + i) % n
            size = c_recv(lines[k].fd, frame, capacity, MSG_DONTWAIT)
            if size > 0:
                at[0] = k
                return <int> size
            gone += size < 0 and errno != EAGAIN and errno != EINTR
        if gone == n:
            return -1
        rest = deadline_ns - monotonic_ns()
        if rest <= 0:
            return 0
        if lines[0].poll:
            continue
        left.tv_sec = rest // 1000000000
        left.tv_nsec = rest % 1000000000
        ppoll(waiting, n, &left, NULL)


cdef int socket_receive(const RawSocket *s, uint8_t *frame, int capacity,
                        int64_t deadline_ns) noexcept nogil:
    """The same of one line."""
    cdef int at = 0
    return lines_receive(s, 1, &at, frame, capacity, deadline_ns)


cdef int socket_send(const RawSocket *s, const uint8_t *frame, int size) noexcept nogil:
    return 0 if c_send(s.fd, frame, size, MSG_DONTWAIT) == size else -1


cdef int drain(void *self, int is_empty) noexcept nogil:
    cdef uint8_t byte
    cdef int n = 0
    while not is_empty and n < DRAIN_LIMIT and c_recv((<RawSocket *> self).fd, &byte, 1, MSG_DONTWAIT) > 0:
        n += 1
    return n


cdef int send(void *self, const uint8_t *frame, int size, int64_t t_ns) noexcept nogil:
    return socket_send(<RawSocket *> self, frame, size)


cdef int receive(void *self, uint8_t *frame, int capacity, int64_t deadline_ns) noexcept nogil:
    cdef int size = socket_receive(<RawSocket *> self, frame, capacity, deadline_ns)
    return size if size > 0 else 0


def filter_program(first: int, last: int) -> list[tuple[int, int, int, int]]:
    """Return the classic BPF program that lets EtherCAT frames pass whose first datagram index is
    first..last."""
    return [
        (0x28, 0, 0, 12),           # A = Ethertype
        (0x15, 0, 4, ETHERTYPE),
        (0x30, 0, 0, 17),           # A = index of the first datagram
        (0x35, 0, 2, first),
        (0x25, 1, 0, last),
        (0x06, 0, 0, 0xFFFF),
        (0x06, 0, 0, 0),
    ]


def attach_filter(target: socket.socket, first: int, last: int) -> None:
    """Let only EtherCAT frames with indices first..last reach a socket."""
    program = filter_program(first, last)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    head = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    target.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, head)


def open_socket(interface: str, first: int, last: int) -> socket.socket:
    """Return a raw socket for the EtherCAT frames of an interface whose index is first..last.

    Raises
    ------
    PermissionError
        No CAP_NET_RAW; the message says how to get it.
    OSError
        No such interface, or it is down.
    """
    raw = raw_socket(interface)
    try:
        attach_filter(raw, first, last)
        raw.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        # bound last: nothing unfiltered gets in
        raw.bind((interface, ETHERTYPE))
    except OSError as error:
        raw.close()
        raise OSError(error.errno, f"interface {interface!r}: {error.strerror}") from error
    return raw


cdef class PacketSocket(Link):
    """Raw socket on an interface, for the frames whose index is first..last.

    Parameters
    ----------
    interface : str
    first, last : int
        The cycle has 0x80 to 0xFF; an emulated segment takes all.
    poll : bool
        Wait for a reply by polling; only with a core of its own.

    Raises
    ------
    PermissionError, OSError
        As `open_socket`.
    """

    def __init__(self, interface: str, first: int = 0x80, last: int = 0xFF, *,
                 poll: bool = False) -> None:
        self.interface = interface
        self.socket = open_socket(interface, first, last)
        self.state.fd = self.socket.fileno()
        self.state.poll = poll
        self.transport.self = &self.state
        self.transport.drain = drain
        self.transport.send = send
        self.transport.receive = receive

    def close(self) -> None:
        """Close the socket; a cycle that still runs finds every frame lost."""
        self.state.fd = -1
        self.socket.close()
