"""One small file per sensor; the file's name is the `kind` of a sensor's table.

How to add a sensor
-------------------
1. Create `codegen/sensors/<kind>.py`; nothing else needs to know.
2. Define `class Entry(codegen.system.fields.Entry)`, the keys of its table beside `kind`.
3. Define `measure(entry, sensing)`: resolve names with `sensing.system`, as elements do, and return the
   reading as an expression of coordinates, rates, accelerations (`sensing.acceleration`) and
   multipliers of rows; and its unit. Slopes are taken for you.
4. Add a case to `tests/unit/codegen/sensors/test_sensors.py` and a line to `docs/models/observers.md`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from codegen.description.mechanism import Mechanism, MechanismError
from codegen.expressions.dag import Expr
from codegen.system.system import System
from rig_configs.mistakes import near


@dataclass(frozen=True)
class Sensor:
    """A sensor of a mechanism: its reading as an expression, and the reading's unit."""

    name: str
    kind: str
    unit: str
    reading: Expr


@dataclass(frozen=True)
class Sensing:
    """The subject of a sensor; `unknown` are the input signals that an observer estimates."""

    system: System
    unknown: tuple[str, ...]

    def acceleration(self, expr: Expr | float) -> Expr:
        """Second time derivative of an expression of coordinates."""
        system, graph = self.system, self.system.graph
        moving = {c.q: c.qd for c in system.coordinates}
        turning = {c.qd: graph.var(f"qdd {c.index}") for c in system.coordinates}
        rate = graph.tangent(graph.lift(expr), moving)
        return graph.tangent(rate, moving | turning)


@cache
def registry() -> dict[str, ModuleType]:
    """Sensor files by kind."""
    return {
        found.name: importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
    }


def read(
    mechanism: Mechanism, tables: Mapping[str, Mapping[str, Any]], unknown: Sequence[str] = ()
) -> list[Sensor]:
    """Sensors of a mechanism, from a table each.

    Raises
    ------
    MechanismError
        With every mistake of all tables.
    """
    system = mechanism.system
    sensing = Sensing(system, tuple(unknown))
    made = []
    try:
        for name, table in tables.items():
            system.at = ("sensors", name)
            made += _one(name, table, sensing)
        if system.mistakes:
            raise MechanismError(list(system.mistakes))
    finally:
        system.at = ()
        system.mistakes.clear()
    return made


def _one(name: str, table: Mapping[str, Any], sensing: Sensing) -> list[Sensor]:
    system = sensing.system
    keys = dict(table)
    kind = keys.pop("kind", None)
    if kind not in registry():
        system.mistake("kind", kind, "unknown sensor", near(str(kind), registry()))
        return []
    module = registry()[kind]
    try:
        entry = module.Entry.model_validate(keys)
    except ValidationError as error:
        known = ", ".join(module.Entry.model_fields)
        for detail in error.errors():
            key = str(detail["loc"][0]) if detail["loc"] else ""
            system.mistake(key, None, detail["msg"].lower(), f"keys of {kind}: {known}")
        return []
    reading, unit = module.measure(entry, sensing)
    return [Sensor(name, kind, unit, system.graph.lift(reading))]
