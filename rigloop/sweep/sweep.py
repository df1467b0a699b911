"""A sweep: every log or run with every point, resumed where it was cut short, in one table."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from io_bridge.logs.formats.opened import extra
from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake
from rig_configs.schema import Rig
from rigloop.compose.changed_rig import changed_rig
from rigloop.compose.consent import require_consent
from rigloop.compose.kernels import build_kernels
from rigloop.judge.metrics import metrics_of
from rigloop.run_folder.manifest import MANIFEST, sha256_of, versions
from rigloop.run_folder.not_started import NotStartedError
from rigloop.signals.listing import signals_of
from rigloop.sweep.design import Axis
from rigloop.sweep.journal import Journal
from rigloop.sweep.simulate import Batch
from rigloop.sweep.table import Columns, columns_of, write_table
from rigloop.sweep.workers import computed

ENDING = ".parquet"
MOST_MISTAKES = 30  # of all points together
BATCHES_A_WORKER = 4  # so that none waits long for the others at the end


@dataclass(frozen=True)
class Sweep:
    """Everything that decides the rows of a table."""

    sources: tuple[str, ...]
    rig: LoadedRig
    axes: tuple[Axis, ...]
    points: tuple[tuple[Any, ...], ...]
    mapping: Path | None = None
    trusts: bool = False

    @property
    def keys(self) -> list[str]:
        """Keys that are changed."""
        return [axis.key for axis in self.axes]


@dataclass(frozen=True)
class Swept:
    """The table of a sweep, and the time that it took."""

    columns: Columns
    metrics: tuple[str, ...]
    resumed: int
    wall_s: float
    replays_s: float
    """Time of the replays that were computed now, added up over all workers."""
    failed: int


def run_sweep(
    sweep: Sweep,
    out: Path,
    *,
    workers: int,
    scheduler: str | None = None,
    replaces: bool = False,
    on_rows: Callable[[int, int], object] = lambda done, total: None,
) -> Swept:
    """Compute what is missing, and write the table.

    Parameters
    ----------
    out : Path
        The Parquet file; its journal stands beside it until it is done.
    on_rows : callable
        Called with how many replays are done, and how many there are.

    Raises
    ------
    NotStartedError
        The table is there already, the journal is another sweep's, or nobody computes.
    ConfigError
        A point's rig has mistakes.
    """
    begin = time.perf_counter()
    extra("pyarrow", out, "written")  # before hours of work
    place = out.with_name(f"{out.name}.journal")
    if out.suffix.lower() != ENDING:
        raise NotStartedError(
            f"{out}: the table is a Parquet file: give a name that ends in {ENDING}"
        )
    if out.is_dir():
        raise NotStartedError(f"{out}: is a folder; give the name of a file")
    if out.exists() and not replaces:
        raise NotStartedError(f"{out}: is there already; --force replaces it, or give --out")
    texts, named = _texts(sweep)
    identity = _identity(sweep, texts, named)
    if replaces:
        place.unlink(missing_ok=True)
    journal = Journal(place, identity)
    resumed, total = len(journal.rows), len(sweep.sources) * len(texts)
    is_done = False
    try:
        on_rows(resumed, total)
        done = {(row["source"], row["point"]) for row in journal.rows}
        batches = _batches(sweep, texts, done, workers)
        took_s = 0.0
        for rows in computed(batches, workers, scheduler) if batches else ():
            took_s += sum(row.pop("took_s") for row in rows)
            journal.add(rows)
            on_rows(len(journal.rows), total)
        metrics = tuple(metrics_of(sweep.rig.rig))
        columns = columns_of(journal.rows, sweep.sources, sweep.keys, sweep.points, metrics)
        facts = {"rig": sweep.rig.name, "rig_sha256": sweep.rig.sha256, "sweep": identity}
        write_table(columns, facts | {"versions": versions()}, out)
        is_done = True
    except OSError as error:
        raise NotStartedError(f"{out}: cannot be written: {error.strerror or error}") from None
    finally:
        journal.close(is_done=is_done)
    failed = sum(bool(error) for error in columns["error"])
    return Swept(columns, metrics, resumed, time.perf_counter() - begin, took_s, failed)


def units_of(rig: Rig) -> dict[str, str]:
    """Return the unit of each metric of a rig; "" where nobody knows it."""
    units = {signal.path: signal.unit or "" for signal in signals_of(rig)}
    return {
        name: "s" if metric.measure == "settled_s" else units.get(metric.signal, "")
        for name, metric in metrics_of(rig).items()
    }


def _texts(sweep: Sweep) -> tuple[list[str], set[Path]]:
    """Return the rig of each point, and the files that they name: what fails, fails before the first replay.

    Every rig is checked, and its kernels are built.
    """
    texts: list[str] = []
    named: set[Path] = set()
    mistakes: dict[str, Mistake] = {}
    with TemporaryDirectory() as made:
        folder = Path(made)
        for number, point in enumerate(sweep.points):
            settings = [f"{k}={_toml(v)}" for k, v in zip(sweep.keys, point, strict=True)]
            try:
                loaded = changed_rig(sweep.rig, settings, folder, f"{number}", moves=True)
            except ConfigError as error:
                mistakes |= {str(one): one for one in error.mistakes}
                if len(mistakes) >= MOST_MISTAKES:
                    break
                continue
            if mistakes:
                continue
            require_consent(loaded, trusts=sweep.trusts)
            build_kernels(loaded)
            texts.append(loaded.text)
            named |= {Path(path) for path in loaded.files.values()}
    if mistakes:
        raise ConfigError([*mistakes.values()])
    return texts, named


def _toml(value: Any) -> str:
    return json.dumps(value) if isinstance(value, str | bool | list) else repr(value)


def _batches(
    sweep: Sweep, texts: Sequence[str], done: set[tuple[str, int]], workers: int
) -> list[Batch]:
    """Return what is left, the points of a source together: a log is read once a batch."""
    mapping = None if sweep.mapping is None else str(sweep.mapping.resolve())
    left = {
        source: [(n, text) for n, text in enumerate(texts) if (source, n) not in done]
        for source in sweep.sources
    }
    n_left = sum(map(len, left.values()))
    size = max(1, -(-n_left // (BATCHES_A_WORKER * workers)))
    return [
        Batch(source, str(Path(source).resolve()), mapping, tuple(points[first : first + size]))
        for source, points in left.items()
        for first in range(0, len(points), size)
    ]


def _identity(sweep: Sweep, texts: Sequence[str], named: set[Path]) -> str:
    """Return the hash of everything that decides a row: whoever goes on with a sweep has the same of all of it."""
    digest = hashlib.sha256(json.dumps(versions()).encode())
    files = [(s, Path(s) / MANIFEST if Path(s).is_dir() else Path(s)) for s in sweep.sources]
    files += [] if sweep.mapping is None else [("mapping", sweep.mapping)]
    files += [("named", path) for path in sorted(named)]
    for name, path in files:
        try:
            digest.update(f"{name} {sha256_of(path)}\n".encode())
        except OSError as error:
            raise NotStartedError(f"{path}: cannot be read: {error.strerror}") from None
    for text in texts:
        digest.update(hashlib.sha256(text.encode()).digest())
    return digest.hexdigest()
