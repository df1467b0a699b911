"""EtherCAT frames: Ethernet header, 2-byte EtherCAT header, a chain of datagrams (ETG.1000.4)."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from io_bridge.wire.fields cimport get16, get32

cdef enum:
    MAX_FRAME = 1514          # Ethernet without its check sequence
    ETHERNET_HEADER = 14
    FIRST_DATAGRAM = 16
    DATAGRAM_HEADER = 10
    WKC_SIZE = 2
    CYCLE_INDEX_FIRST = 0x80  # 0x00-0x7F belong to pysoem, which uses 0-15

cdef enum:
    NOP = 0
    APRD = 1
    APWR = 2
    APRW = 3
    FPRD = 4
    FPWR = 5
    FPRW = 6
    BRD = 7
    BWR = 8
    BRW = 9
    LRD = 10
    LWR = 11
    LRW = 12
    ARMW = 13
    FRMW = 14

cdef struct Datagram:
    uint8_t command
    uint8_t index
    uint32_t address    # logical, or ADO << 16 | ADP
    int data            # offset of the data in the frame
    int size            # bytes of data; the working counter follows
    int more            # another datagram follows
    int next            # offset of the byte after the working counter

cdef void frame_begin(uint8_t *frame) noexcept nogil
cdef int frame_add(uint8_t *frame, int at, uint8_t command, uint8_t index, uint32_t address,
                   int size) noexcept nogil
cdef int frame_end(uint8_t *frame, int at) noexcept nogil
cdef int frame_length(const uint8_t *frame, int size) noexcept nogil


cdef inline int datagram_at(const uint8_t *frame, int length, int at, Datagram *out) noexcept nogil:
    """Read the datagram header at `at` of a frame of `length` bytes. Return 0, or -1 when it does
    not lie inside."""
    cdef int field
    if at < FIRST_DATAGRAM or at + DATAGRAM_HEADER + WKC_SIZE > length:
        return -1
    field = get16(frame + at + 6)
    out.command = frame[at]
    out.index = frame[at + 1]
    out.address = get32(frame + at + 2)
    out.data = at + DATAGRAM_HEADER
    out.size = field & 0x07FF
    out.more = field >> 15
    out.next = out.data + out.size + WKC_SIZE
    return -1 if out.next > length else 0
