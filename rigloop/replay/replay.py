"""Replay: the same blocks, without a clock. A log goes through the filter and the kernel; a recorded run through
the guard too, and has to give the same bits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from rigloop.console.errors import NotStartedError
from rigloop.replay.script import Script, run_script
from rigloop.replay.verdict import conclude_log, conclude_run
from rigloop.run_folder.folders import new_run_folder
from rigloop.run_folder.manifest import ManifestError, read_manifest
from rigloop.run_folder.outcome import Outcome
from rt_core.block import Block

# a log has gaps of its own; the filter starts again only after one that no motion bridges
LOST_AFTER_SAMPLES = 20
MIN_LOST_AFTER_S = 0.02
PRESETS_SINCE = 2  # format of the manifest


def replay_log(
    path: Path, loaded: LoadedRig, *, mapping: Path | None, runs: Path, console: Console
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
    fast, slow = fast_and_slow(rig)
    fast_ns, slow_ns = (rig.tasks[task].period_us * 1000 for task in (fast, slow))
    ticks = schedule(log, fast_ns * 1e-9)
    n, every = len(ticks.valid), slow_ns // fast_ns
    slow_at = np.arange(0, n, every)

    blocks = make_blocks(rig, kernels, **filter_settings(log, rig, fast_ns * 1e-9))
    blocks = {name: b for name, b in blocks.items() if rig.blocks[name].kind != "guard"}
    encoder = the_filter(rig, blocks)
    forced = {
        encoder.reads["position_count"]: ticks.position_count,
        encoder.reads["valid"]: ticks.valid,
    }
    blocks = without_blind_observers(rig, blocks, forced)
    measured = {f"log/{name}": values[ticks.sample] for name, values in log.torque.items()}
    plan = plan_blocks(rig, blocks, [*forced, *measured])
    script = Script(
        fast,
        slow,
        t_ns=np.arange(n) * fast_ns,
        slow_t_ns=slow_at * fast_ns,
        after=slow_at + 1,
        visible=slow_at + 1,
        forced=forced | measured,
    )
    folder = new_folder(runs, f"replay-{path.stem}", loaded)
    pace = run_script(plan, script, folder, console)
    return conclude_log(folder, loaded, kernels, log, ticks.superseded, list(measured), pace)


def replay_run(run: Path, *, runs: Path, console: Console, trusts: bool = False) -> Outcome:
    """Step a recorded live run again and compare every signal of its blocks bit for bit.

    Parameters
    ----------
    trusts : bool
        The code of its own blocks, as the run folder has it, is trusted from now on.

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
    rig = as_recorded(loaded.rig, manifest.format)
    require_consent(loaded, trusts=trusts)
    kernels = build_kernels(loaded)
    fast, slow = fast_and_slow(rig) if len(rig.tasks) != 1 else (next(iter(rig.tasks)), None)
    stepped = (fast,) if slow is None else (fast, slow)
    records = {task: read_record(run / manifest.tasks[task].record) for task in stepped}
    for task, record in records.items():
        require_signals(run, task, record, ["t_ns", f"loop/{task}/cycle"])
        check_gapless(run, task, record)
    cut = [] if slow is None else cut_to_each_other(records, fast, slow)
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
        for task in stepped
    }
    # what the report shows, such as a torque sensor that no block reads
    shown = set(shown_roles(rig).values()) & set(records[fast].dtype.names or ()) - written
    given[fast] = sorted({*given[fast], *shown})
    for task, record in records.items():
        stepped_here = (blocks[name] for name in rig.tasks[task].blocks if name in blocks)
        compared = [path for block in stepped_here for path in block.writes.values()]
        require_signals(run, task, record, [*given[task], *compared])
    read = sorted(set().union(*given.values()))
    outside = [path for path in read if not path.startswith(("loop/", "supervisor/"))]
    plan = plan_blocks(rig, blocks, outside)
    script = _again(records, given, fast, slow)
    folder = new_folder(runs, f"replay-{run.name}", loaded)
    pace = run_script(plan, script, folder, console)
    again = {task: open_record(folder / f"{task}.npy") for task in stepped}
    return conclude_run(folder, loaded, kernels, run, manifest, records, again, written, pace)


def as_recorded(rig: Rig, format: int) -> Rig:
    """Return the rig of a run with the defaults of that time: in format 1 guards had the times of the preset `rig`."""
    if format >= PRESETS_SINCE:
        return rig
    guards = {
        name: guard.model_copy(update={"preset": "rig"}) for name, guard in find_guards(rig).items()
    }
    return rig.model_copy(update={"blocks": {**rig.blocks, **guards}})


def _again(
    records: Mapping[str, np.ndarray],
    given: Mapping[str, list[str]],
    fast: str,
    slow: str | None,
) -> Script:
    """Return the script of a recorded run; `slow` is None where it has one task."""
    forced = {
        task: {path: record[path] for path in given[task]} for task, record in records.items()
    }
    t_ns = records[fast]["t_ns"]
    none = np.empty(0, np.int64)
    if slow is None:
        return Script(fast, None, t_ns, none, none, none, forced[fast])
    m = len(records[slow])
    n_fast = f"loop/{fast}/cycle"
    # a task that reads nothing of the other does not say which of its cycles it saw, and need not
    after = _seen(records[slow], n_fast, np.ones(m)).astype(np.int64)
    seen = _seen(records[fast], f"loop/{slow}/cycle", np.zeros(len(t_ns)))
    return Script(
        fast,
        slow,
        t_ns=t_ns,
        slow_t_ns=records[slow]["t_ns"],
        after=after,
        # the first fast cycle that saw slow cycle k, or the end
        visible=np.searchsorted(seen, np.arange(1, m + 1), side="left"),
        forced=forced[fast],
        slow_forced=forced[slow],
    )


def _seen(record: np.ndarray, path: str, otherwise: np.ndarray) -> np.ndarray:
    return record[path] if path in (record.dtype.names or ()) else otherwise


def fast_and_slow(rig: Rig) -> tuple[str, str]:
    """Return the names of the two tasks, the faster one first."""
    if len(rig.tasks) != 2:
        raise NotStartedError(f"a replay steps two tasks, this rig has {len(rig.tasks)}")
    fast, slow = sorted(rig.tasks, key=lambda name: rig.tasks[name].period_us)
    return fast, slow


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


def cut_to_each_other(records: dict[str, np.ndarray], fast: str, slow: str) -> list[str]:
    """Cut two records to where each has what the other's cycles saw; return what was left out.

    The records of a run that was killed end at different cycles: one that saw a cycle of the other task which is in
    no record cannot be stepped again.
    """
    before = {task: len(record) for task, record in records.items()}
    while True:
        lengths = {task: len(record) for task, record in records.items()}
        for task, other in ((fast, slow), (slow, fast)):
            seen = _seen(records[task], f"loop/{other}/cycle", np.zeros(len(records[task])))
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
    try:
        folder = new_run_folder(runs, name)
    except OSError as error:
        raise NotStartedError(
            f"{runs}: no run folder can be made: {error.strerror}; give --runs"
        ) from None
    (folder / "rig.toml").write_text(loaded.text, encoding="utf-8")
    keep_named(folder, loaded.files)
    return folder
