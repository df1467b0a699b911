"""Numbers of a URDF that no robot has, each by name; MuJoCo would stop at the first, or at none."""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from codegen.importers.document import is_nothing, place_of
from codegen.importers.moments import MENDS, wrong_moments
from rig_configs.mistakes import Mistake, near

MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
SINGLE = ("revolute", "continuous", "prismatic")


def wrong_numbers(root: Element) -> Iterator[Mistake]:
    """Masses, moments, places and axes that are no numbers or cannot be, and joints that follow none."""
    is_mended = mends_inertia(root)
    for link in root.findall("link"):
        key = f"link {link.get('name', '')}"
        for inertial in link.findall("inertial"):
            yield from _mass(inertial, key)
            if not is_mended:
                yield from _moments(inertial, key)
            yield from _triples(inertial.findall("origin"), ("xyz", "rpy"), key)
    movable = [j.get("name", "") for j in root.findall("joint") if j.get("type") in SINGLE]
    for joint in root.findall("joint"):
        key = f"joint {joint.get('name', '')}"
        yield from _triples(joint.findall("origin"), ("xyz", "rpy"), key)
        yield from _triples(joint.findall("axis"), ("xyz",), key)
        for dynamics in joint.findall("dynamics"):
            for name in ("damping", "friction"):
                yield from _not_negative(dynamics, name, f"{key}.{name}")
        for mimic in joint.findall("mimic"):
            followed = mimic.get("joint", "")
            others = [name for name in movable if name != joint.get("name")]
            if followed not in others:
                problem = "follows a joint that is no other hinge or slide of the file"
                yield Mistake(
                    place_of(mimic), f"{key}.mimic", problem, near(followed, others), followed
                )
            for name in ("multiplier", "offset"):
                yield from _number(mimic, name, f"{key}.mimic.{name}")


def mends_inertia(root: Element) -> bool:
    """Return whether the file asks MuJoCo's reader to make up for masses and moments that are missing or wrong."""
    settings = root.find("mujoco/compiler")
    return settings is not None and any(settings.get(key) not in (None, "false") for key in MENDS)


def _number(element: Element, name: str, key: str) -> Iterator[Mistake]:
    given = element.get(name)
    if given is not None and not math.isfinite(_value(given)):
        yield Mistake(place_of(element), key, "is no number", "write one", given)


def _not_negative(element: Element, name: str, key: str) -> Iterator[Mistake]:
    yield from _number(element, name, key)
    given = element.get(name)
    if given is not None and _value(given) < 0.0:
        yield Mistake(place_of(element), key, "is negative", "give 0 or more", given)


def _mass(inertial: Element, key: str) -> Iterator[Mistake]:
    for mass in inertial.findall("mass"):
        yield from _not_negative(mass, "value", f"{key}.mass")


def _moments(inertial: Element, key: str) -> Iterator[Mistake]:
    for inertia in inertial.findall("inertia"):
        found = [m for name in MOMENTS for m in _number(inertia, name, f"{key}.{name}")]
        yield from found
        if found:
            continue
        xx, yy, zz, xy, xz, yz = (_value(inertia.get(name, "0")) for name in MOMENTS)
        if not any((xx, yy, zz, xy, xz, yz)):
            continue  # of a link that something else is fixed to, or that nothing moves
        if wrong := wrong_moments(xx, yy, zz, xy, xz, yz):
            yield Mistake(place_of(inertia), f"{key}.inertia", *wrong)


def _triples(elements: list[Element], names: tuple[str, ...], key: str) -> Iterator[Mistake]:
    for element in elements:
        for name in names:
            given = element.get(name)
            if given is not None and element.tag == "axis" and is_nothing(given):
                continue  # told as an axis without a direction
            values = [0.0] * 3 if given is None else [_value(word) for word in given.split()]
            if len(values) != 3 or not all(map(math.isfinite, values)):
                problem = "is not three numbers"
                yield Mistake(
                    place_of(element), f"{key}.{element.tag}.{name}", problem, "write three", given
                )


def _value(word: str) -> float:
    """A number, NaN for what is none."""
    try:
        return float(word)
    except ValueError:
        return math.nan
