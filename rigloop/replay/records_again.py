"""The records of a run as a script: what each cycle saw, to be stepped again."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from rig_configs.schema import Rig
from rigloop.compose.blocks import plan_blocks
from rigloop.compose.shown import shown_roles
from rigloop.run_folder.manifest import Manifest, ManifestError
from rigloop.run_folder.recorded import read_record
from rt_core.block import Block
from rt_core.names import OF_THE_LOOP
from rt_core.plan import Plan
from rt_core.steps import Steps


def whole_records(run: Path, manifest: Manifest, rig: Rig) -> dict[str, np.ndarray]:
    """Return the record of each task; one that lacks a cycle is refused.

    Raises
    ------
    ManifestError
        A record is missing, damaged, or has missing cycles.
    """
    records = {task: read_record(run / manifest.tasks[task].record) for task in rig.tasks}
    for task, record in records.items():
        require_signals(run, task, record, ["t_ns", f"loop/{task}/cycle"])
        check_gapless(run, task, record)
    return records


def script_of(
    run: Path,
    rig: Rig,
    blocks: Mapping[str, Block],
    records: Mapping[str, np.ndarray],
    compared: bool = True,
) -> tuple[Plan, dict[str, Steps]]:
    """Plan the blocks of a rig, and the cycles of a run with what each of them saw.

    Parameters
    ----------
    compared : bool
        Refuse records that lack what the blocks write, for it will be compared.

    Raises
    ------
    ManifestError
        The records lack what the blocks read, or are not of one run.
    """
    written = {path for block in blocks.values() for path in block.writes.values()}
    given = {
        task: sorted(
            {
                path
                for name in rig.tasks[task].blocks
                if name in blocks
                for path in blocks[name].reads.values()
            }
            - written
        )
        for task in rig.tasks
    }
    # what the report shows, such as a torque sensor that no block reads
    fast = min(rig.tasks, key=lambda name: rig.tasks[name].period_us)
    shown = set(shown_roles(rig).values()) & set(records[fast].dtype.names or ()) - written
    given[fast] = sorted({*given[fast], *shown})
    for task, record in records.items():
        stepped_here = (blocks[name] for name in rig.tasks[task].blocks if name in blocks)
        outputs = [path for block in stepped_here for path in block.writes.values()]
        require_signals(run, task, record, [*given[task], *(outputs if compared else ())])
    read = sorted(set().union(*given.values()))
    outside = [path for path in read if path.partition("/")[0] not in OF_THE_LOOP]
    plan = plan_blocks(rig, blocks, outside)
    for task, record in records.items():
        counters = [f"loop/{other}/cycle" for other in seen_tasks(plan, task)]
        require_signals(run, task, record, counters)
        # a cycle a period at most; of other tasks any number between two of its own
        require_rising(run, task, record, "t_ns", rig.tasks[task].period_us * 1000)
        for path in counters:
            require_rising(run, task, record, path)
    script = {
        task: Steps(
            record["t_ns"],
            {o: record[f"loop/{o}/cycle"].astype(np.int64) for o in seen_tasks(plan, task)},
            {path: record[path] for path in given[task]},
        )
        for task, record in records.items()
    }
    return plan, script


def seen_tasks(plan: Plan, task: str) -> list[str]:
    """Return the other tasks that a task reads of."""
    tasks = {one.name for one in plan.tasks}
    return sorted({mirror.producer for mirror in plan.producer(task).mirrors} & tasks)


def require_signals(run: Path, task: str, record: np.ndarray, paths: Iterable[str]) -> None:
    """Refuse a record without a signal that the replay reads."""
    missing = sorted(set(paths) - set(record.dtype.names or ()))
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ManifestError(
            f"{run}: the record of {task} has no signal {missing[0]}{more}: it is not that of this run"
        )


def check_gapless(run: Path, task: str, record: np.ndarray) -> None:
    """Refuse a record with missing cycles: what they saw is not known."""
    cycle = record[f"loop/{task}/cycle"]
    if not len(cycle) or cycle[0] != 1 or np.any(np.diff(cycle) != 1):
        at = (
            0
            if not len(cycle) or cycle[0] != 1
            else int(np.flatnonzero(np.diff(cycle) != 1)[0]) + 1
        )
        raise ManifestError(
            f"{run}: the record of {task} lacks cycles before row {at}; only a whole record can be replayed"
        )


def require_rising(
    run: Path, task: str, record: np.ndarray, path: str, period: int | None = None
) -> None:
    """Refuse a record in which a count of cycles falls, or a time does not rise from period to period."""
    column = record[path]
    if period is None:
        rises = np.diff(column, prepend=0.0) >= 0
    else:
        rises = np.diff(column // period, prepend=-1) > 0
    if not rises.all():
        row = int(np.flatnonzero(~rises)[0])
        raise ManifestError(
            f"{run}: in the record of {task} {path} is {column[row]!r} at row {row}, not after the one before: "
            "it is not the record of this run"
        )


def cut_to_each_other(run: Path, records: dict[str, np.ndarray]) -> list[str]:
    """Cut records to where each has what the others' cycles saw; return what was left out.

    The records of a run that was killed end at different cycles: one that saw a cycle of another task which is in
    no record cannot be stepped again.

    Raises
    ------
    ManifestError
        A record has no cycle left.
    """
    before = {task: len(record) for task, record in records.items()}
    while True:
        lengths = {task: len(record) for task, record in records.items()}
        for task, other in itertools.permutations(records, 2):
            if f"loop/{other}/cycle" in (records[task].dtype.names or ()):
                seen = records[task][f"loop/{other}/cycle"]
                too_new = np.flatnonzero(seen > len(records[other]))
                if len(too_new):
                    records[task] = records[task][: too_new[0]]
        if lengths == {task: len(record) for task, record in records.items()}:
            break
    if not all(len(record) for record in records.values()):
        raise ManifestError(f"{run}: nothing is left to be replayed: a record has no cycle")
    return [
        f"{task}: the last {before[task] - len(record)} of {before[task]} cycles saw values that no record has; omitted"
        for task, record in records.items()
        if len(record) < before[task]
    ]
