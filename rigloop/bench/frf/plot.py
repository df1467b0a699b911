"""The picture of a frequency response: gain and phase of torque path and haptic impedance, measured over predicted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from rigloop.bench.frf.measure import BAR_DB, BAR_DEG, Response
from rigloop.plots import figures

if TYPE_CHECKING:
    from rigloop.bench.frf.outcome import FrfOutcome


def write_plot(path: Path, outcome: FrfOutcome) -> None:
    """Write the picture as SVG."""
    hz = np.array(outcome.frequency_hz)
    with matplotlib.rc_context(figures.STYLE):
        figure = figures.new_figure(10.0, 6.0, hspace=0.1)
        axes = figure.subplots(2, 2, sharex=True)
        _draw(axes[:, 0], hz, outcome.torque_path, "torque path: command → shaft")
        _draw(axes[:, 1], hz, outcome.haptic, "haptic impedance: angle → torque")
        ideal = np.array(outcome.haptic.gain_db) - np.array(outcome.faithful.gain_db)
        phase = np.array(outcome.haptic.phase_deg) - np.array(outcome.faithful.phase_deg)
        axes[0, 1].plot(
            hz, ideal, color=figures.GREY, lw=1.0, ls="--", label="model alone, no delay"
        )
        axes[1, 1].plot(
            hz, np.degrees(np.unwrap(np.radians(phase))), color=figures.GREY, lw=1.0, ls="--"
        )
        axes[0, 0].set_ylabel("gain (dB)")
        axes[0, 1].set_ylabel("gain (dB re 1 Nm/rad)")
        for column in (0, 1):
            axes[1, column].set_ylabel("phase (°)")
            axes[1, column].set_xlabel("frequency (Hz)")
            axes[1, column].set_xscale("log")
            axes[1, column].set_xticks(
                [0.5, 1, 2, 5, 10, 20, 30], ["0.5", "1", "2", "5", "10", "20", "30"]
            )
            axes[1, column].minorticks_off()
            axes[0, column].legend(loc="best", fontsize=8.5)
        axes[0, 0].set_ylim(-3, 3)
        path.write_text(figures.as_svg(figure, "frf"), encoding="utf-8")


def _draw(axes: np.ndarray, hz: np.ndarray, response: Response, title: str) -> None:
    above: Axes = axes[0]
    below: Axes = axes[1]
    above.set_title(title, fontsize=10, loc="left")
    db, deg = np.array(response.predicted_db), np.array(response.predicted_deg)
    deg = np.degrees(np.unwrap(np.radians(deg)))
    # measured phases beside their prediction, not turns away
    measured = np.array(response.phase_deg)
    measured = measured + 360.0 * np.round((deg - measured) / 360.0)
    above.fill_between(hz, db - BAR_DB, db + BAR_DB, color=figures.ORANGE, alpha=0.2, lw=0)
    below.fill_between(hz, deg - BAR_DEG, deg + BAR_DEG, color=figures.ORANGE, alpha=0.2, lw=0)
    label = f"predicted, ±{BAR_DB:g} dB, ±{BAR_DEG:g}°"
    above.plot(hz, db, color=figures.ORANGE, lw=1.5, label=label)
    below.plot(hz, deg, color=figures.ORANGE, lw=1.5)
    above.plot(hz, response.gain_db, "o", color=figures.BLUE, ms=4, label="measured")
    below.plot(hz, measured, "o", color=figures.BLUE, ms=4)
