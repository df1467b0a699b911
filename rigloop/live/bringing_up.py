"""The reports of the cycle process while it brings the bus up, and its answer to a drive in its fault state."""

from __future__ import annotations

import contextlib
from pathlib import Path

from io_bridge.buses.buses import Buses
from rig_configs.whole_file import write_whole

FILE = "bringup.txt"


def tell(folder: Path, text: str) -> None:
    """Say what is waited for; the supervisor shows it."""
    write_whole(folder / FILE, text.encode())


class News:
    """The lines of the cycle process since it was asked last.

    Parameters
    ----------
    folder : Path
        Of the run.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._seen = ""

    def read(self) -> str:
        """Return what is new, or nothing."""
        text = ""
        with contextlib.suppress(OSError):
            text = self._path.read_text(encoding="utf-8")
        if text == self._seen:
            return ""
        self._seen = text
        return text


def refuse_drives_in_fault(buses: Buses, rig: str, reset: bool) -> None:
    """Refuse a run whose drives are in their fault state, unless a person asked for their reset.

    Raises
    ------
    RuntimeError
        One sentence: slave, code, meaning, and how to ask for it.
    """
    found = [] if reset else buses.in_fault()
    if found:
        raise RuntimeError(
            f"{'; '.join(found)}; rigloop does not reset it automatically: remove the cause, then "
            f"`rigloop run {rig} --reset-drives`"
        )
