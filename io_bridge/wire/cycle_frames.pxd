"""The frames of one cycle, as many as its datagrams need: built once, sent and matched in every cycle."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from io_bridge.wire.frame cimport MAX_FRAME
from io_bridge.wire.link cimport Transport

cdef enum:
    MAX_FRAMES = 4
    N_INDICES = 128          # 0x80 to 0xFF

cdef struct CycleFrames:
    Transport transport
    # frame k lies at k * MAX_FRAME in both, so that one offset names a datagram and its reply
    uint8_t tx[MAX_FRAMES * MAX_FRAME]
    uint8_t rx[MAX_FRAMES * MAX_FRAME]
    uint8_t found[MAX_FRAME]  # a received frame, before its owner is known
    int n
    int size[MAX_FRAMES]
    int at                   # where the next datagram goes, while the frames are built
    uint8_t index[MAX_FRAMES]
    uint8_t last_index
    int waits[MAX_FRAMES]    # sent in this cycle and not back
    uint8_t sent[N_INDICES]  # under this index a frame was sent and no reply seen
    int64_t sent_ns          # monotonic time before the first frame left
    int64_t lost             # frames that were not back in time
    int64_t late             # replies to an earlier cycle
    int64_t duplicated       # replies that had come already
    int64_t foreign          # frames that answer none of ours

cdef void frames_begin(CycleFrames *f) noexcept nogil
cdef int frames_add(CycleFrames *f, uint8_t command, uint32_t address, int size) noexcept nogil
cdef void frames_end(CycleFrames *f) noexcept nogil
cdef int frames_exchange(CycleFrames *f, int64_t t_ns, int64_t deadline_ns) noexcept nogil
cdef int frames_send(CycleFrames *f, int64_t t_ns) noexcept nogil
cdef uint8_t *sent_data(CycleFrames *f, int at) noexcept nogil
cdef const uint8_t *reply_data(const CycleFrames *f, int at) noexcept nogil
cdef int reply_wkc(const CycleFrames *f, int at) noexcept nogil
