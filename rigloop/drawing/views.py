"""From which sides a mechanism is looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.pose.assembly import Rows
from rigloop.drawing.sketch import SIZED, Sketch

FLAT = 1e-9
STEP = 1e-4


@dataclass(frozen=True)
class View:
    """A parallel projection: `matrix` (2, 3) gives the coordinates on paper, `eye` points to who
    looks.
    """

    title: str
    matrix: NDArray[np.float64]
    eye: NDArray[np.float64]
    axes: tuple[str, str] = ("", "")

    def on_paper(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return points @ self.matrix.T


def _along(title: str, right: str, up: str, sign: float = 1.0) -> View:
    rows = np.array([[float(letter == c) for c in "xyz"] for letter in (right, up)])
    rows[0] *= sign
    named = ("-" if sign < 0 else "") + right
    return View(title, rows, np.cross(rows[0], rows[1]), (f"{named} in m", f"{up} in m"))


def _slanted(azimuth_deg: float, elevation_deg: float) -> View:
    a, e = np.radians([azimuth_deg, elevation_deg])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    eye = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
    return View("in space", np.array([right, np.cross(eye, right)]), eye)


IN_PLANE = {
    "z": _along("x-y plane", "x", "y"),
    "y": _along("x-z plane", "x", "z"),
    "x": _along("y-z plane", "y", "z"),
}
IN_SPACE = _slanted(-52.0, 24.0)
SIDES = (
    _along("from the side (along y)", "x", "z"),
    _along("from the front (along x)", "y", "z"),
    _along("from above (along z)", "x", "y"),
)


def plane_of(sketch: Sketch, q: NDArray[np.float64]) -> str | None:
    """The axis that no part ever moves along, None for a spatial mechanism.

    A pose may be flat by chance: what counts is every motion that the constraints allow.
    """
    # guides let go: what they drive is a motion too
    guided = {guide.row for guide in sketch.system.guides}
    jac = np.delete(Rows(sketch.system).phi_q(q), list(guided), axis=0)
    _, singular, right = np.linalg.svd(jac)
    rank = int(np.sum(singular > 1e-8))
    poses = [q, *(q + STEP * motion for motion in right[rank:])]
    places = [
        np.concatenate([d.points for d in sketch.at(p) if d.kind not in SIZED]) for p in poses
    ]
    level = places[0][0]
    for column, axis in ((2, "z"), (1, "y"), (0, "x")):
        away = [np.max(np.abs(p[:, column] - level[column])) for p in places]
        if away[0] <= FLAT and max(away) <= STEP**2:
            return axis
    return None
