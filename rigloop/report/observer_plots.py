"""Figures of an observer in a report: its NIS within bounds, a virtual torque beside a measured one."""

from __future__ import annotations

import matplotlib
import numpy as np
from numpy.typing import NDArray

from rigloop.plots.figures import BLUE, GREY, INK, ORANGE, STYLE, as_svg, new_figure, thinned
from rigloop.report.observer_statistics import DEVIATE, ObserverFacts, TorqueFacts

Array = NDArray[np.float64]
DOTS = 1500
BAND = 600  # corners of a band; it is smooth
LOWEST = 1e-4  # of the axis of single NIS values, which come as near to 0 as one looks


def nis_plot(facts: ObserverFacts) -> str:
    """NIS of single cycles over their bounds, and averages of stretches over theirs."""
    with matplotlib.rc_context(STYLE):
        figure = new_figure(9.2, 4.6, hspace=0.22)
        single, average = figure.subplots(2, 1, sharex=True)
        every = max(1, facts.cycles // DOTS)
        some = slice(None, None, every)
        single.plot(
            facts.t_s[some], np.maximum(facts.nis[some], LOWEST), ".", color=BLUE, ms=2.2, alpha=0.6
        )
        for bound in (facts.low, facts.high):
            single.plot(facts.t_s[some], bound[some], color=ORANGE, lw=1.2)
        single.set_yscale("log")
        single.set_ylabel("NIS of a cycle")
        single.set_ylim(LOWEST, 3.0 * max(float(facts.nis[some].max()), float(facts.high.max())))
        average.fill_between(
            facts.mean_t_s, facts.mean_low, facts.mean_high, color=ORANGE, alpha=0.25, lw=0
        )
        average.plot(facts.mean_t_s, facts.mean, color=BLUE, lw=1.2)
        average.axhline(1.0, color=INK, lw=0.7, ls=(0, (4, 3)))
        average.set_ylabel("mean of a stretch")
        average.set_ylim(0.0, max(2.0, 1.1 * float(facts.mean.max())))
        average.set_xlabel("time (s)")
        average.margins(x=0.005)
        figure.align_ylabels([single, average])
        return as_svg(figure, f"nis-{facts.name}")


def torque_plot(facts: TorqueFacts) -> str:
    """Virtual and measured torque, and their difference within the band that the observer says."""
    with matplotlib.rc_context(STYLE):
        figure = new_figure(9.2, 4.8, hspace=0.16)
        both, error = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        both.plot(*thinned(facts.t_s, facts.measured_nm), color=GREY, lw=4.0, label="measured")
        both.plot(*thinned(facts.t_s, facts.virtual_nm), color=BLUE, lw=1.0, label="virtual")
        both.set_ylabel("torque (N m)")
        _legend(both)
        some = slice(None, None, max(1, len(facts.t_s) // BAND))
        reach = DEVIATE * facts.std_nm[some]
        error.fill_between(
            facts.t_s[some],
            -reach,
            reach,
            color=ORANGE,
            alpha=0.25,
            lw=0,
            label="95 % by the observer",
        )
        difference = facts.virtual_nm - facts.measured_nm
        error.plot(*thinned(facts.t_s, difference), color=BLUE, lw=0.8, label="virtual − measured")
        error.set_ylabel("difference (N m)")
        error.set_xlabel("time (s)")
        error.margins(x=0.005)
        _legend(error)
        figure.align_ylabels([both, error])
        return as_svg(figure, f"virtual-{facts.path}")


def _legend(axis: matplotlib.axes.Axes) -> None:
    axis.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.1, handlelength=1.4
    )
