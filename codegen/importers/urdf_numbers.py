"""Numbers of a URDF that no robot has, each by name; MuJoCo would stop at the first, or at none."""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from codegen.importers.document import is_nothing
from rig_configs.mistakes import Mistake, near

MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
# settings for MuJoCo's reader in a URDF
MENDS = ("balanceinertia", "boundmass", "boundinertia", "inertiafromgeom")
ROUNDING = 1e-6  # of the largest moment: files have some digits only
LEAST = 1e-15  # kg m^2: MuJoCo takes nothing below
SINGLE = ("revolute", "continuous", "prismatic")


def wrong_numbers(root: Element, file: str) -> Iterator[Mistake]:
    """Masses, moments, places and axes that are no numbers or cannot be, and joints that follow none."""
    is_mended = mends_inertia(root)
    for link in root.findall("link"):
        key = f"link {link.get('name', '')}"
        for inertial in link.findall("inertial"):
            yield from _mass(inertial, key, file)
            if not is_mended:
                yield from _moments(inertial, key, file)
            yield from _triples(inertial.findall("origin"), ("xyz", "rpy"), key, file)
    movable = [j.get("name", "") for j in root.findall("joint") if j.get("type") in SINGLE]
    for joint in root.findall("joint"):
        key = f"joint {joint.get('name', '')}"
        yield from _triples(joint.findall("origin"), ("xyz", "rpy"), key, file)
        yield from _triples(joint.findall("axis"), ("xyz",), key, file)
        for mimic in joint.findall("mimic"):
            followed = mimic.get("joint", "")
            if followed not in movable or followed == joint.get("name"):
                problem = "follows a joint that is no other hinge or slide of the file"
                yield Mistake(file, f"{key}.mimic", problem, near(followed, movable), followed)
            for name in ("multiplier", "offset"):
                yield from _number(mimic, name, f"{key}.mimic.{name}", file)


def mends_inertia(root: Element) -> bool:
    """Return whether the file asks MuJoCo's reader to make up for masses and moments that are missing or wrong."""
    settings = root.find("mujoco/compiler")
    return settings is not None and any(settings.get(key) not in (None, "false") for key in MENDS)


def _number(element: Element, name: str, key: str, file: str) -> Iterator[Mistake]:
    given = element.get(name)
    if given is not None and not math.isfinite(_value(given)):
        yield Mistake(file, key, "is no number", "write one", given)


def _mass(inertial: Element, key: str, file: str) -> Iterator[Mistake]:
    for mass in inertial.findall("mass"):
        found = list(_number(mass, "value", f"{key}.mass", file))
        yield from found
        if not found and _value(mass.get("value", "0")) < 0.0:
            yield Mistake(file, f"{key}.mass", "is negative", "give 0 or more", mass.get("value"))


def _moments(inertial: Element, key: str, file: str) -> Iterator[Mistake]:
    for inertia in inertial.findall("inertia"):
        found = [m for name in MOMENTS for m in _number(inertia, name, f"{key}.{name}", file)]
        yield from found
        if found:
            continue
        xx, yy, zz, xy, xz, yz = (_value(inertia.get(name, "0")) for name in MOMENTS)
        if not any((xx, yy, zz, xy, xz, yz)):
            continue  # of a link that something else is fixed to, or that nothing moves
        least, middle, most = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if least < -ROUNDING * abs(most):
            problem = f"has a negative principal moment, {least:.3g} kg m²"
            yield Mistake(file, f"{key}.inertia", problem, "correct its six numbers")
        elif least < LEAST:
            problem = f"has no inertia about one of its axes: its moments are {least:.3g}, {middle:.3g} and {most:.3g}"
            remedy = f"no body is so thin: give more than {LEAST:g} kg m²"
            yield Mistake(file, f"{key}.inertia", problem, remedy)
        elif most > (1.0 + ROUNDING) * (least + middle):
            problem = (
                f"no body has these principal moments, {least:.3g}, {middle:.3g} and {most:.3g} kg m²: "
                "one exceeds the sum of the others"
            )
            yield Mistake(file, f"{key}.inertia", problem, "correct its six numbers")


def _triples(
    elements: list[Element], names: tuple[str, ...], key: str, file: str
) -> Iterator[Mistake]:
    for element in elements:
        for name in names:
            given = element.get(name)
            if given is not None and element.tag == "axis" and is_nothing(given):
                continue  # told as an axis without a direction
            values = [0.0] * 3 if given is None else [_value(word) for word in given.split()]
            if len(values) != 3 or not all(map(math.isfinite, values)):
                problem = "is not three numbers"
                yield Mistake(file, f"{key}.{element.tag}.{name}", problem, "write three", given)


def _value(word: str) -> float:
    """A number, NaN for what is none."""
    try:
        return float(word)
    except ValueError:
        return math.nan
