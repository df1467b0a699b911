"""The wishes of whoever starts a run, beside its rig."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from rigloop.run_folder.messages import Mode


@dataclass(frozen=True)
class RunOptions:
    """Options of a live run.

    Attributes
    ----------
    runs : Path
        Folder in which the run gets one of its own.
    console : Console
        Of its progress.
    seconds : float or None
        The run lasts so long from arming on; None: until it is interrupted.
    bus : str or None
        In place of the rig's own back ends; see `rigloop.compose.parts.backends_of`.
    telemetry : str or None
        Endpoint.
    mode : Mode
    inject : sequence of str
        Faults on purpose.
    reset_drives : bool
        Drives in their fault state are reset at the start.
    page : bool
        The run folder gets its report page; `rigloop report FOLDER` makes it later.
    may_arm : callable or None
        Until it returns true, the run waits with its drives disabled; None: it arms as soon as it can.
    """

    runs: Path
    console: Console
    seconds: float | None = None
    bus: str | None = None
    telemetry: str | None = None
    mode: Mode = Mode.DEGRADED
    inject: Sequence[str] = ()
    reset_drives: bool = False
    page: bool = True
    may_arm: Callable[[], bool] | None = None
