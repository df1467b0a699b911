"""The files that a rig names: mechanisms and devices, each found by its path from the rig's own folder.

A path that is not there from the rig's folder is taken from where the program runs. A run keeps a copy of each
in its run folder, and a rig in a run folder names nothing else: whoever sends one away sends all that it needs,
and whoever gets one opens no other file of this machine.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rig_configs.bounded import MOST_MECHANISM_BYTES, UnreadableError, read_text

KEPT = "named_files"
OF_A_RUN = ("order.json", "manifest.json")
SUFFIX = ".toml"


def find_named(data: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Write into the tables of a rig where its files are; return them: name as written → path.

    Parameters
    ----------
    data : mapping
        The tables of the rig, as parsed; nothing in them needs to be right.
    folder : Path
        Of the rig file.
    """
    found = {}
    for table, key in _naming(data):
        written = table[key]
        if isinstance(written, str) and written.endswith(SUFFIX) and "\0" not in written:
            found[written] = table[key] = str(_place(written, folder))
    return found


def keep_named(folder: Path, files: Mapping[str, str]) -> None:
    """Copy the files that a rig names into a run folder.

    Raises
    ------
    OSError
        One is no longer there, or cannot be written.
    """
    for written, path in files.items():
        kept = _kept(written, folder)
        try:
            text = read_text(Path(path), MOST_MECHANISM_BYTES)
        except UnreadableError as error:
            raise OSError(errno.EIO, f"{path} {error}") from None
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(text, encoding="utf-8")


def _place(written: str, folder: Path) -> Path:
    kept = _kept(written, folder)
    if any((folder / name).exists() for name in OF_A_RUN):
        return kept
    near, here = folder / written, Path(written)  # that of an absolute path is the path
    try:
        return here if here.exists() and not near.exists() else near
    except OSError:  # a name of too many bytes
        return near


def _kept(written: str, folder: Path) -> Path:
    # two files of one name are two files
    digest = hashlib.sha256(written.encode(errors="surrogatepass")).hexdigest()
    return folder / KEPT / digest[:12] / Path(written).name


def _naming(data: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each table that names a file, and the key."""
    for block in _tables(data.get("blocks")):
        if "mechanism" in block:
            yield block, "mechanism"
        for kind in ("drives", "terminals"):
            for slave in _tables(block.get(kind)):
                if "device" in slave:
                    yield slave, "device"


def _tables(value: Any) -> list[dict[str, Any]]:
    return [v for v in value.values() if isinstance(v, dict)] if isinstance(value, dict) else []
