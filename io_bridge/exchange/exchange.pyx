"""The cycle's one exchange with the bus: commands out, frames, sensors in, as a block.

The frames (`exchange_frames`) are built once and only their payload changes. Replies lie in a buffer of
its own and is unpacked only after every check. Nothing is sent twice in a cycle.
"""
import math
from collections.abc import Mapping, Sequence

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t

from io_bridge.slaves.cia402 cimport UNKNOWN
from io_bridge.exchange.clock_lock cimport design
from io_bridge.exchange.drive_io cimport STATUSWORD, DriveIo, fill_drive, place_drive
from io_bridge.exchange.cells cimport connect_cells, fill_cells, own_cells
from io_bridge.exchange.cycle cimport (
    FAULT_AL, FAULT_CLOCK, FAULT_COMMAND, FAULT_DRIVE, FAULT_LOST, FAULT_NOT_READY, FAULT_STALE,
    FAULT_WKC, MAX_DRIVES, MAX_TERMINALS, ExchangeState, Fault, await_frames, borrow, exchange_keep,
    exchange_safe, exchange_step, give_back, raise_flag,
)
from io_bridge.exchange.frames cimport lay_out_frames
from io_bridge.wire.link cimport Link, RingWatch
from io_bridge.wire.monotonic cimport monotonic_ns
from io_bridge.exchange.slave_io cimport (
    DC_DIFFERENCE, INVALID_CYCLES, WKC, WKC_EXPECTED, WKC_MIN, SlaveIo,
)
from io_bridge.exchange.terminal_io cimport fill_terminal

from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.slaves.exchange_check import Bucket, checked_ports
from io_bridge.slaves.pdo_layout import SlaveLayout, check_sizes, spread
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

BUS_LOST = frozenset((FAULT_LOST, FAULT_WKC, FAULT_STALE, FAULT_AL))
"""Faults of the wire and of its slaves: they may be over by themselves, and nobody has to look at a drive."""

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
        self.reads, self.writes = checked_ports(name, slaves, paths or {}, (MAX_DRIVES, MAX_TERMINALS),
                                                Bucket(budget_us, bad_limit, leak_cycles))
        self.name = name
        self.slaves = slaves
        self.drives = tuple(slave for slave in slaves if isinstance(slave, DriveConfig))
        self.clock = clock
        self.bringup_counters = {}
        x.n_slaves = len(slaves)
        x.n_drives = len(self.drives)
        x.n_terminals = x.n_slaves - x.n_drives
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
        own_cells(x, len(self.reads), len(self.writes))        # until `bind`
        self.view.abi = BLOCK_ABI
        self.view.step = exchange_step
        self.view.self = x
        self.view.work = &x.frames_moved
        self.view.bytes = sizeof(ExchangeState)
        self.safe_view.abi = BLOCK_ABI
        self.safe_view.step = exchange_safe
        self.safe_view.self = x

    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None:
        """Take the address of one float64 cell per port, in port order."""
        if len(reads) != len(self.reads) or len(writes) != len(self.writes):
            raise ValueError(f"bus {self.name!r}: {len(reads)} and {len(writes)} cells for "
                             f"{len(self.reads)} inputs and {len(self.writes)} outputs")
        if not all(reads) or not all(writes):
            raise ValueError(f"bus {self.name!r}: a cell address is 0")
        connect_cells(&self.state, list(reads), list(writes))

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

    def configure(self, link: Link, layouts: Sequence[SlaveLayout], *, n_slaves: int,
                  clock_station: int = 0) -> None:
        """Build the cycle's frames. Outside the cycle, before the first step.

        Parameters
        ----------
        link : Link
        layouts : sequence of SlaveLayout
            One per slave of the ring; axes of one slave share it.
        n_slaves : int
            All slaves in the ring, with those that are not described.
        clock_station : int
            Station address of the reference clock; 0 = no slave has a clock, freshness rests on the
            index alone.
        """
        cdef ExchangeState *x = &self.state
        cdef int i
        try:
            layouts = spread(self.slaves, layouts)
        except ValueError as error:
            raise ValueError(f"bus {self.name!r}: {error}") from error
        check_sizes(self.name, self.slaves, layouts)
        if self.clock is not None and not clock_station:
            raise ValueError(f"bus {self.name!r}: clock: no slave has a clock to follow")
        x.ready = 0
        x.owner = 0                 # a watchdog that took the frames is no longer there
        lay_out_frames(x, self.name, self.slaves, layouts, clock_station)
        for i in range(x.n_drives):
            config, layout = self.slaves[x.drives[i].slave], layouts[x.drives[i].slave]
            place_drive(&x.drives[i], config, layout.outputs or config.rx_pdo,
                        layout.inputs or config.tx_pdo)
            x.drives[i].state = UNKNOWN
            x.drives[i].held = 0
        x.n_ring = n_slaves
        x.level = 0
        x.held = x.held_outputs = x.was_enabled = 0
        x.fault = <Fault> 0
        if self.clock is not None:
            x.lock = design(self.clock)
        x.frames.transport = link.transport
        self.link = link
        fill_cells(x)
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

    def begin_service(self, longest_s: float = 1.0) -> None:
        """OP is reached: torque may flow, and losses from now on count. Earlier losses are kept in
        `bringup_counters`."""
        self.lend(self._count_from_here, longest_s)
        self.safe = False
        self.in_service = True

    def _count_from_here(self) -> None:
        cdef ExchangeState *x = &self.state
        cdef SlaveIo *s
        cdef int i
        self.bringup_counters = self.counters
        x.frames.lost = x.frames.late = x.frames.duplicated = x.frames.foreign = 0
        for i in range(x.n_slaves):
            s = &x.slaves[i]
            s.writes[WKC_MIN][0] = s.writes[WKC_EXPECTED][0]
            s.writes[INVALID_CYCLES][0] = 0.0

    def disconnect(self) -> None:
        """Forget link and frame; `step` returns a fault from now on."""
        self.state.ready = 0
        self.state.in_service = 0
        self.link = None

    def begin_phase(self) -> None:
        """Have the next step begin to lock again, keeping the drift that was learnt."""
        self.state.new_phase = 1

    def lend(self, use, longest_s: float = 0.01):
        """Call `use()` while no cycle exchanges; a cycle that comes meanwhile loses its inputs, and is a bad one.

        Raises
        ------
        TimeoutError
            The cycle did not give the frames away for `longest_s`.
        """
        cdef int64_t until_ns = monotonic_ns() + <int64_t> (1e9 * longest_s)
        # taken with the GIL in hand: nobody is to have them while it waits for the GIL
        while not borrow(&self.state):
            if monotonic_ns() >= until_ns:
                raise TimeoutError(f"bus {self.name!r}: the cycle does not give its frames away")
            with nogil:     # who has them may need it to give them back
                await_frames(&self.state, until_ns)
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
        """Lock of the cycle: whether it holds, the smoothed phase error in ns, and the clocks' drift in ppm."""
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
                (s.inputs_at != 0) + (s.outputs_at != 0), bool(s.answers))

    def drive_status(self, int i) -> tuple[int, int, int, int]:
        """Return AL status, AL status code, statusword and working counter of drive i, as last
        seen."""
        cdef DriveIo *d
        if not 0 <= i < self.state.n_drives:
            raise IndexError(f"drive {i} of {self.state.n_drives}")
        d = &self.state.drives[i]
        al_status, al_code, wkc, _, _ = self.slave_status(d.slave)
        return al_status, al_code, <int> d.writes[STATUSWORD][0], wkc

    def wrong_mode(self, int i):
        """Return the mode that drive i shows in 0x6061, as last seen; None: the rig's, or it maps none."""
        if not 0 <= i < self.state.n_drives:
            raise IndexError(f"drive {i} of {self.state.n_drives}")
        cdef DriveIo *d = &self.state.drives[i]
        return None if d.i_mode < 0 or d.in_mode else d.shown
