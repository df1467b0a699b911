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
5. Set `COORDINATES = True` in a file that makes coordinates: such tables are read first.
6. Add a test to `tests/unit/codegen/test_elements.py` and a line to `docs/notation.md`.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType


@cache
def registry() -> dict[str, ModuleType]:
    """Element files by table name."""
    return {
        found.name: importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
    }
