"""What a person sees while a rig runs: a live table on a terminal, a line a second elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table

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
        self._title = title
        self._last_plain_s = -math.inf
        self._live = Live(console=console, refresh_per_second=8, transient=True)

    def __enter__(self) -> LiveView:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def show(self, picture: Picture) -> None:
        """Draw the picture, or print a line if it is time for one."""
        if self._console.is_terminal:
            self._live.update(_table(self._title, picture))
        elif time.monotonic() - self._last_plain_s >= PLAIN_INTERVAL_S:
            self._last_plain_s = time.monotonic()
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
    value = _present(picture)
    grid.add_row(
        "angle",
        f"{_number(math.degrees(value['angle']), 8, 2)} °",
        "guard",
        escape(_guard(picture)),
    )
    grid.add_row("rate", f"{_number(value['rate'], 8, 3)} rad/s", "bus", escape(_bus(picture)))
    grid.add_row(
        "model torque",
        f"{_number(value['torque'], 8, 3)} Nm",
        "motor torque",
        f"{_number(value['command'], 8, 3)} Nm",
    )
    if "virtual_torque" in value:
        measured = value.get("measured_torque")
        beside = (
            ("", "") if measured is None else ("measured torque", f"{_number(measured, 8, 3)} Nm")
        )
        grid.add_row("virtual torque", f"{_number(value['virtual_torque'], 8, 3)} Nm", *beside)
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


def _number(value: float, width: int, digits: int) -> str:
    return "–".rjust(width) if math.isnan(value) else f"{value:{width}.{digits}f}"


def _guard(picture: Picture) -> str:
    if not _is_frozen(picture):
        return picture.guard
    return f"no new cycle for {picture.frozen_s:.1f} s"


def _bus(picture: Picture) -> str:
    return "unknown" if _is_frozen(picture) else picture.bus


def _causes(task: Mapping[str, float]) -> str:
    counts = {
        "stolen": task["overruns_stolen"],
        "late wake": task["overruns_late_wake"],
        "own": task["overruns_own"],
        "bus": task["overruns_bus"],
    }
    return ", ".join(f"{n:.0f} {words}" for words, n in counts.items() if n)


def _line(picture: Picture) -> str:
    value = _present(picture)
    tasks = "  ".join(
        f"{name}: late p99 {task['late_p99']:.0f} µs, step {task['step_p50']:.1f} µs, {task['overruns']:.0f} overruns"
        + (f" ({_causes(task)})" if task["overruns"] else "")
        for name, task in picture.tasks.items()
    )
    return (
        f"{picture.elapsed_s:6.1f} s  {_number(math.degrees(value['angle']), 7, 2)} °  "
        f"{_number(value['rate'], 7, 3)} rad/s  {_number(value['command'], 7, 3)} Nm  "
        f"{_guard(picture)}  bus {_bus(picture)}  {tasks}"
        + (f"  {picture.banner}" if picture.banner else "")
        + "".join(f"  {alarm}" for alarm in picture.alarms)
    )
