"""The display of `rigloop identify`: parameters, and the observed torque beside the measured one."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from rich.console import Console

from rig_configs.plain import math_free
from rigloop.display import tables
from rigloop.display.tables import Table
from rigloop.display.verdict import paragraph
from rigloop.identify.compare import HIGHEST_HZ, Judgement, Observation, spectra_of
from rigloop.identify.identify import Identification
from rigloop.plots.figures import BLUE, GREY, INK, ORANGE, STYLE, new_figure, thinned


def show(
    found: Identification, observation: Observation, judged: Judgement, console: Console
) -> None:
    """Print parameters with their intervals, and the judgement of the observer."""
    paragraph(
        f"{found.log}: {found.torque} from {found.from_s:g} to {found.to_s:g} s, "
        f"{found.samples} samples, smoother {found.bandwidth_rad_s:.0f} rad/s",
        console,
    )
    heads = [*tables.words(""), *tables.figures("value", "95 % interval"), *tables.words("unit")]
    rows = [
        [p.name, f"{p.value:.4g}", f"{p.low:.4g} … {p.high:.4g}", p.unit] for p in found.parameters
    ]
    tables.show(Table(heads, rows), console)
    paragraph(
        f"residual {found.residual_rms_nm:.3g} of {found.torque_rms_nm:.3g} N m RMS; "
        f"a torque {found.friction_delay_ms:.1f} ms late would look like this viscous friction",
        console,
    )
    console.print()
    for sentence in words(observation, judged):
        paragraph(sentence, console)


def words(observation: Observation, judged: Judgement) -> list[str]:
    """Return the judgement in sentences."""
    rotor = observation.rotor
    late = "later" if judged.delay_ms >= 0 else "earlier"
    return [
        f"Observed from the angle through a filter of {observation.bandwidth_rad_s:.0f} rad/s, with inertia "
        f"{rotor['inertia']:.4g} kg m² and viscous friction {rotor['viscous']:.3g} N m s as seen through it "
        "(its lag made up for; all chosen on the stretch of the identification).",
        f"Unseen stretch {judged.from_s:g} to {judged.to_s:g} s: error {judged.rms_nm:.3g} of "
        f"{judged.torque_rms_nm:.3g} N m RMS = {judged.percent:.1f} %; "
        f"{abs(judged.delay_ms):.1f} ms {late} than the sensor, without that "
        f"{judged.undelayed_percent:.1f} %; coherence {judged.coherence:.3f} to "
        f"{HIGHEST_HZ:g} Hz weighted by power, above 0.5 to {judged.coherent_to_hz:.0f} Hz.",
    ]


def draw(found: Identification, observation: Observation, judged: Judgement) -> Figure:
    """Draw the judged stretch: torques, their difference, spectra and coherence."""
    o = observation
    with matplotlib.rc_context(STYLE):
        figure = new_figure(9.2, 8.2, hspace=0.42)
        grid = figure.add_gridspec(4, 1, height_ratios=(2.0, 0.9, 1.1, 0.9))
        torque, error = figure.add_subplot(grid[0]), None
        error = figure.add_subplot(grid[1], sharex=torque)
        density = figure.add_subplot(grid[2])
        coherence = figure.add_subplot(grid[3], sharex=density)
        inside = (o.t_s >= judged.from_s) & (o.t_s < judged.to_s)
        t = o.t_s[inside]
        for value, colour, label in (
            (o.measured_nm, GREY, "measured"),
            (o.observed_nm, BLUE, "observed from the angle"),
        ):
            width = 2.2 if label == "measured" else 1.0
            torque.plot(*thinned(t, value[inside]), color=colour, lw=width, label=label)
        torque.set_ylabel("torque (N m)")
        torque.set_title(
            math_free(f"{found.log}, unseen stretch"), loc="left", fontsize=11, color=INK
        )
        torque.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.1)
        error.plot(*thinned(t, (o.observed_nm - o.measured_nm)[inside]), color=ORANGE, lw=0.9)
        error.set_ylabel("error (N m)")
        error.set_xlabel("time (s)")
        spectra = spectra_of(o, judged.from_s, judged.to_s)
        low = (spectra.frequency_hz <= HIGHEST_HZ) & (spectra.frequency_hz > 0)
        f = spectra.frequency_hz[low]
        density.semilogy(f, np.sqrt(spectra.measured[low]), color=GREY, lw=2.2)
        density.semilogy(f, np.sqrt(spectra.observed[low]), color=BLUE, lw=1.0)
        density.set_ylabel("N m / √Hz")
        coherence.plot(f, spectra.coherence[low], color=INK, lw=1.1)
        coherence.set_ylim(0, 1.02)
        coherence.set_xlim(0, HIGHEST_HZ)
        coherence.set_ylabel("coherence")
        coherence.set_xlabel("frequency (Hz)")
        figure.align_ylabels([torque, error, density, coherence])
        return figure
