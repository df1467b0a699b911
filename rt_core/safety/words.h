/* The guard's words: guard.pxd gives them to Python. */
#ifndef RT_CORE_SAFETY_WORDS_H
#define RT_CORE_SAFETY_WORDS_H

enum GuardState {
    GUARD_INIT = 0,              /* not fit to be armed */
    GUARD_READY = 1,             /* fit; waits for a rising edge of `arm` */
    GUARD_RUNNING = 2,           /* follows the request, ramping in */
    GUARD_HOLD = 3,              /* bridges bad samples with the last good request, and no more torque than before */
    GUARD_STOPPING = 4,          /* ramps out */
    GUARD_FAULT = 5              /* tripped; latched until `arm` is low and everything is good again */
};

enum GuardReaction {
    GUARD_NONE = 0,
    GUARD_RAMP = 1,              /* ramp out, then FAULT */
    GUARD_SAFE = 2               /* zero at once, FAULT */
};

enum GuardTrip {
    GUARD_NO_TRIP = 0,
    GUARD_ACTUATOR_LOST = 1,
    GUARD_OWN_FAULT = 2,
    GUARD_REQUEST_FAULT = 3,
    GUARD_REQUEST_STALE = 4,
    GUARD_REQUEST_NOT_FINITE = 5,
    GUARD_SENSOR_LOST = 6,
    GUARD_SENSOR_FLICKERS = 7,
    GUARD_ANGLE_LIMIT = 8,
    GUARD_RATE_LIMIT = 9,
    GUARD_TIME_GAP = 10,
    GUARD_OVERRUNS_MANY = 11,
    GUARD_HEARTBEAT_LOST = 12,
    GUARD_OTHER_TRIPPED = 13     /* another guard, whose fault reaches this one */
};

#endif
