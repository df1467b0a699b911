"""The frames of a cycle: which datagrams are in them.

FRMW 0x0910 (the reference clock, handed on to every slave), BRD 0x0130 (AL state of all), and per slave FPRD 0x0130
(AL status and code), FPRD 0x0910 (its clock, which proves that its data are fresh, and its difference from the
reference), LRD (inputs), LWR (outputs), so that a wrong working counter names slave and direction.
"""
from io_bridge.wire.cycle_frames cimport frames_add, frames_begin, frames_end, sent_data
from io_bridge.wire.frame cimport BRD, FPRD, FRMW, LRD, LWR
from io_bridge.exchange.slave_io cimport SlaveIo

from io_bridge.slaves.pdo_layout import is_joined

cdef enum:
    CLOCK_BYTES = 32             # 0x0910 to 0x092F: time, offset, delay, difference


cdef int add(ExchangeState *x, str bus, int command, int address, int size) except -1:
    cdef int at = frames_add(&x.frames, command, address, size)
    if at < 0:
        raise ValueError(f"bus {bus!r}: the process data of {x.n_slaves} slaves "
                         "exceed four frames, or those of one slave exceed one")
    return at


cdef int lay_out_frames(ExchangeState *x, str bus, slaves, layouts, int clock_station) except -1:
    """Build them, and note where each slave's datagrams are; axes of one slave share them. clock_station 0: no slave
    has a clock."""
    cdef SlaveIo *s
    cdef int i
    frames_begin(&x.frames)
    x.clock_at = add(x, bus, FRMW, 0x0910 << 16 | clock_station, 8) if clock_station else 0
    x.state_at = add(x, bus, BRD, 0x0130 << 16, 2)
    for i, layout in enumerate(layouts):
        s = &x.slaves[i]
        s.joined = i > 0 and is_joined(slaves[i])
        if s.joined:
            s.al_at = s[-1].al_at
            s.clock_at = s[-1].clock_at
            s.inputs_at = s[-1].inputs_at
            s.outputs_at = s[-1].outputs_at
            continue
        s.al_at = add(x, bus, FPRD, 0x0130 << 16 | layout.station, 6)
        s.clock_at = 0
        if layout.has_clock:
            s.clock_at = add(x, bus, FPRD, 0x0910 << 16 | layout.station, CLOCK_BYTES)
        s.inputs_at = s.outputs_at = 0
        if layout.n_inputs:
            s.inputs_at = add(x, bus, LRD, layout.inputs_at, layout.n_inputs)
        if layout.n_outputs:
            s.outputs_at = add(x, bus, LWR, layout.outputs_at, layout.n_outputs)
            for k, byte in enumerate(layout.rest[:layout.n_outputs]):
                sent_data(&x.frames, s.outputs_at)[k] = byte
    frames_end(&x.frames)
    return 0
