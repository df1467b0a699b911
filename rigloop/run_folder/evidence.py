"""Writing the evidence of a run that is over, on whatever disk is left; what cannot be written makes it bad."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from rig_configs.load import LoadedRig
from rig_configs.named_files import keep_named
from rigloop.run_folder.manifest import MANIFEST, Manifest, ManifestError, write_manifest


class Keeping:
    """Keeps the files of a run folder; makes the folder again if somebody took it away.

    Attributes
    ----------
    lost : list of str
        What was gone when the run ended.
    failed : dict of str to str
        File → why it could not be written.
    """

    def __init__(self, folder: Path, loaded: LoadedRig) -> None:
        self.lost: list[str] = []
        self.failed: dict[str, str] = {}
        self._folder = folder
        if not folder.is_dir() or not (folder / "rig.toml").exists():
            self.lost.append(f"the run folder was removed, with its content: {folder}")
            self.keep("rig.toml", lambda: self._again(loaded))

    def _again(self, loaded: LoadedRig) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "rig.toml").write_text(loaded.text, encoding="utf-8")
        keep_named(self._folder, loaded.files)

    def keep(self, name: str, write: Callable[[], object]) -> None:
        """Write one file; whatever it stumbles on, the verdict comes out."""
        path = self._folder / name
        try:
            write()
        except OSError as error:
            self.failed[name] = f"{path}: cannot be written: {error.strerror}"
        except ManifestError as error:
            self.failed[name] = f"{path}: cannot be written: {error}"

    def keep_manifest(self, manifest: Manifest) -> Manifest:
        """Write the manifest, with what could not be written so far; return it as it stands."""
        if self.failed:
            reasons = manifest.reasons if manifest.verdict == "bad" else ()
            new = [words for words in self.failed.values() if words not in reasons]
            manifest = msgspec.structs.replace(manifest, verdict="bad", reasons=(*reasons, *new))
        self.keep(MANIFEST, lambda: write_manifest(self._folder, manifest))
        if MANIFEST in self.failed and self.failed[MANIFEST] not in manifest.reasons:
            reasons = (*manifest.reasons, self.failed[MANIFEST])
            manifest = msgspec.structs.replace(manifest, verdict="bad", reasons=reasons)
        return manifest
