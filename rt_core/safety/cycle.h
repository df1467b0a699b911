/* One cycle of a guard, without ports: what tests/proof proves is this text. */
#ifndef RT_CORE_SAFETY_CYCLE_H
#define RT_CORE_SAFETY_CYCLE_H

#include <math.h>
#include <stdint.h>

#include "rt_core/safety/ages.h"
#include "rt_core/safety/bucket.h"
#include "rt_core/safety/findings.h"
#include "rt_core/safety/memory.h"
#include "rt_core/safety/states.h"
#include "rt_core/safety/torque.h"
#include "rt_core/safety/words.h"

/* Ages and buckets, in every state. */
static inline void guard_watch(struct GuardMemory *m, const struct GuardLimits *lim, const struct GuardSeen *seen,
                               int64_t t_ns)
{
    const int sensor_good = seen->sensor_valid > 0.5 && isfinite(seen->angle_rad) && isfinite(seen->rate_rad_s);
    const int was_bad = m->sensor_bad_ns > 0;
    const int64_t period_ns = lim->period_ns;
    int64_t bad_ns = 0;
    m->passed_ns = guard_passed_ns(period_ns, m->stepped ? t_ns - m->t_ns : 0, seen->elapsed);
    m->t_ns = t_ns;
    m->stepped = 1;
    m->sensor_bad_ns = guard_bad_for_ns(m->sensor_bad_ns, sensor_good, m->passed_ns, period_ns);
    if (!sensor_good) bad_ns = was_bad ? m->passed_ns : period_ns;
    /* bad time counts twice, a good cycle takes one period away; never far over the limit */
    m->sensor_bucket_ns = bucket_after(m->sensor_bucket_ns, 2 * bad_ns, period_ns,
                                       lim->sensor_bucket_ns + 2 * period_ns);
    m->skip_bucket_ns = bucket_after(m->skip_bucket_ns, 2 * (m->passed_ns - period_ns), period_ns,
                                     lim->skip_bucket_ns + 2 * period_ns);
    m->request_bad_ns = guard_bad_for_ns(m->request_bad_ns, isfinite(seen->torque_request_nm), m->passed_ns,
                                         period_ns);
    if (isfinite(seen->request_cycle) && seen->request_cycle != m->request_cycle) {
        m->request_cycle = seen->request_cycle;
        m->request_age_ns = 0;
    } else {
        m->request_age_ns = guard_older(m->request_age_ns, m->passed_ns);
    }
    if (isfinite(seen->heartbeat) && seen->heartbeat != m->heartbeat) {
        m->heartbeat = seen->heartbeat;
        m->heartbeat_ns = t_ns;
    }
}

/* Keep a good request; a tripped guard takes no other. */
static inline void guard_take_request(struct GuardMemory *m, const struct GuardLimits *lim,
                                      const struct GuardSeen *seen, int blind)
{
    if (m->tripped || blind) return;
    m->good_nm = guard_clamped(lim->factor * seen->torque_request_nm, lim->limit_nm);
    if (m->good_cycle != m->request_cycle) {
        m->good_cycle = m->request_cycle;
        m->good_ns = m->t_ns;
    }
}

static inline struct GuardStep guard_cycle(struct GuardMemory *m, const struct GuardLimits *lim,
                                           const struct GuardSeen *seen, int64_t t_ns)
{
    const int arm = seen->arm > 0.5;
    const int stop = !(seen->stop < 0.5) || !(seen->own_stop < 0.5);
    const int before = m->state;
    struct GuardStep step;
    double periods = 1;
    int blind;
    guard_watch(m, lim, seen, t_ns);
    blind = m->sensor_bad_ns > 0 || m->request_bad_ns > 0;
    step.found = guard_reached(guard_own_finding(m, lim, seen, t_ns), before, seen->other);
    step.is_cause = guard_is_active(before) && step.found.reaction != GUARD_NONE && !m->tripped;

    m->state = guard_next_state(before, step.found.reaction, blind, arm, m->arm_was_low, stop);
    step.armed = guard_is_at_rest(before) && m->state == GUARD_RUNNING;
    if (step.armed) m->tripped = 0;
    else if (guard_is_active(before) && step.found.reaction == GUARD_RAMP) m->tripped = 1;
    m->arm_was_low = !arm;

    guard_take_request(m, lim, seen, blind);
    if (before == GUARD_STOPPING) periods = (double)m->passed_ns / (double)lim->period_ns;
    m->gain = guard_gain(m->gain, m->state, lim->gain_in, lim->gain_out, periods);
    step.target_nm = m->gain * m->good_nm;
    m->output_nm = guard_toward(m->output_nm, guard_held(step.target_nm, m->state, m->output_nm), lim->step_nm);
    m->state = guard_ended(m->state, m->tripped, m->gain, m->output_nm);
    m->output_nm = guard_sent(m->state, m->output_nm);
    return step;
}

#endif
