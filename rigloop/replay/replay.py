"""Replay: the same blocks, without a clock. A log goes through the filter and the kernel; a recorded run through
the guard too, and has to give the same bits."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from io_bridge.logs.reader import EncoderLog, read_log
from io_bridge.logs.schedule import schedule
from io_bridge.recording.record import RecordError, open_record
from rig_configs.load import LoadedRig
from rig_configs.log_schema import load_mapping
from rig_configs.named_files import keep_named
from rig_configs.schema import Rig
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.compose.blocks import find_guards, make_blocks, plan_blocks
from rigloop.compose.consent import require_consent
from rigloop.compose.kernels import build_kernels
from rigloop.compose.shown import shown_roles
from rigloop.compose.wiring import load
from rigloop.replay.script import run_script
from rigloop.replay.verdict import Replayed, conclude_log, conclude_run
from rigloop.run_folder.folders import new_run_folder
from rigloop.run_folder.manifest import ManifestError, read_manifest
from rigloop.run_folder.not_started import NotStartedError
from rigloop.run_folder.outcome import Outcome
from rigloop.sign_off.limit import limited_rig
from rt_core.block import Block
from rt_core.names import OF_THE_LOOP
from rt_core.plan import Plan
from rt_core.steps import Steps, in_order

# a log has gaps of its own; the filter starts again only after one that no motion bridges
LOST_AFTER_SAMPLES = 20
MIN_LOST_AFTER_S = 0.02
PRESETS_SINCE = 2  # format of the manifest


def replay_log(
    path: Path,
    loaded: LoadedRig,
    *,
    mapping: Path | None,
    runs: Path,
    console: Console,
    page: bool = True,
) -> Outcome:
    """Feed a logged encoder file through the filter and the kernel of a rig.

    Raises
    ------
    LogError, MappingError
        The file, or its mapping, cannot be read.
    """
    log = read_log(path, load_mapping(mapping) if mapping else None)
    rig = loaded.rig
    kernels = build_kernels(loaded)
    by_period = sorted(rig.tasks, key=lambda name: rig.tasks[name].period_us)
    tick_s = rig.tasks[by_period[0]].period_us * 1e-6
    ticks = schedule(log, tick_s)
    blocks = make_blocks(rig, kernels, **filter_settings(log, rig, tick_s))
    blocks = {name: b for name, b in blocks.items() if rig.blocks[name].kind != "guard"}
    encoder = the_filter(rig, blocks)
    forced = {
        encoder.reads["position_count"]: ticks.position_count,
        encoder.reads["valid"]: ticks.valid,
    }
    blocks = without_blind_observers(rig, blocks, forced)
    measured = {f"log/{name}": values[ticks.sample] for name, values in log.torque.items()}
    plan = plan_blocks(rig, blocks, [*forced, *measured])
    script = _ideal(plan, rig, by_period, len(ticks.valid), forced | measured)
    folder = new_folder(runs, f"replay-{path.stem}", loaded)
    pace = run_script(plan, script, folder, console)
    done = Replayed(folder, loaded, kernels, pace, page)
    return conclude_log(done, log, ticks.superseded, list(measured))


def replay_run(
    run: Path, *, runs: Path, console: Console, trusts: bool = False, page: bool = True
) -> Outcome:
    """Step a recorded live run again and compare every signal of its blocks bit for bit.

    Parameters
    ----------
    trusts : bool
        The code of its own blocks, as the run folder has it, is trusted from now on.
    page : bool
        The new folder gets its report page.

    Raises
    ------
    NotTrustedError
        It has blocks of its own that nobody has trusted here.
    ManifestError
        The folder holds no live run with whole records.
    """
    manifest = read_manifest(run)
    if manifest.kind != "live":
        raise ManifestError(
            f"{run}: a {manifest.kind}, only a live run can be replayed bit for bit"
        )
    if manifest.injections:
        asked = ", ".join(injected.asked for injected in manifest.injections)
        raise ManifestError(
            f"{run}: has faults on purpose ({asked}): its blocks did not see what is recorded"
        )
    loaded = load(str(run / "rig.toml"))
    if loaded.sha256 != manifest.rig.sha256:
        raise ManifestError(f"{run}/rig.toml: not the rig of the run: changed since")
    rig = limited_rig(as_recorded(loaded.rig, manifest.format), manifest.limited)
    require_consent(loaded, trusts=trusts)
    kernels = build_kernels(loaded)
    records = {task: read_record(run / manifest.tasks[task].record) for task in rig.tasks}
    for task, record in records.items():
        require_signals(run, task, record, ["t_ns", f"loop/{task}/cycle"])
        check_gapless(run, task, record)
    cut = cut_to_each_other(records)
    if not all(len(record) for record in records.values()):
        raise ManifestError(f"{run}: nothing is left to be replayed: a record has no cycle")
    for words in cut:
        console.print(words, highlight=False)

    blocks = make_blocks(rig, kernels)
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
        compared = [path for block in stepped_here for path in block.writes.values()]
        require_signals(run, task, record, [*given[task], *compared])
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
    folder = new_folder(runs, f"replay-{run.name}", loaded)
    pace = run_script(plan, script, folder, console)
    again = {task: open_record(folder / f"{task}.npy") for task in script}
    done = Replayed(folder, loaded, kernels, pace, page)
    return conclude_run(done, run, manifest, records, again, written)


def as_recorded(rig: Rig, format: int) -> Rig:
    """Return the rig of a run with the defaults of that time: in format 1 guards had the times of the preset `rig`."""
    if format >= PRESETS_SINCE:
        return rig
    guards = {
        name: guard.model_copy(update={"preset": "rig"}) for name, guard in find_guards(rig).items()
    }
    return rig.model_copy(update={"blocks": {**rig.blocks, **guards}})


def _ideal(
    plan: Plan, rig: Rig, by_period: Sequence[str], n: int, forced: Mapping[str, np.ndarray]
) -> dict[str, Steps]:
    """Return the cycles of a log: each at its time and done at once, of one time the fastest task's first.

    Parameters
    ----------
    n : int
        Cycles of the fastest task, to which `forced` belongs.
    """
    fast, *slower = by_period
    end_ns = n * rig.tasks[fast].period_us * 1000
    times = {
        task: np.arange(0, end_ns, rig.tasks[task].period_us * 1000, dtype=np.int64)
        for task in by_period
    }
    seen = in_order(times)
    return {
        task: Steps(
            times[task],
            {other: seen[task][other] for other in seen_tasks(plan, task)},
            forced if task == fast else {},
        )
        for task in (fast, *slower)
    }


def seen_tasks(plan: Plan, task: str) -> list[str]:
    """Return the other tasks that a task reads of."""
    tasks = {one.name for one in plan.tasks}
    return sorted({mirror.producer for mirror in plan.producer(task).mirrors} & tasks)


def the_filter(rig: Rig, blocks: Mapping[str, Block]) -> Block:
    """Return the one encoder filter that a log can feed."""
    filters = [name for name, block in rig.blocks.items() if block.kind == "encoder_filter"]
    if len(filters) != 1:
        raise NotStartedError(f"a log feeds one encoder filter, this rig has {len(filters)}")
    return blocks[filters[0]]


def without_blind_observers(
    rig: Rig, blocks: Mapping[str, Block], forced: Iterable[str]
) -> dict[str, Block]:
    """Leave out the observers that read what a log does not have, such as the torque of a motor."""
    there = {path for block in blocks.values() for path in block.writes.values()} | set(forced)
    return {
        name: block
        for name, block in blocks.items()
        if rig.blocks[name].kind != "observer"
        or all(path in there or path.startswith("loop/") for path in block.reads.values())
    }


def filter_settings(log: EncoderLog, rig: Rig, tick_s: float) -> dict[str, float]:
    """Return what a log knows better than the rig: scale of its encoder, rate of its samples."""
    angle = log.mapping.angle
    rig_bandwidth = next(
        block.bandwidth_rad_s
        for block in rig.blocks.values()
        if isinstance(block, EncoderFilterBlock)
    )
    return {
        "counts_per_rev": float(angle.counts_per_rev),
        "counter_span": float(angle.counter_span),
        "zero_count": float(angle.zero_count),
        "sign": angle.sign,
        # of samples within one tick the newest counts
        "sample_period_s": max(log.sample_period_s, tick_s),
        "lost_after_s": max(LOST_AFTER_SAMPLES * log.sample_period_s, MIN_LOST_AFTER_S),
        "bandwidth_rad_s": log.bandwidth_rad_s(rig_bandwidth),
    }


def read_record(path: Path) -> np.ndarray:
    """Return a record of a run; a missing or broken one is an error in one line."""
    try:
        return open_record(path)
    except OSError as error:
        raise ManifestError(f"{path}: cannot be read: {error.strerror}") from None
    except RecordError as error:
        raise ManifestError(str(error)) from None


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


def cut_to_each_other(records: dict[str, np.ndarray]) -> list[str]:
    """Cut records to where each has what the others' cycles saw; return what was left out.

    The records of a run that was killed end at different cycles: one that saw a cycle of another task which is in
    no record cannot be stepped again.
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
    return [
        f"{task}: the last {before[task] - len(record)} of {before[task]} cycles saw what no record has; left out"
        for task, record in records.items()
        if len(record) < before[task]
    ]


def new_folder(runs: Path, name: str, loaded: LoadedRig) -> Path:
    """Make the run folder of a replay, with the rig in it."""
    folder = new_run_folder(runs, name)
    (folder / "rig.toml").write_text(loaded.text, encoding="utf-8")
    keep_named(folder, loaded.files)
    return folder
