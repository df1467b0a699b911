"""The display of a running rig: a live table on a terminal, a line a second elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table

from rigloop.live.values import cells, line
from rt_core.lateness.cause import WORDS, explain_overruns, signal_of

REFRESHES_PER_S = 8
PLAIN_INTERVAL_S = 1.0
SHOWN_S = 0.25  # without a new cycle, until no value is the present one any more


@dataclass(frozen=True)
class Picture:
    """One moment of a run, ready to show. Times in µs, angles in rad, torques in Nm."""

    elapsed_s: float
    total_s: float | None
    guard: str
    bus: str
    real_time: bool
    values: Mapping[str, float]  # role → value
    tasks: Mapping[str, Mapping[str, float]]  # task → late_p50, overruns, overruns_own, step_max, …
    banner: str = ""  # what makes the run a degraded one
    alarms: tuple[str, ...] = ()  # what is wrong at this moment
    frozen_s: float = 0.0  # since the newest cycle; from SHOWN_S on no value is the present one


class LiveView:
    """Shows pictures; use as a context manager."""

    def __init__(self, console: Console, title: str):
        self._console = console
        self._title = escape(title)
        self._last_s = -math.inf
        self._interval_s = 1.0 / REFRESHES_PER_S if console.is_terminal else PLAIN_INTERVAL_S
        self._live = Live(console=console, refresh_per_second=REFRESHES_PER_S, transient=True)

    def __enter__(self) -> LiveView:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    @property
    def is_due(self) -> bool:
        """Tell if a picture that is taken now would be shown: taking one costs more than all else of a heartbeat."""
        return time.monotonic() - self._last_s >= self._interval_s

    def show(self, picture: Picture) -> None:
        """Draw the picture, or print a line, if it is time for one."""
        if not self.is_due:
            return
        self._last_s = time.monotonic()
        if self._console.is_terminal:
            self._live.update(_table(self._title, picture))
        else:
            self._console.print(_line(picture), highlight=False, soft_wrap=True, markup=False)


def _table(title: str, picture: Picture) -> Table:
    if picture.banner:
        title += f"\n[bold yellow]{escape(picture.banner)}[/]"
    for alarm in picture.alarms:
        title += f"\n[bold red]{escape(alarm)}[/]"
    grid = Table(title=title, title_justify="left", show_header=False, min_width=72)
    grid.add_column(style="dim", min_width=14)
    grid.add_column(justify="right", min_width=12)
    grid.add_column(style="dim", min_width=14)
    grid.add_column(justify="right", min_width=12)
    values = [(escape(label), text) for label, text in cells(_present(picture))]
    values += [("", "")] * (2 - len(values))
    for value, state in zip(
        values, (("guard", escape(_guard(picture))), ("bus", escape(_bus(picture)))), strict=False
    ):
        grid.add_row(*value, *state)
    for left, right in zip_longest(values[2::2], values[3::2], fillvalue=("", "")):
        grid.add_row(*left, *right)
    for name, task in picture.tasks.items():
        grid.add_section()
        grid.add_row(
            f"{name} late p50",
            f"{task['late_p50']:.1f} µs",
            "step p50",
            f"{task['step_p50']:.2f} µs",
        )
        grid.add_row(
            "late p99", f"{task['late_p99']:.1f} µs", "step max", f"{task['step_max']:.1f} µs"
        )
        grid.add_row("cycles", f"{task['cycles']:.0f}", "overruns", f"{task['overruns']:.0f}")
        if task["overruns"]:
            grid.add_row("", "", "why", _causes(task))
    grid.add_section()
    rights = "[green]real-time[/]" if picture.real_time else "[yellow]not real-time[/]"
    if picture.total_s is None:
        grid.add_row("time", f"{picture.elapsed_s:.1f} s", "rights", rights)
    else:
        done = min(1.0, max(0.0, picture.elapsed_s / picture.total_s))
        grid.add_row("time", f"{picture.elapsed_s:.1f}/{picture.total_s:.0f} s", "rights", rights)
        grid.add_row("", ProgressBar(total=1.0, completed=done, width=12), "", "")
    return grid


def _is_frozen(picture: Picture) -> bool:
    return picture.frozen_s >= SHOWN_S


def _present(picture: Picture) -> Mapping[str, float]:
    """Return the values, none of which is the present one if no cycle comes."""
    return dict.fromkeys(picture.values, math.nan) if _is_frozen(picture) else picture.values


def _guard(picture: Picture) -> str:
    if not _is_frozen(picture):
        return picture.guard
    return f"no new cycle for {picture.frozen_s:.1f} s"


def _bus(picture: Picture) -> str:
    return "unknown" if _is_frozen(picture) else picture.bus


def _causes(task: Mapping[str, float]) -> str:
    return explain_overruns({cause: task[signal_of(cause)] for cause in WORDS})


def _line(picture: Picture) -> str:
    tasks = "  ".join(
        f"{name}: late p99 {task['late_p99']:.0f} µs, step {task['step_p50']:.1f} µs, {task['overruns']:.0f} overruns"
        + (f" ({_causes(task)})" if task["overruns"] else "")
        for name, task in picture.tasks.items()
    )
    return (
        f"{picture.elapsed_s:6.1f} s  {line(_present(picture))}  "
        f"{_guard(picture)}  bus {_bus(picture)}  {tasks}"
        + (f"  {picture.banner}" if picture.banner else "")
        + "".join(f"  {alarm}" for alarm in picture.alarms)
    )
