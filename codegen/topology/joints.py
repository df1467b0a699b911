"""The freedom between two bodies as a row of single joints: a screw, or slides, then a turn or a ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from codegen.topology.linear import SMALL, column_space, null_space

# a body that bends may be fixed to what carries it; a node hangs on its frame by what bends
Kind = Literal["fixed", "node", "turn", "screw", "slide", "ball", "free"]
SINGLE: tuple[Kind, ...] = ("turn", "screw", "slide")  # one coordinate along or about an axis


@dataclass(frozen=True)
class Single:
    """One joint; `twist` [omega; velocity at the origin] of a unit rate, in the assembled pose.

    Of a ball, `at` is the point that stays.
    """

    kind: Kind
    twist: np.ndarray
    at: np.ndarray | None = None

    @property
    def lead(self) -> float:
        """Travel along the axis for one rad, of a screw."""
        return float(self.twist[:3] @ self.twist[3:]) if self.kind == "screw" else 0.0


def taken_apart(twists: np.ndarray) -> list[Single] | None:
    """Joints from the standing body to the moving one; None for a freedom that is none of these."""
    count = twists.shape[1]
    if count == 6:
        return [Single("free", np.zeros(6))]
    slides = twists @ null_space(twists[:3]) if count else twists
    turning = column_space(twists[:3])
    found = [Single("slide", _unit(way)) for way in _along_axes(slides)]
    if turning.shape[1] == 0:
        return found
    # the turn that is across the slides
    rest = twists - slides @ (slides.T @ twists)
    rest = column_space(rest)
    if turning.shape[1] == 1 and rest.shape[1] == 1:
        twist = _unit(rest[:, 0])
        omega, velocity = twist[:3], twist[3:]
        if abs(omega @ velocity) > SMALL:
            return None if slides.size else [Single("screw", twist)]
        ways = slides[3:] if slides.size else np.zeros((3, 0))
        along = ways.T @ omega
        # slides along the axis, or all across it, stay what they are when the body turns
        if ways.shape[1] == 3 or all(min(abs(a), abs(abs(a) - 1.0)) < SMALL for a in along):
            if ways.shape[1] == 1 and abs(along[0]) < SMALL:
                return None
            return [*found, Single("turn", twist)]
        return None
    if turning.shape[1] == 3 and count == 3:
        # velocity at the origin is at x omega
        spin, velocity = rest[:3], rest[3:]
        cross = velocity @ np.linalg.inv(spin)
        if np.max(np.abs(cross + cross.T)) > SMALL:
            return None
        at = np.array([cross[2, 1], cross[0, 2], cross[1, 0]])
        return [Single("ball", np.zeros(6), at)]
    return None


def _unit(twist: np.ndarray) -> np.ndarray:
    """Return a twist of length 1 that points forwards along its largest component; rounding noise is removed."""
    turns = np.linalg.norm(twist[:3]) > SMALL
    if not turns:
        twist = np.concatenate([np.zeros(3), twist[3:]])
    part = twist[:3] if turns else twist[3:]
    most = part[int(np.argmax(np.abs(np.round(part, 9))))]
    made = twist / np.linalg.norm(part) * np.sign(most)
    return np.where(np.abs(made - np.round(made)) < 1e-12, np.round(made), made) + 0.0


def _along_axes(slides: np.ndarray) -> list[np.ndarray]:
    """Directions of slides, along x, y and z where these are among them."""
    ways = slides[3:] if slides.size else np.zeros((3, 0))
    found: list[np.ndarray] = []
    candidates = [*np.eye(3), *ways.T]
    for way in candidates:
        if len(found) == ways.shape[1]:
            break
        inside = np.linalg.norm(ways @ (ways.T @ way) - way) < SMALL
        space = np.array([*found, way])
        if inside and np.linalg.matrix_rank(space, tol=1e-6) == len(space):
            found.append(way)
    return [np.concatenate([np.zeros(3), way]) for way in found]
