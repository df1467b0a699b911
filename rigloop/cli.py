"""The command line: the commands of `command_table.py`, each imported when it is called."""

from __future__ import annotations

import os
import warnings

import typer

from rigloop.command_table import ABOUT, EXIT_CODES, PLACES
from rigloop.console.lazy_commands import ANY_COMMAND, LazyGroup
from rigloop.console.screen import say_warning


class RigloopGroup(LazyGroup):
    """The commands of `rigloop`."""

    places = PLACES


app = typer.Typer(
    cls=RigloopGroup,
    no_args_is_help=True,
    help=ABOUT,
    epilog=EXIT_CODES,
    **ANY_COMMAND,
)


@app.callback()
def _all() -> None:
    # a group needs something of its own; the commands are in the table
    pass


def main() -> None:
    """Entry point of the `rigloop` command."""
    # looking for plugins in every installed package takes longer than reading a rig
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    warnings.showwarning = say_warning
    app()
