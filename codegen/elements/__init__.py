"""One small file per element of a mechanism; the file's name is the table's name in the TOML.

How to add an element
---------------------
1. Create `codegen/elements/<table>.py`; it reads `[<table>.<name>]` of a mechanism file, and
   nothing else needs to know.
2. Define `class Entry(codegen.fields.Entry)`, the keys of the table, with units in their names:
   `VectorValue` for points and directions, `Number` for constants, `Tunable` for what stays
   adjustable at run time.
3. Define `add(entry, name, system)`: resolve names with `system.point`, `.direction`, `.scalar`,
   `.number`, `.tunable`, then add rows, mass, forces, states or held values. Derivatives are
   taken for you.
4. Scale every row so that its gradient is of order one: divide lengths squared by the length,
   offsets by the arm.
5. Tables are read in stages; set `STAGE` when others need what this one makes: 0 coordinates,
   1 bodies, 2 points and vectors on bodies, 3 (default) everything else.
6. Add a test to `tests/unit/codegen/test_elements.py` and a line to `docs/mechanisms.md`.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

LAST_STAGE = 3
NAMING = (0, 2)  # stages whose names share one space; bodies have their own


def stage(element: ModuleType) -> int:
    """When an element's table is read."""
    return int(getattr(element, "STAGE", LAST_STAGE))


@cache
def registry() -> dict[str, ModuleType]:
    """Element files by table name."""
    return {
        found.name: importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
    }
