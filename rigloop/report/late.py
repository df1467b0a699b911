"""The late cycles of a report: each worst one drawn with the cycles before and after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from rigloop.plots import figures
from rigloop.run_folder.late import LateEvent, read_events, worst
from rigloop.run_folder.manifest import Manifest, TaskFacts
from rt_core.lateness.cause import WORDS, Cause

PAGES = 6
BAR = 0.78  # of the way from cycle to cycle
STAGE_COLOURS = (figures.BLUE, "#5f9ad1", figures.GREEN, "#8cc3a0", "#7a6bb0", "#b3a8d6")
ASLEEP, SPINNING, REST = "#e3b48c", figures.ORANGE, figures.GREY
SENTENCES = {
    Cause.LATE_WAKE: "It still slept at its deadline: timer, kernel, a thread of higher priority or "
    "the host woke it late.",
    Cause.STOLEN: "It had work to do and made no progress: its core was taken by the host, by an "
    "interrupt, by a thread of higher priority, or by real-time throttling.",
    Cause.OWN: "Its own work took longer than usual.",
    Cause.UNTOLD: "A block took longer than usual, and nothing explains it: no more work by its own count, no page "
    "fault, no time off the core that the kernel knows of. The host may have taken the time "
    "without reporting it.",
    Cause.BUS: "The bus exchange took longer than usual.",
}


def late_pages(folder: Path, manifest: Manifest) -> dict[str, Any] | None:
    """Return what the template shows of the late cycles; None if the run kept none."""
    events = [event for task in manifest.tasks for event in read_events(folder, task)]
    if not events:
        return None
    periods = {name: task.period_ns for name, task in manifest.tasks.items()}
    pages = [
        _page(event, manifest.tasks[event.task], i)
        for i, event in enumerate(worst(events, periods, PAGES))
    ]
    kept = Counter(event.task for event in events)
    counts = [
        f"{name}: {task.late_events:,} late"
        + (
            f", {kept[name]} kept: of each cause the first, the worst and the newest"
            if task.late_events > kept[name]
            else ""
        )
        + (
            f"; {task.overruns:,} overruns: "
            + ", ".join(f"{n:,} {words}" for words, n in task.causes.items())
            if task.causes
            else ""
        )
        + (f"; untold holes: {task.exposure.words()}" if task.exposure is not None else "")
        for name, task in manifest.tasks.items()
    ]
    return {"pages": pages, "counts": counts}


def _page(event: LateEvent, facts: TaskFacts, number: int) -> dict[str, Any]:
    row = event.rows[event.at]
    late, wall, cpu = (int(row[name]) for name in ("late_ns", "wall_ns", "cpu_ns"))
    over = late + wall - facts.period_ns
    off = max(0, wall - cpu)
    return {
        "title": f"{event.task}, cycle {int(row['cycle']):,} at {row['deadline_ns'] * 1e-9:.4f} s: "
        f"{WORDS[event.cause]}",
        "words": f"{SENTENCES[event.cause]} Begun {_us(late)} after its deadline, {_us(wall)} from begin to end, of "
        f"that {_us(off)} off the core; "
        + (f"{_us(over)} beyond its period." if over > 0 else "within its period.")
        + _witness(event, facts.blocks),
        "svg": _figure(event, facts, number),
    }


def _witness(event: LateEvent, blocks: Sequence[str]) -> str:
    # what the blocks themselves counted, where it is not as in the cycles around
    row, others = event.rows[event.at], np.delete(event.rows, event.at)
    usual = np.median(others["stage_work"], axis=0) if len(others) else row["stage_work"]
    told = [
        f"{block} counted {row['stage_work'][i]:,} units of work, {usual[i]:,.0f} in the cycles around"
        for i, block in enumerate(blocks[: len(row["stage_work"])])
        if row["stage_work"][i] != usual[i]
    ]
    if row["faults"]:
        told.append(f"{row['faults']:,} page faults")
    told += [
        f"{block} met denormal numbers"
        for i, block in enumerate(blocks[: len(row["stage_work"])])
        if int(row["denormals"]) >> i & 1
    ]
    return f" {'; '.join(told)}." if told else ""


def _us(ns: float) -> str:
    return f"{ns / 1e3:,.0f} µs" if ns < 1e6 else f"{ns / 1e6:,.2f} ms"


def _figure(event: LateEvent, facts: TaskFacts, number: int) -> str:
    with matplotlib.rc_context(figures.STYLE):
        # twice the same bars: the late cycle as a whole, and magnified, what the others are made of
        figure = figures.new_figure(9.2, 3.6, hspace=0.12)
        whole, near = figure.subplots(2, 1, sharex=True)
        tops = (event.rows["late_ns"] + event.rows["wall_ns"].astype(float)) / 1e3
        for axis in (whole, near):
            _bars(axis, event, facts.blocks)
            axis.axhline(facts.period_ns / 1e3, color=figures.INK, lw=0.9, ls=(0, (4, 3)))
            axis.yaxis.set_major_formatter(FuncFormatter(lambda us, _: f"{us:,g}"))
            axis.xaxis.grid(False)
            axis.margins(x=0.01)
        whole.set_ylim(0, 1.12 * max(tops.max(), facts.period_ns / 1e3))
        near.set_ylim(0, 1.3 * np.percentile(tops, 90))
        whole.annotate(
            "period",
            (0.0, facts.period_ns / 1e3),
            xycoords=("axes fraction", "data"),
            xytext=(3, 2),
            textcoords="offset points",
            fontsize=8,
            color=figures.INK,
        )
        near.set_xlabel("cycle, from the late one")
        whole.set_ylabel("µs after deadline")
        near.set_ylabel("magnified")
        figure.align_ylabels((whole, near))
        whole.legend(
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=8,
            borderaxespad=0.1,
            handlelength=1.0,
            columnspacing=1.2,
        )
        return figures.as_svg(figure, f"late-{number}")


def _bars(axis: Axes, event: LateEvent, blocks: Sequence[str]) -> None:
    # one bar a cycle, from its deadline upwards: late, then each block in order, then the rest of the loop
    rows = event.rows
    x = np.arange(len(rows)) - event.at
    late = rows["late_ns"] / 1e3
    slept = np.minimum(rows["slept_ns"] / 1e3, late)
    parts = [("late: asleep", ASLEEP, slept), ("late: taken away", SPINNING, late - slept)]
    stages = rows["stage_ns"] / 1e3
    for i in range(min(len(blocks), stages.shape[1])):
        last = i == stages.shape[1] - 1 and len(blocks) > stages.shape[1]
        label = "others" if last else blocks[i]
        parts.append((label, STAGE_COLOURS[i], stages[:, i]))
    rest = np.maximum(rows["wall_ns"] / 1e3 - stages.sum(axis=1), 0)
    parts.append(("loop", REST, rest))
    bottom = np.zeros(len(rows))
    for label, colour, height in parts:
        if label.startswith("late") and not np.any(height):
            continue
        bars = _outlines(x, bottom, bottom + height)
        axis.add_patch(PathPatch(bars, facecolor=colour, label=label, lw=0, zorder=2))
        bottom += height
    cpu = rows["late_ns"] / 1e3 + rows["cpu_ns"] / 1e3
    axis.plot(
        x,
        cpu,
        ls="",
        marker="_",
        ms=7,
        mew=1.6,
        color=figures.INK,
        label="begin + CPU time",
        zorder=3,
    )


def _outlines(at: NDArray[np.int64], bottom: figures.Array, top: figures.Array) -> Outline:
    """Return all bars of one kind as one shape: a shape for each bar took most of the time of a report."""
    left, right = at - BAR / 2, at + BAR / 2
    corners = [(left, bottom), (left, top), (right, top), (right, bottom), (left, bottom)]
    steps = [Outline.MOVETO, Outline.LINETO, Outline.LINETO, Outline.LINETO, Outline.CLOSEPOLY]
    points = np.array([np.stack(corner, axis=1) for corner in corners])  # corner, bar, x and y
    return Outline(points.swapaxes(0, 1).reshape(-1, 2), np.tile(steps, len(left)))
