"""The player of a torque over time, and of a spring beside it, in front of a guard."""
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.math cimport M_PI, fabs
from libc.stdint cimport int64_t, uintptr_t

from rt_core.cycle_block cimport CycleBlock

import numpy as np

from rt_core.block import wrong_ports

READS = ("position_count", "play", "elapsed")
WRITES = ("torque_nm", "angle_rad", "rate_rad_s", "at")

cdef double SPAN = 4294967296.0      # counts after which an encoder begins again
cdef double RATE_LAG_S = 0.002
cdef double MOST_ELAPSED = 1e9       # periods; of the signal, whatever it holds

cdef struct Memory:
    const double *position_count
    const double *play
    const double *elapsed
    double *torque_nm
    double *angle_rad
    double *rate_rad_s
    double *at
    double *profile_nm               # of `room` cycles
    int64_t room
    int64_t n                        # cycles that are played
    int64_t k                        # those that are over, the present one too
    int begun
    int64_t hold                     # cycles between two values of the spring
    double playing                   # number of the take
    double rad_per_count
    double period_s
    double stiffness_nm_rad
    double damping_nms
    double count
    int has_count
    double angle_rad_now             # since the take began
    double rate_now
    double spring_nm                 # acts now
    double next_nm                   # acts from the next hold on: the hand-over of a slower task


cdef int step_player(void *self, int64_t t_ns) noexcept nogil:
    cdef Memory *m = <Memory *>self
    cdef double count = m.position_count[0]
    cdef double turned = 0.0
    cdef double elapsed = m.elapsed[0]
    cdef double passed_s
    cdef int64_t before = 0
    # a cycle that was missed is over too: its torque is left out, and nothing lasts longer than it was meant to
    if not (1.0 <= elapsed <= MOST_ELAPSED):
        elapsed = 1.0
    passed_s = elapsed * m.period_s
    if fabs(count) <= SPAN:
        turned = count - m.count if m.has_count else 0.0
        if turned > 0.5 * SPAN:
            turned -= SPAN
        elif turned < -0.5 * SPAN:
            turned += SPAN
        m.count = count
        m.has_count = 1
    turned *= m.rad_per_count
    if m.play[0] != m.playing:
        m.playing = m.play[0]
        m.begun = m.playing > 0.0
        m.k = 0
        elapsed = 1.0
        m.angle_rad_now = 0.0
        m.spring_nm = 0.0
        m.next_nm = 0.0
    # between two takes hands may turn the wheel as far as they like
    m.angle_rad_now = m.angle_rad_now + turned if m.begun else 0.0
    m.rate_now += (turned / passed_s - m.rate_now) * passed_s / (passed_s + RATE_LAG_S)
    m.torque_nm[0] = 0.0
    if m.begun:
        before = m.k
        m.k = min(m.k + <int64_t>elapsed, m.n + 1)
        if m.k > m.n:
            m.begun = 0
            m.k = m.n
        else:
            if before == 0 or (m.k - 1) // m.hold > (before - 1) // m.hold:
                m.spring_nm = m.next_nm
                m.next_nm = -m.stiffness_nm_rad * m.angle_rad_now - m.damping_nms * m.rate_now
            m.torque_nm[0] = m.profile_nm[m.k - 1] + m.spring_nm
    m.angle_rad[0] = m.angle_rad_now
    m.rate_rad_s[0] = m.rate_now
    m.at[0] = m.k
    return 0


cdef class Player(CycleBlock):
    """See player.pyi."""

    cdef Memory memory

    def __cinit__(self, name, reads, *, counts_per_rev, period_ns, hold=1, room=1 << 17):
        self.memory.profile_nm = <double *>PyMem_Calloc(room, sizeof(double))
        if self.memory.profile_nm == NULL:
            raise MemoryError
        self.memory.room = room

    def __init__(self, name, reads, *, counts_per_rev, period_ns, hold=1, room=1 << 17):
        mistakes = wrong_ports((reads, WRITES, READS, WRITES), READS)
        if mistakes:
            raise ValueError(f"player {name}: " + "; ".join(mistakes))
        if min(counts_per_rev, period_ns, hold) < 1:
            raise ValueError(f"player {name}: counts_per_rev, period_ns and hold are at least 1")
        self.name = name
        self.reads = {port: reads[port] for port in READS}
        self.writes = {port: f"{name}/{port}" for port in WRITES}
        self.memory.rad_per_count = 2.0 * M_PI / counts_per_rev
        self.memory.period_s = 1e-9 * period_ns
        self.memory.hold = hold
        self.run_by(step_player, &self.memory, 0)

    def __dealloc__(self):
        PyMem_Free(self.memory.profile_nm)

    def load(self, profile_nm, *, stiffness_nm_rad=0.0, damping_nms=0.0):
        cdef double[::1] given = np.ascontiguousarray(profile_nm, dtype=float)
        cdef int64_t i
        if given.shape[0] > self.memory.room:
            raise ValueError(f"{given.shape[0]} cycles, room for {self.memory.room}")
        if not np.all(np.isfinite(profile_nm)):
            raise ValueError("a torque that is not finite")
        # nothing is played until `play` changes
        self.memory.begun = 0
        self.memory.n = self.memory.k = 0
        for i in range(given.shape[0]):
            self.memory.profile_nm[i] = given[i]
        self.memory.stiffness_nm_rad = stiffness_nm_rad
        self.memory.damping_nms = damping_nms
        self.memory.n = given.shape[0]

    def bind(self, reads, writes):
        cdef Memory *m = &self.memory
        given = dict(zip(self.reads, reads, strict=True))
        taken = dict(zip(self.writes, writes, strict=True))
        m.position_count = <const double *><uintptr_t>given["position_count"]
        m.play = <const double *><uintptr_t>given["play"]
        m.elapsed = <const double *><uintptr_t>given["elapsed"]
        m.torque_nm = <double *><uintptr_t>taken["torque_nm"]
        m.angle_rad = <double *><uintptr_t>taken["angle_rad"]
        m.rate_rad_s = <double *><uintptr_t>taken["rate_rad_s"]
        m.at = <double *><uintptr_t>taken["at"]
