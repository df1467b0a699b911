"""The entries of a mechanism file as they were written, for those who show or draw them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.description.mechanism import find, text_of
from codegen.elements import registry
from rig_configs.bounded import parse_toml


@dataclass(frozen=True)
class Written:
    """One `[table.name]` of a mechanism file, with the keys of its element's schema."""

    table: str
    name: str
    entry: Any  # the element's own subclass of `codegen.system.fields.Entry`

    @property
    def title(self) -> str:
        return f"{self.table}.{self.name}"


def entries(mechanism: Path | str) -> list[Written]:
    """Every element of a mechanism file, in the file's order.

    Parameters
    ----------
    mechanism : Path or str
        A file that `codegen.description.mechanism.load` has found good, or the name of one that ships.
    """
    document = parse_toml(text_of(find(mechanism)))
    elements = registry()
    return [
        Written(table, name, elements[table].Entry.model_validate(raw))
        for table, tables in document.items()
        if table in elements
        for name, raw in tables.items()
    ]
