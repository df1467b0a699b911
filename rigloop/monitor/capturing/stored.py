"""Captures in files beside the layout of a page: saved, listed, read again, written for other programs."""

from __future__ import annotations

import time
from pathlib import Path

from io_bridge.exports.write import FORMS, write_export
from rig_configs.plain import file_name, line
from rigloop.scope.capture import Capture
from rigloop.scope.capture_file import ENDING, CaptureFileError, load_capture, save_capture

FOLDER = ".captures"
MOST_LISTED = 200
MOST_OF_A_NAME = 1000


def folder_of(layout: Path) -> Path:
    """Return the folder of a rig's captures, beside the file `NAME.page.json` of its layout."""
    return layout.with_name(layout.name.removesuffix(".json").removesuffix(".page") + FOLDER)


class Stored:
    """The captures of a rig that a page has kept.

    Parameters
    ----------
    folder : Path
        It is made with the first of them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """Return the names of those that are there, the newest first."""
        try:
            found = [(path.stat().st_mtime, path.stem) for path in self.folder.glob(f"*{ENDING}")]
        except OSError:
            return []
        return [name for _, name in sorted(found, reverse=True)[:MOST_LISTED]]

    def save(self, capture: Capture, name: str) -> Path:
        """Keep a capture under a name, with a number behind it where another has that name already.

        Raises
        ------
        OSError
            It cannot be written.
        """
        path = self._free(name, ENDING)
        save_capture(capture, path)
        return path

    def load(self, name: str) -> Capture:
        """Read a capture again.

        Raises
        ------
        CaptureFileError
            No capture has this name, or it is damaged.
        """
        if name not in self.names():
            raise CaptureFileError(f"{line(name)}: no such capture in {self.folder}")
        return load_capture(self.folder / f"{name}{ENDING}")

    def export(self, capture: Capture, name: str, to: str) -> Path:
        """Write a capture in the format of another program.

        Raises
        ------
        ExportError, OSError
            A library is missing, or it cannot be written.
        """
        path = self._free(name, FORMS[to].ending)
        return write_export(capture.measured(), to, path)[0]

    def _free(self, name: str, ending: str) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        stem = file_name(name or time.strftime("%Y%m%d-%H%M%S"), "capture")
        for number in range(1, MOST_OF_A_NAME):
            found = stem if number == 1 else f"{stem}-{number}"
            path = self.folder / f"{found}{ending}"
            if not path.exists():
                return path
        raise FileExistsError(f"{self.folder / stem}{ending}: {MOST_OF_A_NAME} are there already")
