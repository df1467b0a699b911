"""MJCF, MuJoCo's own format: everything that its compiler resolves; the rest is reported."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from codegen.importers.compiled import library
from codegen.importers.document import family
from codegen.importers.mjcf_values import wrong_values
from codegen.importers.one_document import Document
from codegen.importers.refusals import refusals
from codegen.importers.shapes import drop_shapes
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


def mistakes(path: Path, refused: bool = False) -> list[Mistake]:
    """Every mistake of the file at once; MuJoCo would stop at the first.

    Parameters
    ----------
    path : Path
    refused : bool
        True: MuJoCo has refused the file. Without it, MuJoCo reads the file only after another mistake was found.
    """
    document = Document(path)
    values = list(wrong_values(document.root))
    found = [*document.mistakes, *(value.mistake for value in values)]
    if not found and not refused:
        return []
    mujoco = library()
    printed = getattr(mujoco, "mj_printSchema", lambda *_: "")(False, False)

    def attempt(text: str) -> str:
        try:
            spec = mujoco.MjSpec.from_string(text)
            spec.modelfiledir = str(path.parent)
            drop_shapes(mujoco, spec, Tree())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                spec.compile()
        except (ValueError, mujoco.FatalError) as error:
            return str(error)
        return ""

    wrong = [(value.element, value.attribute) for value in values]
    found += refusals(document, attempt, printed, wrong)
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
