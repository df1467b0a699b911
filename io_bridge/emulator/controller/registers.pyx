"""Effects of reads and writes of controller memory: sync managers, EEPROM, clock and watchdog
registers.

An access is granted as a whole or refused as a whole; a refused one leaves the datagram and the
counter untouched.
"""
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from io_bridge.emulator.controller.addresses cimport addresses_find, addresses_written
from io_bridge.emulator.controller.al_states cimport al_outputs_arrived, al_request, al_state, al_watchdog_expired
from io_bridge.emulator.controller.clock cimport (
    clock_latch, clock_loop_reset, clock_power_on, clock_steer, clock_system_ns, sync_activated,
)
from io_bridge.emulator.controller.memory cimport (
    AL_INIT, AL_OP, AL_PREOP, AL_SAFEOP, ESC_MEMORY, MAILBOX_BYTES, N_FMMU, N_PORTS, N_SM,
    REG_AL_CONTROL, REG_AL_STATUS, REG_ALIAS, REG_DC_PORTS, REG_DC_SPEED, REG_DC_TIME, REG_DL_STATUS,
    REG_EEPROM_ADDRESS, REG_EEPROM_CONTROL, REG_EEPROM_DATA, REG_SM, REG_SYNC_ACTIVATION, REG_TYPE,
    REG_WD_COUNT, REG_WD_DIVIDER, REG_WD_PDI, REG_WD_SM, REG_WD_STATUS, SII_BYTES, Addresses, Esc,
    ManagerArea, overlaps,
)
from io_bridge.wire.fields cimport copy_few, get16, get32, get64, put16, put64

cdef enum:
    REGISTERS = 0x1000
    SM_BYTES = 8
    MAILBOX_FULL = 0x08
    WATCHDOG_TRIGGER = 0x40

# first and last byte a master may write below the process data RAM; all else there is read-only
cdef int[15][2] writable = [
    [0x0010, 0x0013], [0x0020, 0x0021], [0x0030, 0x0031], [0x0100, 0x0103], [0x0120, 0x0121],
    [0x0200, 0x0201], [0x0300, 0x0313], [0x0400, 0x0401], [0x0410, 0x0411], [0x0420, 0x0421],
    [0x0500, 0x050F], [0x0600, 0x06FF], [0x0800, 0x087F], [0x0900, 0x0903], [0x0910, 0x09FF],
]


cdef void esc_power_on(Esc *esc) noexcept nogil:
    """Registers as after power-up; the SII image and the links stay."""
    cdef uint8_t *memory = esc.memory
    cdef int links = get16(memory + REG_DL_STATUS)
    cdef int i
    memset(memory, 0, ESC_MEMORY)
    esc.addresses.known = 0
    put16(memory + REG_DL_STATUS, <unsigned short> links)
    memory[REG_TYPE] = 0x11
    memory[REG_TYPE + 4] = N_FMMU
    memory[REG_TYPE + 5] = N_SM
    memory[REG_TYPE + 6] = 8                       # KB of process data RAM
    for i in range(N_PORTS):
        memory[REG_TYPE + 7] |= <uint8_t> (esc.ports[i] << 2 * i)
    memory[REG_TYPE + 8] = 0x0C                    # distributed clock, 64 bit
    memcpy(memory + REG_ALIAS, esc.sii + 8, 2)
    memory[REG_AL_STATUS] = AL_INIT
    memory[0x0140] = 0x05                          # process data interface: SPI slave
    put16(memory + REG_WD_DIVIDER, 2498)
    put16(memory + REG_WD_PDI, 1000)
    put16(memory + REG_WD_SM, 1000)
    put16(memory + REG_DC_SPEED, 0x1000)
    memory[REG_DC_SPEED + 4] = 4
    memory[REG_DC_SPEED + 5] = 12
    clock_power_on(esc)
    esc.wd_ns = watchdog_ns(esc)
    esc.wd_deadline_ns = 0
    esc.outputs_valid = 0
    esc.outputs_new = 0
    esc.op_pending = 0
    esc.n_outputs = 0
    esc.n_inputs = 0
    esc.mailbox_repeat = 0
    esc.mailbox_more = 0
    memset(esc.sm_open, 0, sizeof(esc.sm_open))
    esc.reply_size = 0
    esc.app.powered(esc.app.self)
    esc.app.al_changed(esc.app.self, AL_INIT, 0)


cdef int64_t watchdog_ns(const Esc *esc) noexcept nogil:
    """The silence that the watchdog's registers allow; 0 = any."""
    return <int64_t> get16(esc.memory + REG_WD_SM) * (get16(esc.memory + REG_WD_DIVIDER) + 2) * 40


cdef void esc_advance(Esc *esc, int64_t t_ns) noexcept nogil:
    """Let local time pass: the device moves, and a watchdog that ends on the way acts at its own
    instant."""
    if t_ns <= esc.now_ns:
        return
    if esc.wd_deadline_ns and t_ns >= esc.wd_deadline_ns:
        esc.now_ns = esc.wd_deadline_ns
        esc.wd_deadline_ns = 0
        esc.app.advance(esc.app.self, esc.now_ns)
        esc.memory[REG_WD_STATUS] &= 0xFE
        if esc.memory[REG_WD_COUNT] < 255:
            esc.memory[REG_WD_COUNT] += 1
        al_watchdog_expired(esc)
    esc.now_ns = t_ns
    esc.app.advance(esc.app.self, t_ns)


cdef void esc_sample(Esc *esc) noexcept nogil:
    """Inputs of the device as it is now, once all devices have moved."""
    if not esc.frozen:
        esc.app.give_inputs(esc.app.self, esc.memory + esc.inputs_at, esc.n_inputs)


cdef inline int sm_access(Esc *esc, int address, int n, int writing) noexcept nogil:
    """Return the sync manager that owns the bytes, -1 for none, -2 when it refuses the access."""
    if esc.addresses.known and address + n <= esc.addresses.managed_first:
        return -1
    return managed_access(esc, address, n, writing)


cdef int managed_access(Esc *esc, int address, int n, int writing) noexcept nogil:
    cdef const Addresses *a = &esc.addresses
    cdef const ManagerArea *area
    cdef int i, j, control
    cdef uint8_t *sm
    if not a.known:
        addresses_find(esc)
    if address + n <= a.managed_first:
        return -1
    for j in range(a.n_managers):
        area = &a.managers[j]
        if address >= area.end or area.first >= address + n:
            continue
        i = area.index
        sm = esc.memory + REG_SM + SM_BYTES * i
        control = sm[4]
        # direction 1: the master writes
        if address < area.first or address + n > area.end or (control >> 2 & 1) != writing:
            return -2
        if control & 3 == 2:
            # a mailbox is opened at its first byte, written when empty, read when full
            if (sm[5] & MAILBOX_FULL != 0) == writing:
                return -2
            if address == area.first:
                esc.sm_open[i] = 1
            elif not esc.sm_open[i]:
                return -2
        elif al_state(esc) < AL_SAFEOP:
            return -2
        return i
    return -1


cdef int esc_read(Esc *esc, int address, int n, uint8_t *out) noexcept nogil:
    """Copy n bytes at `address` to `out`. Return 1, or 0 when the controller refuses."""
    cdef int sm
    cdef uint8_t *registers
    if n <= 0 or address < 0 or address + n > ESC_MEMORY:
        return 0
    sm = sm_access(esc, address, n, 0)
    if sm == -2:
        return 0
    if overlaps(address, n, REG_DC_TIME, 8) and not esc.frozen:
        put64(esc.memory + REG_DC_TIME, clock_system_ns(esc))
    copy_few(out, esc.memory + address, n)
    if sm >= 0:
        registers = esc.memory + REG_SM + 8 * sm
        if registers[4] & 3 == 2 and address + n == get16(registers) + get16(registers + 2):
            registers[5] &= ~MAILBOX_FULL & 0xFF
            esc.sm_open[sm] = 0
    return 1


cdef void eeprom_command(Esc *esc) noexcept nogil:
    """Command in bits 8-10 of the control register: read four bytes, write one word, reload; done
    at once."""
    cdef uint8_t *control = esc.memory + REG_EEPROM_CONTROL
    cdef int command = control[1] & 0x07
    cdef uint32_t word = get32(esc.memory + REG_EEPROM_ADDRESS)
    cdef int i, offset
    if command == 1:
        for i in range(4):
            offset = <int> (2 * word) + i if word < SII_BYTES else SII_BYTES
            esc.memory[REG_EEPROM_DATA + i] = esc.sii[offset] if offset < esc.sii_size else 0xFF
    elif command == 2 and control[0] & 1 and word < <uint32_t> esc.sii_size // 2:
        memcpy(esc.sii + 2 * word, esc.memory + REG_EEPROM_DATA, 2)
    control[0] &= 0xFE
    control[1] = 0


cdef void sm_registers_written(Esc *esc, const uint8_t *before) noexcept nogil:
    """Status bytes are the controller's own; enabling or disabling clears them; bit 1 of activate
    asks for a repeat."""
    cdef int i
    cdef uint8_t *sm
    for i in range(N_SM):
        sm = esc.memory + REG_SM + 8 * i
        sm[5] = before[8 * i + 5]
        sm[7] = before[8 * i + 7]
        if (sm[6] ^ before[8 * i + 6]) & 1:
            sm[5] = 0
            esc.sm_open[i] = 0
    sm = esc.memory + REG_SM + 8
    if sm[6] & 1 and (sm[6] >> 1 & 1) != esc.mailbox_repeat:
        esc.mailbox_repeat = sm[6] >> 1 & 1
        if esc.reply_size and get16(sm) + esc.reply_size <= ESC_MEMORY:
            memcpy(esc.memory + get16(sm), esc.reply, esc.reply_size)
            esc.addresses.known = 0               # a master may have put the mailbox anywhere
            sm[5] |= MAILBOX_FULL
        sm[7] = <uint8_t> (sm[7] & 0xFD | esc.mailbox_repeat << 1)


cdef int registers_write(Esc *esc, int address, int n, const uint8_t *data) noexcept nogil:
    """Write the writable bytes of a register range and carry out their effects. Return 0 when none is
    writable."""
    cdef uint8_t sm_before[8 * N_SM]
    cdef int i, first, last
    cdef int done = 0
    if esc.frozen and address >= REG_DC_TIME and address + n <= REG_DC_TIME + 8:
        return 1                                   # a clock that stands still is not moved either
    if address == REG_DC_TIME and n == 8:
        # the reference time, which comes with every cycle
        memcpy(esc.memory + REG_DC_TIME, data, 8)
        clock_steer(esc, get64(data))
        return 1
    memcpy(sm_before, esc.memory + REG_SM, 8 * N_SM)
    for i in range(15):
        first = max(address, writable[i][0])
        last = min(address + n - 1, writable[i][1])
        if first <= last:
            memcpy(esc.memory + first, data + first - address, last - first + 1)
            done = 1
    if not done:
        return 0
    if overlaps(address, n, REG_SM, 8 * N_SM):
        sm_registers_written(esc, sm_before)
    if overlaps(address, n, REG_EEPROM_CONTROL, 2):
        eeprom_command(esc)
    if overlaps(address, n, 0x0300, 0x14):
        memset(esc.memory + 0x0300, 0, 0x14)
    if overlaps(address, n, REG_WD_COUNT, 2):
        put16(esc.memory + REG_WD_COUNT, 0)
    if overlaps(address, n, REG_DC_PORTS, 4):
        clock_latch(esc)
    if address <= REG_DC_TIME and address + n >= REG_DC_TIME + 8:
        clock_steer(esc, get64(esc.memory + REG_DC_TIME))
    if overlaps(address, n, REG_DC_SPEED, 6):
        clock_loop_reset(esc)
    if overlaps(address, n, REG_SYNC_ACTIVATION, 1):
        sync_activated(esc)
    if overlaps(address, n, REG_WD_DIVIDER, 2) or overlaps(address, n, REG_WD_SM, 2):
        esc.wd_ns = watchdog_ns(esc)
        if esc.wd_ns == 0:
            esc.wd_deadline_ns = 0
    if esc.app.written != NULL:
        esc.app.written(esc.app.self, address, n)
    if overlaps(address, n, REG_AL_CONTROL, 2):
        al_request(esc)
    return 1


cdef int esc_write(Esc *esc, int address, int n, const uint8_t *data) noexcept nogil:
    """Write n bytes at `address`. Return 1, or 0 when the controller refuses."""
    cdef int sm
    cdef uint8_t *registers
    if n <= 0 or address < 0 or address + n > ESC_MEMORY:
        return 0
    sm = sm_access(esc, address, n, 1)
    if sm == -2:
        return 0
    addresses_written(esc, address, n)
    if sm < 0:
        if address >= REGISTERS:
            memcpy(esc.memory + address, data, n)
            return 1
        return registers_write(esc, address, min(n, REGISTERS - address), data)
    copy_few(esc.memory + address, data, n)
    registers = esc.memory + REG_SM + 8 * sm
    if address + n == get16(registers) + get16(registers + 2):
        if registers[4] & 3 == 2:
            registers[5] |= MAILBOX_FULL
            esc.sm_open[sm] = 0
        elif sm == esc.sm_outputs:
            esc.outputs_new = 1
        if registers[4] & WATCHDOG_TRIGGER:
            esc.memory[REG_WD_STATUS] |= 1
            esc.wd_deadline_ns = esc.now_ns + esc.wd_ns if esc.wd_ns else 0
    return 1


cdef void serve_mailbox(Esc *esc) noexcept nogil:
    """Hand a full SM0 to the application and its reply to an empty SM1; a reply that has more to say
    comes first."""
    cdef uint8_t *sm0 = esc.memory + REG_SM
    cdef uint8_t *sm1 = sm0 + 8
    cdef int request = get16(sm0)
    cdef int request_size = get16(sm0 + 2)
    cdef int reply = get16(sm1)
    cdef int reply_size = min(get16(sm1 + 2), MAILBOX_BYTES)
    cdef int n
    if not esc.has_mailbox or al_state(esc) < AL_PREOP or not sm0[6] & sm1[6] & 1:
        return
    if sm1[5] & MAILBOX_FULL:
        return
    if request + request_size > ESC_MEMORY or reply + reply_size > ESC_MEMORY or reply_size < 16:
        return
    if esc.mailbox_more:
        request_size = 0
    elif sm0[5] & MAILBOX_FULL and request_size:
        sm0[5] &= ~MAILBOX_FULL & 0xFF
    else:
        return
    n = esc.app.mailbox(esc.app.self, esc.memory + request, request_size, esc.reply, reply_size,
                        al_state(esc), &esc.mailbox_more)
    if n > reply_size:
        esc.mailbox_more = 0
    if n <= 0 or n > reply_size:
        return
    memset(esc.reply + n, 0, reply_size - n)
    esc.reply_size = reply_size
    memcpy(esc.memory + reply, esc.reply, reply_size)
    esc.addresses.known = 0
    sm1[5] |= MAILBOX_FULL


cdef void esc_serve(Esc *esc) noexcept nogil:
    """Do the work of the device's processor after a frame has passed."""
    if esc.outputs_new:
        esc.outputs_new = 0
        al_outputs_arrived(esc)
        if al_state(esc) == AL_OP and esc.n_outputs:
            esc.app.take_outputs(esc.app.self, esc.memory + esc.outputs_at, esc.n_outputs)
    serve_mailbox(esc)
