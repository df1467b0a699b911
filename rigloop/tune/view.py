"""The display of `rigloop tune`: gains, lags over frequency, noise."""

from __future__ import annotations

import math

import matplotlib
from matplotlib.figure import Figure
from rich.console import Console

from estimators.encoder.likelihood import FittedNoise
from rigloop.display import tables
from rigloop.display.tables import Table
from rigloop.display.verdict import paragraph, remark
from rigloop.plots.figures import BLUE, GREEN, GREY, INK, ORANGE, STYLE, new_figure
from rigloop.tune.tune import STATES, TABLE_HZ, UNITS, Tuning, at

COLOURS = dict(zip(STATES, (BLUE, GREEN, ORANGE, GREY), strict=True))


def show(tuning: Tuning, fitted: FittedNoise | None, console: Console) -> None:
    """Print a tuning as tables."""
    bits = math.log2(tuning.counts_per_rev)
    paragraph(
        f"{tuning.model}, {tuning.counts_per_rev:g} counts a turn ({bits:.1f} bit), a sample every "
        f"{1e6 * tuning.period_s:g} µs, bandwidth_rad_s = {tuning.bandwidth_rad_s:.6g}",
        console,
    )
    if fitted:
        paragraph(
            f"from the log, by maximum likelihood: {fitted.low_rad_s:.4g} … "
            f"{fitted.high_rad_s:.4g} rad/s (95 %), noise of a sample {fitted.noise_rad:.3g} rad; "
            f"neighbouring innovations correlate by {fitted.whiteness:.2f} (0: the model fits)",
            console,
        )
        if fitted.at_edge:
            remark("the likelihood is largest at the end of the searched range", console)
    gains = [
        [state, f"{gain:.5g}", f"{tuning.noise[state]:.3g}", unit]
        for state, unit, gain in zip(STATES, UNITS, tuning.gain, strict=False)
    ]
    heads = [*tables.words(""), *tables.figures("gain", "noise"), *tables.words("unit")]
    tables.show(Table(heads, gains), console)
    heads = tables.figures("lag in ms (amplitude) at", *STATES[: len(tuning.gain)])
    lags = [
        [
            f"{frequency:g} Hz",
            *(f"{lag:.3f} ({amplitude:.3f})" for lag, amplitude in at(tuning, frequency)),
        ]
        for frequency in TABLE_HZ
        if frequency < 0.4 / tuning.period_s
    ]
    tables.show(Table(heads, lags), console)
    paragraph(f"settles within {tuning.settling_ms:.0f} ms", console)


def draw(tuning: Tuning) -> Figure:
    """Draw lag and amplitude over frequency."""
    with matplotlib.rc_context(STYLE):
        figure = new_figure(9.2, 5.6, hspace=0.12)
        lag, amplitude = figure.subplots(2, 1, sharex=True)
        for curve in tuning.curves:
            look = {"color": COLOURS[curve.state], "lw": 1.4}
            lag.semilogx(tuning.frequency_hz, curve.lag_ms, label=curve.state, **look)
            amplitude.semilogx(tuning.frequency_hz, curve.amplitude, **look)
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
