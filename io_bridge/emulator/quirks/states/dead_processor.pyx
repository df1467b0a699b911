"""A slave whose processor stops while its EtherCAT controller continues: frames pass, and no processor serves them."""
from libc.stdint cimport int64_t, uint8_t

from io_bridge.emulator.controller.memory cimport (
    AL_LATER, AL_OP, AL_PREOP, AL_SAFEOP, REG_DL_STATUS, REG_WD_COUNT, REG_WD_DIVIDER, REG_WD_PDI, Application,
)
from io_bridge.emulator.quirks.quirk cimport Layer, Quirk, ask_below
from io_bridge.wire.fields cimport get16

from io_bridge.emulator.quirks.option import Option

WHEN = ("preop", "safeop", "op")

cdef enum:
    PDI_SERVED = 0x02            # of DL status


cdef struct Processor:
    Layer layer
    int state                    # once this AL state is reached ...
    int64_t after_ns             # ... it continues for so long
    int64_t dies_ns              # 0: it is not known when
    int64_t expires_ns           # of the watchdog that it no longer serves; 0: it has expired, or is off
    int dead


cdef void powered(void *self) noexcept nogil:
    cdef Processor *p = <Processor *> self
    p.dead = 0
    p.dies_ns = p.expires_ns = 0
    p.layer.below.powered(p.layer.below.self)


cdef void al_changed(void *self, int state, int code) noexcept nogil:
    cdef Processor *p = <Processor *> self
    p.layer.below.al_changed(p.layer.below.self, state, code)
    if state == p.state and p.dies_ns == 0:
        p.dies_ns = p.layer.esc.now_ns + p.after_ns + 1


cdef void advance(void *self, int64_t t_ns) noexcept nogil:
    cdef Processor *p = <Processor *> self
    cdef uint8_t *memory = p.layer.esc.memory
    cdef int64_t limit_ns
    if not p.dead and p.dies_ns and t_ns >= p.dies_ns:
        p.dead = 1
        limit_ns = <int64_t> get16(memory + REG_WD_PDI) * (get16(memory + REG_WD_DIVIDER) + 2) * 40
        p.expires_ns = p.dies_ns + limit_ns if limit_ns else 0
    if not p.dead:
        memory[REG_DL_STATUS] |= PDI_SERVED
        p.layer.below.advance(p.layer.below.self, t_ns)
    elif p.expires_ns and t_ns >= p.expires_ns:
        p.expires_ns = 0
        memory[REG_DL_STATUS] &= 0xFF ^ PDI_SERVED
        if memory[REG_WD_COUNT + 1] < 255:
            memory[REG_WD_COUNT + 1] += 1


cdef void take_outputs(void *self, const uint8_t *data, int n) noexcept nogil:
    cdef Processor *p = <Processor *> self
    if not p.dead:
        p.layer.below.take_outputs(p.layer.below.self, data, n)


cdef void give_inputs(void *self, uint8_t *data, int n) noexcept nogil:
    cdef Processor *p = <Processor *> self
    if not p.dead:
        p.layer.below.give_inputs(p.layer.below.self, data, n)


cdef int mailbox(void *self, const uint8_t *request, int n, uint8_t *reply, int capacity, int al_state,
                 int *more) noexcept nogil:
    cdef Processor *p = <Processor *> self
    if p.dead:
        more[0] = 0
        return 0
    return p.layer.below.mailbox(p.layer.below.self, request, n, reply, capacity, al_state, more)


cdef int al_asked(void *self, int state) noexcept nogil:
    cdef Processor *p = <Processor *> self
    return AL_LATER if p.dead else ask_below(&p.layer, state)


cdef class DeadProcessor(Quirk):
    """The processor stops in a state: no mailbox, no change of state, old inputs; its PDI watchdog (0x0410) expires."""

    cdef Processor processor

    OPTIONS = {
        "at": Option("op", "state in which it stops", choices=WHEN),
        "ms": Option(0.0, "how long it goes on there", 0.0, 3_600_000.0),
    }

    def __init__(self, *, at: str, ms: float) -> None:
        self.processor.state = (AL_PREOP, AL_SAFEOP, AL_OP)[WHEN.index(at)]
        self.processor.after_ns = <int64_t> (1e6 * ms)
        self.layer = &self.processor.layer

    cdef void install(self, Application *app):
        app.powered = powered
        app.al_changed = al_changed
        app.advance = advance
        app.take_outputs = take_outputs
        app.give_inputs = give_inputs
        app.mailbox = mailbox
        app.al_asked = al_asked
