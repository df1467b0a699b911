"""An emulated EtherCAT slave controller: its memory, and the seam to the device behind it.

Register addresses and behaviour follow the ESC data sheet (ETG.1000.4, ETG.1000.6); numbers without
a name are bits there.
"""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    ESC_MEMORY = 0x3000      # 4 KB of registers, 8 KB of process data RAM
    SII_BYTES = 2048
    MAILBOX_BYTES = 1486     # at most: the data of one datagram
    N_SM = 8
    N_FMMU = 4
    N_PORTS = 4

cdef enum:                   # registers
    REG_TYPE = 0x0000
    REG_STATION = 0x0010
    REG_ALIAS = 0x0012
    REG_ALIAS_USE = 0x0103
    REG_DL_STATUS = 0x0110
    REG_AL_CONTROL = 0x0120
    REG_AL_STATUS = 0x0130
    REG_AL_CODE = 0x0134
    REG_WD_DIVIDER = 0x0400
    REG_WD_PDI = 0x0410
    REG_WD_SM = 0x0420
    REG_WD_STATUS = 0x0440
    REG_WD_COUNT = 0x0442
    REG_EEPROM_CONTROL = 0x0502
    REG_EEPROM_ADDRESS = 0x0504
    REG_EEPROM_DATA = 0x0508
    REG_FMMU = 0x0600
    REG_SM = 0x0800
    REG_DC_PORTS = 0x0900
    REG_DC_TIME = 0x0910
    REG_DC_RECEIVE = 0x0918
    REG_DC_OFFSET = 0x0920
    REG_DC_DELAY = 0x0928
    REG_DC_DIFFERENCE = 0x092C
    REG_DC_SPEED = 0x0930
    REG_DC_FILTER = 0x0934
    REG_SYNC_ACTIVATION = 0x0981
    REG_SYNC_START = 0x0990
    REG_SYNC0_CYCLE = 0x09A0

cdef enum:                   # AL states
    AL_INIT = 1
    AL_PREOP = 2
    AL_BOOT = 3
    AL_SAFEOP = 4
    AL_OP = 8

cdef enum:                   # AL status codes
    AL_INVALID_CHANGE = 0x0011
    AL_UNKNOWN_STATE = 0x0012
    AL_NO_BOOT = 0x0013
    AL_INVALID_MAILBOX = 0x0016
    AL_INVALID_OUTPUTS = 0x001D
    AL_INVALID_INPUTS = 0x001E
    AL_WATCHDOG = 0x001B
    AL_NO_SYNC = 0x002D

cdef enum:                   # answers of a device to a change of state, beside 0 and AL status codes
    AL_LATER = -1

cdef enum:                   # kind of a port, as in 0x0007
    PORT_ABSENT = 0
    PORT_EBUS = 2
    PORT_MII = 3

cdef struct Application:
    # the device behind the controller; each call is bounded and gets `self`
    void *self
    # power came back: objects as at the start
    void (*powered)(void *self) noexcept nogil
    # resolve the PDO assignment; write the bytes of outputs and inputs, return 0 or an AL status
    # code
    int (*map_pdos)(void *self, int *n_outputs, int *n_inputs) noexcept nogil
    # outputs arrived in OP (n bytes)
    void (*take_outputs)(void *self, const uint8_t *data, int n) noexcept nogil
    # fill the inputs' buffer
    void (*give_inputs)(void *self, uint8_t *data, int n) noexcept nogil
    # bring the device's physics and timers to t_ns
    void (*advance)(void *self, int64_t t_ns) noexcept nogil
    # the AL state changed; outputs are to be safe unless state is AL_OP. code 0x1B: the watchdog
    # did it
    void (*al_changed)(void *self, int state, int code) noexcept nogil
    # answer the mailbox request of n bytes in `request` into `reply`, or with n = 0 go on with the
    # last answer; return its length, 0 for none (yet), and whether more is to come
    int (*mailbox)(void *self, const uint8_t *request, int n, uint8_t *reply, int capacity,
                   int al_state, int *more) noexcept nogil
    # break down with an error code (fault injection); NULL where a device cannot
    void (*fail)(void *self, int error_code) noexcept nogil
    # a higher AL state is asked for that follows this one: 0 = the controller decides, AL_LATER = not yet (the
    # device calls `al_decide` when it is ready), else the AL status code that refuses; NULL = 0
    int (*al_asked)(void *self, int state) noexcept nogil
    # n bytes of registers were written, and their effects are there; NULL = nothing to do
    void (*written)(void *self, int address, int n) noexcept nogil

cdef struct FmmuMap:
    # one active FMMU; bits
    int64_t first                # logical, and the one after the last
    int64_t end
    int physical                 # in memory
    int direction                # 1 the master reads, 2 it writes

cdef struct ManagerArea:
    # one enabled sync manager; bytes of memory
    int first
    int end
    int index

cdef struct Addresses:
    # addresses and owners of memory, as registers give them, until one of them is written
    int known
    int version                  # counts up when they are worked out
    uint16_t station
    uint16_t alias               # the station again, where no alias is in use
    int n_fmmus
    int n_managers
    int managed_first            # first byte of any sync manager
    int64_t logical_first        # logical bytes that FMMUs reach into, from first to before end
    int64_t logical_end
    FmmuMap fmmus[N_FMMU]
    ManagerArea managers[N_SM]

cdef struct Clock:
    # distributed clock: the local clock runs with a drift, the loop of 0x0910 corrects its speed
    double drift                 # of the local clock: 20e-6 = 20 ppm fast
    int64_t start_ns             # reading of the local clock at power-up
    int64_t base_ns              # segment time of the last correction, and the local clock there
    int64_t base_local_ns
    double rest_ns               # below one ns, so that rounding does not add up
    double speed                 # correction of the loop
    int64_t steered_ns           # segment time of the last reference; 0 = none yet

cdef struct Esc:
    uint8_t memory[ESC_MEMORY]
    uint8_t sii[SII_BYTES]
    int sii_size                 # bytes of the image; 0xFF beyond
    Application app
    # the device's fixed properties
    uint8_t ports[N_PORTS]       # kind of each port
    int has_mailbox
    uint8_t mailboxes[8]         # receive offset and size, send offset and size, as the EEPROM has them too
    int sm_outputs               # sync manager of each direction; -1 = none
    int sm_inputs
    # state
    int64_t now_ns               # segment time, set by esc_advance
    Clock clock
    int64_t arrival_ns           # after a frame has entered the segment, when it is here
    int64_t port_ns[N_PORTS]     # and when it comes in at each port
    int64_t wd_ns                # process data watchdog: the silence it allows; 0 = off
    int64_t wd_deadline_ns       # and when that ends; 0 = not running
    int outputs_valid            # outputs were written since SAFEOP
    int outputs_new              # outputs were written by the frame under way
    int op_pending               # OP asked, first outputs awaited
    int n_outputs                # mapped bytes while SAFEOP or OP, and where they lie
    int n_inputs
    int outputs_at
    int inputs_at
    int mailbox_repeat           # last repeat request bit seen in SM1
    int sm_open[N_SM]            # a mailbox's first byte was accessed, its last not yet
    int mailbox_more             # the application has more to say
    uint8_t reply[MAILBOX_BYTES]  # last mailbox reply, for the repeat service
    int reply_size
    int sync_running             # SYNC0 has a start time that was ahead when it was activated
    Addresses addresses
    int mute                     # without power: forwards, takes no part (fault injection)
    int frozen                   # answers with old inputs and an old clock (fault injection)


cdef inline bint overlaps(int address, int n, int first, int size) noexcept nogil:
    return address < first + size and first < address + n
