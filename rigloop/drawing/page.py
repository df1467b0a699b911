"""One page with a mechanism on it: the plane it moves in, or a view in space and three sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rig_configs.plain import math_free
from rigloop.drawing.labels import Labels
from rigloop.drawing.paint import INK, label_colour, legend_entries, paint
from rigloop.drawing.sketch import Drawn, Sketch
from rigloop.drawing.views import IN_PLANE, IN_SPACE, SIDES, View, plane_of

FORMATS = (".svg", ".png", ".pdf")
ROOM = 0.13  # of the drawing's size, around it
MOST_TRIED = 250
MOST_LABELS = 60  # from here on, names without room are left out
FILM_IN = (6.4, 5.0)
INSET_IN = 1.75
LEGEND_IN = 2.0  # inches at the right
CORNER_PT = 32.0
GRAVITY_AT, AXES_AT = (0.92, 0.90), (0.07, 0.10)  # of the axes


def page(sketch: Sketch, q: NDArray[np.float64], title: str) -> Figure:
    """A figure of a mechanism at coordinates `q`."""
    shapes = sketch.at(q)
    plane = plane_of(sketch, q)
    if plane is not None:
        view = IN_PLANE[plane]
        low, high = _extent(shapes, view, sketch.size)
        width, height = high - low
        scale = min(9.0 / width, 7.5 / height)
        figure = _figure(max(4.5, width * scale) + 1.0 + LEGEND_IN, max(2.8, height * scale) + 1.4)
        ax = figure.add_subplot()
        figure.subplots_adjust(
            left=0.85 / figure.get_figwidth(), right=1 - (LEGEND_IN + 0.15) / figure.get_figwidth(),
            bottom=0.65 / figure.get_figheight(), top=1 - 0.6 / figure.get_figheight(),
        )  # fmt: skip
        _view(ax, sketch, shapes, view, with_labels=True)
    else:
        figure = _figure(13.0, 8.2)
        grid = figure.add_gridspec(
            3, 2, width_ratios=(2.3, 1), left=0.02, right=1 - LEGEND_IN / 13.0, bottom=0.08,
            top=0.92, hspace=0.42, wspace=0.12,
        )  # fmt: skip
        ax = figure.add_subplot(grid[:, 0])
        _view(ax, sketch, shapes, IN_SPACE, with_labels=True)
        for row, side in enumerate(SIDES):
            _view(figure.add_subplot(grid[row, 1]), sketch, shapes, side, with_labels=False)
    if sketch.loose:
        _inset(figure, sketch, q)
    figure.suptitle(math_free(title), x=0.02, ha="left", fontsize=12, fontweight="bold", color=INK)
    shown = [*shapes, *sketch.loose_at(q)]
    handles, words = legend_entries(shown)
    figure.legend(
        handles, words, loc="upper right", fontsize=8, frameon=False, labelspacing=0.9,
        bbox_to_anchor=(0.995, 0.95), handlelength=2.2,
    )  # fmt: skip
    if sketch.notes:
        figure.text(0.02, 0.012, "    ".join(sketch.notes), fontsize=8, color=INK)
    return figure


def save(sketch: Sketch, q: NDArray[np.float64], title: str, path: Path) -> None:
    """Write the page as SVG, PNG or PDF, by the ending of `path`; the same bytes each time."""
    figure = page(sketch, q, title)
    metadata = {"Date": None} if path.suffix == ".svg" else None
    if path.suffix == ".pdf":
        metadata = {"CreationDate": None}
    # names of clip paths would be random
    with matplotlib.rc_context({"svg.hashsalt": "rigloop"}):
        figure.savefig(path, metadata=metadata)


def _figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), dpi=110, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def _extent(
    shapes: list[Drawn], view: View, size: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    xy = view.on_paper(np.concatenate([s.points for s in shapes]))
    low, high = xy.min(axis=0), xy.max(axis=0)
    room = ROOM * size
    low, high = low - room, high + room
    # a mechanism that is a line still gets a picture
    short = np.maximum(0.0, 0.3 * (high - low).max() - (high - low)) / 2
    return low - short, high + short


def _view(ax: Axes, sketch: Sketch, shapes: list[Drawn], view: View, *, with_labels: bool) -> None:
    _fit(ax, *_extent(shapes, view, sketch.size))
    ax.set_title(view.title, fontsize=9, color="#555555", loc="left")
    _frame(ax, view)
    paint(ax, shapes, view)
    if with_labels:
        corner = _signs(ax, sketch, view)
        _labels(ax, shapes, view, corner)


def _frame(ax: Axes, view: View) -> None:
    """A scale in metres where the view is along an axis; nothing where it is slanted."""
    if view.axes[0]:
        ax.set_xlabel(view.axes[0], fontsize=8)
        ax.set_ylabel(view.axes[1], fontsize=8)
        ax.tick_params(labelsize=7)
        ax.grid(True, lw=0.4, color="#e4e4e4")
        ax.set_axisbelow(True)
        for side in ax.spines.values():
            side.set_color("#bbbbbb")
    else:
        ax.set_axis_off()


def _fit(ax: Axes, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
    """Limits that show all of it with equal axes, whatever the shape of the frame."""
    frame = ax.get_position()
    figure: Any = ax.figure
    width, height = figure.get_size_inches() * (frame.width, frame.height)
    centre, span = (low + high) / 2, high - low
    scale = max(span[0] / width, span[1] / height) / 2
    ax.set_xlim(centre[0] - scale * width, centre[0] + scale * width)
    ax.set_ylim(centre[1] - scale * height, centre[1] + scale * height)
    ax.set_aspect("equal", adjustable="datalim")


def _signs(ax: Axes, sketch: Sketch, view: View) -> list[NDArray[np.float64]]:
    """Gravity, and in a view without scale the directions of x, y, z; in a corner of their own."""
    drawn = []
    gravity = np.array(sketch.system.gravity)
    size = float(np.linalg.norm(gravity))
    if size > 0.0:
        way = view.on_paper(gravity / size)
        _corner_arrow(ax, GRAVITY_AT, way, INK, f"g {size:.4g} m/s²")
        drawn.append(GRAVITY_AT)
    if not view.axes[0]:
        for letter, unit in zip("xyz", np.eye(3), strict=True):
            _corner_arrow(ax, AXES_AT, view.on_paper(unit), "#777777", letter)
        drawn.append(AXES_AT)
    span = 0.06
    to_data = ax.transAxes + ax.transData.inverted()
    return [
        to_data.transform([(x - span, y + k * span / 3) for k in (-3, 3, -2, 2, -1, 1, 0)]
                          + [(x + span, y)])
        for x, y in drawn
    ]  # fmt: skip


def _corner_arrow(
    ax: Axes, at: tuple[float, float], way: NDArray[np.float64], colour: str, words: str
) -> None:
    reach = CORNER_PT * way
    if np.hypot(*reach) < 2.0:
        return  # seen from its tip
    to_data: Any = ax.transAxes + ax.transData.inverted()
    root = ax.transAxes.transform(at)
    scale = ax.figure.dpi / 72.0
    head = to_data.transform(ax.transAxes.inverted().transform(root + scale * reach))
    foot = to_data.transform(at)
    ax.annotate(
        "", head, xytext=foot, annotation_clip=False,
        arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.4, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip
    ax.annotate(
        words, foot, xytext=tuple(1.35 * reach), textcoords="offset points",
        fontsize=8, color=colour, ha="center", va="center", annotation_clip=False,
    )  # fmt: skip


def _labels(ax: Axes, shapes: list[Drawn], view: View, corner: list[NDArray[np.float64]]) -> None:
    busy = [view.on_paper(s.points) for s in shapes if s.kind not in ("area", "axis")] + corner
    labels = Labels(ax, busy)
    named: set[tuple[str, tuple[float, float]]] = set()
    order = {"mark": 0, "arc": 1, "arrow": 2, "line": 3, "spring": 3, "area": 4}
    candidates = sorted((s for s in shapes if s.label), key=lambda s: order[s.kind])
    wanted, is_crowded = len(candidates), len(candidates) > MOST_LABELS
    if is_crowded:
        # of many, joints and bodies are what a reader looks for
        told = [s for s in candidates if s.style != "vector"]
        last = len(order)
        candidates = sorted(
            told, key=lambda s: last if s.style in ("moving", "fixed") else order[s.kind]
        )
    left_out = wanted - len(candidates[:MOST_TRIED])
    for shape in candidates[:MOST_TRIED]:
        xy = view.on_paper(shape.points)
        if shape.kind in ("mark", "arrow"):
            at = xy[-1]
        elif shape.kind == "arc":
            at = xy[len(xy) // 2]
        else:
            at = xy.mean(axis=0)
        key = (shape.label, (round(float(at[0]), 6), round(float(at[1]), 6)))
        if key in named:
            continue
        named.add(key)
        size = 7.5 if shape.kind in ("line", "area", "spring") else 8.5
        left_out += not labels.put(shape.label, at, label_colour(shape), size, must=not is_crowded)
    if left_out:
        ax.set_title(
            f"{view.title}; no room for {left_out} names", fontsize=9, color="#555555", loc="left"
        )


def inset_axes(figure: Figure, right_in: float, bottom_in: float) -> Axes:
    """Room for directions that are at no place: around one origin, seen as the view in space."""
    width, height = figure.get_size_inches()
    left = 1 - (INSET_IN + right_in) / width
    ax = figure.add_axes((left, bottom_in / height, INSET_IN / width, INSET_IN / height))
    ax.set_title("directions", fontsize=9, color="#555555")
    ax.set_xlim(-1.5, 1.5)
    ax.set_ylim(-1.5, 1.5)
    ax.set_aspect("equal")
    ax.set_axis_off()
    turn = np.linspace(0, 2 * np.pi, 73)
    ax.plot(np.cos(turn), np.sin(turn), color="#dddddd", lw=0.8)
    return ax


def _inset(figure: Figure, sketch: Sketch, q: NDArray[np.float64]) -> None:
    shapes = sketch.loose_at(q)
    ax = inset_axes(figure, 0.1, 0.35)
    paint(ax, shapes, IN_SPACE)
    labels = Labels(ax, [IN_SPACE.on_paper(s.points) for s in shapes])
    for shape in shapes:
        if shape.label:
            labels.put(shape.label, IN_SPACE.on_paper(shape.points[-1]), label_colour(shape), 8.0)


def film_axes(
    sketch: Sketch, everything: list[Drawn], view: View, title: str
) -> tuple[Figure, Axes]:
    """A small figure whose axes hold all poses, with what never moves in it."""
    low, high = _extent(everything, view, sketch.size)
    scale = min(FILM_IN[0] / (high - low)[0], FILM_IN[1] / (high - low)[1])
    # beside the axes: scale at the left, legend and directions at the right, clock below
    least = np.array([3.2, 4.6 if sketch.loose else 2.4])
    width, height = np.maximum((high - low) * scale, least) + np.array([2.8, 1.2])
    figure = _figure(width, height)
    figure.set_dpi(80)
    figure.subplots_adjust(
        left=0.75 / width, right=1 - 2.0 / width, bottom=0.75 / height, top=1 - 0.45 / height
    )
    ax = figure.add_subplot()
    _frame(ax, view)
    _fit(ax, low, high)
    _signs(ax, sketch, view)
    figure.suptitle(math_free(title), x=0.02, ha="left", fontsize=10, fontweight="bold", color=INK)
    fixed = {s.label: view.on_paper(s.points)[0] for s in everything if s.style == "fixed"}
    labels = Labels(ax, [])
    for name, at in fixed.items():
        if name:
            labels.put(name, at, INK, 7.5)
    return figure, ax
