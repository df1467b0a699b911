"""Figures of a run report as inline SVG. Long signals are thinned so that every peak stays visible."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rigloop.manifest import HistogramBins, Percentiles

Array = NDArray[np.float64]
Line = tuple[str, Array, Array]     # label, time or abscissa, value

INK, GRID = "#1c2733", "#d9dfe5"
BLUE, ORANGE, GREEN, GREY = "#1d5fa6", "#d0641a", "#2d7d50", "#6d7a86"
COLOURS = (BLUE, ORANGE, GREEN, GREY)
STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["Inter", "Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 9.5,
    "axes.edgecolor": "#8a96a3",
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
    "svg.fonttype": "none",     # text stays text: small, selectable, in the font of the page
    "path.simplify": False,     # `thinned` has done it, peaks included
}
BINS = 1200


def thinned(t: Array, value: Array, bins: int = BINS) -> tuple[Array, Array]:
    """Keep the smallest and the largest value of each of `bins` stretches, in order.

    Parameters
    ----------
    t, value : ndarray of float64, shape (n,)
        NaN in `value` is left out.
    bins : int, optional
        Stretches of equal number of samples.

    Returns
    -------
    t, value : ndarray of float64, shape (m,)
        m <= 2 bins + 2; unchanged if n is not larger than that. First and last sample are kept.
    """
    good = np.isfinite(value)
    t, value = t[good], value[good]
    if len(t) <= 2 * bins + 2:
        return t, value
    edges = np.linspace(0, len(t), bins + 1).astype(np.int64)
    keep = [0, len(t) - 1]
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        stretch = value[start:stop]
        keep += [start + int(stretch.argmin()), start + int(stretch.argmax())]
    index = np.unique(keep)
    return t[index], value[index]


def time_plot(panels: Sequence[tuple[str, Sequence[Line]]]) -> str:
    """Panels over one time axis; each is a label of its ordinate and its lines."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.2, 0.5 + 2.15 * len(panels)), layout="constrained")
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axis, (label, lines) in zip(axes, panels, strict=True):
            _lines(axis, lines)
            axis.set_ylabel(label)
        axes[-1].set_xlabel("time (s)")
        figure.align_ylabels(axes)
        return _svg(figure, "time")


def loop_plot(angle: Array, torques: Sequence[tuple[str, Array]], unit: str) -> str:
    """Torque over angle: the loop that the driver feels. Evenly thinned, since it has no order in x."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5.6, 4.1), layout="constrained")
        axis = figure.subplots()
        every = max(1, len(angle) // (3 * BINS))
        for colour, (label, torque) in zip(COLOURS, torques, strict=False):
            axis.plot(
                np.degrees(angle[::every]), torque[::every], color=colour, lw=0.9, alpha=0.8, label=label
            )
        axis.set_xlabel("angle (deg)")
        axis.set_ylabel(f"torque ({unit})")
        if len(torques) > 1:
            _legend(axis, len(torques))
        return _svg(figure, "loop")


def timing_plot(
    histograms: Mapping[str, HistogramBins], summary: Mapping[str, Percentiles], period_ns: int
) -> str:
    """Histograms of one task side by side, both axes logarithmic, with the percentiles and the period."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.2, 2.75), layout="constrained")
        axes = figure.subplots(1, len(histograms), squeeze=False)[0]
        for axis, (name, bins) in zip(axes, histograms.items(), strict=True):
            _histogram(axis, bins, summary[name], period_ns)
            axis.set_title(name, loc="left", fontsize=10, fontweight="bold", color=INK)
            axis.set_xlabel("time (µs)")
        axes[0].set_ylabel("cycles")
        return _svg(figure, "timing")


def _lines(axis: Axes, lines: Sequence[Line]) -> None:
    for colour, (label, t, value) in zip(COLOURS, lines, strict=False):
        axis.plot(*thinned(t, value), color=colour, lw=1.0, label=label)
    axis.margins(x=0.005)
    if len(lines) > 1 or (lines and lines[0][0]):
        _legend(axis, len(lines))


def _legend(axis: Axes, columns: int) -> None:
    axis.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=columns, borderaxespad=0.1, handlelength=1.4
    )


def _histogram(axis: Axes, bins: HistogramBins, summary: Percentiles, period_ns: int) -> None:
    # a quarter of an octave per bar; what is below 50 ns counts as 50 ns, a log axis has no zero
    lower = np.maximum(np.array(bins.lower_ns), 50.0)
    first = np.floor(4 * np.log2(lower.min()))
    last = np.ceil(4 * np.log2(max(bins.max_ns, 1.01 * lower.max())))
    edges = 2.0 ** (np.arange(first, last + 1) / 4)
    counts, _ = np.histogram(lower * 1.0001, edges, weights=np.array(bins.counts, float))
    axis.stairs(counts, edges / 1e3, fill=True, color=BLUE, alpha=0.85, lw=0)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylim(0.7, 4.0 * counts.max())
    low = min(edges[0], summary.p50 or edges[0]) / 1e3
    axis.set_xlim(0.8 * low, 1.6 * max(edges[-1], 1.2 * period_ns) / 1e3)
    # labels on two levels: the percentiles may lie close together
    for i, (label, value) in enumerate((("p50", summary.p50), ("p99", summary.p99), ("p99.9", summary.p99_9))):
        if value > 0:
            axis.axvline(value / 1e3, color=ORANGE, lw=0.9)
            axis.annotate(
                label, (value / 1e3, 0.98 - 0.09 * i), xycoords=("data", "axes fraction"),
                xytext=(2, 0), textcoords="offset points", va="top", fontsize=8, color=ORANGE,
            )
    axis.axvline(period_ns / 1e3, color=INK, lw=0.9, ls=(0, (4, 3)))
    axis.annotate(
        "period", (period_ns / 1e3, 0.71), xycoords=("data", "axes fraction"), rotation=90,
        xytext=(2, 0), textcoords="offset points", va="top", fontsize=8, color=INK,
    )


def _svg(figure: Figure, name: str) -> str:
    out = io.StringIO()
    # ids differ from figure to figure of a page, but not from run to run
    with matplotlib.rc_context({"svg.hashsalt": f"{name}{id(figure)}"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    # the page gives the size
    return re.sub(r'<svg ([^>]*?)width="[^"]*"', r"<svg \1", re.sub(r'height="[^"]*pt"', "", text, count=1), count=1)
