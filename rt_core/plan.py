"""Tasks, and the wiring of their blocks: which cell of whose image every port means.

`plan_table` is the only place that resolves paths. It reports all mistakes of a rig at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rt_core.names import BESIDE, LIVE, LOOP, OF_THE_LOOP, PATH, SUPERVISOR
from rt_core.producer import Mirror, Producer
from rt_core.task import Figures, Task, mistakes_between, stepped_twice

# signals that a task writes itself, in this order, at the head of its image; see ARCHITECTURE.md
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
    "spin_ns",  # of the wait for this cycle: the rest of the wanted spin beside the usual work
)

LOOP_UNITS = dict.fromkeys(("late_ns", "step_ns", "bus_ns", "spin_ns"), "ns")
"""Units of those that are no counts, flags or codes."""

OFF_CORE_EVERY = 1000  # cycles
WHO = {SUPERVISOR: "the supervisor", LIVE: "the writer of live values"}

FAULT_POLICY, FAULT_OFF_CORE = 1, 2  # `fault` with a `fault_block` of 0

MOST_BLOCK_HISTOGRAMS = 64
OTHER_BLOCKS = "block/(others)"  # no name of a block


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
    return f"{LOOP}/{task}/{name}"


def plan_table(
    tasks: Sequence[Task],
    supervisor_signals: Iterable[str] = (),
    live_signals: Iterable[str] = (),
) -> Plan:
    """Resolve every read of every block to the producer that writes it.

    Parameters
    ----------
    tasks : sequence of Task
    supervisor_signals : iterable of str
        Paths that the supervisor publishes, each `supervisor/...`.
    live_signals : iterable of str
        Paths that the writer of live values publishes, each `live/...`; without any there is no such producer.

    Returns
    -------
    Plan

    Raises
    ------
    WiringError
        With all mistakes: unknown signals, two writers, bad paths, bad task figures.
    """
    beside = {SUPERVISOR: tuple(supervisor_signals), LIVE: tuple(live_signals)}
    mistakes = list(_task_mistakes(tasks))
    written = _writers(tasks, beside, mistakes)

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
    producers.append(Producer(SUPERVISOR, 0, beside[SUPERVISOR]))
    if beside[LIVE]:
        producers.append(Producer(LIVE, 0, beside[LIVE]))
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
        if source not in BESIDE and cycle not in paths:
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
    tasks: Sequence[Task], beside: Mapping[str, tuple[str, ...]], mistakes: list[str]
) -> dict[str, tuple[str, str]]:
    """Path -> (producer, who writes it); the first writer wins, the others are mistakes."""
    written: dict[str, tuple[str, str]] = {}

    def claim(path: str, producer: str, who: str) -> None:
        if not (isinstance(path, str) and PATH.fullmatch(path) and "/" in path):
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
    for producer, paths in beside.items():
        who = WHO[producer]
        for path in paths:
            claim(path, producer, who)
            if not str(path).startswith(f"{producer}/"):
                mistakes.append(f"{who} writes {path!r}: its signals start with '{producer}/'")
    for task in tasks:
        for path in task.inputs:
            claim(path, task.name, f"the inputs of task {task.name!r}")
        for block in task.blocks:
            for port, path in block.writes.items():
                if str(path).partition("/")[0] in OF_THE_LOOP:
                    mistakes.append(
                        f"block {block.name!r}: port {port!r} writes {path!r}, but 'loop/', "
                        "'supervisor/' and 'live/' belong to the loop and its helpers"
                    )
                else:
                    claim(path, task.name, f"block {block.name!r}")
    return written


def _task_mistakes(tasks: Sequence[Task]) -> Iterator[str]:
    if not tasks:
        yield "there is no task: a loop needs at least one"
    names = [task.name for task in tasks]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"task {name!r}: the name is taken by another task"
    figures = {t.name: Figures(t.period_ns, t.spin_ns) for t in tasks}
    yield from map(str, mistakes_between(figures, "ns"))
    yield from map(str, stepped_twice({t.name: [b.name for b in t.blocks] for t in tasks}))
    for task in tasks:
        blocks = [block.name for block in task.blocks]
        for name in task.bus:
            if name not in blocks:
                yield f"task {task.name!r}: bus block {name!r} is not one of its blocks"


def _near(path: str, written: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(path), list(written), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
