"""The screen of `rigloop monitor --tui`, made of Textual: tables, sparklines, and the keys of a person in control."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.css.query import NoMatches
from textual.widgets import DataTable, Footer, Input, Sparkline, Static

from rigloop.monitor.terminal.looker import Command, Looker, Picture, SignalRow

TURN_S = 0.2
SURE_S = 4.0
TABLES = {
    "guards": ("guard", "state", "torque", ""),
    "buses": ("slave", "state", "counter", "cycles"),
    "tasks": ("task", "cycles", "overruns", "skipped", "why"),
    "live": ("live value", "now", "unit", "limits"),
}


class Monitor(App[None]):
    """The screen.

    Parameters
    ----------
    looker : Looker
    sure_s : float
        The second press that arms may come so much later than the first.
    """

    CSS = """
    #head { height: 3; padding: 1 2 0 2; }
    #title { width: 1fr; text-style: bold; }
    #state { width: auto; min-width: 10; text-style: bold; padding: 0 2; content-align: center middle; }
    #state.good { background: $success; color: $text; } #state.waits { background: $warning; color: $text; }
    #state.bad { background: $error; color: $text; }
    #clock { width: 14; text-align: right; } #control { width: 30; color: $text-muted; text-align: right; }
    #faults { color: $text-error; background: $error-muted; height: auto; padding: 0 2; }
    #faults.none { display: none; }
    #signals { width: 1fr; min-width: 40; } #side { width: 1fr; min-width: 44; }
    .signal { height: 3; padding: 0 2; } .signal Static { height: 1; } .signal Sparkline { height: 2; }
    DataTable { height: auto; max-height: 12; margin: 0 1; } DataTable.none { display: none; }
    #write:disabled { display: none; }
    #said { height: auto; padding: 0 2; color: $text-muted; } #said.bad { color: $text-error; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "take", "take or give control"),
        Binding("a", "arm", "arm (twice)"),
        Binding("s,escape", "stop_rig", "stop"),
        Binding("r", "reset", "reset"),
        Binding("w", "write", "write NAME=VALUE"),
        Binding("q", "quit", "leave"),
    ]

    def __init__(self, looker: Looker, sure_s: float = SURE_S) -> None:
        super().__init__()
        self._sure_s = sure_s
        self.picture = Picture()
        self._looker = looker
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="looker")
        self._waiting: list[Command] = []
        self._sure_until = 0.0
        self._is_turning = False

    def compose(self) -> ComposeResult:
        """Make the widgets."""
        with Horizontal(id="head"):
            yield Static("", id="title", markup=False)
            yield Static("–", id="state", markup=False)
            yield Static("", id="clock", markup=False)
            yield Static("", id="control", markup=False)
        yield Static("", id="faults", classes="none", markup=False)
        with Horizontal():
            yield VerticalScroll(id="signals")
            with VerticalScroll(id="side"):
                for name in TABLES:
                    yield DataTable(id=name, show_cursor=False, classes="none")
                yield Static("", id="words", markup=False)
        yield Static("", id="said", markup=False)
        yield Input(placeholder="NAME=VALUE …, then Enter", id="write", disabled=True)
        yield Footer()

    def on_mount(self) -> None:
        """Begin to look."""
        for name, heads in TABLES.items():
            self.query_one(f"#{name}", DataTable).add_columns(*heads)
        self.set_interval(TURN_S, self._turn)

    async def on_unmount(self) -> None:
        """Leave the rig; it goes on."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._looker.close)
        self._thread.shutdown(wait=False)

    def action_take(self) -> None:
        """Take control, also over from another one, or give it back."""
        over = self.picture.control.endswith("is in control") and not self.picture.mine
        self._do("give") if self.picture.mine else self._do("take", over=over)

    def action_arm(self) -> None:
        """Arm, at the second time."""
        now = asyncio.get_running_loop().time()
        if now > self._sure_until:
            self._sure_until = now + self._sure_s
            self._say(True, "arm? press a again")
            return
        self._sure_until = 0.0
        self._do("arm")

    def action_stop_rig(self) -> None:
        """Ramp out and end the run; or leave the line of live values."""
        if isinstance(self.focused, Input):
            self._end_input()
            return
        self._do("stop")

    def action_reset(self) -> None:
        """Acknowledge a trip."""
        self._do("reset")

    def action_write(self) -> None:
        """Go to the line of live values."""
        line = self.query_one("#write", Input)
        line.disabled = False
        line.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write the live values of the line."""
        values: dict[str, float] = {}
        try:
            for word in event.value.split():
                name, _, number = word.partition("=")
                values[name] = float(number)
        except ValueError:
            self._say(False, f"{event.value}: NAME=VALUE, with numbers")
            return
        if values:
            self._do("write", values=values)
        self._end_input()

    def _end_input(self) -> None:
        line = self.query_one("#write", Input)
        line.value = ""
        line.disabled = True
        self.set_focus(None)

    def _do(self, name: str, **keys: Any) -> None:
        self._waiting.append((name, keys))

    async def _turn(self) -> None:
        if self._is_turning:
            return
        self._is_turning = True
        commands, self._waiting = self._waiting, []
        loop = asyncio.get_running_loop()
        try:
            picture = await loop.run_in_executor(self._thread, self._looker.turn, commands)
            # while it is being left, its widgets are gone before it is
            with contextlib.suppress(NoMatches):
                await self._show(picture)
        finally:
            self._is_turning = False

    def _say(self, good: bool, words: str) -> None:
        said = self.query_one("#said", Static)
        said.update(words)
        said.set_class(not good, "bad")

    async def _show(self, picture: Picture) -> None:
        self.picture = picture
        for name in ("title", "state", "clock", "control"):
            self.query_one(f"#{name}", Static).update(getattr(picture, name))
        state = self.query_one("#state", Static)
        for level in ("good", "waits", "bad"):
            state.set_class(picture.level == level, level)
        faults = self.query_one("#faults", Static)
        faults.update("\n".join(picture.faults))
        faults.set_class(not picture.faults, "none")
        self.query_one("#words", Static).update("\n".join(picture.words))
        for good, words in picture.said:
            self._say(good, words)
        for name in TABLES:
            self._fill(self.query_one(f"#{name}", DataTable), getattr(picture, name))
        await self._draw(picture.signals)

    def _fill(self, table: DataTable[Any], rows: Sequence[tuple[str, ...]]) -> None:
        from rich.text import Text

        table.set_class(not rows, "none")
        table.clear()
        for row in rows:
            table.add_row(*map(Text, row))

    async def _draw(self, signals: Sequence[SignalRow]) -> None:
        box = self.query_one("#signals", VerticalScroll)
        if len(box.children) != len(signals):
            await box.remove_children()
            await box.mount_all(
                Vertical(Static("", markup=False), Sparkline([]), classes="signal") for _ in signals
            )
        for place, signal in zip(box.children, signals, strict=True):
            value = f"{signal.values[-1]:10.4g}" if signal.values else f"{'–':>10}"
            unit = "" if signal.unit == "1" else signal.unit
            place.query_one(Static).update(f"{value} {unit:6} {signal.path}")
            place.query_one(Sparkline).data = [v for v in signal.values if v == v]
