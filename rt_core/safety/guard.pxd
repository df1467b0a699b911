"""The guard's words. Python sees the enums of the same names through rt_core.safety.trips."""

cdef extern from "rt_core/safety/words.h":
    cpdef enum State "GuardState":
        INIT "GUARD_INIT"
        READY "GUARD_READY"
        RUNNING "GUARD_RUNNING"
        HOLD "GUARD_HOLD"
        STOPPING "GUARD_STOPPING"
        FAULT "GUARD_FAULT"

    cpdef enum Reaction "GuardReaction":
        NONE "GUARD_NONE"
        RAMP "GUARD_RAMP"
        SAFE "GUARD_SAFE"

    cpdef enum Trip "GuardTrip":
        NO_TRIP "GUARD_NO_TRIP"
        ACTUATOR_LOST "GUARD_ACTUATOR_LOST"
        OWN_FAULT "GUARD_OWN_FAULT"
        REQUEST_FAULT "GUARD_REQUEST_FAULT"
        REQUEST_STALE "GUARD_REQUEST_STALE"
        REQUEST_NOT_FINITE "GUARD_REQUEST_NOT_FINITE"
        SENSOR_LOST "GUARD_SENSOR_LOST"
        SENSOR_FLICKERS "GUARD_SENSOR_FLICKERS"
        ANGLE_LIMIT "GUARD_ANGLE_LIMIT"
        RATE_LIMIT "GUARD_RATE_LIMIT"
        TIME_GAP "GUARD_TIME_GAP"
        OVERRUNS_MANY "GUARD_OVERRUNS_MANY"
        HEARTBEAT_LOST "GUARD_HEARTBEAT_LOST"
        OTHER_TRIPPED "GUARD_OTHER_TRIPPED"
