"""The guard's words. Python sees the enums of the same names through rt_core.safety.trips."""

cpdef enum State:
    INIT = 0         # not fit to be armed
    READY = 1        # fit; waits for a rising edge of `arm`
    RUNNING = 2      # follows the request, ramping in
    HOLD = 3         # keeps the last good request, for a few cycles
    STOPPING = 4     # ramps out
    FAULT = 5        # tripped; latched until `arm` is low and everything is good again

cpdef enum Reaction:
    NONE = 0
    RAMP = 1         # ramp out, then FAULT
    SAFE = 2         # zero at once, FAULT

cpdef enum Trip:
    NO_TRIP = 0
    ACTUATOR_LOST = 1
    OWN_FAULT = 2
    REQUEST_FAULT = 3
    REQUEST_STALE = 4
    REQUEST_NOT_FINITE = 5
    SENSOR_LOST = 6
    SENSOR_FLICKERS = 7
    ANGLE_LIMIT = 8
    RATE_LIMIT = 9
    TIME_GAP = 10
    OVERRUNS_MANY = 11
    HEARTBEAT_LOST = 12
    OTHER_TRIPPED = 13   # another guard, whose fault reaches this one
