"""`rigloop bench ...`: published tests and benchmarks, on this machine."""

from __future__ import annotations

import typer

from rigloop.bench.consistency.command import consistency
from rigloop.bench.driveline.command import driveline
from rigloop.bench.flexible.command import flexible
from rigloop.bench.frf.command import frf
from rigloop.bench.latency.command import latency
from rigloop.bench.observers.command import observers
from rigloop.bench.two_stage.command import two_stage

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
app.command(epilog="Example: `rigloop bench frf steering_wheel --periods 8`")(frf)
app.command("two-stage", epilog="Example: `rigloop bench two-stage --runs 20 --plot two_stage`")(
    two_stage
)
app.command(
    epilog="Example: `rigloop bench observers --filter errorEKF --filter UKF --output figures`"
)(observers)
app.command(epilog="Example: `rigloop bench consistency --runs 1000 --plot consistency.png`")(
    consistency
)
app.command(epilog="Example: `rigloop bench driveline --plot driveline.png`")(driveline)
app.command(epilog="Example: `rigloop bench flexible --plot forces.png`")(flexible)
