"""One replay of a sweep, and batches of them: the work of a process, here or elsewhere."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from codegen.kernels.build import BuildError, BuiltKernel
from io_bridge.logs.reader import EncoderLog, LogError, read_log
from rig_configs.load import LoadedRig
from rig_configs.log_schema import load_mapping
from rig_configs.mistakes import ConfigError
from rig_configs.schema import Rig
from rigloop.compose.blocks import make_blocks, paths
from rigloop.compose.kernels import build_kernels
from rigloop.compose.wiring import load
from rigloop.judge.metrics import Gauge, gauges, metrics_of
from rigloop.replay.records_again import cut_to_each_other, script_of, whole_records
from rigloop.replay.replay import log_script, repeatable
from rigloop.replay.script import Pace, stepped
from rigloop.run_folder.manifest import ManifestError
from rigloop.run_folder.not_started import NotStartedError
from rigloop.sign_off.limit import limited_rig
from rt_core.loop.offline import Offline
from rt_core.plan import Plan
from rt_core.steps import Steps

Row = dict[str, Any]
FAILURES = (LogError, ManifestError, NotStartedError, ConfigError, BuildError, ValueError)


@dataclass(frozen=True)
class Batch:
    """Some replays of one log or run, each with a rig of its own.

    Attributes
    ----------
    source : str
        Log or run folder, as the table names it.
    path : str
        Its whole path.
    mapping : str or None
        Mapping file of the log.
    points : tuple of (int, str)
        Number of each point, and the text of its rig.
    """

    source: str
    path: str
    mapping: str | None
    points: tuple[tuple[int, str], ...]


def run_batch(batch: Batch) -> list[Row]:
    """Replay the points of a batch; a replay that cannot be says so in its row."""
    return [_row(batch, number, text) for number, text in batch.points]


def _row(batch: Batch, number: int, text: str) -> Row:
    begin = time.perf_counter()
    row: Row = {"source": batch.source, "point": number}
    try:
        row |= simulate(batch.path, batch.mapping, text)
    except FAILURES as error:
        row |= {"metrics": {}, "sha256": "", "faults": 0, "error": str(error).splitlines()[0]}
    row["took_s"] = time.perf_counter() - begin
    return row


def simulate(source: str, mapping: str | None, text: str) -> Row:
    """Replay one log or run with one rig, without a record: metrics, hash of every bit, faults."""
    loaded, kernels = rig_of(text)
    rig = loaded.rig
    plan, script, faults = _script(source, mapping, rig, kernels)
    offline = Offline(plan)
    measured = gauges(metrics_of(rig))
    places = _places(plan, offline, [*rig.tasks], measured)
    statuses = _statuses(offline, rig)
    digests = {task: hashlib.sha256() for task in rig.tasks}
    failed = 0
    for task, t_ns, images in stepped(offline, script, Pace()):
        digests[task].update(np.ascontiguousarray(images).data)
        for gauge, column in places[task]:
            gauge.take(t_ns, images[:, column])
        failed += int(np.count_nonzero(images[:, statuses[task]]))
    whole = hashlib.sha256("".join(d.hexdigest() for d in digests.values()).encode())
    return {
        "metrics": {name: gauge.value() for name, gauge in measured.items()},
        "sha256": whole.hexdigest(),
        "faults": faults + failed,
        "error": "",
    }


@lru_cache(maxsize=64)
def rig_of(text: str) -> tuple[LoadedRig, dict[str, BuiltKernel]]:
    """Return a rig and its kernels, from the text of a rig whose files are named by their whole paths."""
    with TemporaryDirectory() as made:
        path = Path(made) / "rig.toml"
        path.write_text(text, encoding="utf-8")
        loaded = load(str(path))
        return loaded, build_kernels(loaded)


def _log(path: str, mapping: str | None) -> EncoderLog:
    found = _read(path, mapping)
    if isinstance(found, LogError):
        raise found
    return found


@lru_cache(maxsize=2)
def _read(path: str, mapping: str | None) -> EncoderLog | LogError:
    # the error too: a log that cannot be read is not read again for each of its points
    try:
        return read_log(Path(path), load_mapping(Path(mapping)) if mapping else None)
    except LogError as error:
        return error


def _script(
    source: str, mapping: str | None, rig: Rig, kernels: Mapping[str, BuiltKernel]
) -> tuple[Plan, Mapping[str, Steps], int]:
    path = Path(source)
    if not path.is_dir():
        log = _log(source, mapping)
        made = log_script(log, rig, kernels)
        return made.plan, made.script, sum(fault.count for fault in log.faults)
    manifest, recorded = repeatable(path)
    periods = {name: task.period_us for name, task in rig.tasks.items()}
    if periods != {name: task.period_us for name, task in recorded.rig.tasks.items()}:
        raise ManifestError(f"{source}: the record has the cycles of other tasks than this rig")
    stepped_rig = limited_rig(rig, manifest.limited)
    records = whole_records(path, manifest, stepped_rig)
    cut_to_each_other(path, records)
    blocks = make_blocks(stepped_rig, kernels)
    plan, script = script_of(path, stepped_rig, blocks, records, compared=False)
    return plan, script, 0


def _places(
    plan: Plan, offline: Offline, tasks: list[str], measured: Mapping[str, Gauge]
) -> dict[str, list[tuple[Gauge, int]]]:
    """Return the gauges of each task: of the one that writes the signal, not of one that has a mirror of it."""
    columns = {task: {path: k for k, path in enumerate(offline.paths(task))} for task in tasks}
    home = {path: task for task in tasks for path in plan.producer(task).signals}
    found: dict[str, list[tuple[Gauge, int]]] = {task: [] for task in tasks}
    for gauge in measured.values():
        path = gauge.metric.signal
        task = home.get(path)
        if task not in found:
            task = next((t for t in tasks if path in columns[t]), None)
        if task is not None and path in columns[task]:
            found[task].append((gauge, columns[task][path]))
    return found


def _statuses(offline: Offline, rig: Rig) -> dict[str, list[int]]:
    found = {}
    for task, config in rig.tasks.items():
        columns = offline.paths(task)
        kinds = ("mechanism", "observer")
        names = [n for n in config.blocks if rig.blocks[n].kind in kinds]
        wanted = {paths(name, rig.blocks[name])[1]["status"] for name in names}
        found[task] = [k for k, path in enumerate(columns) if path in wanted]
    return found
