/* Settings of a guard, what it sees in a cycle, and what it keeps from one cycle to the next. */
#ifndef RT_CORE_SAFETY_MEMORY_H
#define RT_CORE_SAFETY_MEMORY_H

#include <stdint.h>

struct GuardLimits {
    int64_t period_ns;
    double limit_nm;
    double factor;               /* of the request: its sign and gain */
    double step_nm;              /* rate limit an output */
    double max_angle_rad;
    double max_rate_rad_s;
    double gain_in;              /* of the ramp, an output */
    double gain_out;             /* of the ramp, a period */
    int64_t max_request_age_ns;
    int64_t request_hold_ns;
    int64_t sensor_hold_ns;
    int64_t max_gap_ns;
    int64_t sensor_bucket_ns;
    int64_t skip_bucket_ns;
    int64_t heartbeat_timeout_ns;
};

struct GuardSeen {               /* values of the ports of these names */
    double torque_request_nm;
    double request_cycle;
    double request_fault;
    double own_fault;
    double elapsed;
    double sensor_valid;
    double angle_rad;
    double rate_rad_s;
    double actuator_ready;
    double heartbeat;
    double arm;
    double stop;
    double own_stop;
    int other;                   /* number of the first guard whose fault reaches this one; 0: none */
};

struct GuardMemory {
    int state;
    double output_nm;
    double good_nm;              /* last good request, clamped */
    double good_cycle;           /* number of that request, and when it was new */
    int64_t good_ns;
    double gain;
    int tripped;                 /* this ramp-out ends in FAULT */
    int arm_was_low;             /* a rising edge needs a low before it */
    int stepped;                 /* t_ns is that of a cycle */
    int64_t t_ns;                /* of the cycle before */
    int64_t passed_ns;           /* since then */
    double request_cycle;        /* newest seen, and for how long */
    int64_t request_age_ns;
    int64_t request_bad_ns;      /* from the first bad one on */
    int64_t sensor_bad_ns;
    int64_t sensor_bucket_ns;
    int64_t skip_bucket_ns;
    double heartbeat;            /* newest seen, and when */
    int64_t heartbeat_ns;
};

struct GuardFinding {
    int code;                    /* a GuardTrip */
    int reaction;
    double value;
    double limit;
};

struct GuardStep {               /* what a cycle leaves for those who show it */
    struct GuardFinding found;
    int is_cause;                /* the finding ends this arming: the first one does */
    int armed;                   /* by this cycle */
    double target_nm;            /* the output without its rate limit and hold */
};

#endif
