"""The application-layer state machine of a slave (ETG.1000.6 section 6): which requests are
honoured, which code refuses."""
from libc.stdint cimport uint8_t

from io_bridge.emulator.controller.memory cimport (
    AL_BOOT, AL_INIT, AL_INVALID_CHANGE, AL_INVALID_INPUTS, AL_INVALID_MAILBOX, AL_INVALID_OUTPUTS,
    AL_LATER, AL_NO_BOOT, AL_NO_SYNC, AL_OP, AL_PREOP, AL_SAFEOP, AL_UNKNOWN_STATE, AL_WATCHDOG, ESC_MEMORY,
    N_SM, REG_AL_CODE, REG_AL_CONTROL, REG_AL_STATUS, REG_SM, REG_SYNC_ACTIVATION, Esc,
)
from io_bridge.wire.fields cimport get16, put16

cdef enum:
    ERROR_BIT = 0x10
    OUTPUT_DATA = 0x0F00     # of a device without processor: pins in place of RAM


cdef int al_state(const Esc *esc) noexcept nogil:
    return esc.memory[REG_AL_STATUS] & 0x0F


cdef void enter(Esc *esc, int state, int code) noexcept nogil:
    """Take a state, with the error bit when `code` is not 0, and tell the device."""
    cdef int i
    esc.op_pending = 0
    put16(esc.memory + REG_AL_STATUS, <unsigned short> (state | (ERROR_BIT if code else 0)))
    put16(esc.memory + REG_AL_CODE, <unsigned short> code)
    if state == AL_INIT or state == AL_PREOP:
        esc.outputs_valid = 0
        esc.wd_deadline_ns = 0
        esc.n_outputs = 0
        esc.n_inputs = 0
    if state == AL_INIT:
        for i in range(N_SM):
            esc.memory[REG_SM + 8 * i + 5] = 0
            esc.sm_open[i] = 0
        esc.reply_size = 0
        esc.mailbox_more = 0
    esc.app.al_changed(esc.app.self, state, code)


cdef void refuse(Esc *esc, int code) noexcept nogil:
    """Stay in the state and raise the error bit."""
    esc.op_pending = 0
    esc.memory[REG_AL_STATUS] |= ERROR_BIT
    put16(esc.memory + REG_AL_CODE, <unsigned short> code)


cdef int mailbox_matches(const Esc *esc, int i) noexcept nogil:
    """SM0 and SM1 as the device wants them, enabled, in mailbox mode and the right direction."""
    cdef const uint8_t *sm = esc.memory + REG_SM + 8 * i
    cdef const uint8_t *own = esc.mailboxes + 4 * i
    return (get16(sm) == get16(own) and get16(sm + 2) == get16(own + 2) and sm[6] & 1
            and sm[4] & 0x0F == (0x06 if i == 0 else 0x02))


cdef int manager_place(const Esc *esc, int i, int size, int mode) noexcept nogil:
    """Return the address of the buffer of sync manager i (-1: none); -1 unless it holds `size` bytes."""
    cdef const uint8_t *sm = esc.memory + REG_SM + 8 * i
    if i < 0:
        return 0 if size == 0 else -1
    if get16(sm + 2) != size:
        return -1
    if size == 0:
        return 0
    if not sm[6] & 1 or sm[4] & 0x0F != mode:
        return -1
    return get16(sm) if OUTPUT_DATA <= get16(sm) <= ESC_MEMORY - size else -1


cdef int start_inputs_outputs(Esc *esc) noexcept nogil:
    """PREOP to SAFEOP: the mapped sizes must be those of the sync managers. Return 0 or the code
    that refuses."""
    cdef int n_outputs = 0
    cdef int n_inputs = 0
    cdef int code = esc.app.map_pdos(esc.app.self, &n_outputs, &n_inputs)
    if code:
        return code
    esc.outputs_at = manager_place(esc, esc.sm_outputs, n_outputs, 0x04)
    if esc.outputs_at < 0:
        return AL_INVALID_OUTPUTS
    esc.inputs_at = manager_place(esc, esc.sm_inputs, n_inputs, 0x00)
    if esc.inputs_at < 0:
        return AL_INVALID_INPUTS
    # a master that moves a sync manager later does not move these
    esc.n_outputs = n_outputs
    esc.n_inputs = n_inputs
    return 0


cdef void al_request(Esc *esc) noexcept nogil:
    """React to a write of AL control."""
    cdef int control = get16(esc.memory + REG_AL_CONTROL)
    cdef int wanted = control & 0x0F
    cdef int state = al_state(esc)
    if esc.memory[REG_AL_STATUS] & ERROR_BIT:
        # an error stands until it is acknowledged; INIT is always open
        if not control & ERROR_BIT and wanted != AL_INIT:
            return
        esc.memory[REG_AL_STATUS] = <uint8_t> state
        put16(esc.memory + REG_AL_CODE, 0)
    if wanted == AL_BOOT:
        refuse(esc, AL_NO_BOOT)
    elif wanted not in (AL_INIT, AL_PREOP, AL_SAFEOP, AL_OP):
        refuse(esc, AL_UNKNOWN_STATE)
    elif wanted == state:
        esc.op_pending = 0
    elif wanted < state:
        enter(esc, wanted, 0)
    elif wanted != 2 * state:
        refuse(esc, AL_INVALID_CHANGE)
    elif esc.app.al_asked == NULL:
        al_decide(esc, wanted, 0)
    else:
        esc.op_pending = 0
        al_decide(esc, wanted, esc.app.al_asked(esc.app.self, wanted))


cdef void al_decide(Esc *esc, int wanted, int verdict) noexcept nogil:
    """Take the next higher state, if the device has nothing against it (`verdict` is its answer when it is
    asked) and the conditions of the state are met."""
    cdef int code
    if verdict == AL_LATER:
        return
    if verdict:
        refuse(esc, verdict)
    elif wanted == AL_PREOP:
        if not esc.has_mailbox or (mailbox_matches(esc, 0) and mailbox_matches(esc, 1)):
            enter(esc, AL_PREOP, 0)
        else:
            refuse(esc, AL_INVALID_MAILBOX)
    elif wanted == AL_SAFEOP:
        code = start_inputs_outputs(esc)
        if code:
            refuse(esc, code)
        else:
            enter(esc, AL_SAFEOP, 0)
    elif esc.memory[REG_SYNC_ACTIVATION] & 0x02 and not esc.sync_running:
        refuse(esc, AL_NO_SYNC)
    elif esc.outputs_valid or esc.n_outputs == 0:
        enter(esc, AL_OP, 0)
    else:
        esc.op_pending = 1


cdef void al_outputs_arrived(Esc *esc) noexcept nogil:
    """Process data was written: OP may be waiting for it."""
    cdef int state = al_state(esc)
    if state != AL_SAFEOP and state != AL_OP:
        return
    esc.outputs_valid = 1
    if esc.op_pending:
        enter(esc, AL_OP, 0)


cdef void al_watchdog_expired(Esc *esc) noexcept nogil:
    esc.outputs_valid = 0
    if al_state(esc) == AL_OP:
        enter(esc, AL_SAFEOP, AL_WATCHDOG)
