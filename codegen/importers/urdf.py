"""URDF: MuJoCo reads its links and joints; elements that it passes over in silence are reported here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from codegen.importers.document import NO_AXIS, is_nothing, parse
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
    file = path.name
    links = [link.get("name", "") for link in root.findall("link")]
    found = []
    for kind in ("link", "joint"):
        names = Counter(element.get("name", "") for element in root.findall(kind))
        for name in sorted(n for n, times in names.items() if times > 1):
            found.append(Mistake(file, f"{kind} {name}", "is there twice", "rename one"))
    moved: dict[str, str] = {}
    broken = False
    for joint in root.findall("joint"):
        key = f"joint {joint.get('name', '')}"
        for end in ("parent", "child"):
            element = joint.find(end)
            link = "" if element is None else element.get("link", "")
            if link not in links:
                problem = f"{end} {link!r} is no link" if link else f"has no {end}"
                found.append(Mistake(file, key, problem, near(link, links)))
                broken = True
        child = joint.find("child")
        name = "" if child is None else child.get("link", "")
        if name in moved:
            problem = f"link {name!r} is the child of {moved[name]} too"
            remedy = "give each link one parent; close loops in MJCF"
            found.append(Mistake(file, key, problem, remedy))
        moved.setdefault(name, key)
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
        found.append(Mistake(file, f"link {name}", problem, "give it a joint whose child it is"))
    found += wrong_numbers(root, file)
    if not broken:  # of a tree that hangs together
        found += _in_circles(root, roots, file)
        if not mends_inertia(root):
            found += _without_mass(root, file)
    return found


def _in_circles(root: Element, roots: list[str], file: str) -> Iterator[Mistake]:
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
            yield Mistake(file, f"link {name}", problem, "close loops in MJCF, by an equality")


def _without_mass(root: Element, file: str) -> Iterator[Mistake]:
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
            moving.append((joint.get("name", ""), child))
    for name, child in moving:
        key = f"joint {name}"
        heavy = [one for one in _reached(child, fixed) if _is_heavy(links[one])]
        if not any(_is_heavy(links[one]) for one in _reached(child, hung)):
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
