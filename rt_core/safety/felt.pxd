"""Effects that the hand at the actuator feels: the age of the acting command, and the torque meanwhile.

The frame of a cycle carries the output of the guard of the previous cycle. A command is as old as the request that it
follows: a skipped cycle, a lost frame, a hold and a stale request all make it older alike, as they do to the hand.
"""
from libc.math cimport fabs
from libc.stdint cimport int64_t

cdef struct Felt:
    int64_t long_ns              # older: at least one command was missed
    double drain_w               # of given energy that is forgiven: the part from the lag of a sampled spring
    double reach_rad             # a change of angle beyond it is not a motion
    int64_t acting_ns            # when the request was new that the acting command follows
    double acting_nm             # torque of the actuator since the last frame that reached it
    int64_t sent_ns              # the same of the output of the cycle before
    double sent_nm
    double wanted_nm             # that output without its rate limit
    int64_t longest_ns
    double longest_cycle         # in which the longest stretch ended, or has not yet
    double step_nm               # largest across a stretch that missed a command
    double step_cycle
    int64_t active_ns
    int64_t saturated_ns
    int64_t stretch_ns           # saturated since
    int64_t longest_stretch_ns
    double given_j               # work of the motor on the hands minus theirs on it
    double most_given_j
    double angle_rad             # the last good one
    bint has_angle


cdef inline void felt_begin(Felt *f, int64_t t_ns) noexcept nogil:
    # at every arming, before felt_sent; the longest and the largest values stay
    f.acting_ns = t_ns
    f.acting_nm = 0
    f.stretch_ns = 0
    f.given_j = 0
    f.has_angle = False


cdef inline void felt_frame(Felt *f, bint delivered, int64_t t_ns, double own_cycle) noexcept nogil:
    # the frame of this cycle, with the output of the one before
    cdef int64_t age_ns = t_ns - f.acting_ns
    cdef double step_nm = fabs(f.wanted_nm - f.acting_nm)
    if age_ns > f.longest_ns:
        f.longest_ns = age_ns
        f.longest_cycle = own_cycle
    if not delivered:
        return
    if f.sent_ns != f.acting_ns and age_ns > f.long_ns and step_nm > f.step_nm:
        f.step_nm = step_nm
        f.step_cycle = own_cycle
    f.acting_ns = f.sent_ns
    f.acting_nm = f.sent_nm


cdef inline void felt_motion(Felt *f, bint good, double angle_rad, int64_t passed_ns) noexcept nogil:
    # work of the torque that acted since the last good angle
    cdef double moved_rad
    if good:
        moved_rad = angle_rad - f.angle_rad
        if f.has_angle and fabs(moved_rad) <= f.reach_rad:
            f.given_j += f.acting_nm * moved_rad
        f.angle_rad = angle_rad
        f.has_angle = True
    if f.given_j > 0:
        f.given_j = max(f.given_j - f.drain_w * 1e-9 * passed_ns, 0.0)
    f.most_given_j = max(f.most_given_j, f.given_j)


cdef inline void felt_request(Felt *f, bint saturated, int64_t passed_ns) noexcept nogil:
    f.active_ns += passed_ns
    if saturated:
        f.saturated_ns += passed_ns
        f.stretch_ns += passed_ns
        f.longest_stretch_ns = max(f.longest_stretch_ns, f.stretch_ns)
    else:
        f.stretch_ns = 0


cdef inline void felt_sent(Felt *f, double output_nm, double wanted_nm, int64_t new_ns) noexcept nogil:
    f.sent_nm = output_nm
    f.wanted_nm = wanted_nm
    f.sent_ns = new_ns
