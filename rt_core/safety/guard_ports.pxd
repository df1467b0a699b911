"""The cells of a guard's ports, by name; `bind` of guard.pyx finds each."""

cdef enum:
    OTHERS = 32                      # guards whose faults may reach this one

cdef struct Other:               # the ports of another guard
    const double *state
    const double *trip

cdef struct Ports:
    const double *torque_request_nm
    const double *request_cycle
    const double *request_fault
    const double *own_fault
    const double *own_cycle
    const double *elapsed
    const double *sensor_valid
    const double *angle_rad
    const double *rate_rad_s
    const double *actuator_ready
    const double *heartbeat
    const double *arm
    const double *stop
    const double *own_stop
    const double *own_block      # NULL: not wired, as the next two
    const double *request_block
    const double *delivered
    Other others[OTHERS]
    int n_others
    double *torque_nm
    double *state
    double *safe
    double *ramp
    double *waits_for
    double *trip
    double *trip_value
    double *trip_limit
    double *trip_cycle
    double *trip_fault
    double *trip_block
    double *trip_delivered
    double *gap_ms
    double *longest_gap_ms
    double *longest_gap_cycle
    double *gap_step_nm
    double *gap_step_cycle
    double *active_ms
    double *saturated_ms
    double *longest_saturated_ms
    double *given_j
    double *most_given_j
