"""A strain gauge of a body that bends: strain by the amplitudes of its modes."""

from __future__ import annotations

from codegen.expressions.dag import Expr
from codegen.sensors import Sensing
from codegen.system import fields
from codegen.system.fields import Name
from rig_configs.mistakes import near


class Entry(fields.Entry):
    body: Name
    gauge: Name


def measure(entry: Entry, sensing: Sensing) -> tuple[Expr | float, str]:
    system = sensing.system
    if entry.body not in system.flexible:
        known = list(system.flexible)
        remedy = near(entry.body, known) if known else "give the mechanism a flexible_body"
        system.mistake("body", entry.body, "is no body that bends", remedy)
        return 0.0, "1"
    body = system.flexible[entry.body]
    gauges = body.modes.gauges
    if entry.gauge not in gauges:
        remedy = near(entry.gauge, gauges) if gauges else "give the body gauges"
        system.mistake("gauge", entry.gauge, f"is no gauge of {entry.body}", remedy)
        return 0.0, "1"
    return body.amount(gauges[entry.gauge]), "1"
