"""The picture of a response that left its band."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from rigloop.plots.figures import BLUE, GREY, ORANGE, STYLE, thinned
from rigloop.testing.response import BandError


def draw(error: BandError, path: Path) -> None:
    """Write the response, its band, and where it left that.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    seen, band = error.seen, error.band
    values = seen[error.path]
    outside = band.outside(values)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.0, 3.6), layout="constrained")
        axes = figure.add_subplot()
        lower, upper = (
            np.where(np.isfinite(edge), edge, np.nan) for edge in (band.lower, band.upper)
        )
        axes.fill_between(band.t_s, lower, upper, color=GREY, alpha=0.4, linewidth=0, label="band")
        for edge in (lower, upper):
            axes.plot(band.t_s, edge, color=GREY, linewidth=0.8)
        axes.plot(*thinned(seen.t_s, values), color=BLUE, linewidth=1.0, label=error.path)
        axes.plot(seen.t_s[outside], values[outside], ".", color=ORANGE, label="outside")
        axes.set_xlabel("time since the first cycle (s)")
        axes.set_ylabel(seen.units[error.path])
        axes.legend(loc="best")
        figure.savefig(path, dpi=120)
