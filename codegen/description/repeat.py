"""`[repeat.NAME]`: rows of equal bodies, written once.

Its tables are those of the file. In names and references `{k}`, `{k-1}` and `{k+1}` are the number of a repetition and
of those beside it, from 1 on; the word `k` in arithmetic is that number, too. `before` says what stands in place of a
reference from the first repetition to the one before it, and `pose_count = 6` that what hangs on the end of a long row
is placed as on a row of six (`far_ends.py`).

Of a row of more than a thousand repetitions only the first and the last ones are written out, as one short row; the
others are copies of the third one, which a formulation makes that can (`codegen/tree/long_rows.py`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from codegen.description.far_ends import FarEnds
from codegen.system.quantities import LongRow
from codegen.system.system import System
from rig_configs.mistakes import Mistake

MOST = 200_000  # links of all rows
WRITTEN = 1000  # of a row that is written out; of a longer one only those at its ends are
ENDS = 3
LINK_BYTES = 600  # of a kernel: states, records and numbers of one link
MOST_TABLES = 20_000  # that all rows of a file make
KEYS = ("count", "before", "pose_count")
BESIDE = re.compile(r"\{k([-+]1)?\}")
NUMBER = re.compile(r"\bk\b")


Origins = dict[str, str]  # a table that a row has made: the one that it is made from


def expanded(
    document: dict[str, Any], system: System, elements: Collection[str]
) -> tuple[dict[str, Any], Origins]:
    """The tables of a file with those that its rows make, and where these come from; mistakes go to the system."""
    rows, origins = document.get("repeat"), Origins()
    if rows is None:
        return document, origins
    made = {key: dict(table) if key in elements and isinstance(table, dict) else table
            for key, table in document.items() if key != "repeat"}  # fmt: skip
    system.at = ()
    if not isinstance(rows, dict):
        system.mistake("repeat", rows, "is not a table", "write [repeat.<name>]")
        return made, origins
    left = MOST_TABLES
    owners, far = Origins(), Origins()
    for name, row in rows.items():
        system.at = ("repeat", name)
        count, templates = _read(row, system, elements)
        left -= len(shown(count)) * len(templates)
        if left < 0:
            remedy = "repeat fewer tables"
            system.mistake(
                "count", count, f"makes more than {MOST_TABLES} tables in this file", remedy
            )
            break
        labels = shown(count)
        for number, k in enumerate(labels, 1):
            beside = {"-1": labels[number - 2] if number > 1 else 0, "+1": k + 1, None: k}
            for table, template, raw in templates:
                new = _numbered(template, beside, number, {})
                origins[f"{table}.{new}"] = f"{table}.{template}"
                owners[f"{table}.{new}"] = name
                if count > len(labels) and number > ENDS:
                    far[new] = name
                _put(
                    made, table, new, _numbered(raw, beside, number, row.get("before", {})), system
                )
        bodies = [t for table, t, _ in templates if table == "rigid_body"]
        if count > len(labels):
            system.longer.append(
                LongRow(name, count, tuple(
                    tuple(BESIDE.sub(str(k), body) for body in bodies) for k in labels
                ))
            )  # fmt: skip
    if far:
        ends = FarEnds(made, owners, far)
        counts = {row.name: row.count for row in system.longer}
        ends.mistakes(counts, {name for name in counts if "pose_count" in rows[name]}, system)
    system.at = ()
    return made, origins


def shown(count: int) -> list[int]:
    """Numbers of the repetitions that are written out."""
    if count <= WRITTEN:
        return list(range(1, count + 1))
    return [*range(1, ENDS + 1), *range(count - ENDS + 1, count + 1)]


def reported_once(mistakes: list[Mistake], origins: Origins) -> list[Mistake]:
    """Mistakes without those that each repetition has again."""
    found, seen = [], set()
    for mistake in mistakes:
        table, _, key = _table_of(mistake.key)
        told = (origins.get(table, table), key, mistake.problem)
        if table not in origins or told not in seen:
            found.append(mistake)
        seen.add(told)
    return found


def _table_of(key: str) -> tuple[str, str, str]:
    """Table and name of a mistake's key, and the rest."""
    table, _, rest = key.partition(".")
    name, dot, rest = rest.partition(".")
    return f"{table}.{name}", dot, rest


def _read(
    row: Any, system: System, elements: Collection[str]
) -> tuple[int, list[tuple[str, str, Any]]]:
    """Number of repetitions, and (table, name, keys) of each table that is repeated."""
    if not isinstance(row, dict):
        system.mistake("", row, "is not a table", "write count = 10 and tables below it")
        return 0, []
    count, problem = row.get("count"), ""
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        problem = "is no number of repetitions"
    else:
        bodies = row.get("rigid_body")
        links = count * max(1, len(bodies) if isinstance(bodies, dict) else 1)
        links += sum(other.count * len(other.bodies[0]) for other in system.longer)
        if links > MOST:
            taken = f"a kernel of {links} links would take {1e-9 * links * LINK_BYTES:.2g} GB"
            problem = f"is more than {MOST} links in all rows; {taken}"
    if problem:
        system.mistake(
            "count", count, problem, f"write a whole number from 1 on, for at most {MOST} links"
        )
    is_long = isinstance(count, int) and count > WRITTEN
    if "pose_count" in row and not problem and (row["pose_count"] != 2 * ENDS or not is_long):
        words = "is not the number of repetitions in the file's pose"
        remedy = f"write {2 * ENDS} for a row of more than {WRITTEN}, and leave it out of others"
        system.mistake("pose_count", row["pose_count"], words, remedy)
    if not isinstance(row.get("before", {}), dict):
        system.mistake("before", row["before"], "is not a table", 'write { link_0 = "ground" }')
        return 0, []
    templates = list(_templates(row, system, elements))
    return (0 if problem else count), templates  # type: ignore[return-value]


def _templates(
    row: dict[str, Any], system: System, elements: Collection[str]
) -> Iterator[tuple[str, str, Any]]:
    for table, entries in row.items():
        if table in KEYS:
            continue
        if table not in elements or not isinstance(entries, dict):
            remedy = "give count, before, and tables of elements"
            system.mistake(table, None, "is no table of elements", remedy)
            continue
        for name, raw in entries.items():
            if not BESIDE.search(name):
                remedy = "write the number of the repetition into it: name_{k}"
                system.mistake(f"{table}.{name}", None, "is the same name each time", remedy)
                continue
            yield table, name, raw


def _put(made: dict[str, Any], table: str, name: str, raw: Any, system: System) -> None:
    entries = made.setdefault(table, {})
    if not isinstance(entries, dict):
        return
    if name in entries:
        system.mistake(f"{table}.{name}", None, "is in the file, too", "rename one")
        return
    entries[name] = raw


def _numbered(raw: Any, beside: dict[str | None, int], number: int, before: dict[str, Any]) -> Any:
    """A value of the template for one repetition: `beside` has the numbers of names, `number` is that of arithmetic."""
    if isinstance(raw, str):
        text = BESIDE.sub(lambda found: str(beside[found[1]]), raw)
        if text != raw and text in before:
            return before[text]
        return NUMBER.sub(str(number), text)
    if isinstance(raw, list):
        return [_numbered(item, beside, number, before) for item in raw]
    if isinstance(raw, dict):
        return {key: _numbered(item, beside, number, before) for key, item in raw.items()}
    return raw
