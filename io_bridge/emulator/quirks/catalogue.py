"""Quirks by the modules of this folder and those below it, and those that a name or a device file asks for."""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping

import io_bridge.emulator.quirks
from io_bridge.emulator.quirks.option import Value
from io_bridge.emulator.quirks.quirk import Quirk

NEXT = r"\+(?=[A-Za-z_])"
"""Before a quirk's name; the plus of a number such as 1e+3 does not count."""
ASKED = re.compile(rf"(?P<device>.+?)(?P<quirks>(?:{NEXT}\w+(?::(?:(?!{NEXT}).)*)?)+)")
"""A device's name with quirks after it: ``direct_drive+late_reply:ms=200+emergency``."""


class QuirkError(ValueError):
    """A quirk is unknown or has wrong options; the message has one line for each mistake."""


@functools.cache
def quirks() -> dict[str, type[Quirk]]:
    """Return every quirk: name → class."""
    found = {}
    here = io_bridge.emulator.quirks
    for module in pkgutil.walk_packages(here.__path__, f"{here.__name__}."):
        for item in vars(importlib.import_module(module.name)).values():
            if _is_quirk(item) and item.__module__ == module.name:
                found[module.name.rpartition(".")[2]] = item
    return dict(sorted(found.items()))


def _is_quirk(item: object) -> bool:
    return isinstance(item, type) and issubclass(item, Quirk) and "OPTIONS" in vars(item)


def title(name: str) -> str:
    """Return the description of a quirk, in one line."""
    return " ".join((quirks()[name].__doc__ or "").partition("\n\n")[0].split())


def make_quirk(name: str, given: Mapping[str, Value] | None = None) -> Quirk:
    """Make a quirk.

    Raises
    ------
    QuirkError
        There is no quirk of that name, or an option is wrong; one line for each mistake.
    """
    known = quirks()
    if name not in known:
        raise QuirkError(f"quirk {name!r}: there is none{_near(name, list(known))}")
    options = known[name].OPTIONS
    given = {} if given is None else given
    bad = []
    for key, value in given.items():
        if key not in options:
            bad.append(f"quirk {name}: {key}: no such option{_near(key, list(options))}")
        elif mistake := options[key].mistake(value):
            bad.append(f"quirk {name}: {key} = {value!r}: {mistake}")
    if bad:
        raise QuirkError("\n".join(bad))
    values = {key: option.default for key, option in options.items()} | dict(given)
    return known[name](**{key: options[key].convert(value) for key, value in values.items()})


def split(name: str) -> tuple[str, list[Quirk]]:
    """Take the quirks off the name of a device.

    Raises
    ------
    QuirkError
        A quirk is unknown or has wrong options; all of them are named.
    """
    match = ASKED.fullmatch(name)
    if match is None:
        return name, []
    found, bad = [], []
    for text in re.split(NEXT, match["quirks"])[1:]:
        word, _, rest = text.partition(":")
        try:
            found.append(make_quirk(word, _values(word, rest)))
        except QuirkError as error:
            bad += [f"{name}: {line}" for line in str(error).splitlines()]
    if bad:
        raise QuirkError("\n".join(bad))
    return match["device"], found


def from_table(table: object) -> list[Quirk]:
    """Make the quirks of a device file's table ``[quirks]``: a table of options each, or several such tables.

    Raises
    ------
    QuirkError
        One line for each mistake.
    """
    if not isinstance(table, dict):
        raise QuirkError("quirks: must be a table, such as [quirks.late_reply]")
    found, bad = [], []
    for name, rows in table.items():
        for row in rows if isinstance(rows, list) else [rows]:
            if not isinstance(row, dict):
                bad.append(f"quirks.{name} = {row!r}: a table of its options, {{}} for the usual")
                continue
            try:
                found.append(make_quirk(name, row))
            except QuirkError as error:
                bad += str(error).splitlines()
    if bad:
        raise QuirkError("\n".join(bad))
    return found


def _values(name: str, text: str) -> dict[str, Value]:
    """Read ``ms=200,index=0x1008``."""
    kind = quirks().get(name)
    values: dict[str, Value] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise QuirkError(f"quirk {name}: {part!r}: write option=value, such as ms=200")
        option = kind.OPTIONS.get(key) if kind is not None else None
        values[key] = option.read(value) if option else value
    return values


def _near(word: str, known: list[str]) -> str:
    near = difflib.get_close_matches(word, known, 3, 0.5)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f"; known are {', '.join(known)}" if known else "; it has none"
