"""Tasks, and the wiring of their blocks: which cell of whose image every port means.

`plan_table` is the only place that resolves paths. It reports all mistakes of a rig at once.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rt_core.block import Block

SUPERVISOR = "supervisor"

# what a task writes itself, in this order, at the head of its image; see ARCHITECTURE.md
LOOP_SIGNALS = (
    "cycle",  # executed cycles, this one included
    "elapsed",  # periods since the last executed cycle
    "late_ns",  # start of this cycle minus its deadline
    "stop",  # 1 once this process was asked to stop
    "fault",  # first non-zero status of a block in this cycle
    "fault_block",  # its place in the task, from 1; 0 with a fault: the overrun policy
    "step_ns",  # time in the blocks that are not the bus
    "bus_ns",  # time in the bus blocks
    "overruns",  # times that one or more periods were skipped
    "skipped",  # periods skipped, in all
    "torn",  # mirrors that kept their old value because the source was written too often
    "late_cycles",  # cycles begun later than the task's late_limit_ns
    "cause",  # of the last late cycle or overrun: rt_core.lateness.cause.Cause
    "overruns_late_wake",  # overruns by cause; the five add up to `overruns`
    "overruns_stolen",
    "overruns_own",
    "overruns_bus",
    "overruns_untold",
    "overrun_level",  # points within the policy's window at the last overrun
    "overrun_trip",  # cycle in which the overrun policy acted; 0: it did not
    "off_core",  # looks, one every OFF_CORE_EVERY cycles, that found the thread on another core than its own
    "spin_ns",  # of the wait for this cycle: what the usual work leaves of the spin that was asked for
)

LOOP_UNITS = dict.fromkeys(("late_ns", "step_ns", "bus_ns", "spin_ns"), "ns")
"""Units of those that are no counts, flags or codes."""

OFF_CORE_EVERY = 1000  # cycles
FAULT_POLICY, FAULT_OFF_CORE = 1, 2  # `fault` with a `fault_block` of 0

Overrun = Literal["skip", "safe", "stop"]
MOST_POINTS = 64  # of an overrun policy
MOST_BLOCK_HISTOGRAMS = 64
OTHER_BLOCKS = "block/(others)"  # no name of a block

# as rig_configs.names has them, but for the slash
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


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
        SCHED_FIFO priority, 1 to 99; used when the loop has the right.
    core : int or None
        CPU that the thread is pinned to.
    spin_ns : int
        The last part of the wait for a deadline, spent spinning instead of sleeping; less where the usual step leaves
        less: work and spin stay within 85 % of the period.
    warm_touch : bool
        Touch the memory of a cycle while spinning before it.
    overrun : {"skip", "safe", "stop"}
        After `overrun_limit` points within `overrun_window` periods: go on counting; latch
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

    name: str
    blocks: Sequence[Block]
    period_ns: int
    priority: int = 80
    core: int | None = None
    spin_ns: int = 0
    warm_touch: bool = True
    overrun: Overrun = "skip"
    overrun_limit: int = 3
    overrun_window: int = 10
    count_stolen: bool = True
    late_limit_ns: int | None = None
    bus_wait_ns: int | None = None
    stall_cycles: int | None = None
    off_core: Literal["count", "safe"] = "count"
    bus: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    steer: str | None = None
    ring_slots: int | None = None

    @property
    def slots(self) -> int:
        """Slots of this task's ring."""
        if self.ring_slots is not None:
            return self.ring_slots
        return 1 << max(6, (2_000_000_000 // max(1, self.period_ns) - 1).bit_length())


@dataclass(frozen=True)
class Mirror:
    """A cell of another producer's image that a task keeps a copy of."""

    producer: str
    path: str


@dataclass(frozen=True)
class Producer:
    """A row of cells with one writer: its own signals first, then its mirrors, grouped by
    source."""

    name: str
    period_ns: int
    signals: tuple[str, ...]
    mirrors: tuple[Mirror, ...] = ()
    histograms: tuple[str, ...] = ()
    ring_slots: int = 0

    @property
    def paths(self) -> tuple[str, ...]:
        """Path of every cell of the image, in order."""
        return self.signals + tuple(mirror.path for mirror in self.mirrors)


@dataclass(frozen=True)
class Plan:
    """A wired rig: every port of every block has a cell."""

    tasks: tuple[Task, ...]
    producers: tuple[Producer, ...]

    def producer(self, name: str) -> Producer:
        """Return the producer `name`; KeyError when there is none."""
        for producer in self.producers:
            if producer.name == name:
                return producer
        known = ", ".join(producer.name for producer in self.producers)
        raise KeyError(f"no producer {name!r}; there are: {known}")


class WiringError(ValueError):
    """The rig cannot be wired; `mistakes` lists every reason, each with its remedy."""

    def __init__(self, mistakes: Sequence[str]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(self.mistakes))


def loop_signal(task: str, name: str) -> str:
    """Return the path of a loop signal of `task`."""
    return f"loop/{task}/{name}"


def plan_table(tasks: Sequence[Task], supervisor_signals: Iterable[str] = ()) -> Plan:
    """Resolve every read of every block to the producer that writes it.

    Parameters
    ----------
    tasks : sequence of Task
    supervisor_signals : iterable of str
        Paths that the supervisor publishes, each `supervisor/...`.

    Returns
    -------
    Plan

    Raises
    ------
    WiringError
        With all mistakes: unknown signals, two writers, bad paths, bad task figures.
    """
    supervisor = tuple(supervisor_signals)
    mistakes = _task_mistakes(tasks)
    written = _writers(tasks, supervisor, mistakes)

    producers = []
    for task in tasks:
        sources: dict[str, list[str]] = {}
        for block in task.blocks:
            for port, path in block.reads.items():
                if path not in written:
                    mistakes.append(
                        f"{block.name}: port {port!r} reads {path!r}, which nothing writes"
                        f"{_near(path, written)}"
                    )
                    continue
                source = written[path][0]
                if source != task.name and path not in sources.setdefault(source, []):
                    sources[source].append(path)
        producers.append(_producer(task, sources))
    producers.append(Producer(SUPERVISOR, 0, supervisor))
    if mistakes:
        raise WiringError(mistakes)
    return Plan(tuple(tasks), tuple(producers))


def histogram_of(task: Task, number: int) -> str:
    """Return the histogram of a task's n-th block: its own, or that of all the others where there are many.

    Each one costs lines of the cache in every cycle, more than a small block's work.
    """
    if number < MOST_BLOCK_HISTOGRAMS:
        return f"block/{task.blocks[number].name}"
    return OTHER_BLOCKS


def _producer(task: Task, sources: dict[str, list[str]]) -> Producer:
    own = [loop_signal(task.name, name) for name in LOOP_SIGNALS]
    own += task.inputs
    for block in task.blocks:
        own += block.writes.values()
    mirrors = []
    for source, paths in sources.items():
        # a replay must know which cycle of the source this cycle saw
        cycle = loop_signal(source, "cycle")
        if source != SUPERVISOR and cycle not in paths:
            paths.insert(0, cycle)
        mirrors += [Mirror(source, path) for path in paths]
    histograms = (
        "late",
        "step",
        "bus",
        "total",
        "explain",
        "spin",  # time spun before each cycle
        "hole",  # untold time in the spin and outside of blocks, of cycles that have some
        "untold",  # in blocks
        *dict.fromkeys(histogram_of(task, number) for number in range(len(task.blocks))),
    )
    return Producer(task.name, task.period_ns, tuple(own), tuple(mirrors), histograms, task.slots)


def _writers(
    tasks: Sequence[Task], supervisor: tuple[str, ...], mistakes: list[str]
) -> dict[str, tuple[str, str]]:
    """Path -> (producer, who writes it); the first writer wins, the others are mistakes."""
    written: dict[str, tuple[str, str]] = {}

    def claim(path: str, producer: str, who: str) -> None:
        if not isinstance(path, str) or not _PATH.fullmatch(path):
            mistakes.append(
                f"{who} writes {path!r}: a signal path is words of letters, digits, '_', '.' and "
                "'-' joined by '/', as in 'wheel/angle_rad'"
            )
        elif path in written:
            mistakes.append(
                f"{path!r} has two writers: {written[path][1]} and {who}; "
                "a signal has one, so rename one of them"
            )
        else:
            written[path] = (producer, who)

    for task in tasks:
        for name in LOOP_SIGNALS:
            claim(loop_signal(task.name, name), task.name, f"the loop (task {task.name!r})")
    for path in supervisor:
        claim(path, SUPERVISOR, "the supervisor")
        if not str(path).startswith("supervisor/"):
            mistakes.append(f"the supervisor writes {path!r}: its signals start with 'supervisor/'")
    for task in tasks:
        for path in task.inputs:
            claim(path, task.name, f"the inputs of task {task.name!r}")
        for block in task.blocks:
            for port, path in block.writes.items():
                if str(path).startswith(("loop/", "supervisor/")):
                    mistakes.append(
                        f"block {block.name!r}: port {port!r} writes {path!r}, but 'loop/' and "
                        "'supervisor/' belong to the loop and the supervisor"
                    )
                else:
                    claim(path, task.name, f"block {block.name!r}")
    return written


def _task_mistakes(tasks: Sequence[Task]) -> list[str]:
    mistakes = []
    if not tasks:
        mistakes.append("there is no task: a loop needs at least one")
    names: dict[str, str] = {SUPERVISOR: "the supervisor"}
    blocks: dict[str, str] = {}
    fastest = min((task.period_ns for task in tasks if task.period_ns > 0), default=1)
    for task in tasks:
        where = f"task {task.name!r}"
        if not _NAME.fullmatch(task.name):
            mistakes.append(f"{where}: a name is letters, digits, '_' and '-'")
        if task.name in names:
            mistakes.append(f"{where}: the name is taken by {names[task.name]}")
        names[task.name] = "another task"
        if task.period_ns <= 0:
            mistakes.append(f"{where}: period_ns = {task.period_ns} must be above 0")
        elif task.period_ns % fastest:
            mistakes.append(
                f"{where}: period_ns = {task.period_ns} is not a multiple of the fastest "
                f"task's {fastest}"
            )
        if not 1 <= task.priority <= 99:
            mistakes.append(f"{where}: priority = {task.priority} must be within 1 and 99")
        if not 0 <= task.spin_ns <= max(0, task.period_ns):
            mistakes.append(f"{where}: spin_ns = {task.spin_ns} must be within 0 and period_ns")
        if task.overrun not in ("skip", "safe", "stop"):
            mistakes.append(f"{where}: overrun = {task.overrun!r} must be skip, safe or stop")
        if not 1 <= task.overrun_limit <= MOST_POINTS:
            mistakes.append(
                f"{where}: overrun_limit = {task.overrun_limit} must be within 1 and {MOST_POINTS}"
            )
        for name in ("overrun_window", "stall_cycles"):
            value = getattr(task, name)
            if value is not None and value < 1:
                mistakes.append(f"{where}: {name} = {value} must be at least 1")
        for name in ("late_limit_ns", "bus_wait_ns"):
            if getattr(task, name) is not None and getattr(task, name) < 0:
                mistakes.append(f"{where}: {name} = {getattr(task, name)} must not be below 0")
        if task.slots < 2 or task.slots & (task.slots - 1):
            mistakes.append(f"{where}: ring_slots = {task.slots} must be a power of two, 2 or more")
        for block in task.blocks:
            if block.name in blocks:
                mistakes.append(
                    f"block {block.name!r} is in {where} and in task {blocks[block.name]!r}; "
                    "block names are unique in a rig"
                )
            blocks[block.name] = task.name
        for name in task.bus:
            if name not in [block.name for block in task.blocks]:
                mistakes.append(f"{where}: bus block {name!r} is not one of its blocks")
    return mistakes


def _near(path: str, written: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(path), list(written), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
