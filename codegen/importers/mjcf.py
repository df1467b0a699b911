"""MJCF, MuJoCo's own format: everything that its compiler resolves; the rest is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from codegen.importers.document import NO_AXIS, family, is_nothing
from codegen.importers.tree import Tree
from rig_configs.mistakes import Mistake

ROOT = "mujoco"


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# read through the compiled model: either carried over or reported by name there
RESOLVED = _words(
    "mujoco mujocoinclude compiler option flag default include worldbody body frame replicate attach inertial "
    "joint freejoint geom site equality connect weld tendon spatial fixed actuator general motor "
    "position velocity intvelocity damper cylinder muscle adhesion dcmotor pid so3 sensor keyframe "
    "contact model"
)
# reported by name with the compiled model, whatever is inside; and elements without mechanics
TOLD_WHOLE = _words("sensor keyframe contact deformable actuator spatial fixed")
APPEARANCE = _words("visual statistic asset camera light size custom")
# attributes of elements carried over; their meaning is in the compiled numbers, or has none in mechanics
KNOWN = {
    "body": "name pos quat axisangle xyaxes zaxis euler childclass mocap gravcomp user",
    "inertial": "pos quat axisangle xyaxes zaxis euler mass diaginertia fullinertia",
    "joint": "name class type group pos axis ref springref springdamper stiffness damping "
    "frictionloss armature range limited actuatorfrcrange actuatorfrclimited user "
    "joint joint1 joint2 polycoef active coef",
    "connect": "name class active body1 body2 anchor site1 site2",
    "weld": "name class active body1 body2 anchor site1 site2 relpose torquescale",
    "option": "gravity wind density viscosity",  # reported with the compiled model
}


def mistakes(path: Path) -> list[Mistake]:
    """Every direction and quaternion of zeros at once; MuJoCo would stop at the first."""
    found = []
    for element in _elements(path):
        key = f"{element.tag} {element.get('name', '-')}"
        for attribute, problem, remedy in (
            ("axis", NO_AXIS, "write its direction"),
            ("quat", "its quaternion is zero", "write 1 0 0 0 for no turn"),
        ):
            value = element.get(attribute)
            if value is not None and is_nothing(value):
                found.append(Mistake(path.name, f"{key}.{attribute}", problem, remedy, value))
    return found


def read(mujoco: Any, path: Path) -> Any:
    """MuJoCo's specification of a file, with its includes."""
    return mujoco.MjSpec.from_file(str(path))


def leave_out_unknown(path: Path, tree: Tree) -> None:
    """Report the elements of the file that are not known here; the compiled model reports the rest."""
    appearance: dict[str, int] = {}
    for element in _elements(path):
        if element.tag in APPEARANCE:
            appearance[element.tag] = appearance.get(element.tag, 0) + 1
        elif element.tag not in RESOLVED:
            tree.left_out(element.tag, element.get("name", "-"), "is not known to this importer")
        if element.tag == "flag":
            for key, value in element.attrib.items():
                if (key, value) != ("gravity", "disable"):
                    tree.left_out("option", f"flag {key}", value)
        known = KNOWN.get(element.tag)
        for key, value in element.attrib.items() if known else ():
            if key in known.split():  # type: ignore[union-attr]
                continue
            if element.tag == "option":
                tree.left_out(
                    "option", key, f"{value}: options of the kernel say how it integrates"
                )
            else:
                name = element.get("name") or element.get("class") or "-"
                tree.left_out(element.tag, name, f"{key} {value}")
    for tag, number in sorted(appearance.items()):
        tree.left_out(tag, "-", f"{number} of it: appearance or settings, no mechanics")


def _elements(path: Path) -> list[Element]:
    """All elements of a file and of those that it includes."""
    found: list[Element] = []
    waiting = [root for _, root in family(path)]
    while waiting:
        element = waiting.pop()
        found.append(element)
        if element.tag not in TOLD_WHOLE and element.tag not in APPEARANCE:
            waiting += reversed(element)
    return found
