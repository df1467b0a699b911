"""`rigloop soak`: run, watch, judge."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from rigloop.console.answers import JsonOption, answer, errors_as_lines
from rigloop.console.lasting_console import lasting_console
from rigloop.console.run_options import BusOption, ModeOption, RigArgument, RunsOption
from rigloop.display.tables import show
from rigloop.display.verdict import show_places, show_verdict
from rigloop.run_folder.messages import Mode

if TYPE_CHECKING:
    from rigloop.soak.judge import Row
    from rigloop.soak.watch import Sample

LINES = 60  # of progress in a whole run
LEAST_LINE_S = 1.0


def soak(
    rig: RigArgument,
    for_s: Annotated[
        float, typer.Option("--for", min=1.0, max=86_400, help="Seconds to run.")
    ] = 3600.0,
    bus: BusOption = None,
    mode: ModeOption = Mode.DEGRADED,
    runs: RunsOption = Path("runs"),
    json: JsonOption = False,
) -> None:
    """Run a rig for a long time, watch for faults that only time reveals, and print a verdict.

    The command watches overruns by cause, memory, threads and open files of every process, page faults of the loop,
    records, and the loop's time against the clock. It writes `soak.html` and `soak.csv` into the run folder, next to
    the run's own report.
    """
    from rigloop.host.children import cycle_process

    console = lasting_console(stderr=json)
    with cycle_process() as cycle, errors_as_lines(json):
        from rigloop.compose.blocks import backends_of
        from rigloop.compose.wiring import load
        from rigloop.live.run_options import RunOptions
        from rigloop.live.supervise import run_live
        from rigloop.run_folder.manifest import read_manifest
        from rigloop.run_folder.tables import table_path
        from rigloop.soak.judge import as_message, is_good, judge
        from rigloop.soak.page import write_page, write_samples
        from rigloop.soak.watch import Watcher

        loaded = load(rig)
        with Watcher(loaded, table_path(), runs, for_s, _progress(console, for_s)) as watcher:
            outcome = run_live(
                loaded,
                cycle,
                RunOptions(runs, console, for_s, bus, mode=mode),
            )
        folder = Path(outcome.folder)
        backends = backends_of(loaded.rig, bus)
        rows = judge(
            loaded,
            watcher.samples,
            read_manifest(folder),
            folder,
            follows_bus=any(backend != "simulated" for backend in backends.values()),
            trouble=str(watcher.error or ""),
        )
        write_samples(folder, watcher.samples)
        write_page(folder, loaded.rig.title, rows, watcher.samples, for_s)
    answer(
        as_message(rows, outcome, watcher.samples),
        lambda: _show(rows, folder, console),
        json,
        good=is_good(rows),
    )


def _progress(console: Console, seconds: float) -> Any:
    interval_s = max(LEAST_LINE_S, seconds / LINES)
    last = time.monotonic()

    def tell(sample: Sample) -> None:
        nonlocal last
        if time.monotonic() - last < interval_s:
            return
        last = time.monotonic()
        from rt_core.lateness.cause import explain_overruns

        memory = ", ".join(
            f"{role} {seen.own_kib / 1024:.1f}" for role, seen in sample.processes.items()
        )
        overruns = explain_overruns(sample.overruns) or "none"
        console.print(
            f"soak {sample.t_s:6.0f} of {seconds:g} s  overruns: {overruns}  memory, MiB: {memory}  "
            f"record {sample.record_bytes / 1e6:.1f} MB",
            highlight=False,
            soft_wrap=True,
        )

    return tell


def _show(rows: list[Row], folder: Path, console: Console) -> None:
    from rigloop.soak.judge import is_good, reasons
    from rigloop.soak.page import table

    show(table(rows), console)
    show_verdict(is_good(rows), reasons(rows), console, otherwise="nothing grew, nothing was lost")
    show_places((folder / page for page in ("soak.html", "report.html")), console)
