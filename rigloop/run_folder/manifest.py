"""`manifest.json` and `timing.json` of a run folder: what ran, where, and whether it was good."""

from __future__ import annotations

import bisect
import hashlib
import itertools
import math
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from rig_configs.bounded import UnreadableError, read_text
from rig_configs.json_message import decode
from rig_configs.whole_file import write_whole
from rigloop.run_folder.bring_up_losses import BroughtUp
from rigloop.run_folder.clocks import ClockPair
from rigloop.run_folder.exposure import Exposure
from rigloop.run_folder.limited import Limited
from rigloop.run_folder.process_state import Process
from rt_core.doctor.check import Check

MANIFEST = "manifest.json"
TIMING = "timing.json"
REPORT = "report.html"
PACKAGES = ("rigloop", "numpy", "cython", "pysoem")

State = Literal["starting", "running", "ended", "interrupted", "not started"]
Number = int | float | Literal["nan", "inf", "-inf"]
"""A value of a signal: JSON has no word for what is not finite."""
LARGEST_WHOLE = 2.0**53

Count = Annotated[int, msgspec.Meta(ge=0)]
MOST_BYTES = 16 << 20
# a file of the run folder, never one elsewhere
RecordName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}\.npy$")]
TaskName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$")]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
Model = TypeVar("Model")


class ManifestError(ValueError):
    """A file of a run folder is missing or not what it should be."""


class Named(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something with a name and the hash of its content: a rig file, a kernel, a log."""

    name: str
    sha256: Sha256


class TaskFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One task of the loop."""

    period_ns: Annotated[int, msgspec.Meta(gt=0)]
    record: RecordName
    """File name of its record in the run folder."""
    cycles: Count = 0
    overruns: Count = 0
    skipped: Count = 0
    dropped: Count = 0
    """Cycles that the recorder did not get."""
    causes: dict[str, Count] = {}
    """Overruns by cause, in the words of `rt_core.lateness.cause`."""
    late_events: Count = 0
    """Late cycles; `<task>_late.npy` keeps the first, the worst and the newest of each cause with their neighbours."""
    blocks: tuple[str, ...] = ()
    """In the order in which they are stepped."""
    spin: str = ""
    """The time that it spun, and how that was chosen."""
    exposure: Exposure | None = None
    """Holes that nobody told of, and the overruns that they explain."""


class Right(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One real-time right of the run, as `rt_core.host.rights.Right`."""

    name: str
    held: bool
    needed: bool
    """A hard real-time run needs it."""
    why: str
    remedy: str = ""


class DataFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault met in a replayed log, as `io_bridge.logs.faults.LogFault`, or in a live run: `words` is one sentence."""

    kind: str
    count: Count
    first_row: Count
    words: str
    at_s: float | None = None
    """Time since the start of a live run."""


class Felt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Torque and timing while the guard followed its request."""

    longest_gap_ms: float
    """For which one request acted: no fresh command reached the drive."""
    longest_gap_at_s: float
    """End of it, since the start of the loop."""
    gap_step_nm: float
    """Largest step of the torque across a stretch that missed a command."""
    gap_step_at_s: float
    active_s: float
    saturated_percent: float
    """Share of that time with the request at the guard's limit."""
    longest_saturated_s: float
    most_given_j: float
    """Largest net work of the motor on the hands."""
    rearmed: int = 0
    """Times that the torque came back within the run, after a bus fault."""


class Axis(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One axis of a live run, by its guard."""

    drive: str
    """Bus and name of the drive."""
    verdict: Literal["good", "bad"]
    reasons: tuple[str, ...] = ()
    """The reasons of a bad verdict that are about this axis alone."""
    felt: Felt | None = None
    """The motor as the hand at this axis felt it; None: its signals are lost."""
    signals: dict[str, tuple[str, str]] = {}
    """Its `angle`, `rate`, `torque` (the request), `command` and `state`: task and signal of each."""


class Replay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The run or log that was replayed, and the pace."""

    log: Named
    mapping: str
    rows: Count
    speed: Annotated[float, msgspec.Meta(gt=0)]
    """Times faster than real time."""
    superseded: Count = 0
    """Samples that a newer one in the same tick replaced."""


FORMAT: Literal[2] = 2
"""Version of the manifest. 2 has axes; in 1 a guard had the times of the preset `rig` if the rig file gave none."""
ENDED_BEFORE = "the guard had tripped before it"
OVER_BEFORE = "the run was ending before it"
NOT_ARMED = "the guard had not been armed"


class Injected(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One fault on purpose, and what became of it.

    Cycles are those of the guard's task; None: not seen, or not to be seen.
    """

    asked: str
    guard: str = ""
    """The guard of the axis that it strikes; empty in a run of a version that had one axis."""
    does: str
    reaction: str
    """The reaction that was seen: COUNT, HOLD, RAMP, SAFE, DRIVE."""
    stated: str
    began: int | None
    found: int | None
    found_by: str
    to_find: int | None
    to_find_bound: int
    zero: int | None
    to_zero: int | None
    """Cycles from the fault to a torque of exactly zero."""
    to_zero_bound: int | None
    good: bool
    why: tuple[str, ...] = ()
    """The differences from the statement."""
    back_s: float | None = None
    """Seconds from a cable that was put back to every slave in OP."""
    back_bound_s: float | None = None

    @property
    def tried(self) -> bool:
        """True: the fault began in a run that was armed, and that nothing else had ended."""
        without = (ENDED_BEFORE, OVER_BEFORE, NOT_ARMED)
        return self.began is not None and not any(w.startswith(without) for w in self.why)

    def line(self) -> str:
        """Return it as one sentence."""
        if self.good and self.to_zero_bound is not None:
            back = (
                "" if self.back_s is None else f"; in OP again {self.back_s:.2f} s after the cable"
            )
            return (
                f"{self.asked}: {self.reaction}, found by {self.found_by} after {self.to_find} cycles, zero "
                f"torque after {self.to_zero} of at most {self.to_zero_bound}{back}"
            )
        if self.good:
            by = f", by {self.found_by} after {self.to_find} cycles" if self.found_by else ""
            return f"{self.asked}: {self.reaction}{by}, as stated"
        return f"{self.asked}: not as stated: {'; '.join(self.why)}"


class Percentiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Summary of one histogram of durations, ns."""

    n: Count
    p50: float
    p99: float
    p99_9: float
    max: float


def number(value: float) -> Number:
    """Return a value as it stands in a manifest: whole numbers without a point, and what is not finite by its name."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    whole = abs(value) <= LARGEST_WHOLE and value == int(value)
    return int(value) if whole else float(value)


def count(value: float) -> int:
    """Return a value that counts something; what cannot be a count is none."""
    return int(value) if 0 <= value <= LARGEST_WHOLE else 0


def fault_code(value: float) -> int:
    """Return a value that a block's step returned: it may be negative; what cannot be one is 0."""
    return int(value) if -LARGEST_WHOLE <= value <= LARGEST_WHOLE else 0


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything about a run but its signals.

    `signals` names what the report plots by role: `angle`, `rate`, `torque` (of the model),
    `command` (to the drive), `measured` (a torque sensor); each is a task and a signal path of its
    record.
    """

    kind: Literal["live", "replay"]
    rig: Named
    kernels: tuple[Named, ...]
    started: str
    """UTC, ISO 8601."""
    duration_s: Annotated[float, msgspec.Meta(ge=0)]
    verdict: Literal["good", "bad"]
    reasons: tuple[str, ...]
    """The reasons of a bad verdict, or the limits of a good one."""
    tasks: dict[TaskName, TaskFacts]
    versions: dict[str, str]
    host: dict[str, str | int | float | bool | tuple[float, ...] | None]
    rights: tuple[Right, ...] = ()
    mode: Literal["strict", "degraded"] | None = None
    """The mode of the run on red checks; None: it was made before there were any."""
    checks: tuple[Check, ...] = ()
    """The findings of the doctor, worst first."""
    real_time: bool = False
    """Had every right that a hard real-time run needs."""
    timing: dict[str, dict[str, Percentiles]] = {}
    """By task and name of the histogram."""
    counters: dict[str, Number] = {}
    faults: tuple[DataFault, ...] = ()
    felt: Felt | None = None
    """The motor as the driver's hand felt it, of the first axis; None: a rig without torque, a replay."""
    axes: dict[str, Axis] = {}
    """By guard; empty: a rig without torque, a replay, or a run of format 1."""
    bringup: BroughtUp | None = None
    """The bring-up of the bus; None: the run has no bus, or it did not come to OP."""
    injections: tuple[Injected, ...] = ()
    """Faults on purpose; with any, the verdict is whether the rig met them as it states."""
    replay: Replay | None = None
    signals: dict[str, tuple[str, str]] = {}
    state: State = "ended"
    """The progress of the run; a run that has not come to its end is never good."""
    asked_s: float | None = None
    """The length that was asked for; None: until it is interrupted."""
    processes: dict[str, Process] = {}
    boot: str = ""
    """The boot in which `processes` ran."""
    table: str = ""
    """The place of its signal table as long as it runs."""
    notes: tuple[str, ...] = ()
    """Notes for a reader, which decide nothing."""
    missing: tuple[str, ...] = ()
    """The parts that a run that was cut short did not leave, and what stands in their place."""
    limited: Limited | None = None
    """The torque limit of a run on an interface whose rig nobody has signed off; None: the rig's own limits."""
    statuses: dict[str, str] = {}
    """By signal: number and word of a kernel's or an observer's last status."""
    first_cycle_ns: int = 0
    """The zero of `t_ns` in every record, on CLOCK_MONOTONIC; 0: a replay, or not known."""
    clocks: tuple[ClockPair, ...] = ()
    """Moments on both clocks, at the first cycle and at the end."""
    format: Literal[1, 2] = FORMAT


class HistogramBins(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A histogram of durations: bins without gaps by lower bound, and the exact maximum."""

    lower_ns: tuple[float, ...]
    counts: tuple[Count, ...]
    max_ns: float

    def __post_init__(self) -> None:
        if len(self.lower_ns) != len(self.counts):
            raise ValueError(f"{len(self.lower_ns)} bounds for {len(self.counts)} counts")
        if any(b <= a for a, b in zip(self.lower_ns, self.lower_ns[1:], strict=False)):
            raise ValueError("the bounds do not increase")

    @classmethod
    def of(cls, edges_ns: ArrayLike, counts: ArrayLike, max_ns: float) -> HistogramBins:
        """From a full histogram with one edge more than counts; empty ends are left out."""
        edges, numbers = np.asarray(edges_ns, float), np.asarray(counts)
        used = np.flatnonzero(numbers)
        span = slice(used[0], used[-1] + 1) if len(used) else slice(0, 0)
        return cls(tuple(edges[:-1][span].tolist()), tuple(numbers[span].tolist()), float(max_ns))

    def percentiles(self) -> Percentiles:
        """Each percentile is the upper bound of its bin, the largest is exact."""
        reached = list(itertools.accumulate(self.counts))
        n = reached[-1] if reached else 0
        if n == 0:
            return Percentiles(0, 0.0, 0.0, 0.0, 0.0)
        upper = np.minimum([*self.lower_ns[1:], self.max_ns], self.max_ns)
        p50, p99, p99_9 = (
            float(upper[bisect.bisect_left(reached, -(-n * p // 1000))]) for p in (500, 990, 999)
        )
        return Percentiles(n, p50, p99, p99_9, float(self.max_ns))


Timing = dict[str, dict[str, HistogramBins]]


def write_manifest(folder: str | Path, manifest: Manifest) -> Path:
    """Write `manifest.json` into a run folder, all of it or nothing.

    Returns
    -------
    Path
        The file.
    """
    # built by hand or by msgspec, it is checked as a reader would
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    _decode(text, Manifest, "manifest")
    return write_whole(Path(folder) / MANIFEST, text, lasting=True)


def read_manifest(folder: str | Path) -> Manifest:
    """Read and check `manifest.json`.

    Raises
    ------
    ManifestError
        Missing, or not of this format: names the file, the key and the reason.
    """
    return _read(Path(folder) / MANIFEST, Manifest, _refuse_newer)


def write_timing(folder: str | Path, timing: Mapping[str, Mapping[str, HistogramBins]]) -> Path:
    """Write `timing.json`: histograms by task and name (`late`, `step`, `bus`, `total`)."""
    text = msgspec.json.encode(timing)
    _decode(text, Timing, "timing")
    return write_whole(Path(folder) / TIMING, text, lasting=True)


def read_timing(folder: str | Path) -> Timing:
    """Read and check `timing.json`; empty if there is none.

    Raises
    ------
    ManifestError
        Not of this format.
    """
    path = Path(folder) / TIMING
    return _read(path, Timing) if path.exists() else {}


def versions() -> dict[str, str]:
    """Versions of Python and of the installed packages that a result depends on."""
    found = {"python": sys.version.split()[0]}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def sha256_of(path: str | Path) -> str:
    """Hash of a file, hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Format(msgspec.Struct):
    """The key that says how to read the others."""

    format: int = FORMAT


def _refuse_newer(path: Path, text: str) -> None:
    try:
        given = msgspec.json.decode(text.encode(), type=_Format).format
    except (msgspec.DecodeError, RecursionError):
        return  # the whole says more of what is wrong
    if given > FORMAT:
        raise ManifestError(
            f"{path}: format = {given}: made by a newer rigloop; this one reads up to {FORMAT}: update it"
        )


def _read(
    path: Path, model: type[Model], check: Callable[[Path, str], None] | None = None
) -> Model:
    try:
        text = read_text(path, MOST_BYTES)
    except UnreadableError as error:
        raise ManifestError(f"{path}: cannot be read: {error}") from error
    if check is not None:
        check(path, text)
    return _decode(text.encode(), model, str(path))


def _decode(text: bytes, model: type[Model], origin: str) -> Model:
    try:
        return decode(text, type=model)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ManifestError(f"{origin}: {error}") from error
