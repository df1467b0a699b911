"""The display of `rigloop tune`: gains, lags over frequency, noise."""

from __future__ import annotations

import math

import matplotlib
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from estimators.encoder.likelihood import FittedNoise
from rigloop.plots.figures import BLUE, GREEN, GREY, INK, ORANGE, STYLE, new_figure
from rigloop.tune.tune import STATES, TABLE_HZ, UNITS, Tuning, at

COLOURS = dict(zip(STATES, (BLUE, GREEN, ORANGE, GREY), strict=True))


def show(tuning: Tuning, fitted: FittedNoise | None, console: Console) -> None:
    """Print a tuning as tables."""
    bits = math.log2(tuning.counts_per_rev)
    console.print(
        f"{tuning.model}, {tuning.counts_per_rev:g} counts a turn ({bits:.1f} bit), a sample every "
        f"{1e6 * tuning.period_s:g} µs, bandwidth_rad_s = {tuning.bandwidth_rad_s:.6g}",
        highlight=False,
        markup=False,
    )
    if fitted:
        console.print(
            f"from the log, by maximum likelihood: {fitted.low_rad_s:.4g} … "
            f"{fitted.high_rad_s:.4g} rad/s (95 %), noise of a sample {fitted.noise_rad:.3g} rad; "
            f"neighbouring innovations correlate by {fitted.whiteness:.2f} (0: the model fits)",
            highlight=False,
        )
        if fitted.at_edge:
            console.print("[yellow]•[/] the likelihood is largest at the end of what was searched")
    states = Table(box=None, padding=(0, 2, 0, 0))
    states.add_column("")
    for head in ("gain", "noise"):
        states.add_column(head, justify="right")
    states.add_column("unit")
    for state, unit, gain in zip(STATES, UNITS, tuning.gain, strict=False):
        states.add_row(state, f"{gain:.5g}", f"{tuning.noise[state]:.3g}", unit)
    console.print(states)
    lags = Table(box=None, padding=(0, 2, 0, 0))
    lags.add_column("lag in ms (amplitude) at", justify="right")
    for state in STATES[: len(tuning.gain)]:
        lags.add_column(state, justify="right")
    for frequency in TABLE_HZ:
        if frequency < 0.4 / tuning.period_s:
            cells = (f"{lag:.3f} ({amplitude:.3f})" for lag, amplitude in at(tuning, frequency))
            lags.add_row(f"{frequency:g} Hz", *cells)
    console.print(lags)
    console.print(f"settles within {tuning.settling_ms:.0f} ms", highlight=False)


def draw(tuning: Tuning) -> Figure:
    """Draw lag and amplitude over frequency."""
    with matplotlib.rc_context(STYLE):
        figure = new_figure(9.2, 5.6, hspace=0.12)
        lag, amplitude = figure.subplots(2, 1, sharex=True)
        for curve in tuning.curves:
            line = {"color": COLOURS[curve.state], "lw": 1.4}
            lag.semilogx(tuning.frequency_hz, curve.lag_ms, label=curve.state, **line)
            amplitude.semilogx(tuning.frequency_hz, curve.amplitude, **line)
        lag.set_ylabel("lag (ms)")
        amplitude.set_ylabel("estimate / true amplitude")
        amplitude.set_ylim(0, 2)
        amplitude.set_xlabel("frequency (Hz)")
        lag.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, borderaxespad=0.1)
        title = (
            f"{tuning.model}, w0 = {tuning.bandwidth_rad_s:.4g} rad/s, {1e6 * tuning.period_s:g} µs"
        )
        lag.set_title(title, loc="left", fontsize=11, color=INK)
        for axis in (lag, amplitude):
            axis.axvspan(tuning.frequency_hz[0], 30.0, color=BLUE, alpha=0.05, lw=0)
            axis.set_xlim(tuning.frequency_hz[0], tuning.frequency_hz[-1])
        noises = "   ".join(
            f"{state} {tuning.noise[state]:.2g} {unit}"
            for state, unit in zip(STATES, UNITS, strict=True)
            if state in tuning.noise
        )
        amplitude.annotate(
            f"noise: {noises}\nshaded: to 30 Hz", (0.01, 0.05), xycoords="axes fraction",
            fontsize=8.5, color=INK,
        )  # fmt: skip
        figure.align_ylabels([lag, amplitude])
        return figure
