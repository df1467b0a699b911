"""Values of an MJCF file that no robot has, each by name; MuJoCo would stop at the first, or at none."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from codegen.importers.document import NO_AXIS, place_of
from codegen.importers.moments import MENDS, wrong_moments
from rig_configs.mistakes import Mistake

MECHANICS = {
    "body", "frame", "inertial", "joint", "freejoint", "geom", "site", "connect", "weld", "tendon", "spatial",
    "fixed", "option", "general", "motor", "position", "velocity",
}  # fmt: skip
# numbers that an attribute has to have, all of them
COUNTS = {
    "pos": 3, "quat": 4, "axis": 3, "euler": 3, "axisangle": 4, "xyaxes": 6, "zaxis": 3, "mass": 1, "diaginertia": 3,
    "fullinertia": 6, "range": 2, "anchor": 3, "relpose": 7, "gravity": 3, "wind": 3, "ref": 1, "springref": 1,
    "armature": 1, "frictionloss": 1, "coef": 1, "springdamper": 2, "ctrlrange": 2, "forcerange": 2,
}  # fmt: skip
# and those that may have several
NUMBERS = frozenset(("damping", "stiffness", "gear", "polycoef", "springlength", "kp", "kv"))
NEVER_NEGATIVE = frozenset(("mass", "armature", "frictionloss", "damping", "stiffness"))
DIRECTIONS = {
    "axis": (NO_AXIS, "write its direction"),
    "zaxis": ("its direction is zero", "write a direction"),
    "quat": ("its quaternion is zero", "write 1 0 0 0 for no turn"),
    "axisangle": (NO_AXIS, "write the direction of the turn"),
}
WORDS = {
    1: "one number", 2: "two numbers", 3: "three numbers", 4: "four numbers", 6: "six numbers", 7: "seven numbers"
}  # fmt: skip


class Found(NamedTuple):
    """A mistake, with its element and attribute."""

    mistake: Mistake
    element: Element
    attribute: str


def wrong_values(root: Element) -> Iterator[Found]:
    """Numbers that are none, or too many, or too few; directions and quaternions of zero; impossible inertias."""
    is_mended = any(
        compiler.get(key) not in (None, "false")
        for compiler in root.iter("compiler")
        for key in MENDS
    )
    names = Labels(root)
    for element in root.iter():
        if element.tag not in MECHANICS:
            continue
        key = names.of(element)
        for attribute, value in element.attrib.items():
            if wrong := _wrong(attribute, value):
                place = place_of(element)
                told = Mistake(place, f"{key}.{attribute}", *wrong, value)
                yield Found(told, element, attribute)
                continue
            is_checked = attribute in ("diaginertia", "fullinertia") and not is_mended
            if is_checked and (impossible := wrong_moments(*_values(value))):
                told = Mistake(place_of(element), f"{key}.{attribute}", *impossible, value)
                yield Found(told, element, attribute)


def _wrong(attribute: str, value: str) -> tuple[str, str] | None:
    """Problem and remedy of one value."""
    wanted = COUNTS.get(attribute, 0)
    if not wanted and attribute not in NUMBERS:
        return None
    values = _values(value)
    if not values or not all(map(math.isfinite, values)) or (wanted and len(values) != wanted):
        words = WORDS.get(wanted, "a row of numbers")
        return f"is not {words}", f"write {words}"
    if attribute in NEVER_NEGATIVE and min(values) < 0.0:
        return "is negative", "give 0 or more"
    turning = values[:3] if attribute == "axisangle" else values
    if attribute in DIRECTIONS and not any(turning):
        return DIRECTIONS[attribute]
    if attribute == "xyaxes":
        x, y = values[:3], values[3:]
        normal = [x[k - 2] * y[k - 1] - x[k - 1] * y[k - 2] for k in range(3)]
        if not any(normal):
            return "its two axes are parallel, or zero", "write two different directions"
    return None


def _values(given: str) -> list[float]:
    """The numbers of an attribute, NaN for a word that is none."""
    found = []
    for word in given.split():
        try:
            found.append(float(word))
        except ValueError:
            found.append(math.nan)
    return found


class Labels:
    """The words for an element: its tag and name, or the body, tendon or class that it is in."""

    def __init__(self, root: Element) -> None:
        self._above = {child: element for element in root.iter() for child in element}
        self._named = {element: name for element in root.iter() if (name := _name(element))}

    def of(self, element: Element) -> str:
        """Return the words for an element, by the names that were there in the beginning."""
        if name := self._named.get(element):
            return f"{element.tag} {name}"
        above = self._above.get(element)
        while above is not None:
            if name := self._named.get(above):
                return f"{element.tag} of {above.tag} {name}"
            above = self._above.get(above)
        return element.tag

    def parent(self, element: Element) -> str:
        """Return the tag of the element that one stands in."""
        above = self._above.get(element)
        return "" if above is None else above.tag


def _name(element: Element) -> str:
    return element.get("class" if element.tag == "default" else "name", "")
