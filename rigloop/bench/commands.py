"""`rigloop bench ...`: published tests and benchmarks, on this machine."""

from __future__ import annotations

import typer

from rigloop.bench.latency_command import latency
from rigloop.bench.two_stage_command import two_stage
"""`rigloop bench ...`: published tests, run and compared with the published figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rigloop.answer import Exit, print_json, told

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Run published tests and benchmarks, and compare with the published figures.",
    epilog="Example: `rigloop bench latency --for 120`",
)
app.command(epilog="Example: `rigloop bench latency --period-ms 1 --period-ms 5 --for 120`")(
    latency
)
app.command("two-stage", epilog="Example: `rigloop bench two-stage --runs 20 --plot two_stage`")(
    two_stage
    help="Run published tests of a whole rig, and compare with the published figures.",
    epilog="Example: `rigloop bench observers --quick`",
)


@app.callback()
def _group() -> None:
    # one command alone would otherwise take the group's place
    pass


@app.command(epilog="Example: `rigloop bench latency --period-ms 1 --period-ms 5 --for 120`")
def latency(
    rig: Annotated[
        str | None,
        typer.Option(
            help="Rig with a relay behind its model; `latency_bench`, on `veth` `latency_bench_veth`."
        ),
    ] = None,
    bus: Annotated[
        str | None,
        typer.Option(
            help="`simulated` (in-process), `veth` (real frames on a pair of its own), or an interface."
        ),
    ] = None,
    period_ms: Annotated[
        list[float] | None,
        typer.Option(
            "--period-ms",
            min=0.05,
            max=1000,
            help="Period of the simulation task; repeatable. 1 and 5 if not given.",
        ),
    ] = None,
    for_s: Annotated[
        float,
        typer.Option(
            "--for",
            min=2.0,
            max=86_400,
            help="Seconds for each period; 120 give 1050 sign changes.",
        ),
    ] = 120.0,
    mode: Annotated[
        Mode, typer.Option(help="With red checks of the doctor, as for `run`.")
    ] = Mode.DEGRADED,
    runs: Annotated[
        Path, typer.Option("--runs", help="Folder that gets the bench's folder, with its runs.")
    ] = Path("runs"),
@app.command(
    epilog="Example: `rigloop bench observers --filter errorEKF --filter UKF --output figures`"
)
def observers(
    quick: Annotated[
        bool, typer.Option("--quick", help="3 runs of tests 3 and 4, samples every 1 and 10 steps.")
    ] = False,
    runs_each: Annotated[int, typer.Option(min=1, max=1000, help="Runs of each case.")] = 20,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", help="Observer by its published name; repeatable. All if not given."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the sensors' noise.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; one a core if not given.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for table (.csv) and figures (.png)."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of tables.")
    ] = False,
) -> None:
    """Measure how long it takes from a sign change of the encoder to the torque of the new sign."""
    console = Console(stderr=json)
    with told(json):
        from rigloop.bench.latency import run_latency
        from rigloop.bench.latency_rig import RIG, RIGS
        from rigloop.bench.latency_view import show
        from rigloop.wiring import load

        outcome = run_latency(
            load(rig or RIGS.get(bus or "", RIG)),
            periods_ms=period_ms or [1.0, 5.0],
            seconds=for_s,
            bus=bus,
            mode=mode,
            runs=runs,
            console=console,
        )
    """Compare the observers on four- and five-bar with a wrong gravity, sensors and rates as published."""
    console = Console(stderr=json)
    with told(json):
        from rigloop.bench.observers import order, run_bench
        from rigloop.bench.observers_view import save, show

        wanted = order(quick=quick, runs=runs_each, filters=filters, seed=seed, jobs=jobs)
        outcome = run_bench(wanted, console)
        if output is not None:
            save(outcome, output)
    if json:
        print_json(outcome)
    else:
        show(outcome, console)
    raise typer.Exit(int(Exit.GOOD if outcome.good else Exit.BAD_VERDICT))
