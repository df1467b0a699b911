from libc.stdint cimport int64_t

cdef enum HandsMode:
    FREE = 0
    SPRING = 1
    PRESCRIBED = 2

cdef struct Plant:
    # parameters
    double inertia_kg_m2
    double viscous_nms
    double coulomb_nm
    double coulomb_rad_s         # speed at which dry friction has reached 1/sqrt(2) of its value
    double torque_lag_s
    double peak_nm
    HandsMode hands
    double hands_stiffness
    double hands_damping
    double amplitude_rad
    double frequency_hz
    double offset_rad
    double start_s
    # state
    int64_t now_ns
    double angle_rad
    double rate_rad_s
    double motor_nm
    double sensor_nm             # torque the hands put on the wheel
    double wanted_nm             # input of the current loop
    # of the last step length: the current loop's decay, sine and cosine of half a step of the hands
    double step_s
    double decay
    double half_sin
    double half_cos

cdef double friction(const Plant *p, double rate, double *slope) noexcept nogil
cdef double motor_step(Plant *p, double decay) noexcept nogil
cdef void plant_reset(Plant *p) noexcept nogil
cdef void plant_advance(Plant *p, int64_t t_ns) noexcept nogil
