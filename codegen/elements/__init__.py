"""One small file per element of a mechanism; the file's name is the table's name in the TOML.

How to add an element
---------------------
1. Create `codegen/elements/<folder>/<table>.py`; it reads `[<table>.<name>]` of a mechanism file, and
   nothing else needs to know.
2. Define `class Entry(codegen.system.fields.Entry)`, the keys of the table, with units in their names:
   `VectorValue` for points and directions, `Number` for constants, `Tunable` for what stays
   adjustable at run time.
3. Define `add(entry, name, system)`: resolve names with `system.point`, `.direction`, `.scalar`,
   `.number`, `.tunable`, then add rows, mass, forces, states or held values. Derivatives are
   taken for you.
4. Scale every row so that its gradient is of order one: divide lengths squared by the length,
   offsets by the arm.
5. Tables are read in stages; set `STAGE` when others need what this one makes: 0 coordinates,
   1 bodies, 2 points and vectors on bodies, 3 (default) everything else. Of stages 1 and 2 whatever
   is built on comes first.
6. Name values for outputs with `system.value`: forces, and reactions of rows through
   `system.row_multiplier` and `system.reaction`.
7. Add a test to `tests/unit/codegen/elements/` and a line to `docs/models/mechanisms.md`.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

LAST_STAGE = 3
NAMING = (0, 2)  # stages whose names share one space; bodies have their own


def stage(element: ModuleType) -> int:
    """Return the stage at which an element's table is read."""
    return int(getattr(element, "STAGE", LAST_STAGE))


@cache
def registry() -> dict[str, ModuleType]:
    """Element files by table name."""
    return {
        found.name.rpartition(".")[2]: importlib.import_module(found.name)
        for found in pkgutil.walk_packages(__path__, f"{__name__}.")
        if not found.ispkg
    }


Named = tuple[str, str, Any]  # table, name, contents in the file


def in_order(entries: Iterable[Named]) -> Iterator[Named]:
    """Entries by stage, otherwise as the file has them; bodies and the points fixed on them wait for
    each other, since a body may be built on points of another one.
    """
    elements = registry()
    waiting = sorted(entries, key=lambda entry: min(stage(elements[entry[0]]), LAST_STAGE))
    yield from (entry for entry in waiting if stage(elements[entry[0]]) == 0)
    mixed = [entry for entry in waiting if stage(elements[entry[0]]) in (1, 2)]
    nodes = {entry[1] for entry in mixed if entry[0] == "flexible_body"}
    while mixed:
        missing = {_made(entry) for entry in mixed}
        is_ready = [not (_needed(entry, nodes) - {_made(entry)}) & missing for entry in mixed]
        if not any(is_ready):  # they wait for each other in a circle: let the first one report it
            is_ready[0] = True
        yield from (entry for entry, now in zip(mixed, is_ready, strict=True) if now)
        mixed = [entry for entry, now in zip(mixed, is_ready, strict=True) if not now]
    yield from (entry for entry in waiting if stage(elements[entry[0]]) == LAST_STAGE)


def _made(entry: Named) -> tuple[str, str]:
    """Return the kind and name of an entry's product: a body, or a point or direction."""
    return ("body" if stage(registry()[entry[0]]) == 1 else "place", entry[1])


def _needed(entry: Named, flexible: set[str]) -> set[tuple[str, str]]:
    """Bodies, points and directions that an entry may stand on; those of nodes are there with their flexible body."""
    raw = entry[2] if isinstance(entry[2], dict) else {}
    words = {
        ("body" if key == "body" else "place", word)
        for key, value in raw.items()
        for word in re.findall(r"[A-Za-z_]\w*", str(value))
    }
    owners = {
        ("body", name) for name in flexible for _, word in words if word.startswith(f"{name}_")
    }
    return words | owners
