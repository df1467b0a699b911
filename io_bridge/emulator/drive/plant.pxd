from libc.stdint cimport int64_t

cdef enum HandsMode:
    FREE = 0
    SPRING = 1
    PRESCRIBED = 2

cdef struct HandsPath:
    # where the hands want the wheel
    double angle_rad
    double rate_rad_s
    double acceleration_rad_s2

cdef struct StepLength:
    # values that follow from the length of a step; x06 is at 0.6 of it
    double h_s
    double motor                 # remaining share of the current loop's deviation
    double rate_wanted           # P / J of a torque that is the wanted one, and of a deviation from it
    double rate_over
    double rate06_wanted
    double rate06_over
    double angle_wanted          # Q / J
    double angle_over
    double angle06_wanted
    double angle06_over
    double turn_s                # sine and cosine of the angle that the hands' path goes on by
    double turn_c
    double turn06_s
    double turn06_c
    double half_s                # of the linear equations: h/2
    double inverse_s             # 1/h
    double pull                  # k h/2
    double inertia_h             # J/h
    double matrix                # 2 J/h + c + k h/2

cdef struct Plant:
    # parameters
    double inertia_kg_m2
    double viscous_nms
    double coulomb_nm
    double coulomb_rad_s         # speed at which dry friction has reached 1/sqrt(2) of its value
    double torque_lag_s
    double peak_nm
    HandsMode hands
    double hands_stiffness       # of SPRING, else 0
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
    # values that follow from the parameters
    double inverse_inertia
    double omega_rad_s           # of the hands
    double longest_s             # step that resolves all but a reversal
    # of the hands' path now, and steps until it is taken from the sine again
    HandsPath path
    double phase_s
    double phase_c
    int turns_left
    StepLength step

cdef double friction(const Plant *p, double rate, double *slope) noexcept nogil
cdef double motor_step(Plant *p, double decay) noexcept nogil
cdef double motor_decay(const Plant *p, double h) noexcept nogil
cdef void find_path(Plant *p, double t) noexcept nogil
cdef void plant_reset(Plant *p) noexcept nogil
cdef void plant_advance(Plant *p, int64_t t_ns) noexcept nogil
cdef void plant_hold(Plant *p, double angle_rad, double stiffness, double damping) noexcept nogil
