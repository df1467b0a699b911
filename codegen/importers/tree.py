"""The model that an importer reads, whatever the format: a tree of rigid links with joints, loop
closures and forces. All positions and directions are global, in one pose, in SI units.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from rig_configs.names import LONGEST_NAME, RESERVED

LONGEST = LONGEST_NAME - 16  # room for numbers and for the names of elements on it
Triple = tuple[float, float, float]
GROUND = "ground"


@dataclass(frozen=True)
class Joint:
    """One joint of a link with its parent; `value` (rad or m) is the coordinate in this pose."""

    name: str
    kind: Literal["hinge", "slide", "ball", "free"]
    at: Triple
    axis: Triple
    value: float = 0.0
    damping: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    friction: float = 0.0
    inertia: float = 0.0  # of a rotor on the joint: kg m^2, or kg on a slide
    turn: Triple = (0.0, 0.0, 0.0)  # rad, of a ball from the rest of its spring

    @property
    def is_scalar(self) -> bool:
        return self.kind in ("hinge", "slide")


@dataclass(frozen=True)
class Link:
    """A rigid body; joints act in their order, from the parent to the link.

    Attributes
    ----------
    inertia : tuple of float
        Principal moments about the centre, kg m^2, about `axes[0]`, `axes[1]` and their cross
        product.
    """

    name: str
    parent: str
    joints: tuple[Joint, ...]
    mass: float
    centre: Triple
    inertia: Triple
    axes: tuple[Triple, Triple]


@dataclass(frozen=True)
class Loop:
    """A condition beyond the tree: links share a point (`connect`) or are one (`weld`)."""

    name: str
    kind: Literal["connect", "weld"]
    links: tuple[str, str]
    at: Triple


@dataclass(frozen=True)
class Coupling:
    """Rate of `first` = ratio x rate of `second`; without `second` the joint stands still."""

    name: str
    first: str
    second: str | None
    ratio: float


@dataclass(frozen=True)
class Cord:
    """A tendon whose length in m is a sum of factor x coordinate of hinges and slides, with a spring and damper."""

    name: str
    factors: tuple[tuple[str, float], ...]
    length: float
    rest: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class Drive:
    """An actuator on a joint or cord: force = input + offset - stiffness x coordinate - damping x rate."""

    name: str
    joint: str
    offset: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class Strut:
    """Between points of two links: a spring with damper, or a rigid rod of `length`."""

    name: str
    ends: tuple[tuple[str, Triple], tuple[str, Triple]]
    length: float
    is_rigid: bool
    stiffness: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class Item:
    """One line of the report.

    Attributes
    ----------
    status : {"carried", "changed", "left out"}
        It means the same; it means something similar, which `words` explain; it is not in the mechanism.
    """

    status: Literal["carried", "changed", "left out"]
    kind: str
    name: str
    words: str


@dataclass
class Tree:
    """A whole model; parents come before their links."""

    gravity: Triple = (0.0, 0.0, 0.0)
    links: list[Link] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    drives: list[Drive] = field(default_factory=list)
    cords: list[Cord] = field(default_factory=list)
    struts: list[Strut] = field(default_factory=list)
    sites: list[tuple[str, str, Triple]] = field(default_factory=list)  # name, link, position
    items: list[Item] = field(default_factory=list)

    def carried(self, kind: str, name: str, words: str) -> None:
        self.items.append(Item("carried", kind, name, words))

    def changed(self, kind: str, name: str, words: str) -> None:
        self.items.append(Item("changed", kind, name, words))

    def left_out(self, kind: str, name: str, words: str) -> None:
        self.items.append(Item("left out", kind, name, words))

    def joint(self, name: str) -> tuple[Link, Joint]:
        """A joint by name, with the link that it moves."""
        return next((k, j) for k in self.links for j in k.joints if j.name == name)


class Names:
    """Names as a mechanism file takes them: letters, digits and _, each once, no reserved word."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def new(self, wanted: str) -> str:
        plain = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in wanted)
        plain = plain[:LONGEST]
        if not plain[:1].isalpha() or plain in RESERVED:
            plain = f"n{plain}"
        name, number = plain, 1
        while name in self._taken:
            number += 1
            name = f"{plain}_{number}"
        self._taken.add(name)
        return name
