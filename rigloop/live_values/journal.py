"""The journal of a run's live values: a line of JSON for each change and each refusal, with time, cycle and author."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import Self

import msgspec

from rig_configs.bounded import read_bytes
from rigloop.live_values.refused import LiveOwnedError

JOURNAL = "live.jsonl"
MOST_BYTES = 16_000_000
MOST_REFUSED_BYTES = MOST_BYTES // 4  # whoever is refused again and again takes no room of changes


class Entry(msgspec.Struct, omit_defaults=True):
    """A line of the journal.

    Attributes
    ----------
    utc_ns, monotonic_ns : int
        CLOCK_REALTIME and CLOCK_MONOTONIC just after the change was published, or refused: each cycle that begins
        later has it.
    author : str
    cycles : dict of task to int
        The newest finished cycle of each task before; a later one is the first with the change.
    sequence : int
        The number of the change, as `live/changes` has it; 0: refused.
    values : dict of name to float
    begun, ended : tuple of str
        Stimuli.
    refused : tuple of str
        Every reason, in the words of the answer.
    """

    utc_ns: int
    monotonic_ns: int
    author: str
    cycles: dict[str, int] = {}
    sequence: int = 0
    values: dict[str, float] = {}
    begun: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def change(self) -> str:
        """The change, without its author."""
        parts = [f"{name} = {value:g}" for name, value in self.values.items()]
        parts += [f"{name} begun" for name in self.begun]
        parts += [f"{name} ended" for name in self.ended]
        parts += [f"refused: {'; '.join(self.refused)}"] if self.refused else []
        return ", ".join(parts)

    @property
    def words(self) -> str:
        """The change and its author in one line."""
        return f"{self.change} ({self.author})"


class Journal:
    """The journal of one run, owned by this process as long as it is open.

    Parameters
    ----------
    folder : Path
        Of the run.

    Attributes
    ----------
    lost : int
        Lines that had no room, in the file or on the disk; the record of the run has the values all the same.

    Raises
    ------
    LiveOwnedError
        Another process owns it.
    OSError
        It cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL
        self.lost = 0
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(self.path, flags, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._bytes = os.fstat(self._file).st_size
            if self._bytes and os.pread(self._file, 1, self._bytes - 1) != b"\n":
                # a writer was killed in the middle of a line
                self._bytes += os.write(self._file, b"\n")
        except BlockingIOError:
            os.close(self._file)
            raise LiveOwnedError(
                f"{self.path}: another process writes the live values of this run: send it the command"
            ) from None
        except BaseException:
            os.close(self._file)
            raise
        self._refused_bytes = 0

    def add(self, entry: Entry) -> None:
        """Write one line, if there is room; raises nothing."""
        raw = msgspec.json.encode(entry) + b"\n"
        most = MOST_REFUSED_BYTES if entry.refused else MOST_BYTES
        so_far = self._refused_bytes if entry.refused else self._bytes
        if so_far + len(raw) > most or self._bytes + len(raw) > MOST_BYTES:
            self.lost += 1
            return
        try:
            written = os.write(self._file, raw)
        except OSError:
            self.lost += 1
            return
        self._bytes += written
        self._refused_bytes += written if entry.refused else 0
        if written < len(raw):
            self.lost += 1
            with contextlib.suppress(OSError):
                self._bytes += os.write(self._file, b"\n")

    def close(self) -> None:
        """Let go of the journal: another process may write the live values from now on."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def read_journal(folder: Path) -> list[Entry]:
    """Return the lines of a run's journal; those that are damaged are left out, and no journal is an empty one."""
    try:
        raw = read_bytes(folder / JOURNAL, MOST_BYTES + 4096)
    except (OSError, ValueError):
        return []
    found = []
    for text in raw.splitlines():
        with contextlib.suppress(msgspec.DecodeError, ValueError):
            found.append(msgspec.json.decode(text, type=Entry))
    return found
