"""Tables outside of a long row that hang on its far end: their numbers are those of a row of six.

Of a row of more than a thousand repetitions the file's pose has six. A position that was meant for the whole row would
be one far away from the end, so that a row says by `pose_count = 6` that the file means the pose of six.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from codegen.system.system import System

CARRIED = ("rigid_body", "flexible_body", "body_point", "body_vector")
UNDEFORMED = {"spring_between": "points", "bushing": "bodies"}  # forces that the pose unloads


class FarEnds:
    """Names that the far ends of long rows carry.

    Parameters
    ----------
    made : dict
        All tables of the file with those that its rows make.
    rows : dict of str to str
        The row that makes a table, `rigid_body.rod_3`.
    far : dict of str to str
        The row of each name that is at the far end of one.
    """

    def __init__(self, made: dict[str, Any], rows: dict[str, str], far: dict[str, str]) -> None:
        self._rows = rows
        self._tables = [
            (table, name, raw)
            for table, entries in made.items()
            if isinstance(entries, dict)
            for name, raw in entries.items()
            if isinstance(raw, dict) and table != "outputs"
        ]
        of = {name: rows.get(f"{table}.{name}") for table, name, _ in self._tables}
        self._names = of
        self._carried = dict(far)
        size = 0
        while size < len(self._carried):
            size = len(self._carried)
            for table, name, raw in self._tables:
                self._follow(table, name, raw)

    def _follow(self, table: str, name: str, raw: dict[str, Any]) -> None:
        """Carry what a body or joint connects with what is carried already."""
        joins = "bodies" in raw and table not in UNDEFORMED
        if not joins and table not in CARRIED:
            return
        named = [word for word in (name, *_words(raw)) if word in self._names]
        row = next((self._carried[word] for word in named if word in self._carried), None)
        if row is None or self._rows.get(f"{table}.{name}") == row:
            return
        for word in named:
            if self._names[word] != row:
                self._carried.setdefault(word, row)

    def mistakes(self, counts: dict[str, int], placed: set[str], system: System) -> None:
        """Name every number that was meant for another pose; rows in `placed` say which one it is."""
        for table, name, raw in self._tables:
            row = self._row_of(name, raw)
            if row is None or self._rows.get(f"{table}.{name}") == row:
                continue
            system.at = (table, name)
            number = next((key for key, value in raw.items() if _is_place(key, value)), None)
            pose = f"repeat.{row}, whose pose has 6 of its {counts[row]} repetitions"
            if number is not None and row not in placed:
                words = f"is on the end of {pose}"
                remedy = f"place it as on a row of six, and write pose_count = 6 in [repeat.{row}]"
                system.mistake(number, raw[number], words, remedy)
            ends = raw.get(UNDEFORMED.get(table, ""), [])
            if isinstance(ends, list) and "rest_m" not in raw and len(self._of(ends)) > 1:
                words = f"is between the end of {pose}, and another part, so that its length as built is not known"
                remedy = (
                    "give rest_m" if table == "spring_between" else "repeat it at most 1000 times"
                )
                system.mistake("", None, words, remedy)
        system.at = ()

    def _row_of(self, name: str, raw: dict[str, Any]) -> str | None:
        words = (word for word in (name, *_words(raw)) if word in self._carried)
        return next((self._carried[word] for word in words), None)

    def _of(self, ends: list[Any]) -> set[str | None]:
        return {self._carried.get(end) if isinstance(end, str) else None for end in ends}


def _words(raw: Any) -> Iterator[str]:
    if isinstance(raw, str):
        yield raw
    elif isinstance(raw, list | dict):
        for part in raw.values() if isinstance(raw, dict) else raw:
            yield from _words(part)


def _is_place(key: str, value: Any) -> bool:
    return key.endswith("_m") and isinstance(value, list) and len(value) == 3
