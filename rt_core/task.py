"""Tasks: what a periodic thread may be told, and the rules between several. A rig file is held to the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, SkipValidation

from rt_core.block import Block
from rt_core.host.spin import MOST_SHARE
from rt_core.names import BESIDE, WORD
from rt_core.settings import Wrong, check


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise ValueError("must be a power of two")
    return value


MOST_POINTS = 64  # of an overrun policy
Overrun = Literal["skip", "safe", "stop"]
OffCore = Literal["count", "safe"]
Priority = Annotated[int, Field(ge=1, le=98)]  # 99 belongs to the kernel's own threads
Core = Annotated[int, Field(ge=0, le=8191)]
Points = Annotated[int, Field(ge=1, le=MOST_POINTS)]
# what counts cycles: with the longest period it stays within 64 bits of nanoseconds
Cycles = Annotated[int, Field(ge=1, le=1_000_000_000)]
PowerOfTwo = Annotated[int, Field(ge=2), AfterValidator(_power_of_two)]


@dataclass(frozen=True)
class Task:
    """A period and an ordered list of blocks.

    Attributes
    ----------
    name : str
        Lower case; its signals are `loop/<name>/...`.
    blocks : sequence of Block
        Stepped in this order, all of them in every cycle, also after a fault.
    period_ns : int
    priority : int
        SCHED_FIFO priority, 1 to 98; used when the loop has the right.
    core : int or None
        CPU that the thread is pinned to.
    spin_ns : int
        The last part of the wait for a deadline, spent spinning instead of sleeping; less where the usual step leaves
        less: work and spin stay within 85 % of the period.
    warm_touch : bool
        Touch the memory of a cycle while spinning before it.
    overrun : {"skip", "safe", "stop"}
        After `overrun_limit` points within `overrun_window` periods: continue counting; latch
        `loop/<name>/fault` = 1 with `fault_block` = 0, on which the guard ramps out; or ask the
        loop to stop. Periods are skipped and phase is kept in all three.
    overrun_limit : int
        An overrun is one point; one of the task's own making, or with an untold cause, is two.
    overrun_window : int
    count_stolen : bool
        False: overruns whose cause is stolen time give no point.
    late_limit_ns : int or None
        A cycle that begins later than this is a late one, kept with its neighbours. None: the period,
        so that only cycles that lost or outlived a period are kept.
    bus_wait_ns : int or None
        Longest time that the bus blocks of a cycle may sleep; None: as long as they take.
    stall_cycles : int or None
        Periods without a new cycle after which the watchdog acts; None: it does not watch this task.
    off_core : {"count", "safe"}
        A thread that runs on another core than `core`: count it; or latch `loop/<name>/fault` = 2 with
        `fault_block` = 0, on which the guard ramps out.
    bus : tuple of str
        Names of the blocks whose time counts as bus time.
    inputs : tuple of str
        Paths of this task that no block writes: a replay sets them.
    steer : str or None
        Signal of this task that says by how many ns the deadlines of all tasks are to move after a cycle:
        the phase of a clock outside. At most 1 % of the period is taken.
    ring_slots : int or None
        Cycles that the recorder may lag behind, a power of two. None: two seconds, rounded up.
    """

    name: Annotated[str, Field(pattern=f"^{WORD.pattern}$")]
    blocks: Annotated[Sequence[Block], SkipValidation]
    period_ns: Annotated[int, Field(gt=0)]
    priority: Priority = 80
    core: Core | None = None
    spin_ns: Annotated[int, Field(ge=0)] = 0
    warm_touch: bool = True
    overrun: Overrun = "skip"
    overrun_limit: Points = 3
    overrun_window: Cycles = 10
    count_stolen: bool = True
    late_limit_ns: Annotated[int, Field(ge=0)] | None = None
    bus_wait_ns: Annotated[int, Field(ge=0)] | None = None
    stall_cycles: Cycles | None = None
    off_core: OffCore = "count"
    bus: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    steer: str | None = None
    ring_slots: PowerOfTwo | None = None

    def __post_init__(self) -> None:
        check(f"task {self.name!r}", self)

    @property
    def slots(self) -> int:
        """Slots of this task's ring."""
        if self.ring_slots is not None:
            return self.ring_slots
        return 1 << max(6, (2_000_000_000 // max(1, self.period_ns) - 1).bit_length())


class Figures(NamedTuple):
    """The figures of a task that have to suit those of the others; times in one unit."""

    period: int
    spin: int


def mistakes_between(tasks: Mapping[str, Figures], unit: str) -> Iterator[Wrong]:
    """Find names, periods and spins that no loop can have.

    Parameters
    ----------
    tasks : mapping of str to Figures
    unit : str
        The last word of the keys of times.
    """
    fastest = min(tasks, key=lambda name: tasks[name].period, default="")
    for name, (period, spin) in tasks.items():
        if name in BESIDE:
            problem = f"signals under this name are those of the producer {name!r}"
            yield Wrong(f"tasks.{name}", name, problem, "give the task another name")
        base = tasks[fastest].period
        if period % base:
            problem = f"not a multiple of tasks.{fastest}.period_{unit} = {base}"
            below = period // base * base
            remedy = f"take {below} or {below + base}"
            yield Wrong(f"tasks.{name}.period_{unit}", period, problem, remedy)
        most = int(MOST_SHARE * period)
        if spin > most:
            problem = (
                f"{100 * spin / period:.0f} % of the period of {period}, before any work: at most "
                f"{100 * MOST_SHARE:.0f} %, because the kernel throttles real-time threads above "
                "that or ends the process"
            )
            remedy = (
                f"spin at most {most}; the time of the work is subtracted from it during the run"
            )
            yield Wrong(f"tasks.{name}.spin_{unit}", spin, problem, remedy)


def stepped_twice(tasks: Mapping[str, Iterable[str]]) -> Iterator[Wrong]:
    """Find blocks that are stepped more than once, in the blocks of each task."""
    home: dict[str, str] = {}
    for name, blocks in tasks.items():
        for block in blocks:
            if block in home:
                problem = f"already stepped by task {home[block]!r}"
                yield Wrong(f"tasks.{name}.blocks", block, problem, "list it once")
            home.setdefault(block, name)
