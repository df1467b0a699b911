"""A motion as a film: a GIF, or a page of its own with a slider that needs nothing else."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from codegen.system.system import Coordinate
from rigloop.display.pages import fill
from rigloop.drawing.motion import Motion
from rigloop.drawing.page import film_axes, inset_axes
from rigloop.drawing.paint import label_colour, legend_entries, paint
from rigloop.drawing.sketch import Drawn, Sketch
from rigloop.drawing.views import IN_PLANE, IN_SPACE, View, plane_of

FORMATS = (".gif", ".html")
COLOURS = 96  # flat drawings need no more; frames are a third of the size
MOST_VALUES = 3
TRAIL = 400  # poses that the ways of points show at most


def save_film(sketch: Sketch, motion: Motion, path: Path, tell: Callable[[int, int], None]) -> None:
    """Write a motion as .gif or .html, by the ending of `path`."""
    frames = _frames(sketch, motion, tell)
    if path.suffix == ".gif":
        first = next(frames)
        first.save(
            path, save_all=True, append_images=frames, duration=round(1000 * motion.frame_s),
            loop=0, optimize=False,
        )  # fmt: skip
        return
    pictures = []
    for frame in frames:
        taken = io.BytesIO()
        frame.save(taken, format="PNG", optimize=True)
        pictures.append(base64.b64encode(taken.getvalue()).decode())
    text = fill(
        "film.html.jinja",
        title=motion.title,
        notes=motion.notes,
        frames=pictures,
        frame_ms=1000 * motion.frame_s,
    )
    path.write_text(text, encoding="utf-8")


def _frames(
    sketch: Sketch, motion: Motion, tell: Callable[[int, int], None]
) -> Iterator[Image.Image]:
    poses = [sketch.at(q) for q in motion.q]
    plane = plane_of(sketch, motion.q[0])
    view = IN_SPACE if plane is None else IN_PLANE[plane]
    everything = [shape for pose in poses for shape in pose]
    figure, ax = film_axes(sketch, everything, view, motion.title)
    handles, words = legend_entries([*poses[0], *sketch.loose_at(motion.q[0])])
    figure.legend(handles, words, loc="upper right", fontsize=7, frameon=False)
    clock = figure.text(0.02, 0.02, "", fontsize=8, family="monospace")
    ways = _ways(poses, view)
    compass = inset_axes(figure, 0.1, 0.3) if sketch.loose else None
    static = {id(a) for part in figure.axes for a in part.get_children()}
    watched = _watched(sketch)
    for number, pose in enumerate(poses):
        for artist in [a for part in figure.axes for a in part.get_children()]:
            if id(artist) not in static:
                artist.remove()
        begin = max(0, number - TRAIL)
        for way in ways:
            ax.plot(*way[begin : number + 1].T, color="#0072b2", lw=0.9, alpha=0.35, zorder=1.2)
        paint(ax, pose, view)
        if compass is not None:
            _point_out(compass, sketch.loose_at(motion.q[number]))
        told = "   ".join(f"{c.name} {motion.q[number, c.index]:+.3f} {c.unit}" for c in watched)
        clock.set_text(f"{number * motion.frame_s:7.2f} s   {told}")
        yield _picture(figure)
        tell(number + 1, len(poses))


def _watched(sketch: Sketch) -> list[Coordinate]:
    """Coordinates whose values are written below: what guides drive, then other scalars."""
    system = sketch.system
    guided = [guide.coordinate.name for guide in system.guides]
    scalars = sorted(system.scalars.values(), key=lambda c: (c.name not in guided, c.index))
    return scalars[:MOST_VALUES]


def _point_out(compass: Axes, shapes: list[Drawn]) -> None:
    paint(compass, shapes, IN_SPACE)
    for shape in shapes:
        if shape.label:
            at = 1.25 * IN_SPACE.on_paper(shape.points[-1])
            compass.text(
                at[0], at[1], shape.label, fontsize=6.5, color=label_colour(shape), ha="center"
            )


def _ways(poses: list[list[Drawn]], view: View) -> list[NDArray[np.float64]]:
    """The places of each moving point in all poses, on paper."""
    moving = [[s.points[0] for s in pose if s.style == "moving"] for pose in poses]
    if not moving[0]:
        return []
    return [view.on_paper(np.array(way)) for way in zip(*moving, strict=True)]


def _picture(figure: Figure) -> Image.Image:
    canvas: Any = figure.canvas
    canvas.draw()
    taken = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    return taken.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
