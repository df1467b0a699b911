"""Picture of a capture: a panel for each unit, the trigger, gaps, a stored capture below, spectra."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rig_configs.plain import math_free
from rigloop.plots.figures import COLOURS, GREY, INK, ORANGE, STYLE, new_figure, thinned
from rigloop.scope.capture import Capture
from rigloop.scope.measure import spectrum

MOST_PANELS = 12
MOST_LINES = len(COLOURS)  # of a panel

Array = NDArray[np.float64]


def plot_capture(capture: Capture, *, against: Capture | None = None, fft: bool = False) -> Figure:
    """Draw a capture over the time from its trigger on.

    Parameters
    ----------
    capture : Capture
    against : Capture, optional
        A stored one, drawn below in grey.
    fft : bool
        Spectra, too.
    """
    panels = _panels(capture)
    left_out = len(capture.units) - sum(len(paths) for _, paths in panels)
    with matplotlib.rc_context(STYLE):
        n = len(panels) * (2 if fft else 1)
        figure = new_figure(9.2, 0.8 + 2.0 * n, hspace=0.55 if fft else 0.16)
        axes: NDArray[np.object_] = figure.subplots(n, 1, squeeze=False)[:, 0]
        for axis, (unit, paths) in zip(axes, panels, strict=False):
            _draw(axis, capture, paths, against)
            axis.set_ylabel(math_free(unit))
            if axis is not axes[0]:
                axis.sharex(axes[0])
        axes[len(panels) - 1].set_xlabel("time from the trigger (s)")
        for axis, (unit, paths) in zip(axes[len(panels) :], panels, strict=False):
            _draw_spectra(axis, capture, paths)
            axis.set_ylabel(math_free(f"amplitude ({unit})"))
        if fft:
            axes[-1].set_xlabel("frequency (Hz)")
        title = f"{capture.rig}: {capture.trigger}, at {capture.trigger_s:.6g} s"
        if left_out:
            title += f"; {left_out} signals are not drawn"
        figure.suptitle(math_free(title), x=0.01, y=0.995, ha="left", fontsize=10, color=INK)
        figure.align_ylabels(list(axes))
        return figure


def _panels(capture: Capture) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for path, unit in capture.units.items():
        for label, paths in found:
            if label == unit and len(paths) < MOST_LINES:
                paths.append(path)
                break
        else:
            found.append((unit, [path]))
    return found[:MOST_PANELS]


def _draw(axis: Axes, capture: Capture, paths: Sequence[str], against: Capture | None) -> None:
    for colour, path in zip(COLOURS, paths, strict=False):
        if against is not None and path in against.units:
            for t_s, values in _stretches(against, path):
                axis.plot(*thinned(t_s, values), color=GREY, lw=2.2, zorder=1.5)
        for i, (t_s, values) in enumerate(_stretches(capture, path)):
            label = math_free(path) if i == 0 else None
            axis.plot(*thinned(t_s, values), color=colour, lw=1.1, label=label, zorder=3)
    axis.axvline(0.0, color=INK, lw=0.8, ls=(0, (4, 3)))
    group = capture.group_of(paths[0])
    for gap in capture.gaps[group.name]:
        begin_s = (gap.t_ns - capture.trigger_ns) * 1e-9
        end_s = begin_s + (gap.lost + gap.skipped + 1) * group.period_ns * 1e-9
        axis.axvspan(begin_s, end_s, color=ORANGE, alpha=0.3, lw=0.8, zorder=1)
    axis.margins(x=0.005)
    axis.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=min(3, len(paths)), borderaxespad=0.1
    )


def _stretches(capture: Capture, path: str) -> Iterator[tuple[Array, Array]]:
    """Yield the parts of a signal between its gaps, but for those without a number."""
    t_s, values = capture.trace(path)
    group = capture.group_of(path)
    ends = [gap.t_ns for gap in capture.gaps[group.name]]
    places = np.searchsorted(group.rows["t_ns"], ends) + 1
    for times, part in zip(np.split(t_s, places), np.split(values, places), strict=True):
        if np.any(np.isfinite(part)):
            yield times, part


def _draw_spectra(axis: Axes, capture: Capture, paths: Sequence[str]) -> None:
    for colour, path in zip(COLOURS, paths, strict=False):
        group = capture.group_of(path)
        found = spectrum(group.rows["t_ns"], np.array(group.rows[path]), group.period_ns)
        if found.n:
            axis.semilogy(
                *thinned(found.f_hz[1:], np.maximum(found.amplitude[1:], 1e-300)),
                color=colour,
                lw=1.0,
                label=math_free(path),
            )
    axis.margins(x=0.005)
