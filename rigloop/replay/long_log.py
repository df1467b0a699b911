"""A log of any length through filter and kernel in bounded memory: a summary, and of the cycles none or some kept.

Every now and then the place that it has reached is written into the run folder, so that another process goes on from
there, with the same bits as if nothing had stopped it.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import Progress

from codegen.kernels.build import BuiltKernel
from io_bridge.logs.parts import LogPart, LogParts
from io_bridge.logs.torques import kinds_of
from rig_configs.load import LoadedRig
from rig_configs.log_schema import load_mapping
from rig_configs.schema import Rig
from rig_configs.whole_file import write_whole
from rigloop.compose.consent import require_consent
from rigloop.compose.kernels import build_kernels
from rigloop.compose.shown import shown_roles
from rigloop.compose.wiring import load
from rigloop.logs.verdict import against
from rigloop.replay.judged_parts import SignalFigures
from rigloop.replay.place import (
    PLACE,
    log_facts,
    only_one,
    packed,
    read_place,
    remove_place,
    same_log,
    write_place,
)
from rigloop.replay.replay import log_plan, new_folder
from rigloop.replay.replay_manifest import Findings, Replayed, manifest_of
from rigloop.replay.stepped_log import SteppedLog
from rigloop.replay.verdict import speed_rows
from rigloop.run_folder.clocks import utc_text
from rigloop.run_folder.manifest import (
    DataFault,
    Manifest,
    ManifestError,
    Named,
    Replay,
    State,
    read_manifest,
    sha256_of,
    write_manifest,
)
from rigloop.run_folder.outcome import Outcome
from rigloop.run_folder.process_state import Process, boot

SUMMARY = "summary.json"
PLACE_S = 10.0  # of computing, after which another place is kept


def replay_long_log(
    path: Path,
    loaded: LoadedRig,
    *,
    mapping: Path | None,
    runs: Path,
    console: Console,
    every: int = 0,
) -> Outcome:
    """Feed a log part by part, and keep figures of every signal in `summary.json`.

    Parameters
    ----------
    every : int
        One of `every` cycles of each task is recorded; 0: none, the records are empty.

    Raises
    ------
    LogError, MappingError
        The file, or its mapping, cannot be read.
    """
    begin = time.perf_counter()
    parts = LogParts(path, load_mapping(mapping) if mapping else None)
    coming = iter(parts)
    first = next(coming)
    kernels = build_kernels(loaded)
    made = log_plan(parts, loaded.rig, kernels, [*first.torque])
    folder = new_folder(runs, f"replay-{path.stem}", loaded)
    with only_one(folder), contextlib.ExitStack() as opened:
        stepped = SteppedLog(loaded.rig, made, folder, every, opened)
        going = _Going(folder, loaded, kernels, parts, stepped, every, begin, console)
        going.say_that_it_goes_on()
        return going.through(chain((first,), coming))


def resume_long_log(folder: Path, *, console: Console, trusts: bool = False) -> Outcome:
    """Go on with a replay that was stopped or killed, from the last place that it kept.

    Its end is that of a replay that nothing stopped, bit for bit: the first cycles are compared with what the stopped
    process made of them.

    Raises
    ------
    ManifestError
        There is no such replay, it is done or still goes on, its log has changed, or the same bits cannot be had.
    LogError
        The log cannot be read.
    """
    begin = time.perf_counter()
    manifest = read_manifest(folder)
    if manifest.kind != "replay" or manifest.state == "ended":
        raise ManifestError(f"{folder}: this is not a stopped replay: there is nothing to resume")
    with only_one(folder), contextlib.ExitStack() as opened:
        place, seen = read_place(folder)
        path = same_log(folder, place)
        loaded = replace(load(str(folder / "rig.toml")), name=manifest.rig.name)
        require_consent(loaded, trusts=trusts)
        kernels = build_kernels(loaded)
        built = tuple(Named(name, kernel.hash) for name, kernel in kernels.items())
        if loaded.sha256 != manifest.rig.sha256 or built != manifest.kernels:
            raise ManifestError(
                f"{folder}: its rig or its kernels have changed since it began; replay the log again"
            )
        parts = LogParts.again(path, place["parts"])
        torques = [f"{torque.name}_{torque.unit}" for torque in parts.mapping.torque]
        made = log_plan(parts, loaded.rig, kernels, torques)
        stepped = SteppedLog(loaded.rig, made, folder, place["every"], opened, place["stepped"])
        going = _Going(
            folder, loaded, kernels, parts, stepped, place["every"], begin, console,
            started=manifest.started, before_s=place["total_s"], stops=place["stops"] + 1, expected=seen,
            kept_s=parts.duration_s,
        )  # fmt: skip
        going.say_that_it_goes_on()
        return going.through(iter(parts))


@dataclass
class _Going:
    # a replay from its beginning, or from a place, to its end or its stop
    folder: Path
    loaded: LoadedRig
    kernels: Mapping[str, BuiltKernel]
    parts: LogParts
    stepped: SteppedLog
    every: int
    begin: float
    console: Console
    started: str = ""
    before_s: float = 0.0
    stops: int = 0
    expected: bytes = b""
    kept_s: float = 0.0

    def through(self, coming: Iterator[LogPart]) -> Outcome:
        parts, stepped = self.parts, self.stepped
        stepped.look_at_next = bool(self.expected)
        waiting, at_s = b"", time.monotonic()
        try:
            with Progress(console=self.console, transient=True) as progress:
                bar = progress.add_task("replay", total=None)
                for part in coming:
                    stepped.take(part)
                    self._compare()
                    if waiting and not stepped.look_at_next:
                        write_place(self.folder, waiting, stepped.seen)
                        self.say_that_it_goes_on()
                        waiting = b""
                    if not waiting and time.monotonic() - at_s >= PLACE_S:
                        waiting, at_s = self._place(), time.monotonic()
                    progress.update(bar, description=f"replay: {parts.duration_s:.0f} s of the log")
                stepped.take(None)
        except KeyboardInterrupt:
            return self._stopped()
        return self._ended()

    def say_that_it_goes_on(self) -> None:
        self.started = self.started or utc_text()
        self._keep_manifest("running", Findings([self._remedy()], [], self.kept_s, {}), None)

    def _compare(self) -> None:
        # the same cycles as the process that was stopped had behind this place
        if not self.expected or self.stepped.look_at_next:
            return
        if self.stepped.seen != self.expected:
            raise ManifestError(
                f"{self.folder}: the cycles behind its place have other bits than before it was stopped; "
                "replay the log again"
            )
        self.expected = b""

    def _place(self) -> bytes:
        # kept once the cycles behind it are known; b"": there is none
        parts = self.parts.place
        if parts is None or self.stepped.placeless:
            return b""
        self.stepped.look_at_next, self.kept_s = True, self.parts.duration_s
        return packed(
            {
                "log": log_facts(self.parts.path),
                "every": self.every,
                "parts": parts,
                "stepped": self.stepped.place,
                "total_s": self._total_s(),
                "stops": self.stops,
            }
        )

    def _total_s(self) -> float:
        return self.before_s + time.perf_counter() - self.begin

    def _remedy(self) -> str:
        if not (self.folder / PLACE).exists():
            return "not finished, and no position was saved: replay the log again"
        return f"not finished: `rigloop replay {self.folder} --resume` continues from its last saved position"

    def _stopped(self) -> Outcome:
        parts = self.parts
        reasons = [f"stopped after {parts.duration_s:.0f} s of the log", self._remedy()]
        self._keep_manifest("interrupted", Findings(reasons, [], parts.duration_s, {}), None)
        shown = [("log", parts.path.name, f"{parts.n_rows} rows, {parts.duration_s:.2f} s so far")]
        return Outcome(False, reasons, str(self.folder), shown, [])

    def _ended(self) -> Outcome:
        parts, stepped = self.parts, self.stepped
        stepped.watched.end_at(parts.duration_s, is_end=True)
        pace = stepped.pace
        pace.total_s = self._total_s()
        figures = stepped.figures()
        write_whole(
            self.folder / SUMMARY, msgspec.json.format(msgspec.json.encode(figures)), lasting=True
        )
        faults = [*kinds_of(parts.findings), *parts.torque_faults]
        faults.sort(key=lambda fault: fault.first_row)
        bad = [*stepped.watched.reasons()]
        bad += against(parts.findings, parts.n_rows, parts.sample_period_s)
        if parts.untold:
            bad.append(f"{parts.untold} more faults than the {len(parts.findings)} that are listed")
        notes = [f"{len(faults)} kinds of faults in the log, handled as listed"] if faults else []
        notes += stepped.watched.amber
        replay = Replay(
            log=Named(parts.path.name, sha256_of(parts.path)),
            mapping=parts.mapping.name,
            rows=parts.n_rows,
            speed=parts.duration_s / pace.total_s,
            superseded=stepped.ticks.superseded,
        )
        kinds = tuple(DataFault(**asdict(fault)) for fault in faults)
        found = Findings(bad, notes, parts.duration_s, {}, kinds)
        manifest = self._keep_manifest("ended", found, replay)
        remove_place(self.folder)
        told = [f"{f.kind}: {f.count}, first at row {f.first_row}: {f.words}" for f in faults]
        kept = f"one of {self.every} recorded" if self.every else "none recorded"
        shown = [
            ("log", parts.path.name, f"{parts.n_rows} rows, {parts.duration_s:.2f} s"),
            *((f"{task} cycles", f"{n}", kept) for task, n in stepped.cycles.items()),
            *_shown(self.loaded.rig, figures.signals),
            *((name, f"{value:.6g}", "metric") for name, value in figures.metrics.items()),
            *speed_rows(parts.duration_s, pace, f"with {SUMMARY}, {kept}"),
        ]
        return Outcome(not bad, [*manifest.reasons], str(self.folder), shown, told)

    def _keep_manifest(self, state: State, found: Findings, replay: Replay | None) -> Manifest:
        times = "once" if self.stops == 1 else f"{self.stops} times"
        done = Replayed(self.folder, self.loaded, self.kernels, self.stepped.pace, page=False)
        is_done = state == "ended"
        manifest = msgspec.structs.replace(
            manifest_of(done, self.stepped.cycles, found, replay),
            started=self.started,
            state=state,
            processes={} if is_done else {"replay": Process.of(os.getpid())},
            boot="" if is_done else boot(),
            notes=(f"resumed {times} after a stop",) if self.stops else (),
        )
        write_manifest(self.folder, manifest)
        return manifest


def _shown(rig: Rig, signals: Mapping[str, SignalFigures]) -> list[tuple[str, str, str]]:
    return [
        (
            path,
            f"{signals[path].least:.4g} … {signals[path].largest:.4g}",
            f"rms {signals[path].rms:.4g}",
        )
        for path in dict.fromkeys(shown_roles(rig).values())
        if path in signals
    ]
