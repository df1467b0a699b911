/* The guard's table of states. */
#ifndef RT_CORE_SAFETY_STATES_H
#define RT_CORE_SAFETY_STATES_H

#include "rt_core/safety/words.h"

static inline int guard_is_active(int state)
{
    return state == GUARD_RUNNING || state == GUARD_HOLD || state == GUARD_STOPPING;
}

static inline int guard_is_at_rest(int state)
{
    return state == GUARD_INIT || state == GUARD_READY || state == GUARD_FAULT;
}

/* By this cycle's finding, before the torque. `blind`: sensor or request is bad. */
static inline int guard_next_state(int state, int reaction, int blind, int arm, int arm_was_low, int stop)
{
    if (guard_is_active(state)) {
        if (reaction == GUARD_SAFE) return GUARD_FAULT;
        if (reaction == GUARD_RAMP || state == GUARD_STOPPING || stop || !arm) return GUARD_STOPPING;
        return blind ? GUARD_HOLD : GUARD_RUNNING;
    }
    if (state == GUARD_FAULT) return !arm && !stop && reaction == GUARD_NONE ? GUARD_READY : GUARD_FAULT;
    if (reaction != GUARD_NONE || blind) return GUARD_INIT;
    return arm && arm_was_low && !stop ? GUARD_RUNNING : GUARD_READY;
}

/* The end of a ramp-out. */
static inline int guard_ended(int state, int tripped, double gain, double output_nm)
{
    if (state != GUARD_STOPPING || gain != 0 || output_nm != 0) return state;
    return tripped ? GUARD_FAULT : GUARD_INIT;
}

#endif
