"""MJCF, MuJoCo's own format: everything that its compiler resolves; what it does not is told."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, parse

from codegen.importers.tree import Tree

ROOT = "mujoco"
# read through the compiled model: either carried or told by name there
RESOLVED = frozenset(
    "mujoco compiler option flag default include worldbody body frame replicate attach inertial "
    "joint freejoint geom site equality connect weld tendon spatial fixed pulley actuator general "
    "motor position velocity intvelocity damper cylinder muscle adhesion dcmotor pid so3 sensor "
    "keyframe key contact pair exclude composite model lengthrange".split()
)
APPEARANCE = frozenset(
    "visual global quality headlight map scale rgba statistic asset texture material mesh hfield "
    "camera light skin size memory custom numeric text tuple".split()
)
# attributes of what is carried; their meaning is in the compiled numbers, or has none in mechanics
KNOWN = {
    "body": "name pos quat axisangle xyaxes zaxis euler childclass mocap gravcomp user",
    "inertial": "pos quat axisangle xyaxes zaxis euler mass diaginertia fullinertia",
    "joint": "name class type group pos axis ref springref springdamper stiffness damping "
    "frictionloss armature range limited actuatorfrcrange actuatorfrclimited user "
    "joint joint1 joint2 polycoef active coef",
    "connect": "name class active body1 body2 anchor site1 site2",
    "weld": "name class active body1 body2 anchor site1 site2 relpose torquescale",
    "option": "gravity timestep integrator solver iterations tolerance ls_iterations "
    "ls_tolerance noslip_iterations noslip_tolerance ccd_iterations ccd_tolerance cone "
    "jacobian wind density viscosity impratio apirate sdf_iterations sdf_initpoints",
}


def leave_out_unknown(path: Path, tree: Tree) -> None:
    """Tell what stands in the file and is not known here; the compiled model tells the rest."""
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
        for key in element.attrib if known else ():
            if key not in known.split():  # type: ignore[union-attr]
                name = element.get("name") or element.get("class") or "-"
                words = f"{key} = {element.get(key)}"
                tree.left_out(element.tag, name, words)
    for tag, number in sorted(appearance.items()):
        tree.left_out(tag, f"{number} of it", "appearance or settings, no mechanics")


def _elements(path: Path, depth: int = 0) -> list[Element]:
    found = []
    for element in parse(path).getroot().iter():
        found.append(element)
        included = element.get("file") if element.tag == "include" else None
        if included and depth < 20 and (path.parent / included).is_file():
            found += _elements(path.parent / included, depth + 1)
    return found
