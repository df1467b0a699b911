"""The cycle's one exchange with the bus: commands out, one frame, sensors in, as a block.

The frame is built once and only its payload changes: FRMW 0x0910 (clock of the first slave, proves
freshness), BRD 0x0130 (AL state of all), and per drive FPRD 0x0130 (AL status and code), LRD
(inputs), LWR (outputs), so that a wrong working counter names the drive and the direction. Outputs
live in the transmit buffer only; what comes back lies in another one and is unpacked only after
every check. Nothing is sent twice in a cycle.
"""
from collections.abc import Mapping, Sequence

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport NAN, floor
from libc.stdint cimport int64_t
from libc.string cimport memset

from io_bridge.cia402 cimport UNKNOWN
from io_bridge.exchange_cycle cimport (
    BUS_WKC_EXPECTED, FAULT_AL, FAULT_COMMAND, FAULT_DRIVE, FAULT_LOST, FAULT_NOT_READY,
    FAULT_STALE, FAULT_WKC, MAX_DRIVES, N_BUS_WRITES, N_DRIVE_READS, N_DRIVE_WRITES, SENSOR,
    STATUSWORD, TORQUE_ACTUAL, VELOCITY, WKC, WKC_EXPECTED, DriveIo, ExchangeState, exchange_keep,
    exchange_safe, exchange_step, raise_flag,
)
from io_bridge.frame cimport (
    BRD, FIRST_DATAGRAM, FPRD, FRMW, LRD, LWR, frame_add, frame_begin, frame_end,
)
from io_bridge.link cimport Link

from io_bridge.drive_config import DriveConfig, pdo_bytes, pdo_offset
from io_bridge.pdo_layout import SlaveLayout
from rt_core.block import BLOCK_ABI, BLOCK_CAPSULE

cdef bytes _capsule_name_bytes = BLOCK_CAPSULE.encode()
cdef const char *_capsule_name = _capsule_name_bytes

FAULTS = {
    FAULT_NOT_READY: "the bus was not brought up",
    FAULT_LOST: "frames lost or late beyond the limit",
    FAULT_WKC: "working counter wrong beyond the limit",
    FAULT_STALE: "the slaves' clock stands still: old data under right counters",
    FAULT_AL: "a slave left OP",
    FAULT_DRIVE: "a drive reports a fault",
    FAULT_COMMAND: "the torque command is not a finite number",
}
"""Fault code of `step` in words."""

DRIVE_READS = ("torque_nm", "enable", "reset")
DRIVE_WRITES = (
    "position_count", "valid", "velocity_count_s", "torque_actual_nm", "statusword", "operational",
    "al_state", "al_code", "wkc", "wkc_expected", "sensor_torque_nm",
)
BUS_WRITES = (
    "lost", "late", "exchange_ns", "dc_time_ns", "al_state", "wkc", "wkc_expected", "valid",
    "sent_ns",
)


def ports(drives: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ports of an exchange with drives of these names: those it reads, and those it writes."""
    return (
        tuple(f"{drive}/{port}" for drive in drives for port in DRIVE_READS),
        (*(f"{drive}/{port}" for drive in drives for port in DRIVE_WRITES), *BUS_WRITES),
    )


cdef class Exchange:
    """Cyclic exchange with every drive of a bus; a block.

    Ports are ``<drive>/<quantity>`` and ``<quantity>``, see `ports`; a port's signal path is
    ``<bus>/<port>`` unless `paths` says otherwise. On a lost,
    late or wrong frame the inputs keep their last values and ``valid`` is 0.

    Parameters
    ----------
    drives : sequence of DriveConfig
        In ring order, 1 to 16, names differ.
    name : str
        Of the bus; prefix of its own ports.
    paths : mapping of str to str, optional
        Port to signal path.
    budget_us : float
        Longest wait for the reply.
    bad_limit : int
        Bad cycles in a row after which `step` returns a fault and the torque is zero.

    Real time
    ---------
    `step` is safe: one frame, one wait of at most the budget, no allocation, no retry.

    Source
    ------
    ETG.1000.4 (datagrams, working counter), CiA 402-2 (drive states).
    """

    def __init__(self, drives: Sequence[DriveConfig], *, name: str = "bus", paths: Mapping[str,
                 str] | None = None,
                 budget_us: float = 300.0, bad_limit: int = 3) -> None:
        cdef ExchangeState *x = &self.state
        cdef DriveIo *d
        cdef int i
        drives = tuple(drives)
        names = [drive.name for drive in drives]
        mistakes = []
        if not 1 <= len(drives) <= MAX_DRIVES:
            mistakes.append(f"{len(drives)} drives: 1 to {MAX_DRIVES} are possible")
        if len(set(names)) != len(names):
            mistakes.append(f"names {names} must differ")
        if not 1.0 <= budget_us <= 1e6:
            mistakes.append(f"budget_us = {budget_us}: 1 to 1000000")
        if bad_limit < 1:
            mistakes.append(f"bad_limit = {bad_limit}: at least 1")
        reads, writes = ports(names)
        paths = dict(paths or {})
        unknown = sorted(set(paths) - set(reads) - set(writes))
        if unknown:
            known = ", ".join((*reads, *writes))
            mistakes.append(f"paths: no port {', '.join(unknown)}; the ports are {known}")
        if mistakes:
            raise ValueError(f"bus {name!r}: " + "; ".join(mistakes))
        self.name = name
        self.drives = drives
        self.reads = {port: paths.get(port, f"{name}/{port}") for port in reads}
        self.writes = {port: paths.get(port, f"{name}/{port}") for port in writes}
        memset(x, 0, sizeof(ExchangeState))
        x.n_drives = len(drives)
        x.budget_ns = <int64_t> (1000.0 * budget_us)
        x.bad_limit = bad_limit
        for i, drive in enumerate(drives):
            d = &x.drives[i]
            d.sign = drive.sign
            d.permille_per_nm = drive.sign * 1000.0 / drive.rated_torque_nm
            d.peak_permille = floor(1000.0 * drive.peak_torque_nm / drive.rated_torque_nm)
            d.o_control = pdo_offset(drive.rx_pdo, 0x6040)
            d.o_torque = pdo_offset(drive.rx_pdo, 0x6071)
            d.o_mode = pdo_offset(drive.rx_pdo, 0x6060)
            d.i_status = pdo_offset(drive.tx_pdo, 0x6041)
            d.i_position = pdo_offset(drive.tx_pdo, 0x6064)
            d.i_velocity = pdo_offset(drive.tx_pdo, 0x606C)
            d.i_torque = pdo_offset(drive.tx_pdo, 0x6077)
            d.i_sensor = pdo_offset(drive.tx_pdo, 0x2077)
            d.state = UNKNOWN
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

    cdef void _connect(self, list reads, list writes):
        cdef ExchangeState *x = &self.state
        cdef int i, j
        for i in range(x.n_drives):
            for j in range(N_DRIVE_READS):
                x.drives[i].reads[j] = <double *> <size_t> reads[i * N_DRIVE_READS + j]
            for j in range(N_DRIVE_WRITES):
                x.drives[i].writes[j] = <double *> <size_t> writes[i * N_DRIVE_WRITES + j]
        for j in range(N_BUS_WRITES):
            x.writes[j] = <double *> <size_t> writes[x.n_drives * N_DRIVE_WRITES + j]
        self._fill()

    def _fill(self) -> None:
        """Cells that no cycle changes: expected counters, and NaN for what is not mapped."""
        cdef ExchangeState *x = &self.state
        cdef DriveIo *d
        cdef int i
        for i in range(x.n_drives):
            d = &x.drives[i]
            d.writes[WKC_EXPECTED][0] = 2.0
            if d.i_velocity < 0:
                d.writes[VELOCITY][0] = NAN
            if d.i_torque < 0:
                d.writes[TORQUE_ACTUAL][0] = NAN
            if d.i_sensor < 0:
                d.writes[SENSOR][0] = NAN
        # inputs and outputs of each drive, the state and the clock of each slave
        x.writes[BUS_WKC_EXPECTED][0] = 2 * x.n_drives + x.n_slaves * (2 if x.clock_at else 1)

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

    def configure(self, link: Link, layouts: Sequence[SlaveLayout], *, n_slaves: int,
                  clock_station: int = 0) -> None:
        """Build the cycle's frame. Outside the cycle, before the first step.

        Parameters
        ----------
        link : Link
        layouts : sequence of SlaveLayout
            One per drive.
        n_slaves : int
            All slaves in the ring, with those that are no drives.
        clock_station : int
            Station address of the reference clock; 0 = no slave has a clock, freshness rests on the
            index alone.
        """
        cdef ExchangeState *x = &self.state
        cdef DriveIo *d
        cdef int i, size
        cdef int at = FIRST_DATAGRAM
        if len(layouts) != x.n_drives:
            raise ValueError(f"bus {self.name!r}: {len(layouts)} layouts for {x.n_drives} drives")
        x.ready = 0
        x.owner = 0                 # a watchdog that took the frame is no longer there
        frame_begin(x.tx)
        x.clock_at = 0
        if clock_station:
            x.clock_at = at
            at = frame_add(x.tx, at, FRMW, 0, 0x0910 << 16 | clock_station, 8)
        x.state_at = at
        at = frame_add(x.tx, at, BRD, 0, 0x0130 << 16, 2)
        for i, layout in enumerate(layouts):
            d = &x.drives[i]
            drive = self.drives[i]
            for size, pdo, what in ((layout.n_outputs, drive.rx_pdo, "outputs"),
                                    (layout.n_inputs, drive.tx_pdo, "inputs")):
                if size != pdo_bytes(pdo):
                    raise ValueError(f"bus {self.name!r}: {drive.name} maps {size} bytes of "
                                     f"{what}, its PDO has {pdo_bytes(pdo)}")
            d.al_at = at
            at = frame_add(x.tx, at, FPRD, 0, 0x0130 << 16 | layout.station, 6)
            d.inputs_at = at
            at = frame_add(x.tx, at, LRD, 0, layout.inputs_at, layout.n_inputs) if at > 0 else -1
            d.outputs_at = at
            at = frame_add(x.tx, at, LWR, 0, layout.outputs_at, layout.n_outputs) if at > 0 else -1
            if at < 0:
                raise ValueError(f"bus {self.name!r}: {x.n_drives} drives exceed one frame")
            d.state = UNKNOWN
        x.size = frame_end(x.tx, at)
        x.n_slaves = n_slaves
        x.clock_ns = 0
        x.bad_in_row = 0
        x.fault = 0
        x.transport = link.transport
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
        self.state.bad_in_row = 0
        self.state.fault = 0
        raise_flag(&self.state.in_service, value)

    def disconnect(self) -> None:
        """Forget link and frame; `step` returns a fault from now on."""
        self.state.ready = 0
        self.state.in_service = 0
        self.link = None

    @property
    def counters(self) -> dict[str, int]:
        """Cycles, lost and late frames, bad cycles in a row, and the fault code."""
        return {"cycles": self.state.cycles, "lost": self.state.lost, "late": self.state.late,
                "bad_in_row": self.state.bad_in_row, "fault": self.state.fault}

    def drive_status(self, i: int) -> tuple[int, int, int, int]:
        """Return AL status, AL status code, statusword and working counter of drive i, as last
        seen."""
        cdef DriveIo *d
        if not 0 <= i < self.state.n_drives:
            raise IndexError(f"drive {i} of {self.state.n_drives}")
        d = &self.state.drives[i]
        return (d.al_status, d.al_code, <int> d.writes[STATUSWORD][0], <int> d.writes[WKC][0])
