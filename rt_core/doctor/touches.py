"""Memory that a host takes away and gives back: how often a touch of a page is held up."""

from __future__ import annotations

from rt_core.doctor.check import Check, Demands, Topic
from rt_core.host.facts import Host
from rt_core.loop.calibrate import measure_touches

MOST_PER_MILLION = 2.0
LEAST_HOLES = 2  # one may be anybody's

TOUCHES = Topic(
    "page touches",
    "a host that takes locked pages away delays the next access to them, and does not report it",
)


def page_touches(host: Host, demands: Demands) -> Check:
    """Touch pages for `host.sample_s` as cycles do, and count the delays."""
    return judged(*measure_touches(host.sample_s), demands)


def judged(touches: int, holes: int, longest_ns: int, demands: Demands) -> Check:
    """Judge a measurement.

    Parameters
    ----------
    touches, holes : int
        Pages touched, and rounds with an unreported delay of 50 µs or more.
    longest_ns : int
        Of the holes.
    demands : Demands
        Its tasks without a spin cannot touch their pages before.
    """
    if touches < 1:
        return TOUCHES.unknown("nothing could be touched", "# look again on a machine that is idle")
    rate = 1e6 * holes / touches
    found = f"{rate:.1f} holes in a million ({holes} of {touches})"
    if holes:
        found += f", the longest {longest_ns / 1e3:.0f} µs"
    if holes < LEAST_HOLES or rate < MOST_PER_MILLION:
        return TOUCHES.green(found)
    lines = [
        f"spin_us = {max(100, task.spin_us)}  # at least, in [tasks.{task.name}]: the spin touches the pages of a cycle"
        for task in demands.tasks
        if task.spin_us < 100 <= 0.85 * task.period_us
    ]
    ask = "# on the host: back this machine with huge pages of its own (KVM: hugepages, prealloc; no KSM)"
    return TOUCHES.amber(found, "\n".join([*lines, ask]))
