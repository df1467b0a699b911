"""State of the cyclic exchange, and the two ways to run it: a block's step, and the keeper."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t

from io_bridge.frame cimport MAX_FRAME
from io_bridge.link cimport Transport

cdef enum:
    MAX_DRIVES = 16
    N_DRIVE_READS = 3
    N_DRIVE_WRITES = 11
    N_BUS_WRITES = 9

cdef enum:                        # fault codes of a step
    FAULT_NOT_READY = 1
    FAULT_LOST = 2
    FAULT_WKC = 3
    FAULT_STALE = 4
    FAULT_AL = 5
    FAULT_DRIVE = 6
    FAULT_COMMAND = 7

cdef enum:                        # positions in DRIVE_READS, DRIVE_WRITES, BUS_WRITES
    TORQUE = 0
    ENABLE = 1
    RESET = 2
    POSITION = 0
    VALID = 1
    VELOCITY = 2
    TORQUE_ACTUAL = 3
    STATUSWORD = 4
    OPERATIONAL = 5
    AL_STATE = 6
    AL_CODE = 7
    WKC = 8
    WKC_EXPECTED = 9
    SENSOR = 10
    BUS_LOST = 0
    BUS_LATE = 1
    BUS_EXCHANGE = 2
    BUS_CLOCK = 3
    BUS_AL_STATE = 4
    BUS_WKC = 5
    BUS_WKC_EXPECTED = 6
    BUS_VALID = 7
    BUS_SENT = 8

cdef struct DriveIo:
    double permille_per_nm      # of rated torque, with the drive's sign
    double peak_permille
    int sign
    # offsets of the datagrams in the frame
    int al_at
    int inputs_at
    int outputs_at
    # offsets of the objects in outputs and inputs; -1 = not mapped
    int o_control
    int o_torque
    int o_mode
    int i_status
    int i_position
    int i_velocity
    int i_torque
    int i_sensor
    # state
    int state                   # DriveState by the last valid inputs
    int al_status
    int al_code
    int reset_before
    # cells
    double *reads[N_DRIVE_READS]
    double *writes[N_DRIVE_WRITES]

cdef struct ExchangeState:
    Transport transport
    int n_drives
    int n_slaves
    int ready                   # configured
    int in_service              # OP was reached: anything less is a fault
    int safe                    # outputs forced to zero and disable
    int owner                   # 0 free, 1 keeper, 2 cycle, 3 watchdog; taken atomically
    int stop_keeper
    int64_t budget_ns
    int bad_limit
    uint8_t tx[MAX_FRAME]
    uint8_t rx[MAX_FRAME]
    int size                    # bytes of the frame
    uint8_t index               # of the frame under way, 0x80-0xFF
    int clock_at                # offset of the FRMW datagram, 0 without clock
    int state_at                # offset of the BRD datagram
    uint64_t clock_ns           # last system time seen
    int fresh
    int bad_in_row
    int cause                   # why the last bad cycle was bad
    int fault
    int64_t lost
    int64_t late
    int64_t cycles
    DriveIo drives[MAX_DRIVES]
    double *writes[N_BUS_WRITES]
    double unbound[MAX_DRIVES * (N_DRIVE_READS + N_DRIVE_WRITES) + N_BUS_WRITES]

cdef int exchange_step(void *self, int64_t t_ns) noexcept nogil
cdef int exchange_safe(void *self, int64_t t_ns) noexcept nogil
cdef void exchange_keep(ExchangeState *x, int64_t period_ns) noexcept nogil
cdef void raise_flag(int *flag, int value) noexcept nogil
