"""The measured current of a motor whose current is an input signal that the observer estimates."""

from __future__ import annotations

from codegen.expressions.dag import Expr
from codegen.sensors import Sensing
from codegen.system import fields
from codegen.system.fields import Name
from rig_configs.mistakes import near


class Entry(fields.Entry):
    motor: Name


def measure(entry: Entry, sensing: Sensing) -> tuple[Expr | float, str]:
    system = sensing.system
    found = {signal.path: signal.var for signal in system.signals}
    path = f"motor/{entry.motor}/current_a"
    if path not in found:
        known = [p.split("/")[1] for p in found if p.startswith("motor/")]
        remedy = near(entry.motor, known) if known else "write `current_a = { input = 0 }`"
        system.mistake("motor", entry.motor, "no motor with its current as input", remedy)
        return 0.0, "a"
    if path not in sensing.unknown:
        remedy = f'name "{path}" as unknown, or leave the sensor out and feed the input'
        system.mistake("motor", entry.motor, "its current is known, measuring says nothing", remedy)
    return found[path], "a"
