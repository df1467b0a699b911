"""An export: in one of the formats, all of it or nothing."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from io_bridge.exports.csv_file import beside_csv, write_csv
from io_bridge.exports.hdf5_file import write_hdf5
from io_bridge.exports.mat_file import write_mat
from io_bridge.exports.mcap_file import write_mcap
from io_bridge.exports.mdf_file import write_mdf
from io_bridge.exports.measured import TEMPORARY, Measured
from io_bridge.exports.parquet_file import write_parquet
from io_bridge.exports.progress import Advance
from io_bridge.exports.refused import ExportError
from io_bridge.logs.formats.opened import extra


@dataclass(frozen=True)
class Form:
    """A format: ending of its files, the library that it needs, and its writer."""

    ending: str
    library: str | None
    write: Callable[[Measured, Path, Advance], None]
    beside: Callable[[Measured], str] | None = None
    """The text of a JSON file beside it, of a format that has no place for units and events."""


FORMS: Mapping[str, Form] = {
    "csv": Form(".csv", None, write_csv, beside_csv),
    "parquet": Form(".parquet", "pyarrow", write_parquet),
    "mdf": Form(".mf4", "asammdf", write_mdf),
    "mcap": Form(".mcap", "mcap", write_mcap),
    "hdf5": Form(".h5", "h5py", write_hdf5),
    "mat": Form(".mat", "scipy", write_mat),
}


def write_export(
    measured: Measured,
    to: str,
    path: Path,
    *,
    replaces: bool = False,
    advance: Advance = lambda rows: None,
) -> list[Path]:
    """Write an export under another name, and give it its own once it is whole.

    Parameters
    ----------
    to : str
        One of `FORMS`.
    replaces : bool
        A file that is there is replaced.
    advance : callable
        Called with how many more rows are written, all groups together.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ExportError
        There is such a file, the ending is that of another format, or the file cannot be written.
    LogError
        The library of the format is not installed.
    """
    form = FORMS[to]
    if path.suffix.lower() != form.ending:
        raise ExportError(f"{path}: a file of {to} ends in {form.ending}: give that name")
    made = {path: _building(path, os.getpid())}
    if form.beside is not None:
        beside = path.with_name(f"{path.name}.json")
        made[beside] = _building(beside, os.getpid())
    for there in made:
        if there.is_dir():
            raise ExportError(f"{there}: is a folder; give another --out")
        if there.exists() and not replaces:
            raise ExportError(f"{there}: is there already; --force replaces it, or give --out")
    if form.library is not None:
        extra(form.library, path, "written")
    for there in made:
        _remove_remains(there)
    try:
        form.write(measured, made[path], advance)
        if form.beside is not None:
            made[beside].write_text(form.beside(measured), encoding="utf-8")
        for there, building in reversed(made.items()):
            _sync(building)
            building.replace(there)
    except OSError as error:
        raise ExportError(f"{path}: cannot be written: {_reason(error)}") from None
    finally:
        for building in made.values():
            building.unlink(missing_ok=True)
    return [*made]


def _building(path: Path, process: int | str) -> Path:
    return path.with_name(f".{path.stem}.{process}{path.suffix}")


def _remove_remains(path: Path) -> None:
    """Remove the halves that exports of the same file left behind when they were killed."""
    for half in path.parent.glob(f".{escape(path.stem)}.*{escape(path.suffix)}*"):
        file = half.name.removesuffix(TEMPORARY)
        process = file[len(f".{path.stem}.") : -len(path.suffix)]
        if half.with_name(file) != _building(path, process) or not process.isdecimal():
            continue
        if not Path("/proc", process).exists():
            with suppress(OSError):
                shutil.rmtree(half) if half.is_dir() else half.unlink()


def _reason(error: OSError) -> str:
    """Return the reason of the system; HDF5 says it as a number within several lines."""
    if error.strerror:
        return error.strerror
    number = re.search(r"errno (?:= )?(\d+)", str(error))
    return os.strerror(int(number[1])) if number else str(error).splitlines()[0]


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
