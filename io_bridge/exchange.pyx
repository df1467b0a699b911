"""The cycle's one exchange with the bus: commands out, frames, sensors in, as a block.

The frames are built once and only their payload changes: FRMW 0x0910 (the reference clock, handed on to every
slave), BRD 0x0130 (AL state of all), and per slave FPRD 0x0130 (AL status and code), FPRD 0x0910 (its clock,
which proves that its data are fresh, and its difference from the reference), LRD (inputs), LWR (outputs), so
that a wrong working counter names slave and direction. What comes back lies in a buffer of its own and is
unpacked only after every check. Nothing is sent twice in a cycle.
"""
import math
from collections.abc import Mapping, Sequence

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport NAN
from libc.stdint cimport int64_t
from libc.string cimport memset

from io_bridge.cia402 cimport UNKNOWN
from io_bridge.clock_lock cimport design
from io_bridge.cycle_frames cimport frames_add, frames_begin, frames_end
from io_bridge.drive_io cimport (
    N_DRIVE_READS, N_DRIVE_WRITES, SENSOR, STATUSWORD, TORQUE_ACTUAL, VELOCITY, DriveIo, fill_drive,
)
from io_bridge.exchange_cycle cimport (
    BUS_DC_ERROR, BUS_RING_BREAKS, BUS_RING_NEAR, BUS_RING_OPEN, BUS_WKC_EXPECTED, FAULT_AL,
    FAULT_CLOCK, FAULT_COMMAND, FAULT_DRIVE, FAULT_LOST, FAULT_NOT_READY, FAULT_STALE, FAULT_WKC,
    MAX_DRIVES, MAX_TERMINALS, N_BUS_WRITES, ExchangeState, Fault, borrow, exchange_keep,
    exchange_safe, exchange_step, give_back, raise_flag,
)
from io_bridge.frame cimport BRD, FPRD, FRMW, LRD, LWR
from io_bridge.link cimport Link, RingWatch
from io_bridge.slave_io cimport DC_DIFFERENCE, N_SLAVE_WRITES, WKC, SlaveIo, slave_reset
from io_bridge.terminal_io cimport TerminalIo, fill_terminal

from io_bridge.bus_ports import ports, ports_of
from io_bridge.drive_config import DriveConfig
from io_bridge.pdo_layout import SlaveLayout, check_sizes
from rt_core.block import BLOCK_ABI, BLOCK_CAPSULE

cdef bytes _capsule_name_bytes = BLOCK_CAPSULE.encode()
cdef const char *_capsule_name = _capsule_name_bytes

FAULTS = {
    FAULT_NOT_READY: "the bus was not brought up",
    FAULT_LOST: "frames lost or late beyond the limit",
    FAULT_WKC: "working counter wrong beyond the limit",
    FAULT_STALE: "a slave's clock stands still: old data under right counters",
    FAULT_AL: "a slave left OP",
    FAULT_DRIVE: "a drive reports a fault",
    FAULT_COMMAND: "a command is not a finite number",
    FAULT_CLOCK: "the cycle is not in step with the reference clock",
}
"""Fault code of `step` in words."""

cdef enum:
    CLOCK_BYTES = 32             # 0x0910 to 0x092F: time, offset, delay, difference


cdef class Exchange:
    """Cyclic exchange with every slave of a bus; a block.

    Ports are ``<slave>/<quantity>`` and ``<quantity>``, see `bus_ports`; a port's signal path is
    ``<bus>/<port>`` unless `paths` says otherwise. On a lost,
    late or wrong frame the inputs keep their last values and ``valid`` is 0.

    Parameters
    ----------
    slaves : sequence of DriveConfig or TerminalConfig
        In ring order, names differ; at most 16 drives and 16 terminals.
    name : str
        Of the bus; prefix of its own ports.
    paths : mapping of str to str, optional
        Port to signal path.
    budget_us : float
        Longest wait for the replies.
    bad_limit : int
        Bad cycles in a row after which `step` returns a fault and the torque is zero.
    leak_cycles : int
        Good cycles by which one bad cycle is forgotten, when they do not come in a row.
    clock : ClockConfig, optional
        Keep the cycle in step with the reference clock.

    Real time
    ---------
    `step` is safe: at most four frames, one wait of at most the budget, no allocation, no retry.

    Source
    ------
    ETG.1000.4 (datagrams, working counter), CiA 402-2 (drive states).
    """

    def __init__(self, slaves: Sequence, *, name: str = "bus",
                 paths: Mapping[str, str] | None = None, budget_us: float = 300.0,
                 bad_limit: int = 3, leak_cycles: int = 10, clock=None) -> None:
        cdef ExchangeState *x = &self.state
        cdef int i, j, n
        slaves = tuple(slaves)
        names = [slave.name for slave in slaves]
        drives = tuple(slave for slave in slaves if isinstance(slave, DriveConfig))
        mistakes = []
        if not slaves or len(drives) > MAX_DRIVES or len(slaves) - len(drives) > MAX_TERMINALS:
            mistakes.append(f"{len(drives)} drives and {len(slaves) - len(drives)} terminals: 1 to "
                            f"{MAX_DRIVES} drives and {MAX_TERMINALS} terminals are possible")
        if len(set(names)) != len(names):
            mistakes.append(f"names {names} must differ")
        if not 1.0 <= budget_us <= 1e6:
            mistakes.append(f"budget_us = {budget_us}: 1 to 1000000")
        if bad_limit < 1:
            mistakes.append(f"bad_limit = {bad_limit}: at least 1")
        if leak_cycles < 1:
            mistakes.append(f"leak_cycles = {leak_cycles}: at least 1")
        reads, writes = ports([ports_of(slave) for slave in slaves])
        paths = dict(paths or {})
        unknown = sorted(set(paths) - set(reads) - set(writes))
        if unknown:
            known = ", ".join((*reads, *writes))
            mistakes.append(f"paths: no port {', '.join(unknown)}; the ports are {known}")
        if mistakes:
            raise ValueError(f"bus {name!r}: " + "; ".join(mistakes))
        self.name = name
        self.slaves = slaves
        self.drives = drives
        self.clock = clock
        self.reads = {port: paths.get(port, f"{name}/{port}") for port in reads}
        self.writes = {port: paths.get(port, f"{name}/{port}") for port in writes}
        memset(x, 0, sizeof(ExchangeState))
        x.n_slaves = len(slaves)
        x.n_drives = len(drives)
        x.n_terminals = len(slaves) - len(drives)
        x.budget_ns = <int64_t> (1000.0 * budget_us)
        x.leak = leak_cycles
        x.brim = <int64_t> bad_limit * leak_cycles
        x.culprit = -1
        i = j = 0
        for n, slave in enumerate(slaves):
            if isinstance(slave, DriveConfig):
                fill_drive(&x.drives[i], slave)
                x.drives[i].slave = n
                i += 1
            else:
                x.terminals[j].slave = n
                fill_terminal(&x.terminals[j], slave)
                j += 1
        # until `bind`, cells of its own: the bus can be kept alive without a signal table
        own = <size_t> &x.unbound[0]
        count = len(self.reads)
        self._connect([own + 8 * i for i in range(count)],
                      [own + 8 * (count + i) for i in range(len(self.writes))])
        self.view.abi = BLOCK_ABI
        self.view.step = exchange_step
        self.view.self = x
        self.safe_view.abi = BLOCK_ABI
        self.safe_view.step = exchange_safe
        self.safe_view.self = x

    cdef void _connect(self, list reads, list writes) except *:
        """Hand out the cells in the order of the ports."""
        cdef ExchangeState *x = &self.state
        cdef TerminalIo *t
        cdef int i, n
        cdef int drive = 0
        cdef int terminal = 0
        read, write = iter(reads), iter(writes)
        for n in range(x.n_slaves):
            for i in range(N_SLAVE_WRITES):
                x.slaves[n].writes[i] = <double *> <size_t> next(write)
            if isinstance(self.slaves[n], DriveConfig):
                for i in range(N_DRIVE_READS):
                    x.drives[drive].reads[i] = <double *> <size_t> next(read)
                for i in range(N_DRIVE_WRITES):
                    x.drives[drive].writes[i] = <double *> <size_t> next(write)
                drive += 1
            else:
                t = &x.terminals[terminal]
                for i in range(t.n_outputs):
                    t.outputs[i].cell = <double *> <size_t> next(read)
                for i in range(t.n_inputs):
                    t.inputs[i].cell = <double *> <size_t> next(write)
                terminal += 1
        for i in range(N_BUS_WRITES):
            x.writes[i] = <double *> <size_t> next(write)
        self._fill()

    def _fill(self) -> None:
        """Cells that no cycle changes: expected counters, and NaN for what is not mapped."""
        cdef ExchangeState *x = &self.state
        cdef DriveIo *d
        cdef int i
        cdef double expected = x.n_ring
        for i in range(x.n_slaves):
            slave_reset(&x.slaves[i])
            expected += (x.slaves[i].inputs_at > 0) + (x.slaves[i].outputs_at > 0)
        for i in range(x.n_drives):
            d = &x.drives[i]
            if d.i_velocity < 0:
                d.writes[VELOCITY][0] = NAN
            if d.i_torque < 0:
                d.writes[TORQUE_ACTUAL][0] = NAN
            if d.i_sensor < 0:
                d.writes[SENSOR][0] = NAN
        # the state of all, and inputs and outputs of each
        x.writes[BUS_WKC_EXPECTED][0] = expected
        x.writes[BUS_DC_ERROR][0] = 0.0 if x.lock.on else NAN
        for i in (BUS_RING_OPEN, BUS_RING_NEAR, BUS_RING_BREAKS):
            x.writes[i][0] = NAN if x.frames.transport.ring == NULL else 0.0

    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None:
        """Take the address of one float64 cell per port, in port order."""
        if len(reads) != len(self.reads) or len(writes) != len(self.writes):
            raise ValueError(f"bus {self.name!r}: {len(reads)} and {len(writes)} cells for "
                             f"{len(self.reads)} inputs and {len(self.writes)} outputs")
        if not all(reads) or not all(writes):
            raise ValueError(f"bus {self.name!r}: a cell address is 0")
        self._connect(list(reads), list(writes))

    def capsule(self):
        """Return the PyCapsule that points to this block's BlockView."""
        # a capsule keeps the pointer to its name, so the name lives as long as the module
        return PyCapsule_New(&self.view, _capsule_name, NULL)

    def safe_capsule(self):
        """Return the PyCapsule of the entry that the watchdog calls instead of a stalled cycle."""
        return PyCapsule_New(&self.safe_view, _capsule_name, NULL)

    @property
    def steer(self):
        """Signal that says by how much the next deadline is to move in ns; None without a clock."""
        return None if self.clock is None else self.writes["dc_steer_ns"]

    cdef int _add(self, int command, int address, int size) except -1:
        cdef int at = frames_add(&self.state.frames, command, address, size)
        if at < 0:
            raise ValueError(f"bus {self.name!r}: the process data of {len(self.slaves)} slaves "
                             "exceed four frames, or those of one slave exceed one")
        return at

    def configure(self, link: Link, layouts: Sequence[SlaveLayout], *, n_slaves: int,
                  clock_station: int = 0) -> None:
        """Build the cycle's frames. Outside the cycle, before the first step.

        Parameters
        ----------
        link : Link
        layouts : sequence of SlaveLayout
            One per slave.
        n_slaves : int
            All slaves in the ring, with those that are not described.
        clock_station : int
            Station address of the reference clock; 0 = no slave has a clock, freshness rests on the
            index alone.
        """
        cdef ExchangeState *x = &self.state
        cdef SlaveIo *s
        cdef int i
        if len(layouts) != x.n_slaves:
            raise ValueError(f"bus {self.name!r}: {len(layouts)} layouts for {x.n_slaves} slaves")
        check_sizes(self.name, self.slaves, layouts)
        if self.clock is not None and not clock_station:
            raise ValueError(f"bus {self.name!r}: clock: no slave has a clock to follow")
        x.ready = 0
        x.owner = 0                 # a watchdog that took the frames is no longer there
        frames_begin(&x.frames)
        x.clock_at = self._add(FRMW, 0x0910 << 16 | clock_station, 8) if clock_station else 0
        x.state_at = self._add(BRD, 0x0130 << 16, 2)
        for i, layout in enumerate(layouts):
            s = &x.slaves[i]
            s.al_at = self._add(FPRD, 0x0130 << 16 | layout.station, 6)
            s.clock_at = 0
            if layout.has_clock:
                s.clock_at = self._add(FPRD, 0x0910 << 16 | layout.station, CLOCK_BYTES)
            s.inputs_at = s.outputs_at = 0
            if layout.n_inputs:
                s.inputs_at = self._add(LRD, layout.inputs_at, layout.n_inputs)
            if layout.n_outputs:
                s.outputs_at = self._add(LWR, layout.outputs_at, layout.n_outputs)
        frames_end(&x.frames)
        for i in range(x.n_drives):
            x.drives[i].state = UNKNOWN
        x.n_ring = n_slaves
        x.clock_ns = 0
        x.level = 0
        x.held = 0
        x.fault = <Fault> 0
        x.lock.on = 0
        if self.clock is not None:
            x.lock = design(self.clock)
        x.frames.transport = link.transport
        self.link = link
        self._fill()
        x.ready = 1

    def step(self, t_ns: int) -> int:
        """Run one cycle from Python, as the task would; return the fault code."""
        cdef int64_t t = t_ns
        cdef int fault
        with nogil:
            fault = exchange_step(&self.state, t)
        return fault

    def keep(self, period_us: float) -> None:
        """Exchange safe outputs at a period, without the GIL, until `stop_keeping` or the first
        cycle's step."""
        cdef int64_t period_ns = <int64_t> (1000.0 * period_us)
        if not self.state.ready:
            raise RuntimeError(f"bus {self.name!r}: configure it first")
        with nogil:
            exchange_keep(&self.state, period_ns)

    def stop_keeping(self, stop: bool = True) -> None:
        """Ask a running `keep` to end, or (False) allow the next one to run."""
        raise_flag(&self.state.stop_keeper, stop)

    @property
    def safe(self) -> bool:
        """True: outputs are zero torque and disable, whatever the cells say."""
        return bool(self.state.safe)

    @safe.setter
    def safe(self, value: bool) -> None:
        raise_flag(&self.state.safe, value)

    @property
    def in_service(self) -> bool:
        """True: OP was reached; a slave that leaves it is a fault, and torque may flow."""
        return bool(self.state.in_service)

    @in_service.setter
    def in_service(self, value: bool) -> None:
        self.state.level = 0
        self.state.fault = <Fault> 0
        raise_flag(&self.state.in_service, value)

    def disconnect(self) -> None:
        """Forget link and frame; `step` returns a fault from now on."""
        self.state.ready = 0
        self.state.in_service = 0
        self.link = None

    def begin_phase(self) -> None:
        """Have the next step begin to lock anew, keeping the drift that was learnt."""
        self.state.new_phase = 1

    def lend(self, use, longest_s: float = 0.01):
        """Call `use()` while no cycle exchanges; a cycle that comes meanwhile loses its inputs.

        Raises
        ------
        TimeoutError
            The cycle did not give the frames away for `longest_s`.
        """
        if not borrow(&self.state, <int64_t> (1e9 * longest_s)):
            raise TimeoutError(f"bus {self.name!r}: the cycle does not give its frames away")
        try:
            return use()
        finally:
            give_back(&self.state)

    @property
    def counters(self) -> dict[str, int]:
        """Cycles; frames lost, late, duplicated and foreign; level of the leaky bucket, in bad cycles; and the
        fault code."""
        cdef ExchangeState *x = &self.state
        return {"cycles": x.cycles, "lost": x.frames.lost, "late": x.frames.late,
                "duplicated": x.frames.duplicated, "foreign": x.frames.foreign,
                "bad": (x.level + x.leak - 1) // x.leak, "fault": <int> x.fault, "held": x.held}

    @property
    def n_frames(self) -> int:
        """Frames that a cycle exchanges."""
        return self.state.frames.n

    @property
    def culprit(self) -> int | None:
        """Place of the slave that the last fault is about."""
        return None if self.state.culprit < 0 else self.state.culprit

    @property
    def gap(self) -> int | None:
        """Slaves between the first cable and the gap of an open ring; None: it is closed, or there is one
        cable."""
        cdef const RingWatch *ring = self.state.frames.transport.ring
        return ring.near if self.state.ready and ring != NULL and ring.open else None

    @property
    def lock_state(self) -> tuple[bool, float, float]:
        """Whether the cycle is locked, its smoothed phase error in ns, and the clocks' drift in ppm."""
        cdef ExchangeState *x = &self.state
        if not x.lock.on:
            return False, math.nan, math.nan
        return bool(x.lock.locked), x.lock.smooth_ns, 1e6 * x.lock.drift_ns / x.lock.period_ns

    @property
    def differences_ns(self) -> list[float]:
        """System time of every slave minus that of the reference, as last seen; NaN without a clock."""
        return [self.state.slaves[i].writes[DC_DIFFERENCE][0] for i in range(self.state.n_slaves)]

    def slave_status(self, int i) -> tuple[int, int, int, int, bool]:
        """Return AL status, AL status code, working counter, expected one, and whether slave i answered, as last
        seen."""
        cdef SlaveIo *s
        if not 0 <= i < self.state.n_slaves:
            raise IndexError(f"slave {i} of {self.state.n_slaves}")
        s = &self.state.slaves[i]
        return (s.al_status, s.al_code, <int> s.writes[WKC][0],
                (s.inputs_at > 0) + (s.outputs_at > 0), bool(s.answers))

    def drive_status(self, int i) -> tuple[int, int, int, int]:
        """Return AL status, AL status code, statusword and working counter of drive i, as last
        seen."""
        cdef DriveIo *d
        if not 0 <= i < self.state.n_drives:
            raise IndexError(f"drive {i} of {self.state.n_drives}")
        d = &self.state.drives[i]
        al_status, al_code, wkc, _, _ = self.slave_status(d.slave)
        return al_status, al_code, <int> d.writes[STATUSWORD][0], wkc
