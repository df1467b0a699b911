"""Forces and moments that joints hand on, in place of the multipliers of their rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from codegen.expressions.dag import Expr
from codegen.spatial.algebra import Wrench
from codegen.system.system import System
from codegen.system.vectors import Vector, cross, minus, plus, times
from codegen.tree.chain import Chain
from codegen.tree.places import Places

SLIDING = ("prismatic", "cylindrical", "planar", "screw")
KEYS = {
    "fx_n": (1, 0),
    "fy_n": (1, 1),
    "fz_n": (1, 2),
    "tx_nm": (0, 0),
    "ty_nm": (0, 1),
    "tz_nm": (0, 2),
}


def of_joint(system: System, path: str) -> bool:
    """Return whether a value is a force or moment of a joint, which it may show where no row holds the bodies."""
    element, _, key = path.rpartition("/")
    return key in KEYS and element in system.joints


class Reactions:
    """Reactions of joints between a link and what it hangs on, found when one is asked for.

    Parameters
    ----------
    handed : callable
        Gives the wrench that each joint hands to its link.
    places : Places
        Where parts of links are, in the axes of the ground.
    """

    def __init__(
        self,
        chain: Chain,
        handed: Callable[[], list[Wrench]],
        places: Places,
    ) -> None:
        self._chain, self._find, self._places = chain, handed, places
        self._found: dict[str, Wrench | None] = {}

    def of(self, path: str) -> Expr | None:
        """A value such as `revolute/elbow/fx_n`; None if it is no reaction of a joint of the tree."""
        element, _, key = path.rpartition("/")
        if not of_joint(self._chain.tree.system, path):
            return None
        if element not in self._found:
            self._found[element] = self._wrench(element)
        wrench = self._found[element]
        if wrench is None:
            return None
        part, axis = KEYS[key]
        return self._chain.graph.lift(wrench[part][axis])

    @cached_property
    def _handed(self) -> list[Wrench]:
        return self._find()

    def _wrench(self, element: str) -> Wrench | None:
        """On the first body of a joint, about its point, in the axes of the ground."""
        tree, motion = self._chain.tree, self._chain.motion
        joint = tree.system.joints[element]
        first, second = tree.place[joint.first], tree.place[joint.second]
        sign, link = (1.0, first) if self._hangs(first, second) else (-1.0, second)
        if sign < 0.0 and not self._hangs(second, first):
            return None
        beside = [
            other
            for other in tree.system.joints.values()
            if {tree.place[other.first], tree.place[other.second]} == {first, second}
        ]
        if len(beside) > 1:
            return None  # they share it in a way that only their rows know
        built = np.array([1.0, *joint.point])
        x, y, z = motion.on_link(joint.first if sign > 0.0 else joint.second, built)[1:]
        point: Vector = (float(x), float(y), float(z))
        moment, force = self._about(link, point)
        if sign < 0.0 and element.partition("/")[0] in SLIDING:
            # the bodies' points have parted, and the moment is about that of the first body
            x, y, z = motion.on_link(joint.first, built)[1:]
            base = self._places.place(first, (float(x), float(y), float(z)), is_point=True)[0]
            arm = minus(self._places.place(link, point, is_point=True)[0], base)
            moment = plus(moment, cross(arm, force))
        return Wrench(times(sign, moment), times(sign, force))

    def _about(self, link: int, point: Vector) -> Wrench:
        """The wrench that a joint hands to its link about a point of that, in the axes of the ground."""
        moment, force = self._handed[link]
        moment = minus(moment, cross(point, force))
        return Wrench(*(self._places.out(link, v) for v in (moment, force)))

    def _hangs(self, link: int, on: int) -> bool:
        """Return whether a link hangs on another one, with nothing but massless parts between."""
        links = self._chain.tree.links
        if link < 0:
            return False
        at = links[link].parent
        while at >= 0 and not links[at].bodies:
            at = links[at].parent
        return at == on and link != on
