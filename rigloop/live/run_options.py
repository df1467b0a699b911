"""The wishes of whoever starts a run, beside its rig."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from rigloop.run_folder.messages import Mode

if TYPE_CHECKING:
    from rigloop.live_values.orders import LiveOrders


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
    orders : LiveOrders or None
        Of the program that started the run: to arm, and changes of live values.
    hold : bool
        The run waits with its drives disabled until an order to arm comes.
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
    orders: LiveOrders | None = None
    hold: bool = False
