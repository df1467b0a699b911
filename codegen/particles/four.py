"""The four primary particles of each link: where they are on it, and which of them are coordinates.

A ball shares its point with what it hangs on, a pin two points of its axis, and a slide every direction. Particle 3
follows from the others by invariants, so that a link on a ball has two particles of its own, and one on a pin has one:

    r3 = r1 + lambda (r2 - r1) x (r4 - r1) + mu (r4 - r1) + tau (r2 - r1)

Source: Attia 2004.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codegen.topology.joints import Kind
from codegen.topology.motion import Motion

Array = NDArray[np.float64]
OWN: dict[Kind, tuple[int, ...]] = {
    "free": (0, 1, 3),
    "ball": (1, 3),
    "turn": (3,),
    "slide": (0,),
}
"""Particles whose places are coordinates, counted from 0."""
LEANING = 0.2  # of the sine of the angle between the edges of a link that is not nearly flat
NEAR = 0.1  # of the size of a link: particles that are not nearly one


@dataclass(frozen=True)
class Four:
    """Primary particles of a link.

    Attributes
    ----------
    places : ndarray, shape (4, 3)
        In the frame of the link.
    """

    kind: Kind
    places: Array

    @property
    def own(self) -> tuple[int, ...]:
        return OWN[self.kind]

    @property
    def edges(self) -> Array:
        """Edges to particles 2 and 4 from the first one, and their cross product, in columns."""
        first, second = self.places[1] - self.places[0], self.places[3] - self.places[0]
        return np.column_stack([first, second, np.cross(first, second)])

    def shares(self, way: ArrayLike) -> Array:
        """A direction of the link as a sum of the `edges`; of particle 3 the order is tau, mu, lambda."""
        found = np.linalg.solve(self.edges, np.asarray(way, float))
        return np.where(np.abs(found) > 1e-14 * np.abs(found).max(initial=0.0), found, 0.0)


def chosen(motion: Motion, moments: Sequence[Array]) -> list[Four]:
    """Particles of all links, on their joints where these span a body.

    Parameters
    ----------
    moments : sequence of ndarray, shape (4, 4)
        Integral of x x^T dm of each link in its frame, x = (1, position).
    """
    return [_four(motion, n, moment) for n, moment in enumerate(moments)]


def _four(motion: Motion, n: int, moment: Array) -> Four:
    kind = motion.tree.links[n].kind
    wanted = list(_wanted(motion, n, moment))
    size = max((float(np.linalg.norm(place)) for place in wanted), default=0.0) or 1.0
    axes = [size * way for way in np.eye(3)]
    first = np.zeros(3)
    if kind in ("turn", "slide"):
        second = axes[2]  # the frame's z is the joint's axis
    else:
        second = next(p for p in [*wanted, *axes] if np.linalg.norm(p) > NEAR * size)
    edge = second / np.linalg.norm(second)

    def leans(place: Array) -> bool:
        length = float(np.linalg.norm(place))
        across = float(np.linalg.norm(np.cross(edge, place)))
        return length > NEAR * size and across > LEANING * length

    fourth = next(p for p in [*wanted, *axes] if leans(p))
    across = np.cross(second, fourth)
    across = across / np.linalg.norm(across)
    third = next((p for p in wanted if abs(across @ p) > LEANING * size), size * across)
    return Four(kind, np.array([first, second, third, fourth]))


def _wanted(motion: Motion, n: int, moment: Array) -> Iterator[Array]:
    """Places of joints on a link, and one as far as its mass is."""
    for child in motion.tree.children(n):
        yield _tidy((motion.inverse[n] @ motion.frames[child])[1:, 0])
    if moment[0, 0] > 0.0:
        centre = moment[1:, 0] / moment[0, 0]
        yield _tidy(centre)
        across = np.eye(3)[int(np.argmin(np.abs(centre)))]
        yield _tidy(float(np.sqrt(np.trace(moment[1:, 1:]) / moment[0, 0])) * across)


def _tidy(place: Array) -> Array:
    return np.where(np.abs(place) < 1e-13, 0.0, place)
