"""A force or torque cell: any force, torque or reaction that an element of the mechanism names."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from codegen.expressions.dag import Expr
from codegen.sensors import Sensing
from codegen.system import fields
from rig_configs.mistakes import near


class Entry(fields.Entry):
    of: Annotated[str, Field(strict=True)]  # such as constant_distance.coupler.force_n


def measure(entry: Entry, sensing: Sensing) -> tuple[Expr | float, str]:
    system = sensing.system
    path = entry.of.replace(".", "/")
    if path not in system.values:
        known = [found.replace("/", ".") for found in system.values]
        system.mistake("of", entry.of, "unknown force", near(entry.of, known))
        return 0.0, ""
    return system.values[path], system.value_units.get(path, "").lstrip("_")
