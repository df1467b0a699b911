"""The files that a rig names (mechanisms, devices, ESI files, blocks of its own, tables of samples), each found by its
path from the rig's own folder.

A path that is not there from the rig's folder is taken from where the program runs. A run keeps a copy of each
in its run folder, and a rig in a run folder names nothing else: whoever sends one away sends all that it needs,
and whoever gets one opens no other file of this machine.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rig_configs.bounded import (
    MOST_KEPT_BYTES,
    MOST_MECHANISM_BYTES,
    UnreadableError,
    read_bytes,
    read_text,
)
from rig_configs.installed_blocks import INSTALLED, installed_declarations

KEPT = "named_files"
OF_A_RUN = ("order.json", "manifest.json")
ESI = ".xml"
SOURCES = (".c", ".pyx")  # of a block of one's own, beside its declaration
MECHANISM = re.compile(r"(?P<file>.+\.toml)(?P<rest>)", re.DOTALL)
SAMPLES = re.compile(r"(?P<file>.+\.csv)(?P<rest>)", re.DOTALL)
# behind a device's file: which of an ESI file it is, and the quirks that it has
DEVICE = re.compile(
    r"(?P<file>.+?\.(?:toml|xml))(?P<rest>(?:#.*|\+[A-Za-z_].*)?)", re.DOTALL | re.IGNORECASE
)


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
        named = table[key]
        if not isinstance(named, str) or "\0" in named:
            continue
        if key == "kind" and (declaration := _installed(named, folder)) is not None:
            written = f"{named}.toml"
            found[written] = table[key] = str(declaration)
            found |= _source(written, declaration)
            continue
        match = PATTERNS.get(key, SAMPLES).fullmatch(named)
        if match is not None:
            written = match["file"]
            found[written] = str(_place(written, folder))
            table[key] = found[written] + match["rest"]
            if key == "kind":
                found |= _source(written, Path(found[written]))
    return found


def _source(written: str, declaration: Path) -> dict[str, str]:
    source = source_beside(declaration)
    return {written.removesuffix(".toml") + source.suffix: str(source)}


def _installed(named: str, folder: Path) -> Path | None:
    if INSTALLED.fullmatch(named) and _is_of_a_run(folder):
        return _kept(f"{named}.toml", folder)
    found = installed_declarations(named)
    return found[0] if len(found) == 1 else None


def _is_of_a_run(folder: Path) -> bool:
    return any((folder / name).exists() for name in OF_A_RUN)


def sources_beside(declaration: Path) -> list[Path]:
    """Find the sources that lie beside the declaration of a block; there should be one."""
    places = (declaration.with_suffix(suffix) for suffix in SOURCES)
    return [path for path in places if os.path.lexists(path)]


def source_beside(declaration: Path) -> Path:
    """Return the source beside the declaration of a block; where there is none, the place for one in C."""
    return (*sources_beside(declaration), declaration.with_suffix(SOURCES[0]))[0]


PATTERNS = {"mechanism": MECHANISM, "kind": MECHANISM, "device": DEVICE}


def keep_named(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Copy the files that a rig names into a run folder; return the copies: name as written → path.

    Raises
    ------
    OSError
        One is no longer there, or cannot be written.
    """
    copies = {}
    for written, path in files.items():
        kept = _kept(written, folder)
        content = content_of(Path(path))
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(content)
        copies[written] = str(kept)
    return copies


def content_of(path: Path) -> bytes:
    """Return the content of a file that a rig names, as a run keeps it.

    Raises
    ------
    OSError
        It cannot be read.
    """
    if path.suffix.lower() in (ESI, ".csv"):
        # in whatever encoding it says itself
        return read_bytes(path, MOST_KEPT_BYTES)
    try:
        return read_text(path, MOST_MECHANISM_BYTES).encode()
    except UnreadableError as error:
        raise OSError(errno.EIO, f"{path} {error}") from None


def _place(written: str, folder: Path) -> Path:
    kept = _kept(written, folder)
    if _is_of_a_run(folder):
        return kept
    near, here = folder / written, Path(written)  # that of an absolute path is the path
    try:
        return here if here.exists() and not near.exists() else near
    except OSError:  # a name of too many bytes
        return near


def _kept(written: str, folder: Path) -> Path:
    # two files of one name are two files; a source lies beside its declaration
    stem, suffix = os.path.splitext(written)
    whole = f"{stem}.toml" if suffix in SOURCES else written
    digest = hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()
    return folder / KEPT / digest[:12] / Path(written).name


def _naming(data: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each table that names a file, and the key."""
    for block in _tables(data.get("blocks")):
        for key, value in list(block.items()):
            if key in ("mechanism", "kind") or (isinstance(value, str) and value.endswith(".csv")):
                yield block, key
        for kind in ("drives", "terminals"):
            for slave in _tables(block.get(kind)):
                if "device" in slave:
                    yield slave, "device"
    for stimulus in _tables(data.get("stimuli")):
        for signal in _tables({"signal": stimulus.get("signal")}):
            for key, value in list(signal.items()):
                if isinstance(value, str) and value.endswith(".csv"):
                    yield signal, key


def _tables(value: Any) -> list[dict[str, Any]]:
    return [v for v in value.values() if isinstance(v, dict)] if isinstance(value, dict) else []
