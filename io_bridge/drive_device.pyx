"""A simulated CiA 402 servo drive in cyclic synchronous torque mode, with its motor, behind a slave
controller."""
import math

from libc.math cimport floor
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from io_bridge.coe cimport coe_answer
from io_bridge.drive_plant cimport FREE, PRESCRIBED, SPRING, plant_advance, plant_reset
from io_bridge.esc_memory cimport AL_OP, AL_WATCHDOG, SII_BYTES
from io_bridge.object_dictionary cimport (
    MAP_INPUT, MAP_OUTPUT, READ, WRITE, WRITE_PREOP, od_add, od_give_inputs, od_map,
    od_take_outputs,
)

from io_bridge.drive_config import RX_PDO, SENSOR, SIMULATED_IDENTITY, TX_PDO, DrivePlant
from io_bridge.sii import image, sync_managers

cdef enum:                         # statusword of each state; bit 4 = motor power on
    SWITCH_ON_DISABLED = 0x0040
    READY_TO_SWITCH_ON = 0x0031
    SWITCHED_ON = 0x0033
    OPERATION_ENABLED = 0x0037
    QUICK_STOP_ACTIVE = 0x0017
    FAULT = 0x0008

cdef enum:
    MODE_TORQUE = 10               # cyclic synchronous torque
    FAULT_RESET = 0x80
    ERROR_COMMUNICATION = 0x8130


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
    cdef double count = floor(d.plant.angle_rad * d.counts_per_rad)
    cdef double permille = 1000.0 * d.plant.motor_nm / d.rated_nm
    d.position[0] = <int32_t> <uint32_t> <int64_t> count
    d.velocity[0] = <int32_t> floor(d.plant.rate_rad_s * d.counts_per_rad + 0.5)
    d.torque[0] = <int16_t> floor(permille + 0.5)
    d.sensor[0] = <int32_t> floor(1000.0 * d.plant.sensor_nm + 0.5)
    d.status[0] = <uint16_t> d.state
    d.mode_display[0] = d.mode[0]


cdef void command(Drive *d) noexcept nogil:
    """Objects to physics: the current loop's input; zero in every state but Operation enabled in
    OP."""
    cdef int permille = d.target_torque[0]
    cdef int limit = d.max_torque[0]
    if d.state != OPERATION_ENABLED or not d.in_op or d.mode[0] != MODE_TORQUE:
        d.plant.wanted_nm = 0.0
        return
    if permille > limit:
        permille = limit
    elif permille < -limit:
        permille = -limit
    d.plant.wanted_nm = 0.001 * permille * d.rated_nm


cdef int map_pdos(void *self, int *n_outputs, int *n_inputs) noexcept nogil:
    return od_map(&(<Drive *> self).coe.od, n_outputs, n_inputs)


cdef void take_outputs(void *self, const uint8_t *data, int n) noexcept nogil:
    cdef Drive *d = <Drive *> self
    od_take_outputs(&d.coe.od, data, n)
    d.state = next_state(d.state, d.control[0], d.control[0] & ~d.last_control)
    d.last_control = d.control[0]
    d.status[0] = <uint16_t> d.state
    if d.state != FAULT:
        d.error_code[0] = 0
    command(d)


cdef void give_inputs(void *self, uint8_t *data, int n) noexcept nogil:
    od_give_inputs(&(<Drive *> self).coe.od, data, n)


cdef void advance(void *self, int64_t t_ns) noexcept nogil:
    cdef Drive *d = <Drive *> self
    plant_advance(&d.plant, t_ns)
    publish(d)


cdef void al_changed(void *self, int state, int code) noexcept nogil:
    """Without OP there is no torque; a watchdog is a fault that must be reset."""
    cdef Drive *d = <Drive *> self
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


cdef int mailbox(void *self, const uint8_t *request, int n, uint8_t *reply, int capacity,
                 int al_state) noexcept nogil:
    return coe_answer(&(<Drive *> self).coe, request, n, reply, capacity, al_state)


cdef void fail(void *self, int error_code) noexcept nogil:
    cdef Drive *d = <Drive *> self
    d.state = FAULT
    d.error_code[0] = <uint16_t> error_code
    d.status[0] = FAULT
    command(d)


cdef class DriveDevice(SlaveDevice):
    """A simulated drive with motor, wheel, hands, encoder and torque sensor.

    Parameters
    ----------
    parameters : DrivePlant, optional
    identity : Identity, optional
        What EEPROM and object 0x1018 say.
    """

    def __init__(self, parameters=None, identity=SIMULATED_IDENTITY) -> None:
        cdef Drive *d = &self.drive
        self.parameters = p = DrivePlant() if parameters is None else parameters
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
        d.state = SWITCH_ON_DISABLED
        self._add_objects(identity)
        self._write_sii(identity)
        self.esc.app.self = d
        self.esc.app.map_pdos = map_pdos
        self.esc.app.take_outputs = take_outputs
        self.esc.app.give_inputs = give_inputs
        self.esc.app.advance = advance
        self.esc.app.al_changed = al_changed
        self.esc.app.mailbox = mailbox
        self.esc.app.fail = fail
        publish(d)
        self.power_on()

    cdef void *_object(self, int index, int subindex, int size, int access,
                       int64_t value=0) except NULL:
        cdef void *at = od_add(&self.drive.coe.od, index, subindex, size, access)
        if at == NULL:
            raise MemoryError("the drive's object dictionary is full")
        memcpy(at, &value, min(size, 8))
        return at

    cdef int _text(self, int index, str text) except -1:
        cdef bytes value = text.encode()
        cdef const char *source = value
        memcpy(self._object(index, 0, len(value), READ), source, len(value))
        return 0

    cdef int _pdo(self, int assign, int index, entries) except -1:
        """One assignment object with room for four PDOs, one mapping object with room for eight
        entries."""
        cdef int i
        cdef int64_t word
        self._object(assign, 0, 1, READ | WRITE_PREOP, 1)
        for i in range(1, 5):
            self._object(assign, i, 2, READ | WRITE_PREOP, index if i == 1 else 0)
        self._object(index, 0, 1, READ | WRITE_PREOP, len(entries))
        for i in range(8):
            word = 0
            if i < len(entries):
                word = entries[i][0] << 16 | entries[i][1] << 8 | entries[i][2]
            self._object(index, i + 1, 4, READ | WRITE_PREOP, word)
        return 0

    def _add_objects(self, identity) -> None:
        cdef Drive *d = &self.drive
        cdef int i
        p = self.parameters
        peak = int(1000.0 * p.peak_torque_nm / p.rated_torque_nm)
        self._object(0x1000, 0, 4, READ, 0x00020192)       # servo drive, profile 402
        self._object(0x1001, 0, 1, READ)
        self._text(0x1008, p.name)
        self._text(0x1009, "emulated")
        self._text(0x100A, "1")
        self._object(0x1018, 0, 1, READ, 4)
        for i, number in enumerate((identity.vendor, identity.product, identity.revision,
                                   identity.serial)):
            self._object(0x1018, i + 1, 4, READ, number)
        self._object(0x1C00, 0, 1, READ, 4)
        for i in range(1, 5):
            self._object(0x1C00, i, 1, READ, i)
        self._pdo(0x1C12, 0x1600, RX_PDO)
        self._pdo(0x1C13, 0x1A00, TX_PDO)
        for i in (0x1C32, 0x1C33):                         # synchronous with SM2
            self._object(i, 0, 1, READ, 2)
            self._object(i, 1, 2, READ, 1 if i == 0x1C32 else 0x22)
            self._object(i, 2, 4, READ)
        d.sensor = <int32_t *> self._object(SENSOR[0], 0, 4, READ | MAP_INPUT)
        d.error_code = <uint16_t *> self._object(0x603F, 0, 2, READ | MAP_INPUT)
        d.control = <uint16_t *> self._object(0x6040, 0, 2, READ | WRITE | MAP_OUTPUT)
        d.status = <uint16_t *> self._object(0x6041, 0, 2, READ | MAP_INPUT)
        d.mode = <int8_t *> self._object(0x6060, 0, 1, READ | WRITE | MAP_OUTPUT, MODE_TORQUE)
        d.mode_display = <int8_t *> self._object(0x6061, 0, 1, READ | MAP_INPUT)
        d.position = <int32_t *> self._object(0x6064, 0, 4, READ | MAP_INPUT)
        d.velocity = <int32_t *> self._object(0x606C, 0, 4, READ | MAP_INPUT)
        d.target_torque = <int16_t *> self._object(0x6071, 0, 2, READ | WRITE | MAP_OUTPUT)
        d.max_torque = <uint16_t *> self._object(0x6072, 0, 2, READ | WRITE | MAP_OUTPUT, peak)
        self._object(0x6076, 0, 4, READ, round(1000.0 * p.rated_torque_nm))
        d.torque = <int16_t *> self._object(0x6077, 0, 2, READ | MAP_INPUT)
        self._object(0x608F, 0, 1, READ, 2)
        self._object(0x608F, 1, 4, READ, p.counts_per_rev)
        self._object(0x608F, 2, 4, READ, 1)
        self._object(0x6502, 0, 4, READ, 1 << 9)           # cyclic synchronous torque only

    def _write_sii(self, identity) -> None:
        cdef bytes content = image(identity, self.parameters.name,
                                   sync_managers(self.parameters.mailbox_bytes))
        cdef const char *source = content
        if len(content) > SII_BYTES:
            raise ValueError(f"EEPROM image of {len(content)} bytes: at most {SII_BYTES} fit")
        memcpy(self.esc.sii, source, len(content))
        self.esc.sii_size = len(content)

    def trip(self, error_code: int) -> None:
        """Put the drive into its fault state with an error code in 0x603F (fault injection)."""
        fail(&self.drive, error_code)

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
