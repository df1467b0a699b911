/* The trip table of a guard, worst first; and the reach of faults over axes. Comparisons are written so that a NaN
   counts as bad. */
#ifndef RT_CORE_SAFETY_FINDINGS_H
#define RT_CORE_SAFETY_FINDINGS_H

#include <math.h>
#include <stdint.h>

#include "rt_core/safety/memory.h"
#include "rt_core/safety/words.h"

static inline struct GuardFinding guard_finding(int code, int reaction, double value, double limit)
{
    struct GuardFinding found;
    found.code = code;
    found.reaction = reaction;
    found.value = value;
    found.limit = limit;
    return found;
}

static inline struct GuardFinding guard_too_long(int code, int64_t value_ns, int64_t limit_ns)
{
    return guard_finding(code, GUARD_RAMP, 1e-6 * (double)value_ns, 1e-6 * (double)limit_ns);
}

/* Causes of the guard's own. */
static inline struct GuardFinding guard_own_finding(const struct GuardMemory *m, const struct GuardLimits *lim,
                                                    const struct GuardSeen *seen, int64_t t_ns)
{
    if (!(seen->actuator_ready > 0.5))
        return guard_finding(GUARD_ACTUATOR_LOST, GUARD_SAFE, seen->actuator_ready, 1);
    if (!(seen->own_fault == 0))
        return guard_finding(GUARD_OWN_FAULT, GUARD_RAMP, seen->own_fault, 0);
    if (!(seen->request_fault == 0))
        return guard_finding(GUARD_REQUEST_FAULT, GUARD_RAMP, seen->request_fault, 0);
    if (m->passed_ns > lim->max_gap_ns)
        return guard_too_long(GUARD_TIME_GAP, m->passed_ns, lim->max_gap_ns);
    if (m->skip_bucket_ns >= lim->skip_bucket_ns)
        return guard_too_long(GUARD_OVERRUNS_MANY, m->skip_bucket_ns, lim->skip_bucket_ns);
    if (m->sensor_bad_ns > lim->sensor_hold_ns)
        return guard_too_long(GUARD_SENSOR_LOST, m->sensor_bad_ns, lim->sensor_hold_ns);
    if (m->sensor_bucket_ns >= lim->sensor_bucket_ns)
        return guard_too_long(GUARD_SENSOR_FLICKERS, m->sensor_bucket_ns, lim->sensor_bucket_ns);
    if (m->sensor_bad_ns == 0 && !(fabs(seen->angle_rad) <= lim->max_angle_rad))
        return guard_finding(GUARD_ANGLE_LIMIT, GUARD_RAMP, seen->angle_rad, lim->max_angle_rad);
    if (m->sensor_bad_ns == 0 && !(fabs(seen->rate_rad_s) <= lim->max_rate_rad_s))
        return guard_finding(GUARD_RATE_LIMIT, GUARD_RAMP, seen->rate_rad_s, lim->max_rate_rad_s);
    if (m->request_bad_ns > lim->request_hold_ns)
        return guard_too_long(GUARD_REQUEST_NOT_FINITE, m->request_bad_ns, lim->request_hold_ns);
    if (m->request_age_ns > lim->max_request_age_ns)
        return guard_too_long(GUARD_REQUEST_STALE, m->request_age_ns, lim->max_request_age_ns);
    if (t_ns - m->heartbeat_ns > lim->heartbeat_timeout_ns)
        return guard_too_long(GUARD_HEARTBEAT_LOST, t_ns - m->heartbeat_ns, lim->heartbeat_timeout_ns);
    return guard_finding(GUARD_NO_TRIP, GUARD_NONE, 0, 0);
}

/* A guard that shows this state and trip tripped on a cause of its own, and may not be armed yet: it takes along those
   that it reaches. One that was taken along itself reaches nobody. */
static inline int guard_takes_along(double state, double trip)
{
    return (state == GUARD_STOPPING || state == GUARD_FAULT)
           && !(trip == GUARD_NO_TRIP || trip == GUARD_OTHER_TRIPPED);
}

/* A cause of its own before those of others. A guard in FAULT answers for itself only: two that tripped together do
   not wait for each other. */
static inline struct GuardFinding guard_reached(struct GuardFinding own, int state, int other)
{
    if (own.reaction != GUARD_NONE || other == 0 || state == GUARD_FAULT) return own;
    return guard_finding(GUARD_OTHER_TRIPPED, GUARD_RAMP, other, 0);
}

#endif
