"""The command line: the commands of `command_table.py`, each imported when it is called."""

from __future__ import annotations

import os
import warnings
from typing import Any

import typer

from rigloop.command_table import ABOUT, EXIT_CODES, PLACES
from rigloop.console.lazy_commands import ANY_COMMAND, LazyGroup
from rigloop.console.screen import say


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
    warnings.showwarning = _say_warning
    app()


_show = warnings.showwarning


def _say_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    # what is wrong with a user's record is no matter of a line of our source
    if category.__name__ == "RecordWarning":
        say(str(message), err=True)
    else:
        _show(message, category, *where, **more)
