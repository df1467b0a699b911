"""The journal: who asked for what, when, and what became of it; a line of JSON each, in the run folder and in a log."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from rig_configs.plain import line
from rigloop.run_folder.clocks import read_clocks

NAME = "journal.jsonl"
MOST_LOG_BYTES = 8 << 20
"""Of the log of a service; then it begins again, and the one before is kept."""
MOST_RUN_BYTES = 8 << 20
"""Of the journal in a run folder; refusals beyond it are in the log only."""
LONGEST = 1000
LOOSE = 200  # entries that wait for the folder of a run


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a journal."""

    utc_ns: int
    monotonic_ns: int
    author: str
    command: str
    done: bool
    words: str = ""
    rig: str = ""


def entry(author: str, command: str, *, done: bool, words: str = "", rig: str = "") -> Entry:
    """Return an entry of now."""
    now = read_clocks()
    return Entry(
        now.utc_ns,
        now.monotonic_ns,
        line(author, 200),
        line(command, 64),
        done,
        line(words, LONGEST),
        line(rig, 200),
    )


def read(path: Path) -> list[Entry]:
    """Return the entries of a journal; a last line that was cut off is left out."""
    decoder = msgspec.json.Decoder(Entry)
    found = []
    with path.open("rb") as lines:
        for raw in lines:
            with contextlib.suppress(msgspec.MsgspecError):
                found.append(decoder.decode(raw))
    return found


class Journal:
    """A file of entries, appended to; what cannot be written ends nothing, and is counted.

    Parameters
    ----------
    path : Path
    most_bytes : int
    again : bool
        At that size it begins again, and keeps the one before under `.1`; else it takes no refusals any more.
    """

    def __init__(self, path: Path, most_bytes: int, *, again: bool) -> None:
        self.path, self._most, self._again = path, most_bytes, again
        self.unwritten = 0
        self._file = -1
        self._size = 0
        self._open()

    def add(self, made: Entry) -> None:
        """Append an entry."""
        raw = msgspec.json.encode(made) + b"\n"
        if self._size + len(raw) > self._most:
            if self._again:
                self._begin_again()
            elif not made.done:
                self.unwritten += 1
                return
        try:
            if self._file < 0:
                raise OSError
            self._size += os.write(self._file, raw)
        except OSError:
            self.unwritten += 1

    def close(self) -> None:
        """Close the file. Harmless when repeated."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> None:
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(
                self.path,
                os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW,
                0o600,
            )
            self._size = os.fstat(self._file).st_size

    def _begin_again(self) -> None:
        self.close()
        with contextlib.suppress(OSError):
            os.replace(self.path, self.path.with_name(f"{self.path.name}.1"))
        self._open()


class RunJournal:
    """The journal of a rig's runs: changes wait until the run has its folder; refusals before are in the log only."""

    def __init__(self) -> None:
        self._loose: list[Entry] = []
        self._journal: Journal | None = None

    def settle(self, folder: Path) -> None:
        """Name the folder of the run."""
        if self._journal is None:
            self._journal = Journal(folder / NAME, MOST_RUN_BYTES, again=False)
            for made in self._loose:
                self._journal.add(made)
            self._loose = []

    def add(self, made: Entry) -> None:
        """Add an entry to the run that goes on."""
        if self._journal is not None:
            self._journal.add(made)
        elif made.done and len(self._loose) < LOOSE:
            self._loose.append(made)

    def end(self) -> None:
        """Close the journal of the run that has ended."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None


def log_folder() -> Path:
    """Return where services keep their logs."""
    given = os.environ.get("XDG_STATE_HOME", "")
    base = Path(given) if given.startswith("/") else Path.home() / ".local" / "state"
    return base / "rigloop"
