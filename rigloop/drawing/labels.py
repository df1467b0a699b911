"""Room for names: each label goes where it covers least, near what it names."""

from __future__ import annotations

import itertools
import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

RADII_PT = (9.0, 16.0, 26.0, 40.0, 58.0)
DIRECTIONS = 16
MARGIN_PX = 2.0
CROWDED = 130.0  # a label that may be left out covers no more than this
LEADER_FROM_PT = 20.0  # farther away, a thin line leads to the place


class Labels:
    """Labels of one picture.

    Parameters
    ----------
    busy : list of ndarray, shape (n, 2)
        Polylines on paper that labels had better not cover, in data coordinates.
    """

    def __init__(self, ax: Axes, busy: list[NDArray[np.float64]]) -> None:
        self.ax = ax
        figure = ax.figure
        self.renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
        self.scale = figure.dpi / 72.0
        self.inside = _edges(ax.get_window_extent(self.renderer))
        spots = [_dense(ax.transData.transform(line)) for line in busy if len(line)]
        self.spots = np.concatenate(spots) if spots else np.zeros((0, 2))
        self.taken = np.zeros((0, 4))  # left, bottom, right, top of labels that are there

    def put(
        self, words: str, at: NDArray[np.float64], colour: str, size: float, *, must: bool = True
    ) -> bool:
        """Write a label near a place; without `must` only if there is room right beside it.

        Returns
        -------
        bool
            Whether it was written.
        """
        text = self.ax.annotate(
            words, (float(at[0]), float(at[1])), xytext=(0, 0), textcoords="offset points", fontsize=size, color=colour,
            ha="center", va="center", zorder=10, annotation_clip=False,
            bbox={"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.75},
        )  # fmt: skip
        box = text.get_window_extent(self.renderer)
        place = self.ax.transData.transform(at)
        best, cost = (0.0, 0.0), math.inf
        for radius in RADII_PT if must else RADII_PT[:2]:
            for k in range(DIRECTIONS):
                turn = 2.0 * math.pi * k / DIRECTIONS + math.pi / 4
                # the near edge of the text, not its middle, is at the radius
                dx = math.cos(turn) * (radius * self.scale + box.width / 2)
                dy = math.sin(turn) * (radius * self.scale + box.height / 2)
                found = self._cost(_around(place + np.array([dx, dy]), box), radius)
                if found < cost:
                    best, cost = (dx, dy), found
        if not must and cost > CROWDED:
            text.remove()
            return False
        offset = (best[0] / self.scale, best[1] / self.scale)
        text.set_position(offset)
        self._lead(text, offset, colour)
        self.taken = np.concatenate([self.taken, _edges(_around(place + best, box))])
        return True

    def _cost(self, box: Bbox, radius: float) -> float:
        overlap = float(np.sum(_shared(box, self.taken)))
        hidden = np.count_nonzero(
            (self.spots[:, 0] > box.x0) & (self.spots[:, 0] < box.x1)
            & (self.spots[:, 1] > box.y0) & (self.spots[:, 1] < box.y1)
        )  # fmt: skip
        cut = box.width * box.height - float(_shared(box, self.inside)[0])
        return 20.0 * overlap + 100.0 * cut + 60.0 * float(hidden) + 4.0 * radius

    def _lead(self, text: Annotation, offset: tuple[float, float], colour: str) -> None:
        if math.hypot(*offset) < LEADER_FROM_PT + len(text.get_text()) * 2.0:
            return
        self.ax.annotate(
            "", text.xy, xytext=offset, textcoords="offset points", zorder=9,
            arrowprops={"arrowstyle": "-", "lw": 0.5, "color": colour, "alpha": 0.6},
        )  # fmt: skip


def _around(centre: NDArray[np.float64], box: Bbox) -> Bbox:
    half = np.array([box.width / 2 + MARGIN_PX, box.height / 2 + MARGIN_PX])
    return Bbox([centre - half, centre + half])


def _edges(box: Bbox) -> NDArray[np.float64]:
    return np.array([[box.x0, box.y0, box.x1, box.y1]])


def _shared(a: Bbox, others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Areas that a box has in common with others."""
    width = np.minimum(a.x1, others[:, 2]) - np.maximum(a.x0, others[:, 0])
    height = np.minimum(a.y1, others[:, 3]) - np.maximum(a.y0, others[:, 1])
    return np.maximum(width, 0.0) * np.maximum(height, 0.0)


def _dense(line: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points of a polyline some five pixels apart."""
    parts = [line[:1]]
    for a, b in itertools.pairwise(line):
        steps = max(1, int(np.hypot(*(b - a)) / 5.0))
        parts.append(a + (b - a) * np.linspace(0.0, 1.0, steps + 1)[1:, None])
    return np.concatenate(parts)
