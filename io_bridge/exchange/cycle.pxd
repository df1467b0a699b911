"""State of the cyclic exchange, and the ways to run it: a block's step, the keeper, the watchdog."""
from libc.stdint cimport int64_t, uint64_t

from io_bridge.exchange.clock_lock cimport ClockLock
from io_bridge.wire.cycle_frames cimport CycleFrames
from io_bridge.exchange.drive_io cimport N_DRIVE_READS, N_DRIVE_WRITES, DriveIo
from io_bridge.exchange.slave_io cimport N_SLAVE_WRITES, SlaveIo
from io_bridge.exchange.terminal_io cimport MAX_CHANNELS, TerminalIo

cdef enum:
    MAX_SLAVES = 32
    MAX_DRIVES = 16
    MAX_TERMINALS = 16
    N_BUS_WRITES = 16
    N_CELLS = (MAX_SLAVES * N_SLAVE_WRITES + MAX_DRIVES * (N_DRIVE_READS + N_DRIVE_WRITES)
               + 2 * MAX_TERMINALS * MAX_CHANNELS + N_BUS_WRITES)

cdef extern from "io_bridge/slaves/bus_fault.h" nogil:
    enum Fault "BusFault":
        NONE "BUS_NO_FAULT"
        FAULT_NOT_READY "BUS_NOT_READY"
        FAULT_LOST "BUS_LOST_FRAMES"
        FAULT_WKC "BUS_WKC_WRONG"
        FAULT_STALE "BUS_STALE"
        FAULT_AL "BUS_LEFT_OP"
        FAULT_DRIVE "BUS_DRIVE_FAULT"
        FAULT_COMMAND "BUS_COMMAND_BAD"
        FAULT_CLOCK "BUS_CLOCK_OFF"

cdef enum:                        # positions in BUS_WRITES
    BUS_LOST = 0
    BUS_LATE = 1
    BUS_EXCHANGE = 2
    BUS_CLOCK = 3
    BUS_AL_STATE = 4
    BUS_WKC = 5
    BUS_WKC_EXPECTED = 6
    BUS_VALID = 7
    BUS_DUPLICATED = 8
    BUS_DC_ERROR = 9
    BUS_DC_LOCKED = 10
    BUS_DC_STEER = 11
    BUS_SENT = 12
    BUS_RING_OPEN = 13
    BUS_RING_NEAR = 14
    BUS_RING_BREAKS = 15

cdef struct ExchangeState:
    CycleFrames frames
    ClockLock lock
    int n_ring                  # slaves that answer a broadcast
    int n_slaves                # of them described, in ring order
    int n_drives
    int n_terminals
    int ready                   # configured
    int in_service              # OP was reached: any smaller one is a fault
    int safe                    # outputs forced to rest and disable
    int held                    # a fault has ended a command; no drive moves before it is armed again
    int held_outputs            # the same of terminals, where an enable that comes is the sign; without drives for good
    int was_enabled             # any drive, the cycle before
    int owner                   # 0 free, 1 keeper, 2 cycle, 3 watchdog, 4 a datagram beside the cycle; taken atomically
    int stop_keeper
    int new_phase               # the next step of the cycle begins to lock again
    int64_t budget_ns
    # leaky bucket: a bad cycle fills `leak`, a good one takes 1; full at `brim`
    int64_t leak
    int64_t brim
    int64_t level
    int clock_at                # offset of the FRMW datagram, 0 without clock
    int state_at                # offset of the BRD datagram
    uint64_t clock_ns           # last system time of the reference clock
    Fault cause                 # why the last bad cycle was bad
    Fault fault
    int culprit                 # slave that the fault is about, -1 when it is about no slave
    int64_t cycles
    int64_t frames_moved        # sent and received, in all
    SlaveIo slaves[MAX_SLAVES]
    DriveIo drives[MAX_DRIVES]
    TerminalIo terminals[MAX_TERMINALS]
    double *writes[N_BUS_WRITES]
    double unbound[N_CELLS]

cdef int exchange_step(void *self, int64_t t_ns) noexcept nogil
cdef int exchange_safe(void *self, int64_t t_ns) noexcept nogil
cdef void exchange_keep(ExchangeState *x, int64_t period_ns) noexcept nogil
cdef int borrow(ExchangeState *x) noexcept nogil
cdef void await_frames(ExchangeState *x, int64_t until_ns) noexcept nogil
cdef void give_back(ExchangeState *x) noexcept nogil
cdef void raise_flag(int *flag, int value) noexcept nogil
