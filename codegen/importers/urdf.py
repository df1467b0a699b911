"""URDF: MuJoCo reads its links and joints; elements that it passes over in silence are reported here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from codegen.importers.document import NO_AXIS, is_nothing, parse, place_of
from codegen.importers.tree import Names, Tree
from codegen.importers.urdf_numbers import mends_inertia, wrong_numbers
from rig_configs.mistakes import Mistake, near

ROOT = "robot"
CARRIED = frozenset(
    ("robot", "link", "inertial", "origin", "mass", "inertia", "joint", "parent", "child", "axis",
     "dynamics", "mimic",
     "limit", "collision")  # these two are reported by name with the compiled model
)  # fmt: skip


TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "ball", "spherical")


def mistakes(path: Path) -> list[Mistake]:
    """Every broken reference and impossible joint of the file at once; MuJoCo would stop at the first."""
    root = parse(path)
    links = [link.get("name", "") for link in root.findall("link")]
    found = []
    for kind in ("link", "joint"):
        seen: set[str] = set()
        for element in root.findall(kind):
            name = element.get("name", "")
            if not name:
                found.append(Mistake(place_of(element), kind, "has no name", "give it one"))
            elif name in seen:
                key = f"{kind} {name}"
                found.append(Mistake(place_of(element), key, "is there twice", "rename one"))
            seen.add(name)
    moved: dict[str, str] = {}
    loose = []  # their parent is reported already
    for joint in root.findall("joint"):
        key, file = f"joint {joint.get('name', '')}", place_of(joint)
        for end in ("parent", "child"):
            found_end = joint.find(end)
            link = "" if found_end is None else found_end.get("link", "")
            if link not in links:
                problem = f"{end} {link!r} is no link" if link else f"has no {end}"
                found.append(Mistake(file, key, problem, near(link, links)))
        child = joint.find("child")
        name = "" if child is None else child.get("link", "")
        if name in moved:
            problem = f"link {name!r} is the child of {moved[name]} too"
            remedy = "give each link one parent; close loops in MJCF"
            found.append(Mistake(file, key, problem, remedy))
        moved.setdefault(name, key)
        parent = joint.find("parent")
        if parent is None or parent.get("link", "") not in links:
            loose.append(name)
        kind = joint.get("type", "")
        if kind not in TYPES:
            problem = f"type {kind!r} is none of URDF" if kind else "has no type"
            found.append(Mistake(file, key, problem, near(kind, TYPES)))
        axis = joint.find("axis")
        if axis is not None and kind != "fixed" and is_nothing(axis.get("xyz", "")):
            found.append(
                Mistake(file, f"{key}.axis", NO_AXIS, "write its direction", axis.get("xyz"))
            )
    roots = [name for name in links if name not in moved]
    for name in roots[1:]:
        problem = f"hangs on nothing: {roots[0]!r} is the root"
        alone = next(one for one in root.findall("link") if one.get("name", "") == name)
        remedy = "give it a joint whose child it is"
        found.append(Mistake(place_of(alone), f"link {name}", problem, remedy))
    found += wrong_numbers(root)
    found += _in_circles(root, [*roots, *loose])
    found += _floating_on_others(root)
    if not mends_inertia(root):
        found += _without_mass(root)
    return found


def _in_circles(root: Element, roots: list[str]) -> Iterator[Mistake]:
    """Links that hang on each other, and so on nothing."""
    hung: dict[str, list[str]] = {}
    for joint in root.findall("joint"):
        parent, child = joint.find("parent"), joint.find("child")
        if parent is not None and child is not None:
            hung.setdefault(parent.get("link", ""), []).append(child.get("link", ""))
    waiting, reached = list(roots), set(roots)
    while waiting:
        new = [name for name in hung.get(waiting.pop(), []) if name not in reached]
        reached |= set(new)
        waiting += new
    for link in root.findall("link"):
        if (name := link.get("name", "")) not in reached:
            problem = "hangs on nothing: its joints lead back to itself"
            remedy = "close loops in MJCF, by an equality"
            yield Mistake(place_of(link), f"link {name}", problem, remedy)


def _floating_on_others(root: Element) -> Iterator[Mistake]:
    """Floating joints that another joint moves, which MuJoCo cannot have."""
    by_child: dict[str, Element] = {}
    for joint in root.findall("joint"):
        child = joint.find("child")
        by_child.setdefault("" if child is None else child.get("link", ""), joint)
    for joint in root.findall("joint"):
        below, seen = joint, set()
        while joint.get("type") == "floating" and below is not None and below not in seen:
            seen.add(below)
            if below is not joint and below.get("type") != "fixed":
                problem = f"floats on what joint {below.get('name', '')!r} moves"
                remedy = "hang it on the root, or give its link another type of joint"
                yield Mistake(place_of(joint), f"joint {joint.get('name', '')}", problem, remedy)
                break
            parent = below.find("parent")
            below = by_child.get("" if parent is None else parent.get("link", ""))  # type: ignore[assignment]


def _without_mass(root: Element) -> Iterator[Mistake]:
    """Links that a joint moves though they, with what is fixed to them, have no mass or no inertia."""
    links = {link.get("name", ""): link for link in root.findall("link")}
    hung: dict[str, list[str]] = {}
    fixed: dict[str, list[str]] = {}
    moving = []
    for joint in root.findall("joint"):
        parent, child = (
            "" if end is None else end.get("link", "")
            for end in (joint.find("parent"), joint.find("child"))
        )
        hung.setdefault(parent, []).append(child)
        if joint.get("type") == "fixed":
            fixed.setdefault(parent, []).append(child)
        else:
            moving.append((joint, child))
    told: set[str] = set()
    for joint, child in moving:
        key, file = f"joint {joint.get('name', '')}", place_of(joint)
        if child not in links or child in told:
            continue
        told.add(child)
        heavy = [one for one in _reached(child, fixed) if one in links and _is_heavy(links[one])]
        hanging = [links[one] for one in _reached(child, hung) if one in links]
        if not any(map(_is_heavy, hanging)):
            problem = f"moves {child!r}, which has no mass, nor has anything that hangs on it"
            yield Mistake(file, key, problem, "give it an <inertial>, or fix the joint")
        elif not heavy:
            problem = f"moves {child!r}, which has no mass of its own, nor has anything that is fixed to it"
            yield Mistake(
                file, key, problem, "give it an <inertial>, however small, as MuJoCo asks"
            )
        elif len(heavy) == 1 and _has_no_inertia(links[heavy[0]]):
            problem = f"moves {heavy[0]!r}, which has mass and no inertia"
            yield Mistake(file, key, problem, "give its <inertial> the moments about its centre")


def _reached(link: str, hung: dict[str, list[str]]) -> list[str]:
    """A link and all that hangs on it, each once."""
    found, waiting = [link], [link]
    while waiting:
        new = [name for name in hung.get(waiting.pop(), []) if name not in found]
        found += new
        waiting += new
    return found


def _is_heavy(link: Element) -> bool:
    # without <inertial> the mass is that of the shapes
    is_given = any(mass.get("value", "0").strip("0.+ ") for mass in link.iter("mass"))
    return is_given or (link.find("inertial") is None and link.find("collision") is not None)


def _has_no_inertia(link: Element) -> bool:
    inertia = link.find("inertial/inertia")
    given = [] if inertia is None else list(inertia.attrib.values())
    return link.find("inertial") is not None and not any(word.strip("0.+- ") for word in given)


def read(mujoco: Any, path: Path) -> Any:
    """MuJoCo's specification of a file; not every version opens URDF by its name."""
    spec = mujoco.MjSpec.from_string(path.read_text(encoding="utf-8"))
    spec.modelfiledir = str(path.parent)
    return spec


def leave_out_unknown(path: Path, tree: Tree) -> None:
    """Report the elements of the file that are not carried over, and a root that stands though it has mass."""
    root = parse(path)
    moved = {child.get("link") for child in root.iter("child")}
    for link in root.findall("link"):
        mass = link.find("inertial/mass")
        if link.get("name") not in moved and mass is not None:
            words = (
                f"stands on the ground, with its {mass.get('value')} kg: if it floats, hang it on a link 'world' by "
                "a joint of type floating"
            )
            tree.changed("link", link.get("name", "-"), words)
    for element in root:
        name = element.get("name", "-")
        if element.tag == "link":
            _link(element, name, tree)
        elif element.tag == "joint":
            _joint(element, name, tree)
        else:
            tree.left_out(element.tag, name, _reason(element.tag))


def _reason(tag: str) -> str:
    return {
        "material": "appearance",
        "visual": "appearance",
        "transmission": "gear ratios of motors; give them to the input",
        "mujoco": "settings of MuJoCo's reader, which it has used",
        "gazebo": "settings of another program",
        "sensor": "has no counterpart",
    }.get(tag, "is not known to this importer")


def _link(link: Element, name: str, tree: Tree) -> None:
    for element in link:
        if element.tag not in CARRIED:
            tree.left_out(element.tag, name, _reason(element.tag))


def _joint(joint: Element, name: str, tree: Tree) -> None:
    if joint.get("type") == "fixed":
        child = joint.find("child")
        body = "" if child is None else child.get("link", "")
        tree.carried("joint", name, f"fixed: {body} is one body with its parent")
    joint_name = Names().new(name)
    for element in joint:
        if element.tag == "limit" and element.get("velocity"):
            tree.left_out("limit", name, f"velocity {element.get('velocity')}")
        elif element.tag == "mimic" and not any(c.first == joint_name for c in tree.couplings):
            follows = f"follows {element.get('joint')}"
            tree.left_out("mimic", name, f"{follows}: this version of MuJoCo does not read it")
        elif element.tag not in CARRIED:
            given = ", ".join(f"{k} {v}" for k, v in element.attrib.items())
            tree.left_out(element.tag, name, given or _reason(element.tag))
