"""The law of a guard, in C: cycle.h and what it includes. Nothing in it knows a port or Cython."""
from libc.stdint cimport int64_t

cdef extern from "rt_core/safety/memory.h" nogil:
    cdef struct GuardLimits:
        int64_t period_ns
        double limit_nm
        double factor
        double step_nm
        double max_angle_rad
        double max_rate_rad_s
        double gain_in
        double gain_out
        int64_t max_request_age_ns
        int64_t request_hold_ns
        int64_t sensor_hold_ns
        int64_t max_gap_ns
        int64_t sensor_bucket_ns
        int64_t skip_bucket_ns
        int64_t heartbeat_timeout_ns

    cdef struct GuardSeen:
        double torque_request_nm
        double request_cycle
        double request_fault
        double own_fault
        double elapsed
        double sensor_valid
        double angle_rad
        double rate_rad_s
        double actuator_ready
        double heartbeat
        double arm
        double stop
        double own_stop
        int other

    cdef struct GuardMemory:
        int state
        double output_nm
        double good_cycle
        int64_t good_ns
        double gain
        int64_t passed_ns
        int64_t request_age_ns
        int64_t sensor_bad_ns
        int64_t heartbeat_ns

    cdef struct GuardFinding:
        int code
        int reaction
        double value
        double limit

    cdef struct GuardStep:
        GuardFinding found
        int is_cause
        int armed
        double target_nm

cdef extern from "rt_core/safety/states.h" nogil:
    int guard_is_at_rest(int state)

cdef extern from "rt_core/safety/findings.h" nogil:
    int guard_takes_along(double state, double trip)

cdef extern from "rt_core/safety/cycle.h" nogil:
    GuardStep guard_cycle(GuardMemory *m, const GuardLimits *limits, const GuardSeen *seen, int64_t t_ns)
