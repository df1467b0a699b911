"""Judge one slave's part of a reply: counters, AL state, and whether its clock has moved on."""
from libc.math cimport NAN
from libc.stdint cimport int64_t, uint32_t, uint64_t

from io_bridge.wire.cycle_frames cimport CycleFrames, reply_data, reply_wkc
from io_bridge.wire.fields cimport get16, get32, get64

cdef enum:
    OFFSET_OF_DIFFERENCE = 0x092C - 0x0910


cdef void slave_reset(SlaveIo *s) noexcept nogil:
    """Cells that no reply has filled yet; the least counter starts from the expected one."""
    cdef int expected = (s.inputs_at != 0) + (s.outputs_at != 0)
    s.answers = 0
    s.al_status = 0
    s.al_code = 0
    s.writes[WKC_EXPECTED][0] = expected
    s.writes[WKC_MIN][0] = expected
    s.writes[INVALID_CYCLES][0] = 0.0
    s.writes[DC_DIFFERENCE][0] = NAN


cdef int moved_on(SlaveIo *s, const CycleFrames *f) noexcept nogil:
    """A slave whose system time stands still repeats old data under right counters. 1: it has moved."""
    cdef const unsigned char *clock = reply_data(f, s.clock_at)
    cdef uint64_t now = get64(clock)
    cdef uint32_t difference = get32(clock + OFFSET_OF_DIFFERENCE)
    cdef double size = <double> (difference & 0x7FFFFFFF)
    cdef int moved = <int64_t> (now - s.clock_ns) > 0
    if reply_wkc(f, s.clock_at) != 1:
        return 0
    s.writes[DC_DIFFERENCE][0] = -size if difference >> 31 else size
    s.clock_ns = now                # one that was set back, as after a power cycle, is judged from here on
    return moved


cdef Finding slave_receive(SlaveIo *s, const CycleFrames *f) noexcept nogil:
    """Take a reply's counters and states; say whether the data in it are valid."""
    cdef int wkc = 0
    cdef Finding found = GOOD
    s.answers = reply_wkc(f, s.al_at) == 1
    s.al_status = 0
    if s.answers:
        s.al_status = get16(reply_data(f, s.al_at))
        s.al_code = get16(reply_data(f, s.al_at) + 4)
    s.writes[AL_STATE][0] = s.al_status
    s.writes[AL_CODE][0] = s.al_code
    if s.inputs_at:
        wkc += reply_wkc(f, s.inputs_at)
    if s.outputs_at:
        wkc += reply_wkc(f, s.outputs_at)
    s.writes[WKC][0] = wkc
    s.writes[WKC_MIN][0] = min(s.writes[WKC_MIN][0], <double> wkc)
    if (not s.answers or (s.inputs_at and reply_wkc(f, s.inputs_at) != 1)
            or (s.outputs_at and reply_wkc(f, s.outputs_at) != 1)):
        found = WRONG_COUNTER
    elif s.clock_at and not moved_on(s, f):
        found = STALE
    s.writes[VALID][0] = found == GOOD
    if found != GOOD:
        s.writes[INVALID_CYCLES][0] += 1.0
    return found


cdef void slave_missed(SlaveIo *s) noexcept nogil:
    """No reply: the last inputs stay and are marked invalid."""
    s.answers = 0
    s.writes[VALID][0] = 0.0
    s.writes[WKC][0] = 0.0
    s.writes[WKC_MIN][0] = 0.0
    s.writes[INVALID_CYCLES][0] += 1.0
