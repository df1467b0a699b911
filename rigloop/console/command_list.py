"""The list of commands that `rigloop --help` prints, of a table and of nothing that takes time to import."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

PIPE_COLUMNS = 160  # a pipe or file has no width of its own
FEWEST_COLUMNS = 20  # for sentences, however narrow a terminal is
GAP = 2
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


class Place(NamedTuple):
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


def print_list(
    usage: str,
    about: str,
    options: Iterable[tuple[str, str]],
    places: Mapping[str, Place],
    epilog: str,
) -> None:
    """Print the help of a group of commands, without importing any.

    Parameters
    ----------
    usage, about : str
    options : iterable of (str, str)
        The group's own ones, and what they do.
    places : mapping of str to Place
    epilog : str
    """
    is_bold = _is_terminal() and os.environ.get("TERM") not in ("dumb", "unknown")
    listed = [(name, one.about.replace("`", "")) for name, one in places.items()]
    lines = [*_wrapped(usage, _width()), "", *_wrapped(about, _width())]
    for title, rows in (("Options", list(options)), ("Commands", listed)):
        lines += ["", _bold(title, is_bold), *_table(rows, _width(), is_bold)]
    lines += ["", *_wrapped(epilog, _width())] if epilog else []
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    text = "\n".join((*lines, ""))
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def _table(rows: Sequence[tuple[str, str]], width: int, is_bold: bool) -> Iterator[str]:
    indent = max((len(name) for name, _ in rows), default=0) + GAP
    for name, words in rows:
        first, *others = _wrapped(words, max(width - indent, FEWEST_COLUMNS))
        yield _bold(name, is_bold) + " " * (indent - len(name)) + first
        yield from (" " * indent + line for line in others)


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _bold(text: str, is_bold: bool) -> str:
    return f"{BOLD}{text}{PLAIN}" if is_bold else text


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _width() -> int:
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or PIPE_COLUMNS
    except (OSError, ValueError):  # no terminal
        return PIPE_COLUMNS
