"""A drive's command and sensors in the units of the rig; a command that the drive is not ready for never leaves.

Source: CiA 402-2: 0x6040/41 control and status, 0x6060/61 mode, 0x6071 torque in per mille of rated,
0x60FF velocity, 0x607A position in increments.
"""
import math

from libc.math cimport fabs, floor, isfinite
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t

from io_bridge.slaves.cia402 cimport (
    FAULT, MODE_POSITION, MODE_TORQUE, MODE_VELOCITY, OPERATION_ENABLED, UNKNOWN, DriveMode, decode,
    next_control,
)
from io_bridge.wire.fields cimport get16, get32, put16, put32

from io_bridge.slaves.drive_config import (
    AXIS_STEP, COMMAND_OBJECTS, MODE_CODES, pdo_offset, SENSOR as SENSOR_OBJECT,
)

cdef extern from "io_bridge/slaves/enable_rule.h" nogil:
    int drive_is_in_mode(int is_shown, int shown, int asked)
    int drive_is_enabled(int allowed, int in_mode, double enable)
    int drive_wish(int enabled, int stops)
    int drive_is_held(int held, int moved, int in_mode, int has_own_guard, int state)
    int drive_may_move(int enabled, int live, int state, double command)
    double clamp "drive_clamped"(double value, double limit)
    double rounded "drive_rounded"(double value)
    double drive_permille(double command_nm, double permille_per_nm, double peak_permille)
    int16_t drive_torque_word(double permille)

cdef enum:
    LONGEST_NS = 100000000       # between two commands; a longer gap moves no further than this


cdef void put_target(DriveIo *d, uint8_t *out, double value) noexcept nogil:
    if d.mode == MODE_TORQUE:
        put16(out + d.o_command, <uint16_t> drive_torque_word(value))
    else:
        put32(out + d.o_command, <uint32_t> <int32_t> rounded(value))


cdef double target(DriveIo *d, double command, double dt_s) noexcept nogil:
    """The command in the drive's increments, held within the drive's limits."""
    cdef double reach
    if d.mode == MODE_TORQUE:
        return drive_permille(command, d.permille_per_nm, d.peak_permille)
    if d.mode == MODE_VELOCITY:
        return clamp(command * d.counts_per_rad, d.limit_counts_s) / d.counts_s_per_unit
    reach = d.limit_counts_s * dt_s
    d.target_count += clamp(command * d.counts_per_rad - d.target_count, reach)
    return d.target_count


cdef void put_rest(DriveIo *d, uint8_t *out) noexcept nogil:
    """No torque, no speed, or the place where the drive is."""
    d.target_count = d.actual_count
    d.moved = 0
    put_target(d, out, d.actual_count if d.mode == MODE_POSITION else 0.0)


cdef int drive_pack(DriveIo *d, uint8_t *out, int64_t t_ns, int allowed, int live) noexcept nogil:
    """Fill the drive's outputs; `allowed`: it may be enabled, `live`: its command may leave. Return 1
    when the command is not finite."""
    cdef double command = d.reads[COMMAND][0]
    cdef int enabled = drive_is_enabled(allowed, d.in_mode, d.reads[ENABLE][0])
    cdef int reset = d.reads[RESET][0] > 0.5
    cdef double dt_s = 1e-9 * <double> min(max(t_ns - d.t_ns, <int64_t> 0), <int64_t> LONGEST_NS)
    d.t_ns = t_ns
    # held until the drive has left its fault: a lost frame does not lose the edge
    d.resetting = d.state == FAULT and allowed and (d.resetting or (reset and not d.reset_before))
    d.reset_before = reset
    put16(out + d.o_control, next_control(d.state, drive_wish(enabled, d.stops), d.resetting))
    if d.o_mode >= 0:
        out[d.o_mode] = <uint8_t> <int> d.mode
    if drive_may_move(enabled, live, d.state, command):
        command = target(d, command, dt_s)
        d.moved |= d.mode != MODE_TORQUE or fabs(command) >= 0.5
        put_target(d, out, command)
    else:
        put_rest(d, out)
    return not isfinite(command)


cdef void drive_pack_safe(DriveIo *d, uint8_t *out) noexcept nogil:
    """Rest and disable, or brake, whatever the cells say."""
    put16(out + d.o_control, next_control(d.state, drive_wish(0, d.stops), 0))
    put_rest(d, out)


cdef void drive_unpack(DriveIo *d, const uint8_t *data) noexcept nogil:
    """Valid inputs into the drive's cells."""
    cdef uint32_t count = get32(data + d.i_position)
    d.actual_count = <double> <int32_t> count
    # modulo 2^32, so that the turn-over stays where it is
    d.writes[POSITION][0] = <double> <int32_t> (<uint32_t> d.sign * count)
    if d.i_velocity >= 0:
        d.writes[VELOCITY][0] = (
            d.sign * d.counts_s_per_unit * <double> <int32_t> get32(data + d.i_velocity)
        )
    if d.i_torque >= 0:
        d.writes[TORQUE_ACTUAL][0] = <double> <int16_t> get16(data + d.i_torque) / d.permille_per_nm
    if d.i_sensor >= 0:
        d.writes[SENSOR][0] = d.sign * 0.001 * <double> <int32_t> get32(data + d.i_sensor)
    d.writes[STATUSWORD][0] = get16(data + d.i_status)
    d.state = decode(get16(data + d.i_status))
    d.shown = <int8_t> data[d.i_mode] if d.i_mode >= 0 else 0
    # a drive that shows another mode would take the command for something else
    d.in_mode = drive_is_in_mode(d.i_mode >= 0, d.shown, d.mode)
    d.writes[OPERATIONAL][0] = d.state == OPERATION_ENABLED and d.in_mode


cdef void drive_hold(DriveIo *d) noexcept nogil:
    """Judge after a cycle whether its command ended for good."""
    d.held = drive_is_held(d.held, d.moved, d.in_mode, d.has_own_guard, d.state)


cdef void drive_forget(DriveIo *d) noexcept nogil:
    """Mark the state of the drive as unknown."""
    d.state = UNKNOWN
    d.writes[OPERATIONAL][0] = 0.0


cdef void fill_drive(DriveIo *d, config) except *:
    """Scaling and places of the objects; see DriveConfig."""
    d.mode = <DriveMode> <int> MODE_CODES[config.mode]
    d.sign = config.sign
    d.stops = config.quick_stop
    d.has_own_guard = config.has_own_guard
    d.permille_per_nm = config.sign * 1000.0 / config.rated_torque_nm
    d.peak_permille = floor(1000.0 * config.peak_torque_nm / config.rated_torque_nm)
    d.counts_per_rad = config.sign * config.counts_per_rev / (2.0 * math.pi)
    d.counts_s_per_unit = config.velocity_unit_counts_s
    d.limit_counts_s = config.velocity_limit_rad_s * config.counts_per_rev / (2.0 * math.pi)
    place_drive(d, config, config.rx_pdo, config.tx_pdo)


cdef void place_drive(DriveIo *d, config, outputs, inputs) except *:
    """Places of the objects in these outputs and inputs, which may be those of several axes."""
    d.in_mode = d.shown = 0      # no inputs yet
    shift = AXIS_STEP * config.axis
    command = COMMAND_OBJECTS[config.mode]
    d.o_control = pdo_offset(outputs, shift + 0x6040, 0, 16)
    d.o_command = pdo_offset(outputs, shift + command[0], 0, command[2])
    d.o_mode = pdo_offset(outputs, shift + 0x6060, 0, 8)
    d.i_status = pdo_offset(inputs, shift + 0x6041, 0, 16)
    d.i_position = pdo_offset(inputs, shift + 0x6064, 0, 32)
    d.i_velocity = pdo_offset(inputs, shift + 0x606C, 0, 32)
    d.i_torque = pdo_offset(inputs, shift + 0x6077, 0, 16)
    d.i_mode = pdo_offset(inputs, shift + 0x6061, 0, 8)
    d.i_sensor = pdo_offset(inputs, shift + SENSOR_OBJECT[0], SENSOR_OBJECT[1], SENSOR_OBJECT[2])
    if min(d.o_control, d.o_command, d.i_status, d.i_position) < 0:
        raise ValueError(f"drive {config.name!r}: its process data lack what it needs, on whole bytes: "
                         "controlword, command, statusword or position")
