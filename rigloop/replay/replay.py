"""Replay: the same blocks, without a clock. A log goes through the filter and the kernel; a recorded run through
the guard too, and has to give the same bits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from rich.console import Console

from codegen.kernels.build import BuiltKernel
from io_bridge.logs.reader import EncoderLog, read_log
from io_bridge.logs.schedule import schedule
from io_bridge.recording.record import open_record
from rig_configs.load import LoadedRig
from rig_configs.log_schema import LogMapping, load_mapping
from rig_configs.named_files import keep_named
from rig_configs.schema import Rig
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.compose.blocks import find_guards, make_blocks, plan_blocks
from rigloop.compose.consent import require_consent
from rigloop.compose.kernels import build_kernels
from rigloop.compose.wiring import load
from rigloop.replay.records_again import cut_to_each_other, script_of, seen_tasks, whole_records
from rigloop.replay.replay_manifest import Replayed
from rigloop.replay.script import run_script
from rigloop.replay.verdict import conclude_log, conclude_run
from rigloop.run_folder.folders import new_run_folder
from rigloop.run_folder.manifest import Manifest, ManifestError, read_manifest
from rigloop.run_folder.not_started import NotStartedError
from rigloop.run_folder.outcome import Outcome
from rigloop.sign_off.limit import limited_rig
from rt_core.block import Block
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
    kernels = build_kernels(loaded)
    made = log_script(log, loaded.rig, kernels)
    folder = new_folder(runs, f"replay-{path.stem}", loaded)
    pace = run_script(made.plan, made.script, folder, console)
    done = Replayed(folder, loaded, kernels, pace, page)
    return conclude_log(done, log, made.superseded, made.measured)


@dataclass(frozen=True)
class LogScript:
    """The cycles of a log: plan and script, samples that a newer one replaced, and torques that the log has."""

    plan: Plan
    script: dict[str, Steps]
    superseded: int
    measured: list[str]


def log_script(log: EncoderLog, rig: Rig, kernels: Mapping[str, BuiltKernel]) -> LogScript:
    """Return the cycles in which a log goes through the filter and the kernel of a rig."""
    made = log_plan(log, rig, kernels, [*log.torque])
    ticks = schedule(log, made.tick_s)
    measured = {f"log/{name}": values[ticks.sample] for name, values in log.torque.items()}
    forced = made.forced(ticks.position_count, ticks.valid) | measured
    script = _ideal(made.plan, rig, made.by_period, len(ticks.valid), forced)
    return LogScript(made.plan, script, ticks.superseded, [*measured])


@dataclass(frozen=True)
class LogPlan:
    """The blocks that a log goes through.

    Attributes
    ----------
    plan : Plan
    by_period : tuple of str
        Tasks, the fastest first; it is fed with the log.
    tick_s : float
        Period of the fastest, s.
    count, valid : str
        Signals that stand for the encoder.
    """

    plan: Plan
    by_period: tuple[str, ...]
    tick_s: float
    count: str
    valid: str

    def forced(self, count: np.ndarray, valid: np.ndarray) -> dict[str, np.ndarray]:
        """Return the inputs of the filter by signal."""
        return {self.count: count, self.valid: valid}


class LogFacts(Protocol):
    """The facts of a log that the filter takes, whichever way the log is read."""

    @property
    def mapping(self) -> LogMapping: ...
    @property
    def sample_period_s(self) -> float: ...
    def bandwidth_rad_s(self, rig_bandwidth_rad_s: float) -> float: ...


def log_plan(
    log: LogFacts, rig: Rig, kernels: Mapping[str, BuiltKernel], torques: Sequence[str]
) -> LogPlan:
    """Plan the blocks of a rig for a log with these torques; what a log cannot feed is left out."""
    by_period = tuple(sorted(rig.tasks, key=lambda name: rig.tasks[name].period_us))
    tick_s = rig.tasks[by_period[0]].period_us * 1e-6
    blocks = make_blocks(rig, kernels, **filter_settings(log, rig, tick_s))
    blocks = {name: b for name, b in blocks.items() if rig.blocks[name].kind != "guard"}
    encoder = the_filter(rig, blocks)
    count, valid = encoder.reads["position_count"], encoder.reads["valid"]
    blocks = without_blind_observers(rig, blocks, (count, valid))
    plan = plan_blocks(rig, blocks, [count, valid, *(f"log/{name}" for name in torques)])
    return LogPlan(plan, by_period, tick_s, count, valid)


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
    manifest, loaded = repeatable(run)
    rig = limited_rig(as_recorded(loaded.rig, manifest.format), manifest.limited)
    require_consent(loaded, trusts=trusts)
    kernels = build_kernels(loaded)
    records = whole_records(run, manifest, rig)
    for words in cut_to_each_other(run, records):
        console.print(words, highlight=False)
    blocks = make_blocks(rig, kernels)
    written = {path for block in blocks.values() for path in block.writes.values()}
    plan, script = script_of(run, rig, blocks, records)
    folder = new_folder(runs, f"replay-{run.name}", loaded)
    pace = run_script(plan, script, folder, console)
    again = {task: open_record(folder / f"{task}.npy") for task in script}
    done = Replayed(folder, loaded, kernels, pace, page)
    return conclude_run(done, run, manifest, records, again, written)


def repeatable(run: Path) -> tuple[Manifest, LoadedRig]:
    """Return manifest and rig of a live run that can be stepped again.

    Raises
    ------
    ManifestError
        It was no live run, had faults on purpose, or its rig was changed since.
    """
    manifest = read_manifest(run)
    if manifest.kind != "live":
        raise ManifestError(
            f"{run}: a {manifest.kind}, only a live run can be replayed bit for bit{_instead(manifest)}"
        )
    if manifest.injections:
        asked = ", ".join(injected.asked for injected in manifest.injections)
        raise ManifestError(
            f"{run}: has faults on purpose ({asked}): its blocks did not see what is recorded"
        )
    loaded = load(str(run / "rig.toml"))
    if loaded.sha256 != manifest.rig.sha256:
        raise ManifestError(f"{run}/rig.toml: not the rig of the run: changed since")
    return manifest, loaded


def _instead(manifest: Manifest) -> str:
    log = None if manifest.replay is None else manifest.replay.log
    return "" if log is None else f"; give what it was made of: {log.name}"


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


def filter_settings(log: LogFacts, rig: Rig, tick_s: float) -> dict[str, float]:
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


def new_folder(runs: Path, name: str, loaded: LoadedRig) -> Path:
    """Make the run folder of a replay, with the rig in it."""
    folder = new_run_folder(runs, name)
    (folder / "rig.toml").write_text(loaded.text, encoding="utf-8")
    keep_named(folder, loaded.files)
    return folder
