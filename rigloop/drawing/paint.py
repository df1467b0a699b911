"""Shapes on paper: one look for each kind of thing, the same in every view and every frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from rigloop.drawing.sketch import Drawn
from rigloop.drawing.views import View

INK, BLUE, ORANGE, GREEN, RED, PURPLE, GREY, BROWN = (
    "#222222", "#0072b2", "#d55e00", "#009e73", "#c2185b", "#7b4fa3", "#8a8a8a", "#8d5a2b",
)  # fmt: skip
# pale enough that lines and names stay legible on them
BODIES = ("#56b4e9", "#e69f00", "#6cc4a1", "#cc79a7", "#b8b042", "#8c9eff", "#bf8f6f")
STYLES: dict[str, tuple[str, dict[str, Any]]] = {
    # style: what the legend calls it, how it looks
    "body": ("rigid body", {"color": BODIES[0]}),
    "rod": ("uniform rod", {"color": "#5b7f95", "lw": 4.5, "solid_capstyle": "round", "zorder": 2}),
    "link": ("constant distance", {"color": INK, "lw": 1.4, "zorder": 2.5}),
    "measured": ("measured distance", {"color": PURPLE, "lw": 1.2, "ls": (0, (5, 2)), "zorder": 2.5}),
    "arm": ("arm of an angle", {"color": PURPLE, "lw": 0.8, "ls": ":", "zorder": 2.5}),
    "together": ("one slide", {"color": "#9aa7b0", "lw": 3.0, "zorder": 1.9}),
    "rail": ("way of a slide", {"color": GREY, "lw": 1.1, "ls": ":", "zorder": 1.5}),
    "spring": ("spring", {"color": BROWN, "lw": 1.2, "zorder": 2.5}),
    "trail": ("way so far", {"color": BLUE, "lw": 0.9, "alpha": 0.35, "zorder": 1.2}),
    "fixed": ("fixed point", {"marker": "^", "color": INK, "ms": 7}),
    "moving": ("moving point", {"marker": "o", "color": BLUE, "ms": 5}),
    "centre": ("centre of mass", {"marker": "+", "color": INK, "ms": 7, "mew": 1.2}),
    "force": ("applied force", {"marker": "*", "color": ORANGE, "ms": 9}),
    "joint": ("condition on a point", {"marker": "s", "color": ORANGE, "ms": 9}),
    "joint revolute": ("revolute", {"marker": "o", "color": ORANGE, "ms": 11}),
    "joint spherical": ("spherical", {"marker": "h", "color": ORANGE, "ms": 11}),
    "joint prismatic": ("slide", {"marker": "s", "color": ORANGE, "ms": 11}),
    "joint cylindrical": ("cylindrical", {"marker": "D", "color": ORANGE, "ms": 10}),
    "joint universal": ("universal", {"marker": "X", "color": ORANGE, "ms": 11}),
    "joint rigid": ("rigid", {"marker": "P", "color": ORANGE, "ms": 11}),
    "joint planar": ("planar", {"marker": "8", "color": ORANGE, "ms": 11}),
    "joint screw": ("screw", {"marker": "p", "color": ORANGE, "ms": 11}),
    "axis": ("axis", {"color": GREY, "lw": 1.0, "ls": (0, (6, 2, 1, 2)), "zorder": 3}),
    "vector": ("moving unit vector", {"color": GREEN, "lw": 1.5}),
    "travel": ("measured travel", {"color": PURPLE, "lw": 1.5}),
    "angle": ("measured angle", {"color": PURPLE, "lw": 1.5}),
    "guide": ("guided coordinate", {"color": RED, "lw": 2.0}),
    "gravity": ("gravity", {"color": INK, "lw": 1.5}),
}  # fmt: skip
SOLID = ("centre", "moving", "fixed", "force")
MANY = 20  # unit vectors, from which on they are drawn faintly
NAMED_BY_COLOUR = {"rod": "#3d5866", "link": INK, "joint": "#a84a00", "fixed": INK}


def style_of(drawn: Drawn) -> str:
    """Its style; one of `STYLES`, whatever joints there will be."""
    return drawn.style if drawn.style in STYLES else drawn.style.partition(" ")[0]


def paint(ax: Axes, shapes: list[Drawn], view: View) -> None:
    """Draw shapes as the view sees them; what is nearer covers what is farther."""
    many = sum(s.style == "vector" for s in shapes) > MANY
    depth = {id(s): float(np.mean(s.points @ view.eye)) for s in shapes}
    for shape in sorted(shapes, key=lambda s: depth[id(s)]):
        look = STYLES[style_of(shape)][1]
        if many and shape.style == "vector":
            look = look | {"alpha": 0.3, "lw": 0.8}
        _one(ax, shape, view.on_paper(shape.points), look)


def _one(ax: Axes, shape: Drawn, xy: NDArray[np.float64], look: dict[str, Any]) -> None:
    if shape.kind == "area":
        _area(ax, xy, BODIES[shape.colour % len(BODIES)])
    elif shape.kind == "mark":
        filled: dict[str, Any] = {} if shape.style in SOLID else {"mfc": "none", "mew": 1.6}
        ax.plot(*xy[0], ls="none", zorder=5, **look, **filled)
    elif shape.kind == "arrow":
        if np.linalg.norm(xy[1] - xy[0]) < 1e-9:
            return  # seen from its tip
        _tip(ax, xy[0], xy[1], look)
    elif shape.kind == "arc":
        ax.plot(*xy.T, zorder=4, **look)
        _tip(ax, xy[-4], xy[-1], look)
    elif shape.kind == "spring":
        ax.plot(*_zigzag(xy).T, **look)
    else:
        ax.plot(*xy.T, **look)


def _tip(ax: Axes, tail: Any, head: Any, look: Any) -> None:
    ax.annotate(
        "", head, xytext=tail, zorder=4, annotation_clip=False,
        arrowprops={"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, **look},
    )  # fmt: skip


def _area(ax: Axes, xy: NDArray[np.float64], colour: str) -> None:
    hull = convex_hull(xy)
    if len(hull) == 1:
        return
    ax.fill(*hull.T, fc=colour, alpha=0.22, zorder=1, lw=0)
    ax.fill(*hull.T, fc="none", ec=colour, lw=3.0 if len(hull) == 2 else 1.8, zorder=1.8,
            joinstyle="round")  # fmt: skip


def convex_hull(xy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Corners of the convex hull, counter-clockwise (Andrew's monotone chain)."""
    points = sorted({(round(float(x), 12), round(float(y), 12)) for x, y in xy})
    if len(points) < 3:
        return np.array(points)
    half: list[list[tuple[float, float]]] = []
    for ordered in (points, points[::-1]):
        chain: list[tuple[float, float]] = []
        for p in ordered:
            while len(chain) > 1 and _turns_right(chain[-2], chain[-1], p):
                chain.pop()
            chain.append(p)
        half.append(chain[:-1])
    return np.array(half[0] + half[1])


def _turns_right(a, b, c) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) <= 1e-12


def _zigzag(xy: NDArray[np.float64], turns: int = 7) -> NDArray[np.float64]:
    a, b = xy
    along = b - a
    side = np.array([-along[1], along[0]]) * 0.06
    at = np.linspace(0.15, 0.85, 2 * turns + 1)
    swing = np.array([0.0, *([1.0, -1.0] * turns)[: 2 * turns - 1], 0.0])
    return np.concatenate([[a], a + at[:, None] * along + swing[:, None] * side, [b]])


def legend_entries(shapes: list[Drawn]) -> tuple[list[Any], list[str]]:
    """Handles and words for what is in the picture, in the order of `STYLES`."""
    used = {style_of(shape) for shape in shapes}
    handles: list[Any] = []
    words = []
    for style, (word, look) in STYLES.items():
        if style not in used:
            continue
        words.append(word)
        if style == "body":
            handles.append(Patch(fc=BODIES[0], alpha=0.35, ec=BODIES[0]))
        elif "marker" in look:
            filled: dict[str, Any] = {} if style in SOLID else {"mfc": "none", "mew": 1.4}
            handles.append(Line2D([], [], ls="none", **{**look, "ms": 7}, **filled))
        else:
            handles.append(Line2D([], [], **look))
    return handles, words


def label_colour(shape: Drawn) -> str:
    """Names have the colour of what they name, dark enough to read."""
    if shape.kind == "area":
        return "#444444"
    style = style_of(shape)
    return NAMED_BY_COLOUR.get(style.partition(" ")[0], STYLES[style][1]["color"])
