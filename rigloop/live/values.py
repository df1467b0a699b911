"""The values of a live view: those of known roles with their words and units, any other signal by its path."""

from __future__ import annotations

import math
from collections.abc import Mapping

ROLES = {
    "angle": ("angle", 180.0 / math.pi, "8.2f", "°"),
    "rate": ("rate", 1.0, "8.3f", "rad/s"),
    "torque": ("model torque", 1.0, "8.3f", "Nm"),
    "command": ("motor torque", 1.0, "8.3f", "Nm"),
    "virtual_torque": ("virtual torque", 1.0, "8.3f", "Nm"),
    "measured_torque": ("measured torque", 1.0, "8.3f", "Nm"),
}
IN_A_LINE = ("angle", "rate", "command")
MOST_IN_A_LINE = 4


def cells(values: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return label and text of each value, known roles first; a measured torque only beside a virtual one."""
    shown = [role for role in ROLES if role in values]
    if "virtual_torque" not in values and "measured_torque" in shown:
        shown.remove("measured_torque")
    known = [_known(role, values[role]) for role in shown]
    return known + [(path, _text(v, ".6g")) for path, v in values.items() if path not in ROLES]


def line(values: Mapping[str, float]) -> str:
    """Return the values as part of one line."""
    known = [_known(role, values[role])[1] for role in IN_A_LINE if role in values]
    if known:
        return "  ".join(known)
    others = [(path, v) for path, v in values.items() if path not in ROLES]
    return "  ".join(f"{path} {_text(v, '.6g')}" for path, v in others[:MOST_IN_A_LINE])


def _known(role: str, value: float) -> tuple[str, str]:
    label, factor, form, unit = ROLES[role]
    return label, f"{_text(value * factor, form)} {unit}"


def _text(value: float, form: str) -> str:
    # a value that is not known takes the room of one that is
    return "–".rjust(int(form.partition(".")[0] or 1)) if math.isnan(value) else f"{value:{form}}"
