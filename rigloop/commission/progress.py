"""The results of a walk so far, in a file beside the rig, so that an interrupted walk goes on where it was."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import msgspec

from io_bridge.slaves.sii import Identity
from rig_configs.json_message import decode
from rig_configs.whole_file import write_whole
from rigloop.sign_off.own_file import MODE, ForeignError, read_own
from rigloop.sign_off.signed_file import SignedDrive, age_of

ENDING = ".commissioning.json"
COUNTS = 1e4
MOST_AGE = timedelta(hours=24)
"""A rig changes without its file: older results are measured again."""


class StepResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step that was measured."""

    step: str
    good: bool
    measured: float | None
    unit: str
    least: float | None
    most: float | None
    words: str
    remedy: str = ""
    when: str = ""
    """UTC, ISO 8601."""

    def is_fresh(self, now: datetime) -> bool:
        """Decide if the result counts now; one without a date, or of the future, does not."""
        age = age_of(self.when, now)
        return age is not None and age <= MOST_AGE

    def figure(self) -> str:
        """Return the value beside its limits, in words."""
        if self.measured is None:
            return ""
        unit = self.unit if self.unit == "°" else f" {self.unit}" if self.unit else ""
        value = f"{_number(self.measured)}{unit}"
        if self.least is not None and self.most is not None:
            if self.least == self.most:
                return f"{value}, limit {_number(self.most)}"
            return f"{value}, limits {_number(self.least)} to {_number(self.most)}"
        if self.least is not None:
            return f"{value}, at least {_number(self.least)}"
        return value if self.most is None else f"{value}, at most {_number(self.most)}"


def _number(value: float) -> str:
    # counts are whole
    return f"{value:.0f}" if abs(value) >= COUNTS else f"{value:.4g}"


class Progress(msgspec.Struct, forbid_unknown_fields=True):
    """The file: it holds for one axis, one rig and one drive."""

    rig_sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
    guard: str
    drive: SignedDrive
    results: list[StepResult] = []


class Kept:
    """The results so far, each written as soon as it is there.

    Parameters
    ----------
    path : Path or None
        None: of a rehearsal, which leaves no file.
    rig_sha256, guard, identity
        Results of another rig, axis or drive do not count.
    """

    def __init__(self, path: Path | None, rig_sha256: str, guard: str, identity: Identity) -> None:
        self._path = path
        self._progress = Progress(rig_sha256, guard, SignedDrive.of(identity))
        found = None if path is None else _read(path)
        if found is not None and (found.rig_sha256, found.guard, found.drive) == (
            rig_sha256,
            guard,
            self._progress.drive,
        ):
            now = datetime.now(UTC)
            self._progress = found
            found.results = [result for result in found.results if result.is_fresh(now)]

    @property
    def results(self) -> list[StepResult]:
        """The results, in the order in which they were measured."""
        return list(self._progress.results)

    def forget(self, *steps: str) -> None:
        """Drop the results of steps, in the file too: an interrupted walk does not find them again."""
        self._drop(steps)
        self._save()

    def keep(self, result: StepResult) -> None:
        """Take a result, and write the file."""
        self._drop((result.step,))
        self._progress.results.append(result)
        self._save()

    def _drop(self, steps: Sequence[str]) -> None:
        self._progress.results = [r for r in self._progress.results if r.step not in steps]

    def _save(self) -> None:
        with contextlib.suppress(OSError):
            # a disk that is full ends no walk
            self.write()

    def write(self) -> None:
        """Write the file; OSError where it cannot be."""
        if self._path is not None:
            text = msgspec.json.format(msgspec.json.encode(self._progress)) + b"\n"
            write_whole(self._path, text, lasting=True, mode=MODE)

    def remove(self) -> None:
        """Remove the file: the walk is over."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def _read(path: Path) -> Progress | None:
    # what cannot be read, or is of somebody else, is measured again
    try:
        found = decode(read_own(path), type=Progress)
    except (OSError, ForeignError, msgspec.DecodeError):
        return None
    return found if isinstance(found, Progress) else None
