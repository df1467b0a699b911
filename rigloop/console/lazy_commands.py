"""Commands that are imported only when they are called: `--help` lists them from a table."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from rigloop.console.command_list import Place, print_list

MARKUP: Any = "markdown"
ANY_COMMAND: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": MARKUP,
}


def load(place: Place, name: str) -> Any:
    """Import the command of a place."""
    module = import_module(place.module)
    found = getattr(module, place.attribute)
    if isinstance(found, typer.Typer):
        command: Any = typer.main.get_command(found)
        command.name = name
        return command
    alone = typer.Typer(**ANY_COMMAND)
    cls = TyperCommand if place.kind is None else getattr(module, place.kind)
    alone.command(name, epilog=place.epilog, cls=cls)(found)
    return typer.main.get_command(alone)


class Commands(MutableMapping[str, Any]):
    """Commands by name, each imported when it is first taken."""

    def __init__(self, places: dict[str, Place]) -> None:
        self._places, self._loaded = dict(places), dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = load(self._places[name], name)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __setitem__(self, name: str, command: Any) -> None:
        raise TypeError(f"{name}: commands are added to the table")

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"{name}: commands are taken out of the table")

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class LazyGroup(TyperGroup):
    """A group with the commands of a table; a subclass has the `places`."""

    places: ClassVar[dict[str, Place]] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self._lazy = Commands(self.places)
        self.commands = self._lazy

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order of the table."""
        return list(self._lazy)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, imported."""
        return self._lazy.get(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the list of commands without importing any, nor what typer's page would need for it."""
        options = filter(None, (one.get_help_record(ctx) for one in self.get_params(ctx)))
        print_list(self.get_usage(ctx), self.help or "", options, self.places, self.epilog or "")
