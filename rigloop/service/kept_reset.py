"""The need of a `reset`, kept in a file a rig, so that a service that is started again knows it."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from rig_configs.bounded import UnreadableError, read_text
from rig_configs.plain import line
from rig_configs.whole_file import write_whole
from rigloop.run_folder.manifest import ManifestError, read_manifest

FOLDER = "needs_reset"
"""Beside the logs of services; a file a rig, whatever the service's name is."""
LONGEST = 1000

_log = logging.getLogger(__name__)


class _Kept(msgspec.Struct, frozen=True):
    words: str = ""  # the reason
    armed: str = ""  # folder of the run that was armed and is not judged


class KeptReset:
    """The file of one rig.

    A file that cannot be read is one more reason for a reset; one that cannot be written is reported in the output
    of the service, which itself still knows the reason.

    Parameters
    ----------
    state_folder : Path
        Where the logs of services are.
    rig : str
    """

    def __init__(self, state_folder: Path, rig: str) -> None:
        self.path = state_folder / FOLDER / f"{rig}.json"

    def found(self) -> str:
        """Return why the rig needs a reset by what an earlier service has left; "" where it needs none."""
        try:
            self.path.lstat()
            kept = msgspec.json.decode(read_text(self.path), type=_Kept)
        except FileNotFoundError:
            return ""
        except (UnreadableError, OSError, msgspec.MsgspecError) as error:
            return f"{self.path}: cannot be read: {error}"
        if kept.words or not kept.armed:
            return kept.words
        return self._judged(Path(kept.armed))

    def need(self, words: str) -> None:
        """Keep the reason."""
        self._write(_Kept(words=line(words, LONGEST)))

    def armed(self, folder: str) -> None:
        """Keep that a run was armed: it needs a reset as well if its service dies and its verdict is not good."""
        self._write(_Kept(armed=folder))

    def forget(self) -> None:
        """Forget the reason: a reset has come, or the run has ended as it should."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("%s: not removed: %s", self.path, error.strerror)

    @staticmethod
    def _judged(folder: Path) -> str:
        try:
            manifest = read_manifest(folder)
        except (ManifestError, OSError) as error:
            return f"the service ended while this run was armed, and it has no verdict: {error}"
        if manifest.state == "ended" and manifest.verdict == "good":
            return ""
        how = "; ".join(manifest.reasons) if manifest.state == "ended" else "it has no verdict yet"
        return f"the service ended while this run was armed: {folder}: {how}"

    def _write(self, kept: _Kept) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self.path, msgspec.json.encode(kept), lasting=True)
        except OSError as error:
            _log.warning(
                "%s: not written: %s: the need of a reset is lost when this service ends",
                self.path,
                error.strerror,
            )
