"""Print `docs/rig.md`, the reference of the rig file: `python -m rigloop.blocks.page > docs/rig.md`.

All of it is made of the schemas and the kinds of blocks; a test fails when the page is not what is printed here.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pydantic import BaseModel

from rig_configs.live import LiveValue, Stimulus
from rig_configs.load import find_rig, shipped_rigs
from rig_configs.ports import Port
from rig_configs.schema import BlockTable, Metric, Rig, Roles, Task, Verdict
from rigloop.blocks.catalogue import kinds
from rigloop.blocks.checked import read_checked
from rigloop.blocks.keys import Table, tables_of, values_of
from rigloop.blocks.kind import BlockKind
from rigloop.console.screen import say
from rigloop.display.pages import fill

# of every block: stated once, above the kinds
OF_EVERY_BLOCK = frozenset({"kind", "reads", "writes"})


@dataclass(frozen=True)
class KindPage:
    """The text of the page about a kind of block."""

    name: str
    about: str
    tables: tuple[Table, ...]
    reads: tuple[Port, ...]
    writes: tuple[Port, ...]
    of: str  # rig whose block has these ports; empty: every block has them
    faults: dict[int, str]


@cache
def examples() -> dict[tuple[type, str], Any]:
    """Return a value of each key that a shipped rig has."""
    found: dict[tuple[type, str], Any] = {}
    for name in shipped_rigs():
        for model, key, value in values_of(read_checked(find_rig(name)).rig):
            found.setdefault((model, key), value)
            # the base that has the key has it for its other kinds, too
            for base in model.__mro__[1:]:
                if key != "kind" and key in getattr(base, "model_fields", ()):
                    found.setdefault((base, key), value)
    return found


def tables() -> list[Table]:
    """Return every table of a rig file that belongs to no kind of block, in the order of the file."""
    known = examples()
    top = next(iter(tables_of("", Rig, known)))
    return [
        top,
        *tables_of("[tasks.NAME]", Task, known),
        *tables_of("[live.NAME]", LiveValue, known),
        *tables_of("[stimuli.NAME]", Stimulus, known),
        *tables_of("[show]", Roles, known),
        *tables_of("[verdict]", Verdict, known),
        *tables_of("[metrics.NAME]", Metric, known),
    ]


def kind_tables(kind: BlockKind) -> list[Table]:
    """Return the tables of a kind: its own, and those within it; one that stands in several places once."""
    found: dict[type[BaseModel], Table] = {}
    for table in tables_of("[blocks.NAME]", kind.schema, examples(), OF_EVERY_BLOCK):
        before = found.get(table.model)
        if before is None:
            found[table.model] = table
        else:
            found[table.model] = replace(before, heading=f"{before.heading}, {table.heading}")
    return list(found.values())


def _of_kind(kind: BlockKind) -> KindPage:
    block, of = _a_block(kind)
    ports = kind.ports(block)
    is_same = not of or kind.ports({}) == ports
    return KindPage(
        kind.name,
        inspect.cleandoc(kind.about),
        tuple(kind_tables(kind)),
        ports.reads if ports else (),
        ports.writes if ports else (),
        "" if is_same else of,
        dict(kind.faults),
    )


def _a_block(kind: BlockKind) -> tuple[dict[str, Any], str]:
    """Return the table of a block of a kind in a shipped rig, and the rig; empty where none has one."""
    for name in shipped_rigs():
        for block in read_checked(find_rig(name)).rig.blocks.values():
            if block.kind == kind.name:
                return block.model_dump(), name
    return {}, ""


def page() -> str:
    """Return the whole page."""
    every = next(iter(tables_of("[blocks.NAME]", BlockTable, examples())))
    return (
        fill(
            "rig.md.jinja",
            tables=tables(),
            every=every.keys,
            kinds=[_of_kind(kind) for kind in kinds().values()],
            rigs=shipped_rigs(),
            plain=lambda text: " ".join(text.split()).replace("|", "\\|"),
        ).rstrip("\n")
        + "\n"
    )


if __name__ == "__main__":
    say(page().rstrip("\n"))
