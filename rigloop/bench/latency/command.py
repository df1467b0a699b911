"""`rigloop bench latency`: arguments in, a verdict out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rigloop.console.answers import JsonOption, answer, errors_as_lines
from rigloop.console.run_options import BusOption, ModeOption, RunsOption
from rigloop.console.screen import Screen
from rigloop.run_folder.messages import Mode


def latency(
    rig: Annotated[
        str | None,
        typer.Option(
            help="Rig with a relay behind its model; by default `latency_bench`, and on `veth` "
            "`latency_bench_veth`."
        ),
    ] = None,
    bus: BusOption = None,
    period_ms: Annotated[
        list[float] | None,
        typer.Option(
            "--period-ms",
            min=0.05,
            max=1000,
            help="Period of the simulation task; repeatable. By default 1 and 5.",
        ),
    ] = None,
    for_s: Annotated[
        float,
        typer.Option(
            "--for",
            min=2.0,
            max=86_400,
            help="Seconds for each period; 120 s give 1050 sign changes.",
        ),
    ] = 120.0,
    mode: ModeOption = Mode.DEGRADED,
    runs: RunsOption = Path("runs"),
    json: JsonOption = False,
) -> None:
    """Measure the time from a sign change of the encoder to the torque with the new sign."""
    console = Screen(stderr=json)
    with errors_as_lines(json):
        from rigloop.bench.latency.latency import run_latency
        from rigloop.bench.latency.rig import RIG, RIGS
        from rigloop.bench.latency.view import show
        from rigloop.compose.wiring import load
        from rigloop.live.run_options import RunOptions

        outcome = run_latency(
            load(rig or RIGS.get(bus or "", RIG)),
            period_ms or [1.0, 5.0],
            for_s,
            RunOptions(runs, console, bus=bus, mode=mode),
        )
    answer(outcome, lambda: show(outcome, console), json, good=outcome.good)
