"""The journal of a sweep that goes on: a line a replay, so that one that was killed goes on where it was."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rigloop.run_folder.not_started import NotStartedError

Row = dict[str, Any]


class Journal:
    """Rows on the disk as they come; the table is made of it.

    Parameters
    ----------
    path : Path
    sweep : str
        Hash of all that decides the rows: only the same sweep goes on.

    Raises
    ------
    NotStartedError
        It is of another sweep, or cannot be written.
    """

    def __init__(self, path: Path, sweep: str) -> None:
        self.path = path
        self.rows: list[Row] = []
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise NotStartedError(f"{path}: cannot be written: {error.strerror}") from None
        try:
            whole = self._open(sweep)
        except BaseException:
            os.close(self._file)
            raise
        if not whole:
            self._write([{"sweep": sweep}])

    def _open(self, sweep: str) -> int:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            whole = self._read(sweep)
            os.ftruncate(self._file, whole)
            os.lseek(self._file, 0, os.SEEK_END)
        except BlockingIOError:
            raise NotStartedError(
                f"{self.path}: another process computes this sweep; wait for it, or give another --out"
            ) from None
        except OSError as error:
            raise NotStartedError(f"{self.path}: cannot be written: {error.strerror}") from None
        return whole

    def _read(self, sweep: str) -> int:
        whole = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file):
                if not line.endswith(b"\n"):
                    break  # its writer was killed
                try:
                    found = json.loads(line)
                except ValueError:
                    break
                if not isinstance(found, dict):
                    break
                if number == 0 and found.get("sweep") != sweep:
                    raise NotStartedError(
                        f"{self.path}: belongs to another sweep that was cut short: with other arguments, or a "
                        "log, rig, mechanism, block or version that has changed since; --force starts again"
                    )
                if number:
                    self.rows.append(found)
                whole += len(line)
        return whole

    def add(self, rows: Iterable[Row]) -> None:
        """Keep the rows of a batch: all of them, or none that counts."""
        rows = list(rows)
        self._write(rows)
        self.rows += rows

    def _write(self, rows: list[Row]) -> None:
        # floats are written so that they read back as the same bits
        text = "".join(json.dumps(row) + "\n" for row in rows).encode()
        done = 0
        while done < len(text):
            done += os.write(self._file, text[done:])

    def close(self, *, is_done: bool) -> None:
        """Close it; of a sweep that is done, take it away."""
        os.close(self._file)
        if is_done:
            self.path.unlink(missing_ok=True)
