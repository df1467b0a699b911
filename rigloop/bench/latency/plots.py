"""Pictures of a latency test: each distribution over its model, and what a latency is made of."""

from __future__ import annotations

from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from rigloop.bench.latency.events import GROUPS
from rigloop.bench.latency.outcome import Measured, Result
from rigloop.plots import figures

GROUP_COLOURS = {
    "waiting for a tick": "#9fc1e3",
    "path": figures.BLUE,
    "step": figures.GREEN,
    "bus": "#7a6bb0",
}
DASHED = (0, (4, 3))
MARGIN = 1.05  # of the abscissa, beyond the published figure


def latency_plot(measured: Measured) -> str:
    """Histogram of one period over the model; below, to the same scale, mean and longest latency in parts."""
    result, events = measured.result, measured.found.events
    with matplotlib.rc_context(figures.STYLE):
        figure = figures.new_figure(9.2, 5.0, hspace=0.1)
        grid = figure.add_gridspec(2, 1, height_ratios=(3.2, 1))
        above = figure.add_subplot(grid[0])
        below = figure.add_subplot(grid[1], sharex=above)
        # the scale stays that of the limits, whatever a single latency was
        end_ms = MARGIN * result.published_ns / 1e6
        _histogram(above, result, events, end_ms)
        _parts(below, result, events)
        above.tick_params(labelbottom=False)
        above.set_ylabel("sign changes")
        below.set_xlabel("latency (ms)")
        return figures.as_svg(figure, f"latency-{result.period_us}")


def _histogram(axis: Axes, result: Result, events: np.ndarray, end_ms: float) -> None:
    total = events["total_ns"] / 1e6
    # a twentieth of the period, but no finer than half the cycle that quantises it
    width = max(result.period_us / 20.0, result.fast_period_us / 2.0) / 1e3
    edges = np.arange(0.0, end_ms + width, width)
    counts, _ = np.histogram(total, edges)
    axis.stairs(counts, edges, fill=True, color=figures.BLUE, alpha=0.85, lw=0, label="measured")
    response = events["response_ns"][np.isfinite(events["response_ns"])] / 1e6
    if len(response):
        through, _ = np.histogram(response, edges)
        axis.stairs(through, edges, color=figures.GREY, lw=1.2, label="through the drive")
    delay, period = result.path_delay_ns / 1e6, result.period_us / 1e3
    expected = len(total) * width / period
    axis.plot(
        [delay, delay, delay + period, delay + period],
        [0, expected, expected, 0],
        color=figures.ORANGE,
        lw=1.6,
        label="uniform over Ts, after the path delay",
    )
    top = 1.45 * max(expected, counts.max())
    axis.set_ylim(0, top)
    axis.set_xlim(0, end_ms)
    f = result.latency
    _line(axis, Label(f.mean / 1e6, f"mean {f.mean / 1e6:.2f}", 0.985))
    _line(axis, Label(f.p99_9 / 1e6, f"p99.9 {f.p99_9 / 1e6:.2f}", 0.895))
    limit = result.limit_ns / 1e6
    _line(axis, Label(limit, f"limit {limit:.2f}", 0.805, figures.GREEN, "left"), DASHED)
    published = result.published_ns / 1e6
    words = f"published max Ts + 2.2 = {published:.1f}"
    _line(axis, Label(published, words, 0.985, figures.GREY, "right"), DASHED)
    beyond = int(np.count_nonzero(total > end_ms))
    if beyond:
        longest = f"{f.max / 1e6:.1f} ms"
        words = f"{beyond} beyond, up to {longest}" if beyond > 1 else f"one beyond, {longest}"
        _note(axis, Label(end_ms, f"{words} →", 0.6, side="right"))
    axis.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.1, handlelength=1.4
    )


class Label(NamedTuple):
    """Words at a place of an axis; each has a level of its own, for lines may lie close together."""

    x: float
    words: str
    level: float
    colour: str = figures.INK
    side: str = "center"


def _line(axis: Axes, label: Label, style: Any = "-") -> None:
    end = axis.get_xlim()[1]
    if label.x > end:
        return
    axis.axvline(label.x, color=label.colour, lw=1.0, ls=style)
    side = "right" if label.side == "center" and label.x > 0.93 * end else label.side
    colour = figures.INK if label.colour == figures.GREY else label.colour
    _note(axis, label._replace(side=side, colour=colour))


def _note(axis: Axes, label: Label) -> None:
    x, words, level, colour, side = label
    axis.annotate(
        words,
        (x, level),
        xycoords=("data", "axes fraction"),
        xytext=({"left": 4, "right": -4}.get(side, 0), 0),
        textcoords="offset points",
        ha=side,
        va="top",
        fontsize=8.5,
        color=colour,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85},
    )


def _parts(axis: Axes, result: Result, events: np.ndarray) -> None:
    longest = int(np.argmax(events["total_ns"]))
    bars = {
        "mean": {name: part.mean for name, part in result.groups.items()},
        "longest": {
            name: sum(float(events[f"{s}_ns"][longest]) for s in stages)
            for name, stages in GROUPS.items()
        },
    }
    for row, (_, parts) in enumerate(bars.items()):
        left = 0.0
        for name, ns in parts.items():
            axis.barh(
                row, ns / 1e6, 0.62, left, color=GROUP_COLOURS[name], lw=0,
                label=name if row == 0 else None,
            )  # fmt: skip
            left += ns / 1e6
    axis.set_yticks(range(len(bars)), list(bars))
    axis.yaxis.grid(False)
    axis.set_ylim(2.0, -0.5)
    axis.legend(loc="lower right", ncols=4, fontsize=8.5, handlelength=1.0, borderaxespad=0.1)
