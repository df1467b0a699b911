"""The file of a layout: beside the rig where that is a file, else among the user's own."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from rig_configs.bounded import UnreadableError, read_bytes
from rig_configs.plain import file_name
from rig_configs.whole_file import write_whole
from rigloop.monitor.messages import MOST_BYTES, Layout

ENDING = ".page.json"


def layout_file(rig: str, beside: Path | None) -> Path:
    """Return the place of a rig's layout.

    Parameters
    ----------
    rig : str
        Name of the rig.
    beside : Path or None
        The rig file, where it is one of the user's own.
    """
    if beside is not None:
        return beside.with_name(beside.stem + ENDING)
    given = os.environ.get("XDG_STATE_HOME", "")
    base = Path(given) if given.startswith("/") else Path.home() / ".local" / "state"
    return base / "rigloop" / "pages" / f"{file_name(rig, 'rig')}{ENDING}"


def read_layout(path: Path) -> tuple[Layout, str]:
    """Return the layout of a file, and what was wrong with it; where there is none, an empty one."""
    try:
        return msgspec.json.decode(read_bytes(path, MOST_BYTES), type=Layout), ""
    except FileNotFoundError:
        return Layout(), ""
    except (UnreadableError, OSError) as error:
        return Layout(), "" if not path.exists() else f"{path}: {error}"
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        return Layout(), f"{path}: no layout of a page: {error}; the page begins without it"


def write_layout(path: Path, layout: Layout) -> None:
    """Keep a layout.

    Raises
    ------
    OSError
        It cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(layout), indent=1)
    write_whole(path, text + b"\n")
