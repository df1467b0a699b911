"""The one way to a screen: what a terminal would obey, and not show, never reaches it.

Names come from EEPROMs, ESI files, logs, run folders and command lines. `Screen` shows each control and
direction character as a picture, whatever it came in with, and so does `say`. Markup is another matter:
whoever prints a foreign name with markup passes it through `rich.markup.escape`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from rig_configs.plain import shown
from rigloop.console.streams import give_up_stdout

FILE_COLUMNS = 160  # of a pipe or file, which has no width of its own: nothing is cut there


class Screen(Console):
    """A console of rich that shows only what can be seen."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if not self.is_terminal and "COLUMNS" not in os.environ and "width" not in settings:
            self.width = FILE_COLUMNS
        self._speaks_all = self.encoding.startswith("utf")

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Segments of a renderable; what moves the cursor is rich's own and passes."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(self._seen(segment.text), segment.style)

    def _seen(self, text: str) -> str:
        text = shown(text)
        if self._speaks_all or text.isascii():
            return text
        return text.encode(self.encoding, "replace").decode(self.encoding)


def say(text: str, *, err: bool = False) -> None:
    """Print lines as they are, without colours or wrapping."""
    encoding = getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"
    try:
        typer.echo(shown(text).encode(encoding, "replace").decode(encoding), err=err)
    except BrokenPipeError:
        raise
    except OSError as error:
        if not err:
            give_up_stdout(error)


def say_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one line, without the place in the code that Python adds; it is `warnings.showwarning`."""
    say(f"warning: {message}", err=True)
