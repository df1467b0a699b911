"""A simulated CiA 402 servo drive in the cyclic synchronous modes, with its motor, behind a slave
controller."""
import math

from libc.math cimport fabs
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t
from libc.string cimport memset

from io_bridge.emulator.drive.plant cimport FREE, PRESCRIBED, SPRING, plant_advance, plant_hold, plant_reset
from io_bridge.emulator.controller.memory cimport AL_OP, AL_WATCHDOG
from io_bridge.emulator.controller.rounding cimport whole

from io_bridge.slaves.drive_config import SENSOR, SIMULATED_IDENTITY, DrivePlant
from io_bridge.emulator.drive.objects import drive_description

cdef enum:                         # statusword of each state; bit 4 = motor power on
    SWITCH_ON_DISABLED = 0x0040
    READY_TO_SWITCH_ON = 0x0031
    SWITCHED_ON = 0x0033
    OPERATION_ENABLED = 0x0037
    QUICK_STOP_ACTIVE = 0x0017
    FAULT = 0x0008
    WARNING = 0x0080               # beside any of them

cdef enum:                         # cyclic synchronous modes
    MODE_POSITION = 8
    MODE_VELOCITY = 9
    MODE_TORQUE = 10

cdef enum:
    FAULT_RESET = 0x80
    ERROR_COMMUNICATION = 0x8130
    ERROR_STOPPED = 0x5441         # the emergency stop has taken the power from the motor
    CONTROL_NS = 125000            # period of the velocity and position loops

cdef double VELOCITY_BANDWIDTH_RAD_S = 2.0 * math.pi * 40.0


cdef int next_state(int state, int control, int rising) noexcept nogil:
    """The drive's side of the CiA 402 state machine: one transition per controlword."""
    if state == FAULT:
        return SWITCH_ON_DISABLED if rising & FAULT_RESET else FAULT
    if control & 0x02 == 0:                           # disable voltage
        return SWITCH_ON_DISABLED
    if control & 0x04 == 0:                           # quick stop
        if state == OPERATION_ENABLED or state == QUICK_STOP_ACTIVE:
            return QUICK_STOP_ACTIVE
        return SWITCH_ON_DISABLED
    if state == QUICK_STOP_ACTIVE:
        return state
    if control & 0x01 == 0:                           # shutdown
        return READY_TO_SWITCH_ON
    if state == SWITCH_ON_DISABLED:                   # needs a shutdown first
        return state
    if state == READY_TO_SWITCH_ON:
        return SWITCHED_ON
    return OPERATION_ENABLED if control & 0x08 else SWITCHED_ON


cdef void publish(Drive *d) noexcept nogil:
    """Physics to objects: quantised multi-turn count modulo 2^32, rounded speed and torques."""
    # what is not the drive's own it does not report
    cdef double beside = d.bias_nm if d.state == OPERATION_ENABLED else 0.0
    cdef double permille = 1000.0 * (d.plant.motor_nm - beside) / (d.shaft_gain * d.rated_nm)
    cdef double counts = d.counts_sign * d.counts_per_rad
    cdef double play = 0.5 * d.play_rad
    d.seen_rad = max(d.plant.angle_rad - play, min(d.plant.angle_rad + play, d.seen_rad))
    if d.says_nothing and d.state != OPERATION_ENABLED:
        permille = 0.0
    d.position[0] = <int32_t> (<uint32_t> whole(d.seen_rad * counts + d.offset_count) | d.stuck_bits)
    d.velocity[0] = <int32_t> whole(d.plant.rate_rad_s * counts + 0.5)
    d.torque[0] = <int16_t> whole(permille + 0.5)
    d.sensor[0] = <int32_t> whole(1000.0 * d.plant.sensor_nm + 0.5)
    d.status[0] = <uint16_t> d.state | d.warning
    d.mode_display[0] = d.mode[0]


cdef double torque_limit_nm(const Drive *d) noexcept nogil:
    if d.ignores_max_torque:
        return d.plant.peak_nm
    return 0.001 * d.max_torque[0] * d.rated_nm


cdef int looped(const Drive *d) noexcept nogil:
    """Return whether a control loop inside the drive sets the torque."""
    if d.state != OPERATION_ENABLED or not d.in_op:
        return 0
    return d.mode[0] == MODE_VELOCITY or d.mode[0] == MODE_POSITION


cdef void control(Drive *d) noexcept nogil:
    """One step of the loops: a PI velocity loop, under a P position loop in that mode."""
    cdef double rate = d.plant.rate_rad_s
    cdef double limit = torque_limit_nm(d)
    cdef double target, deviation, torque
    if not looped(d):
        return
    if d.mode[0] != d.last_mode:
        d.last_mode = d.mode[0]
        d.integral_nm = d.plant.motor_nm
    if d.mode[0] == MODE_VELOCITY:
        target = d.target_velocity[0] / d.counts_per_rad
    else:
        # the shorter way round the counter
        deviation = <int32_t> (<uint32_t> d.target_position[0] - <uint32_t> d.position[0])
        target = d.position_gain * deviation / d.counts_per_rad
    deviation = target - rate
    torque = d.velocity_gain * deviation + d.integral_nm
    if -limit <= torque <= limit:
        d.integral_nm += d.velocity_gain * d.velocity_reset * deviation * 1e-9 * CONTROL_NS
    want(d, max(-limit, min(limit, torque)))


cdef void want(Drive *d, double torque) noexcept nogil:
    """The input of the current loop, as the shaft will have it: at once, or after the delay."""
    cdef int last
    if d.one_way:
        torque = max(0.0, torque)
    torque = d.shaft_gain * torque + d.bias_nm
    if d.clip_nm > 0.0:
        torque = max(-d.clip_nm, min(d.clip_nm, torque))
    if fabs(d.plant.rate_rad_s) < d.inverts_rad_s:
        torque = -torque
    if d.delay_ns == 0:
        d.plant.wanted_nm = torque
    elif d.n_due < QUEUE:
        last = (d.first + d.n_due) % QUEUE
        d.due_ns[last] = d.plant.now_ns + d.delay_ns
        d.due_nm[last] = torque
        d.n_due += 1


cdef double slowed(Drive *d, double torque) noexcept nogil:
    """A command behind the drive's own slope."""
    cdef double reach = 1e-9 * (d.plant.now_ns - d.asked_ns) * d.slope_nm_s
    if d.slope_nm_s > 0.0:
        torque = max(d.asked_nm - reach, min(d.asked_nm + reach, torque))
    d.asked_ns = d.plant.now_ns
    d.asked_nm = torque
    return torque


cdef void command(Drive *d) noexcept nogil:
    """Objects to physics: the current loop's input; zero in every state but Operation enabled in
    OP."""
    cdef double limit = torque_limit_nm(d)
    cdef double torque = 0.001 * d.target_torque[0] * d.rated_nm
    if looped(d) or d.runs_on:
        return
    d.last_mode = 0
    if d.state != OPERATION_ENABLED or not d.in_op or d.mode[0] != MODE_TORQUE:
        if d.outlasts_ns and d.plant.wanted_nm != 0.0:
            d.runs_on = 1
            d.runs_on_until_ns = d.plant.now_ns + d.outlasts_ns
            return
        d.plant.wanted_nm = 0.0
        d.n_due = 0
        d.asked_nm = 0.0
        d.asked_ns = d.plant.now_ns
        return
    want(d, slowed(d, max(-limit, min(limit, torque))))


cdef void drive_outputs(void *device) noexcept nogil:
    cdef Drive *d = <Drive *> device
    d.state = next_state(d.state, d.control[0], d.control[0] & ~d.last_control)
    d.last_control = d.control[0]
    d.status[0] = <uint16_t> d.state
    if d.state != FAULT:
        d.error_code[0] = 0
        d.runs_on = d.runs_on and d.runs_on_until_ns != 0
    command(d)


cdef void move(Drive *d, int64_t t_ns) noexcept nogil:
    if d.runs_on and 0 < d.runs_on_until_ns <= t_ns:
        carry(d, d.runs_on_until_ns)
        d.runs_on = 0
        d.runs_on_until_ns = 0
        d.plant.wanted_nm = 0.0
        command(d)
    while d.n_due > 0 and d.due_ns[d.first] <= t_ns:
        carry(d, d.due_ns[d.first])
        d.plant.wanted_nm = d.due_nm[d.first]
        d.first = (d.first + 1) % QUEUE
        d.n_due -= 1
    carry(d, t_ns)


cdef void carry(Drive *d, int64_t t_ns) noexcept nogil:
    if d.shaft != NULL:
        d.shaft_advance(d.shaft, t_ns)
    else:
        plant_advance(&d.plant, t_ns)


cdef void drive_advance(void *device, int64_t t_ns) noexcept nogil:
    """Physics to t_ns, with the steps of the loops on the way (at most a second of them)."""
    cdef Drive *d = <Drive *> device
    if d.control_ns <= t_ns and (looped(d) or (d.partner != NULL and looped(d.partner))):
        if t_ns - d.control_ns > 1000000000:
            d.control_ns = t_ns
        while d.control_ns <= t_ns:
            move(d, d.control_ns)
            publish(d)
            control(d)
            d.control_ns += CONTROL_NS
            if d.partner != NULL:
                publish(d.partner)
                control(d.partner)
                d.partner.control_ns = d.control_ns
    elif d.control_ns <= t_ns:
        d.control_ns += ((t_ns - d.control_ns) // CONTROL_NS + 1) * CONTROL_NS
    move(d, t_ns)
    publish(d)


cdef void drive_powered(void *device) noexcept nogil:
    """The state machine starts over; the wheel turns on."""
    cdef Drive *d = <Drive *> device
    d.state = SWITCH_ON_DISABLED
    d.last_control = 0
    d.last_mode = 0
    publish(d)


cdef void drive_changed(void *device, int state, int code) noexcept nogil:
    """Without OP there is no torque; a watchdog is a fault that must be reset."""
    cdef Drive *d = <Drive *> device
    if d.deaf and code == AL_WATCHDOG:
        return
    if code == AL_WATCHDOG and d.deaf_from_now:
        d.deaf = 1
    d.in_op = state == AL_OP
    if not d.in_op:
        d.control[0] = 0
        d.target_torque[0] = 0
        d.last_control = 0
        if code == AL_WATCHDOG:
            d.state = FAULT
            d.error_code[0] = ERROR_COMMUNICATION
        elif d.state != FAULT:
            d.state = SWITCH_ON_DISABLED
        d.status[0] = <uint16_t> d.state
    command(d)


cdef void drive_fail(void *self, int error_code) noexcept nogil:
    cdef Drive *d = <Drive *> self
    d.state = FAULT
    d.error_code[0] = <uint16_t> error_code
    d.status[0] = FAULT
    command(d)


cdef int drive_make(Drive *d, p) except -1:
    """Motor, wheel, hands and loops with the parameters `p`, at rest and switched off."""
    memset(d, 0, sizeof(Drive))
    d.plant.inertia_kg_m2 = p.inertia_kg_m2
    d.plant.viscous_nms = p.viscous_nms
    d.plant.coulomb_nm = p.coulomb_nm
    d.plant.coulomb_rad_s = p.coulomb_rad_s
    d.plant.torque_lag_s = p.torque_lag_s
    d.plant.peak_nm = p.peak_torque_nm
    d.plant.hands = {"free": FREE, "spring": SPRING, "prescribed": PRESCRIBED}[p.hands]
    d.plant.hands_stiffness = p.hands_stiffness_nm_rad
    d.plant.hands_damping = p.hands_damping_nms
    d.plant.amplitude_rad = p.amplitude_rad
    d.plant.frequency_hz = p.frequency_hz
    d.plant.offset_rad = p.offset_rad
    d.plant.start_s = p.start_s
    plant_reset(&d.plant)
    d.counts_per_rad = p.counts_per_rev / (2.0 * math.pi)
    d.rated_nm = p.rated_torque_nm
    d.velocity_gain = p.inertia_kg_m2 * VELOCITY_BANDWIDTH_RAD_S
    d.velocity_reset = 0.25 * VELOCITY_BANDWIDTH_RAD_S
    d.position_gain = 0.25 * VELOCITY_BANDWIDTH_RAD_S
    d.state = SWITCH_ON_DISABLED
    d.shaft_gain = p.torque_sign * p.torque_factor
    d.counts_sign = p.encoder_sign
    d.offset_count = p.encoder_offset_count
    d.delay_ns = round(1e9 * p.torque_delay_s)
    d.slope_nm_s = p.torque_slope_nm_s
    d.ignores_max_torque = not p.keeps_max_torque
    d.deaf = not p.has_watchdog
    d.deaf_from_now = p.watchdog_once
    d.stop_wired = p.stop_wired
    d.stop_warns = p.stop_does == "warn"
    d.stop_runs_on = p.stop_does == "run on"
    d.outlasts_ns = round(1e9 * p.torque_outlasts_s)
    d.one_way = p.torque_one_way
    d.clip_nm = p.torque_clip_nm
    d.bias_nm = p.torque_bias_nm
    d.inverts_rad_s = p.torque_inverts_below_rad_s
    d.spring_nm_rad = p.spring_nm_rad
    d.play_rad = p.encoder_play_rad
    d.seen_rad = d.plant.angle_rad
    d.stuck_bits = p.encoder_stuck_bits
    d.says_nothing = p.says_no_torque
    if p.hands == "free" and d.spring_nm_rad > 0.0:
        plant_hold(&d.plant, p.offset_rad, d.spring_nm_rad, 0.0)
    return 0


cdef int drive_find(Drive *d, DescribedDevice device, int offset) except -1:
    """Find its objects in the dictionary, by their usual indices and the axis' offset."""
    d.sensor = <int32_t *> device._value(SENSOR[0] + offset, 0, 4)
    d.error_code = <uint16_t *> device._value(0x603F + offset, 0, 2)
    d.control = <uint16_t *> device._value(0x6040 + offset, 0, 2)
    d.status = <uint16_t *> device._value(0x6041 + offset, 0, 2)
    d.mode = <int8_t *> device._value(0x6060 + offset, 0, 1)
    d.mode_display = <int8_t *> device._value(0x6061 + offset, 0, 1)
    d.position = <int32_t *> device._value(0x6064 + offset, 0, 4)
    d.velocity = <int32_t *> device._value(0x606C + offset, 0, 4)
    d.target_torque = <int16_t *> device._value(0x6071 + offset, 0, 2)
    d.max_torque = <uint16_t *> device._value(0x6072 + offset, 0, 2)
    d.torque = <int16_t *> device._value(0x6077 + offset, 0, 2)
    d.target_position = <int32_t *> device._value(0x607A + offset, 0, 4)
    d.target_velocity = <int32_t *> device._value(0x60FF + offset, 0, 4)
    return 0


cdef class DriveDevice(DescribedDevice):
    """A simulated drive with motor, wheel, hands, encoder and torque sensor.

    Parameters
    ----------
    parameters : DrivePlant, optional
    identity : Identity, optional
        The identity in EEPROM and object 0x1018.
    description : Description, optional
        In place of `drive_description` of both: with other PDOs, or further objects.
    """

    def __init__(self, parameters=None, identity=SIMULATED_IDENTITY, description=None) -> None:
        cdef Drive *d = &self.drive
        self.parameters = p = DrivePlant() if parameters is None else parameters
        drive_make(d, p)
        self._describe(drive_description(p, identity) if description is None else description)
        drive_find(d, self, 0)
        self.behaviour.device = d
        self.behaviour.powered = drive_powered
        self.behaviour.outputs = drive_outputs
        self.behaviour.advance = drive_advance
        self.behaviour.changed = drive_changed
        self.behaviour.fail = drive_fail
        self.power_on()

    def trip(self, error_code: int) -> None:
        """Put the drive into its fault state with an error code in 0x603F (fault injection)."""
        drive_fail(&self.drive, error_code)

    def press_stop(self) -> None:
        """Press the emergency stop; nothing happens where it has no cable."""
        cdef Drive *d = &self.drive
        if not d.stop_wired:
            return
        if d.stop_warns:
            d.warning = WARNING
            return
        d.runs_on = d.stop_runs_on
        drive_fail(d, ERROR_STOPPED)

    def lead(self, angle_rad: float, stiffness_nm_rad: float = 50.0,
             damping_nms: float = 3.5) -> None:
        """Have somebody's hands lead the wheel to an angle and hold it there."""
        plant_hold(&self.drive.plant, angle_rad, stiffness_nm_rad, damping_nms)

    def let_go(self) -> None:
        """Have the hands let go of the wheel."""
        plant_hold(&self.drive.plant, self.parameters.offset_rad, self.drive.spring_nm_rad, 0.0)

    @property
    def angle_rad(self) -> float:
        """True wheel angle, before the encoder."""
        return self.drive.plant.angle_rad

    @property
    def rate_rad_s(self) -> float:
        return self.drive.plant.rate_rad_s

    @property
    def motor_torque_nm(self) -> float:
        """Torque on the shaft, after the current loop."""
        return self.drive.plant.motor_nm

    @property
    def wanted_torque_nm(self) -> float:
        """Input of the current loop."""
        return self.drive.plant.wanted_nm

    @property
    def sensor_torque_nm(self) -> float:
        """Torque the hands put on the wheel."""
        return self.drive.plant.sensor_nm

    @property
    def statusword(self) -> int:
        return self.drive.state
