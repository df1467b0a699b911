"""Two runs compared: configuration, host, kernels, timing, signals."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from rig_configs.bounded import UnreadableError, parse_toml, read_text
from rigloop.api.recorded_run import RecordedRun, open_run
from rigloop.run_folder.compared import Comparison, compare
from rigloop.run_folder.manifest import Manifest, ManifestError

NOT_THERE = None
ALWAYS_OTHER = ("load", "steal_ticks")  # of the host: they differ from minute to minute


class Changed(msgspec.Struct, frozen=True):
    """A key that is not the same in two runs; None: it is not there."""

    part: str
    """configuration, run, kernels, versions, host or timing"""
    key: str
    before: str | None
    after: str | None


class RunDiff(msgspec.Struct, frozen=True):
    """The differences of two runs."""

    before: str
    after: str
    changed: list[Changed]
    signals: Comparison

    @property
    def is_equal(self) -> bool:
        """True: the same configuration, kernels, signals and cycles, and the same bits."""
        telling = ("configuration", "kernels")
        signals = self.signals
        is_same = signals.is_equal and signals.is_whole
        return is_same and not any(c.part in telling for c in self.changed)


def diff_runs(before: Path, after: Path) -> RunDiff:
    """Compare two run folders.

    Raises
    ------
    ManifestError
        One of them is none, or a record of it is missing or damaged.
    """
    one, other = open_run(before), open_run(after)
    changed = []
    for part, facts in _PARTS.items():
        sides = (facts(one), facts(other))
        changed += list(_changes(part, *sides))
    return RunDiff(str(before), str(after), changed, compare(one.records, other.records))


def _changes(part: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Changed]:
    for key in [*one, *(key for key in other if key not in one)]:
        if one.get(key, NOT_THERE) != other.get(key, NOT_THERE):
            yield Changed(part, key, _text(one.get(key)), _text(other.get(key)))


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _configuration(run: RecordedRun) -> dict[str, Any]:
    path = run.folder / "rig.toml"
    if not os.path.lexists(path):  # of a run that was cut short; its signals can still be compared
        return {"rig.toml": "is missing"}
    try:
        return dict(_flat("", parse_toml(read_text(path))))
    except UnreadableError as error:
        raise ManifestError(f"{path}: {error}") from None


def _flat(at: str, value: Any) -> Iterator[tuple[str, Any]]:
    # a rig's tables are bounded in depth where they are read
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{at}.{key}" if at else key, inner)
    else:
        yield at, value


def _run(run: RecordedRun) -> dict[str, Any]:
    manifest: Manifest = run.manifest
    facts: dict[str, Any] = {
        "kind": manifest.kind,
        "verdict": manifest.verdict,
        "state": manifest.state,
        "mode": manifest.mode,
        "duration_s": round(manifest.duration_s, 3),
        "reasons": "; ".join(manifest.reasons),
    }
    for name, task in manifest.tasks.items():
        facts |= {f"{name} cycles": task.cycles, f"{name} overruns": task.overruns}
        facts[f"{name} skipped"] = task.skipped
    return facts


def _timing(run: RecordedRun) -> dict[str, Any]:
    return {
        f"{task} {name} {which}": f"{getattr(summary, field) * 1e-3:.1f} µs"
        for task, histograms in run.manifest.timing.items()
        for name, summary in histograms.items()
        for which, field in (("p50", "p50"), ("p99.9", "p99_9"), ("max", "max"))
    }


_PARTS = {
    "configuration": _configuration,
    "run": _run,
    "kernels": lambda run: {k.name: k.sha256 for k in run.manifest.kernels},
    "versions": lambda run: dict(run.manifest.versions),
    "host": lambda run: {k: v for k, v in run.manifest.host.items() if k not in ALWAYS_OTHER},
    "timing": _timing,
}
