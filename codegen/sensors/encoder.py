"""An encoder: an angle or distance of the mechanism, or the difference of two angles."""

from __future__ import annotations

from codegen.expressions.dag import Expr
from codegen.sensors import Sensing
from codegen.system import fields
from codegen.system.fields import Name


class Entry(fields.Entry):
    angle: Name
    relative_to: Name | None = None  # absolute if not given


def measure(entry: Entry, sensing: Sensing) -> tuple[Expr, str]:
    system = sensing.system
    turned = system.scalar("angle", entry.angle)
    if entry.relative_to is None:
        return turned.q, turned.unit
    return turned.q - system.scalar("relative_to", entry.relative_to, turned.unit).q, turned.unit
