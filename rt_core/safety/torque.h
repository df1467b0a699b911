/* The guard's arithmetic: request, clamp, ramp, hold, rate limit last. */
#ifndef RT_CORE_SAFETY_TORQUE_H
#define RT_CORE_SAFETY_TORQUE_H

#include <math.h>

#include "rt_core/safety/states.h"
#include "rt_core/safety/words.h"

static inline double guard_clamped(double value, double limit)
{
    return value < -limit ? -limit : value > limit ? limit : value;
}

/* A gap does not shorten the ramp in, but it does the ramp out: by `periods`. */
static inline double guard_gain(double gain, int state, double gain_in, double gain_out, double periods)
{
    if (state == GUARD_RUNNING || state == GUARD_HOLD) return gain + gain_in < 1 ? gain + gain_in : 1;
    if (state == GUARD_STOPPING) return gain - gain_out * periods > 0 ? gain - gain_out * periods : 0;
    return 0;
}

/* Without a good sample the torque does not grow: a ramp or a slope that is under way waits. */
static inline double guard_held(double target_nm, int state, double output_nm)
{
    return state == GUARD_HOLD ? guard_clamped(target_nm, fabs(output_nm)) : target_nm;
}

/* The target itself when it is within reach, so that a ramp-out ends at exactly zero. */
static inline double guard_toward(double output_nm, double target_nm, double step_nm)
{
    const double change_nm = target_nm - output_nm;
    if (fabs(change_nm) <= step_nm) return target_nm;
    /* a NaN stays one: guard_sent knows it */
    return change_nm > 0 ? output_nm + step_nm : change_nm < 0 ? output_nm - step_nm : change_nm;
}

static inline double guard_sent(int state, double output_nm)
{
    return guard_is_at_rest(state) || !isfinite(output_nm) ? 0 : output_nm;
}

#endif
