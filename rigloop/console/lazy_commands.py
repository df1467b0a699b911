"""Commands that are imported only when they are called: `--help` lists them from a table."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import typer
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from rigloop.console.screen import Screen
from rigloop.display.tables import Column, Table, Tone, Toned, show

MARKUP: Any = "markdown"
ANY_COMMAND: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": MARKUP,
}


@dataclass(frozen=True)
class Place:
    """The place of a command, and what the list of commands says of it.

    Attributes
    ----------
    module, attribute : str
        A function, or a `Typer` with commands of its own.
    about : str
        The first paragraph of its help, on one line.
    epilog : str, optional
        Of a function's help.
    kind : str, optional
        Attribute of the module with the class of its command.
    """

    module: str
    attribute: str
    about: str
    epilog: str | None = None
    kind: str | None = None

    def load(self, name: str) -> Any:
        """Import the command."""
        module = import_module(self.module)
        found = getattr(module, self.attribute)
        if isinstance(found, typer.Typer):
            command: Any = typer.main.get_command(found)
            command.name = name
            return command
        alone = typer.Typer(**ANY_COMMAND)
        cls = TyperCommand if self.kind is None else getattr(module, self.kind)
        alone.command(name, epilog=self.epilog, cls=cls)(found)
        return typer.main.get_command(alone)


class Commands(MutableMapping[str, Any]):
    """Commands by name, each imported when it is first taken."""

    def __init__(self, places: dict[str, Place]) -> None:
        self._places, self._loaded = dict(places), dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._places[name].load(name)
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

    def about(self, name: str) -> str:
        """Return what the list says of a command."""
        return self._places[name].about


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
        screen = Screen()
        screen.print(Text(self.get_usage(ctx)), Text(f"\n{self.help or ''}"), sep="\n")
        options = filter(None, (one.get_help_record(ctx) for one in self.get_params(ctx)))
        listed = [(name, _with_code(self._lazy.about(name))) for name in self._lazy]
        columns = [Column(whole=True, tone=Tone.STRONG), Column()]
        for title, rows in (("Options", list(options)), ("Commands", listed)):
            screen.print()
            show(Table(columns, rows, title), screen)
        if self.epilog:
            screen.print(Text(f"\n{self.epilog}"))


def _with_code(text: str) -> list[Toned]:
    """Return the pieces of a sentence in which backticks stand around code."""
    return [
        Toned(piece, Tone.CODE if number % 2 else Tone.PLAIN)
        for number, piece in enumerate(text.split("`"))
    ]
