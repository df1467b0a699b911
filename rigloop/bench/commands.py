"""`rigloop bench ...`: reproduce what papers print, on this machine."""

from __future__ import annotations

import typer

from rigloop.bench.two_stage_command import two_stage

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Reproduce published benchmarks on this machine.",
    epilog="Example: `rigloop bench two-stage --plot two_stage`",
)


@app.callback()
def _group() -> None:
    # one command alone would otherwise take the group's place
    pass


app.command("two-stage", epilog="Example: `rigloop bench two-stage --runs 20 --plot two_stage`")(
    two_stage
)
