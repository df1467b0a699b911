"""Pictures of modes: places of the mass, displaced; and the same as a film of one period."""

from __future__ import annotations

import io
import itertools
import math
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from codegen.flexible.motion import Bending
from rigloop.plots.figures import BLUE, GREY, INK, ORANGE, STYLE

MOST_MODES = 12
COLUMNS = 3
REACH = 0.15  # of the body's size: the largest displacement as drawn
FRAMES = 12
FRAME_MS = 100


def draw(bodies: list[Bending], path: Path) -> None:
    """Draw the modes of all bodies into a .png, .svg or .pdf."""
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": "flex"}):
        figure = _figure(bodies, 1.0)
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def film(bodies: list[Bending], path: Path) -> None:
    """Write one period of all modes, each as slow as the others, into a .gif."""
    frames = []
    with matplotlib.rc_context(STYLE):
        for n in range(FRAMES):
            taken = io.BytesIO()
            _figure(bodies, math.cos(2.0 * math.pi * n / FRAMES)).savefig(
                taken, format="png", dpi=90
            )
            frames.append(Image.open(taken).convert("P"))
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=FRAME_MS, loop=0)


def _figure(bodies: list[Bending], amount: float) -> Figure:
    panels = [(body, i) for body in bodies for i in range(min(MOST_MODES, len(body.amplitudes)))]
    rows = math.ceil(len(panels) / COLUMNS)
    figure = Figure(figsize=(10.5, 2.6 * rows + 0.4), layout="constrained")
    axes = figure.subplots(rows, COLUMNS, squeeze=False)
    for place in axes.flat[len(panels) :]:
        place.set_axis_off()
    for (body, mode), place in zip(panels, axes.flat, strict=False):
        _panel(place, body, mode, amount)
    return figure


def _panel(axes: Axes, body: Bending, mode: int, amount: float) -> None:
    modes = body.modes
    points, moved = modes.places, modes.moved[:, :, mode]
    if not len(points):
        points = np.array([node.position for node in modes.nodes.values()])
        moved = np.array([node.shape[:3, mode] for node in modes.nodes.values()])
    size = float(np.ptp(points, axis=0).max()) or 1.0
    across, up = _view(points, moved)
    shown = points + amount * REACH * size * moved
    reach = np.linalg.norm(moved, axis=1)
    axes.plot(points[:, across], points[:, up], ".", color=GREY, ms=1.5)
    axes.scatter(shown[:, across], shown[:, up], c=reach, cmap="viridis", s=5.0, vmin=0.0, vmax=1.0)
    seen: dict[tuple[float, float], list[str]] = {}
    for name, node in modes.nodes.items():
        at = (node.position + amount * REACH * size * node.shape[:3, mode])[[across, up]]
        axes.plot(*at, "o", color=ORANGE, ms=4)
        # nodes that lie behind each other, as of a shaft seen from its end, share a line of names
        seen.setdefault((round(at[0] / size, 2), round(at[1] / size, 2)), []).append(name)
    for (x, y), names in seen.items():
        axes.annotate(
            ", ".join(names), (x * size, y * size), textcoords="offset points", xytext=(4, 5), fontsize=7, color=INK
        )  # fmt: skip
    hz = modes.frequency_hz[mode]
    axes.set_title(f"{body.name} mode {mode + 1}: {hz:.4g} Hz", loc="left", fontsize=9, color=BLUE)
    letters = "xyz"
    axes.set_xlabel(f"{letters[across]} m", fontsize=7)
    axes.set_ylabel(f"{letters[up]} m", fontsize=7)
    axes.tick_params(labelsize=7)
    for axis, limit in ((across, axes.set_xlim), (up, axes.set_ylim)):
        ends = [*points[:, axis]]
        limit(min(ends) - 1.3 * REACH * size, max(ends) + 1.3 * REACH * size)
    axes.set_aspect("equal")


def _view(points: np.ndarray, moved: np.ndarray) -> tuple[int, int]:
    """Two axes that show most of the body and of its motion."""
    extent = np.ptp(points, axis=0) / max(float(np.ptp(points, axis=0).max()), 1e-12)
    motion = np.abs(moved).max(axis=0)
    pairs = list(itertools.combinations(range(3), 2))
    return max(pairs, key=lambda pair: sum(extent[k] + 2.0 * motion[k] for k in pair))
