"""Rows of equal parts: `[repeat.<name>]` stands for its tables `count` times, numbered from 1.

    [repeat.chain]
    count = 100
    [repeat.chain.point."P_{i}"]
    position_m = ["0.1 * {i}", 0, 0]
    [repeat.chain.revolute."pin_{i}"]
    bodies = ["link_{i}", "link_{i-1}"]

In names and texts `{i}` is the number of the part, `{i-1}` and `{i+1}` those beside it; the part before the first one
has the number 0 and is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from codegen.system.reading import Reading
from rig_configs.bounded import UnreadableError

MOST_TABLES = 1_000_000  # that repeats of one file may stand for
MOST_PARTS = 100_000
PLACE = re.compile(r"\{i(?:([+-])([0-9]{1,6}))?\}")
STRAY = re.compile(r"[{}]")


def unrolled(document: Mapping[str, Any], system: Reading) -> dict[str, Any]:
    """The document with every repeat written out; mistakes go to the system."""
    made = {key: value for key, value in document.items() if key != "repeat"}
    repeats = document.get("repeat", {})
    if not isinstance(repeats, dict):
        system.mistake("repeat", repeats, "is not a table", "write [repeat.<name>]")
        return made
    checked = {}
    for name, raw in repeats.items():
        system.at = ("repeat", name)
        tables = _tables(raw, system)
        if tables is not None:
            checked[name] = (raw["count"], tables)
    whole = sum(count * len(e) for count, tables in checked.values() for e in tables.values())
    if whole > MOST_TABLES:
        system.at = ("repeat",)
        problem = f"stand for {whole} tables, more than {MOST_TABLES}"
        system.mistake("", None, problem, "repeat less")
        checked = {}
    for name, (count, tables) in checked.items():
        system.at = ("repeat", name)
        _unroll(made, tables, count, system)
    system.at = ()
    return made


def _tables(raw: Any, system: Reading) -> dict[str, dict[str, Any]] | None:
    """The tables of a repeat; None after a mistake."""
    if not isinstance(raw, dict):
        system.mistake("", None, "is not a table", "write [repeat.<name>] with `count`")
        return None
    count = raw.get("count")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_PARTS:
        remedy = f"give a whole number from 1 to {MOST_PARTS}"
        system.mistake("count", count, "is no number of parts", remedy)
        return None
    tables = {key: value for key, value in raw.items() if key != "count"}
    for key, entries in tables.items():
        if not isinstance(entries, dict):
            system.mistake(key, None, "is not a table", f'write [repeat.<name>.{key}."x_{{i}}"]')
            return None
        for entry in entries:
            if not PLACE.search(entry):
                problem = "would have the same name in every part"
                system.mistake(f"{key}.{entry}", None, problem, f'write "{entry}_{{i}}"')
                return None
    if not tables:
        system.mistake("", None, "repeats nothing", "write its tables, [repeat.<name>.<table>...]")
        return None
    return tables


def _unroll(
    made: dict[str, Any], tables: dict[str, dict[str, Any]], count: int, system: Reading
) -> None:
    for key, entries in tables.items():
        found = made.get(key, {})
        if not isinstance(found, dict):
            continue  # reported where the table is read
        made[key] = found = dict(found)
        for number in range(1, count + 1):
            for entry, contents in entries.items():
                try:
                    name = _numbered(entry, number)
                    if name in found:
                        system.mistake(f"{key}.{entry}", None, f"{name} is there already", "rename one")  # fmt: skip
                        return
                    found[name] = _numbered(contents, number)
                except UnreadableError as error:
                    remedy = "write {i}, {i-1} or {i+1}"
                    system.mistake(f"{key}.{entry}", None, str(error), remedy)
                    return


def _numbered(value: Any, number: int) -> Any:
    """A value of a table with the number of its part; tables of files are not deep (`rig_configs/bounded.py`)."""
    if isinstance(value, str):
        made = PLACE.sub(
            lambda found: str(number + int(f"{found[1] or '+'}{found[2] or 0}")), value
        )
        if STRAY.search(made):
            raise UnreadableError(f"{value!r} has braces around something else")
        return made
    if isinstance(value, list):
        return [_numbered(part, number) for part in value]
    if isinstance(value, dict):
        return {_numbered(key, number): _numbered(part, number) for key, part in value.items()}
    return value
