"""An emulated EtherCAT slave controller: its memory, and the seam to the device behind it.

Register addresses and behaviour follow the ESC data sheet (ETG.1000.4, ETG.1000.6); numbers without
a name are bits there.
"""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    ESC_MEMORY = 0x3000      # 4 KB of registers, 8 KB of process data RAM
    SII_BYTES = 1024
    N_SM = 4
    N_FMMU = 4

cdef enum:                   # registers
    REG_TYPE = 0x0000
    REG_STATION = 0x0010
    REG_ALIAS = 0x0012
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

cdef struct Application:
    # the device behind the controller; each call is bounded and gets `self`
    void *self
    # resolve the PDO assignment; write the bytes of outputs and inputs, return 0 or an AL status
    # code
    int (*map_pdos)(void *self, int *n_outputs, int *n_inputs) noexcept nogil
    # outputs arrived in OP (SM2 buffer, n bytes)
    void (*take_outputs)(void *self, const uint8_t *data, int n) noexcept nogil
    # fill the SM3 buffer
    void (*give_inputs)(void *self, uint8_t *data, int n) noexcept nogil
    # bring the device's physics and timers to t_ns
    void (*advance)(void *self, int64_t t_ns) noexcept nogil
    # the AL state changed; outputs are to be safe unless state is AL_OP. code 0x1B: the watchdog
    # did it
    void (*al_changed)(void *self, int state, int code) noexcept nogil
    # answer the mailbox request of n bytes in `request` into `reply`; return its length, 0 for none
    int (*mailbox)(void *self, const uint8_t *request, int n, uint8_t *reply, int capacity,
                   int al_state) noexcept nogil
    # break down with an error code (fault injection); NULL where a device cannot
    void (*fail)(void *self, int error_code) noexcept nogil

cdef struct Esc:
    uint8_t memory[ESC_MEMORY]
    uint8_t sii[SII_BYTES]
    int sii_size                 # bytes of the image; 0xFF beyond
    Application app
    int64_t now_ns               # local clock, set by esc_advance
    int64_t wd_deadline_ns       # process data watchdog; 0 = not running
    int outputs_valid            # SM2 was written since SAFEOP
    int outputs_new              # SM2 was written by the frame under way
    int op_pending               # OP asked, first outputs awaited
    int n_outputs                # mapped bytes while SAFEOP or OP, and where they lie
    int n_inputs
    int outputs_at
    int inputs_at
    int mailbox_repeat           # last repeat request bit seen in SM1
    uint8_t reply[256]           # last mailbox reply, for the repeat service
    int reply_size
    int mute                     # without power: forwards, takes no part (fault injection)
    int frozen                   # answers with old inputs and an old clock (fault injection)
