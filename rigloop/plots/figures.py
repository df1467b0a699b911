"""Figures of a run report as inline SVG; long signals are thinned, every peak stays visible."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator
from numpy.typing import NDArray

from rigloop.display.theme import BLUE, EDGE, GREEN, GREY, GRID, INK, ORANGE, VIOLET
from rigloop.run_folder import recorded
from rigloop.run_folder.manifest import HistogramBins, Percentiles

Array = NDArray[np.float64]
Line = tuple[str, Array, Array]  # label, time or abscissa, value

COLOURS = (BLUE, ORANGE, GREY, GREEN, VIOLET)
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["Inter", "Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 9.5,
    "axes.edgecolor": EDGE,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.fonttype": "none",  # text stays text: small, selectable, in the font of the page
    "path.simplify": False,  # `thinned` has done it, peaks included
}
TITLES = {"step": "Step time", "late": "Lateness", "bus": "Bus time", "total": "Whole cycle"}
BINS = 1200
LEAST_GAP = 20  # samples
LARGEST = (
    recorded.LARGEST
)  # beyond it the arithmetic of axes overflows; a failing model may well get there
MIN_NS = 50.0  # left end of the histograms: a log axis has no zero


def thinned(t: Array, value: Array, bins: int = BINS) -> tuple[Array, Array]:
    """Keep the smallest and the largest value of each of `bins` stretches, in order.

    Parameters
    ----------
    t, value : ndarray of float64, shape (n,)
        NaN in `value`, and what is beyond `LARGEST`, is left out; a long stretch of it is a gap in the line.
    bins : int, optional
        Stretches of equal number of samples.

    Returns
    -------
    t, value : ndarray of float64, shape (m,)
        m <= 2 bins + 2; unchanged if n is not larger than that. First and last sample are kept.
    """
    good = np.flatnonzero(np.abs(value) <= LARGEST)  # false for NaN
    # a sensor that is new in every tenth cycle has no gaps, a model that fails for a while has one
    after = np.flatnonzero(np.diff(good) > max(LEAST_GAP, len(value) // bins)) + 1
    parts = [_thinned(t[part], value[part], bins) for part in np.split(good, after)]
    times, values = [parts[0][0]], [parts[0][1]]
    for (part_t, part_value), begin in zip(parts[1:], after, strict=True):
        times += [t[good[begin] - 1 : good[begin]], part_t]
        values += [np.array([np.nan]), part_value]
    return np.concatenate(times), np.concatenate(values)


def _thinned(t: Array, value: Array, bins: int) -> tuple[Array, Array]:
    if len(t) <= 2 * bins + 2:
        return t, value
    edges = np.linspace(0, len(t), bins + 1).astype(np.int64)
    keep = [0, len(t) - 1]
    for start, stop in pairwise(edges):
        stretch = value[start:stop]
        keep += [start + int(stretch.argmin()), start + int(stretch.argmax())]
    index = np.unique(keep)
    return t[index], value[index]


def time_plot(
    panels: Sequence[tuple[str, Sequence[Line]]], marks: Sequence[tuple[float, float, str]] = ()
) -> str:
    """Panels over one time axis; each is a label of its ordinate and its lines. A mark is a stretch of time."""
    with matplotlib.rc_context(STYLE):
        figure = new_figure(9.2, 0.5 + 2.15 * len(panels), hspace=0.16)
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axis, (label, lines) in zip(axes, panels, strict=True):
            _lines(axis, lines)
            axis.set_ylabel(label)
            for start, end, words in marks:
                # a line too: a stretch of some ms is narrower than one
                axis.axvspan(start, end, color=ORANGE, alpha=0.3, lw=0.8, zorder=1)
                if axis is axes[-1]:
                    axis.annotate(
                        words,
                        (end, 0.02),
                        xycoords=("data", "axes fraction"),
                        xytext=(3, 0),
                        textcoords="offset points",
                        fontsize=8,
                        color=ORANGE,
                    )
        axes[-1].set_xlabel("time (s)")
        figure.align_ylabels(axes)
        return as_svg(figure, "time")


def loop_plot(angle: Array, torques: Sequence[tuple[str, Array]], unit: str) -> str:
    """Torque over angle: the loop that the driver feels. Evenly thinned: it has no order in x."""
    with matplotlib.rc_context(STYLE):
        figure = new_figure(5.6, 4.1)
        axis = figure.subplots()
        every = max(1, len(angle) // (3 * BINS))
        for colour, (label, torque) in zip(COLOURS, torques, strict=False):
            thin = torque[::every]
            axis.plot(
                np.degrees(angle[::every]),
                np.where(np.abs(thin) <= LARGEST, thin, np.nan),
                color=colour,
                lw=0.9,
                alpha=0.8,
                label=label,
            )
        axis.set_xlabel("angle (deg)")
        axis.set_ylabel(f"torque ({unit})")
        if len(torques) > 1:
            _legend(axis, len(torques))
        return as_svg(figure, "loop")


def timing_plot(
    task: str,
    histograms: Mapping[str, HistogramBins],
    summary: Mapping[str, Percentiles],
    period_ns: int,
) -> str:
    """Histograms of one task, two in a row, both axes logarithmic, with percentiles and period."""
    with matplotlib.rc_context(STYLE):
        n_rows = -(-len(histograms) // 2)
        figure = new_figure(9.2, 0.2 + 2.5 * n_rows, hspace=0.32)
        axes = figure.subplots(n_rows, 2, squeeze=False)
        limits = _common_limits(histograms, period_ns)
        for axis, (name, bins) in zip(axes.flat, histograms.items(), strict=False):
            _histogram(axis, bins, summary[name], period_ns)
            axis.set_xlim(limits)
            axis.set_title(
                f"{TITLES.get(name, name)} (µs)",
                loc="left",
                fontsize=10,
                fontweight="bold",
                color=INK,
            )
        for axis in axes.flat[len(histograms) :]:
            axis.set_visible(False)
        for axis in axes[:, 0]:
            axis.set_ylabel("cycles")
        return as_svg(figure, f"timing-{task}")


def new_figure(width_in: float, height_in: float, hspace: float = 0.2) -> Figure:
    """Return an empty figure; margins are in inches."""
    # the automatic layout takes most of the time of a report
    figure = Figure(figsize=(width_in, height_in))
    figure.subplots_adjust(
        left=0.75 / width_in,
        right=1 - 0.1 / width_in,
        bottom=0.5 / height_in,
        top=1 - 0.3 / height_in,
        hspace=hspace,
        wspace=0.14,
    )
    return figure


def _lines(axis: Axes, lines: Sequence[Line]) -> None:
    # the first line lies on top: it is the one that the others are compared with
    for i, (label, t, value) in enumerate(lines):
        axis.plot(*thinned(t, value), color=COLOURS[i], lw=1.1, label=label, zorder=3 - 0.1 * i)
    axis.margins(x=0.005)
    if len(lines) > 1 or (lines and lines[0][0]):
        _legend(axis, len(lines))


def _legend(axis: Axes, columns: int) -> None:
    axis.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=columns,
        borderaxespad=0.1,
        handlelength=1.4,
    )


def _common_limits(histograms: Mapping[str, HistogramBins], period_ns: int) -> tuple[float, float]:
    # one abscissa for all histograms of a task, so that they compare at a glance
    low = min(max(bins.lower_ns[0], MIN_NS) for bins in histograms.values())
    high = max(max(bins.max_ns for bins in histograms.values()), 1.3 * period_ns)
    return 0.7 * low / 1e3, 1.5 * high / 1e3


def _histogram(axis: Axes, bins: HistogramBins, summary: Percentiles, period_ns: int) -> None:
    # a quarter of an octave per bar; what is below the left end counts there
    lower = np.maximum(np.array(bins.lower_ns), MIN_NS)
    first = np.floor(4 * np.log2(lower.min()))
    last = np.ceil(4 * np.log2(max(bins.max_ns, 1.01 * lower.max())))
    edges = 2.0 ** (np.arange(first, last + 1) / 4)
    counts, _ = np.histogram(lower * 1.0001, edges, weights=np.array(bins.counts, float))
    axis.stairs(counts, edges / 1e3, fill=True, color=BLUE, alpha=0.85, lw=0)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylim(0.7, 4.0 * counts.max())
    # each minor tick is an element of the page, and drawing them took a quarter of the time of a report
    axis.xaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda us, _: f"{us:,g}"))
    # labels on two levels: the percentiles may lie close together
    for i, (label, value) in enumerate(
        (("p50", summary.p50), ("p99", summary.p99), ("p99.9", summary.p99_9))
    ):
        if value > 0:
            # one below the left end stands there, as its bar does
            place = max(value, MIN_NS) / 1e3
            axis.axvline(place, color=ORANGE, lw=0.9)
            axis.annotate(
                label,
                (place, 0.98 - 0.13 * i),
                xycoords=("data", "axes fraction"),
                xytext=(3, 0),
                textcoords="offset points",
                va="top",
                fontsize=8.5,
                color=ORANGE,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85},
            )
    axis.axvline(period_ns / 1e3, color=INK, lw=0.9, ls=(0, (4, 3)))
    axis.annotate(
        "period",
        (period_ns / 1e3, 0.58),
        xycoords=("data", "axes fraction"),
        rotation=90,
        xytext=(2, 0),
        textcoords="offset points",
        va="top",
        fontsize=8,
        color=INK,
    )


def as_svg(figure: Figure, name: str) -> str:
    """Return a figure as SVG of the width of its page; `name` keeps its ids apart from other figures'."""
    out = io.StringIO()
    # ids differ from figure to figure of a page, but not from run to run
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(
            out, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
    text = out.getvalue()
    # the page gives the size
    return re.sub(r' (width|height)="[^"]*pt"', "", text[text.index("<svg") :], count=2)
