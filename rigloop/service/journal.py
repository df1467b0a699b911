"""The journal: who asked for what, when, and what became of it; a line of JSON each, in the run folder and in a log."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from rig_configs.plain import line
from rigloop.run_folder.clocks import read_clocks

NAME = "journal.jsonl"
REFUSED = "refused"
"""Folder of the refusals, beside the logs of services."""
MOST_LOG_BYTES = 8 << 20
"""Largest log of a service; then a new one begins, and the one before is kept."""
MOST_RUN_BYTES = 8 << 20
"""Largest journal in a run folder; refusals beyond it are in the log only."""
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

    Attributes
    ----------
    unwritten : int
        Entries that the disk has not taken.
    left_out : int
        Refusals that came when the file was full.
    """

    def __init__(self, path: Path, most_bytes: int, *, again: bool) -> None:
        self.path, self._most, self._again = path, most_bytes, again
        self.unwritten = self.left_out = 0
        self._file = -1
        self._size, self._is_cut = 0, False
        self._open()

    def add(self, made: Entry) -> None:
        """Append an entry."""
        raw = msgspec.json.encode(made) + b"\n"
        if self._size + len(raw) > self._most:
            if self._again:
                self._begin_again()
            elif not made.done:
                self.left_out += 1
                return
        if self._file < 0:
            self._open()
        try:
            written = os.write(self._file, b"\n" * self._is_cut + raw)
        except OSError:
            self.unwritten += 1
            return
        self._size += written
        # a disk that fills up takes a part of a line; the next one begins a line of its own
        whole = written == len(raw) + self._is_cut
        self._is_cut = not whole
        self.unwritten += not whole

    def close(self) -> None:
        """Close the file. Harmless when repeated."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> None:
        self._size, self._is_cut = 0, False
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(
                self.path,
                os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW,
                0o600,
            )
            self._size = os.fstat(self._file).st_size
            # whoever wrote it before may have been killed in a line
            self._is_cut = self._size > 0 and os.pread(self._file, 1, self._size - 1) != b"\n"

    def _begin_again(self) -> None:
        self.close()
        with contextlib.suppress(OSError):
            os.replace(self.path, self.path.with_name(f"{self.path.name}.1"))
        self._open()


class ServiceLog:
    """The log of a service: changes in one file, refusals in another, so that a flood of these pushes no change out.

    Parameters
    ----------
    folder : Path
    name : str
        Of the service.
    most_bytes : int, optional
        Of each file; then it begins again, and the one before is kept.

    Attributes
    ----------
    folder : Path
    """

    def __init__(self, folder: Path, name: str, most_bytes: int = MOST_LOG_BYTES) -> None:
        self.folder = folder
        self._done = Journal(folder / f"{name}.jsonl", most_bytes, again=True)
        self._refused = Journal(folder / REFUSED / f"{name}.jsonl", most_bytes, again=True)

    @property
    def unwritten(self) -> int:
        """Entries that could not be written."""
        return self._done.unwritten + self._refused.unwritten

    def add(self, made: Entry) -> None:
        """Append an entry."""
        (self._done if made.done else self._refused).add(made)

    def read(self) -> list[Entry]:
        """Return the entries that the files have now, in order of time."""
        found = [one for log in (self._done, self._refused) for one in read(log.path)]
        return sorted(found, key=lambda one: one.monotonic_ns)

    def close(self) -> None:
        """Close the files. Harmless when repeated."""
        self._done.close()
        self._refused.close()


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

    @property
    def unwritten(self) -> int:
        """Changes of the run that goes on that could not be written."""
        return self._journal.unwritten if self._journal is not None else 0

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
