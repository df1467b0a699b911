"""Captures in files: a zip archive of `.npy` arrays that `numpy.load` opens too, with the facts as JSON. No pickle.

`docs/scope.md` has the format.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta
from numpy.lib import format as npy

from io_bridge.exports.measured import Group
from io_bridge.recording.record import TIME_FIELD, RecordError, record_dtype
from rig_configs.bounded import open_regular
from rig_configs.whole_file import write_whole
from rigloop.scope.capture import Capture, Why
from rigloop.scope.rows import Gap, Rows
from rt_core.names import PATH

ENDING = ".npz"
FACTS = "capture.json"
FORMAT = 1
MOST_BYTES = 4 << 30
MOST_FACTS_BYTES = 64 << 20
MOST_TASKS = 64
MOST_GAPS = 1 << 20
MOST_HEADER = 1 << 16  # of an array

Text = Annotated[str, Meta(max_length=4096)]
Seconds = Annotated[float, Meta(ge=0.0, le=1e6)]


class CaptureFileError(ValueError):
    """A file is no capture, or not a whole one; the message names it, and what is wrong."""


class _Signal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[str, Meta(max_length=200)]
    unit: Annotated[str, Meta(max_length=64)]


class _Gap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    t_ns: Annotated[int, Meta(ge=0, le=1 << 62)]
    lost: Annotated[int, Meta(ge=0)]
    skipped: Annotated[int, Meta(ge=0)]


class _Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]*$", max_length=64)]
    period_ns: Annotated[int, Meta(gt=0, le=10**12)]
    signals: Annotated[tuple[_Signal, ...], Meta(max_length=1000)]
    gaps: Annotated[tuple[_Gap, ...], Meta(max_length=MOST_GAPS)]


class _Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    format: Annotated[int, Meta(ge=FORMAT, le=FORMAT)]
    rig: Text
    run: Text
    trigger: Text
    why: Why
    trigger_ns: Annotated[int, Meta(ge=0, le=1 << 62)]
    pre_s: Seconds
    post_s: Seconds
    number: Annotated[int, Meta(ge=1)]
    complete: bool
    tasks: Annotated[tuple[_Task, ...], Meta(min_length=1, max_length=MOST_TASKS)]


def save_capture(capture: Capture, path: Path) -> None:
    """Write a capture, all of it or nothing.

    Raises
    ------
    OSError
        It cannot be written.
    """
    tasks = tuple(
        _Task(
            g.name,
            g.period_ns,
            tuple(_Signal(path, unit) for path, unit in zip(g.paths, g.units, strict=True)),
            tuple(_Gap(gap.t_ns, gap.lost, gap.skipped) for gap in capture.gaps.get(g.name, ())),
        )
        for g in capture.groups
    )
    facts = _Facts(
        format=FORMAT,
        rig=capture.rig,
        run=capture.origin,
        trigger=capture.trigger,
        why=capture.why,
        trigger_ns=capture.trigger_ns,
        pre_s=capture.pre_s,
        post_s=capture.post_s,
        number=capture.number,
        complete=capture.complete,
        tasks=tasks,
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FACTS, msgspec.json.format(msgspec.json.encode(facts)))
        for group in capture.groups:
            with archive.open(f"{group.name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, group.rows, version=(1, 0), allow_pickle=False)
    write_whole(path, made.getvalue())


def load_capture(path: Path) -> Capture:
    """Read a capture.

    Raises
    ------
    CaptureFileError
        It is none, is damaged, or is larger than any.
    """
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
            if sum(sizes.values()) > MOST_BYTES or sizes.get(FACTS, 0) > MOST_FACTS_BYTES:
                raise CaptureFileError(f"{path}: is larger than any capture")
            with archive.open(FACTS) as member:
                facts = msgspec.json.decode(member.read(MOST_FACTS_BYTES), type=_Facts)
            groups = tuple(
                _group(task, _rows(archive, task, sizes[f"{task.name}.npy"]))
                for task in facts.tasks
            )
    except CaptureFileError:
        raise
    except OSError as error:
        raise CaptureFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except KeyError as error:
        raise CaptureFileError(f"{path}: is not a capture: {error.args[0]} is missing") from None
    except (
        zipfile.BadZipFile, msgspec.DecodeError, RecordError, ValueError, EOFError,
        NotImplementedError, RuntimeError, struct.error, zlib.error, SyntaxError, MemoryError,
    ) as error:  # fmt: skip
        raise CaptureFileError(f"{path}: is not a capture: {error}") from None
    return Capture(
        facts.rig,
        facts.run,
        facts.trigger,
        facts.why,
        facts.trigger_ns,
        facts.pre_s,
        facts.post_s,
        groups,
        facts.number,
        facts.complete,
        {
            t.name: tuple(Gap(gap.t_ns, gap.lost, gap.skipped) for gap in t.gaps)
            for t in facts.tasks
        },
    )


def is_capture(path: Path) -> bool:
    """Tell by its name whether a path is the file of a capture."""
    return path.suffix == ENDING and not path.is_dir()


def _rows(archive: zipfile.ZipFile, task: _Task, size: int) -> Rows:
    with archive.open(f"{task.name}.npy") as member:
        if npy.read_magic(member) != (1, 0):
            raise ValueError(f"{task.name}.npy is of another version")
        shape, is_fortran, dtype = npy.read_array_header_1_0(member, max_header_size=MOST_HEADER)
        names = dtype.names or ("",)
        if is_fortran or len(shape) != 1 or dtype != record_dtype(names[1:]):
            raise ValueError(f"{task.name}.npy does not have rows of {TIME_FIELD} and signals")
        if not all(PATH.fullmatch(name) for name in names):
            raise ValueError(f"{task.name}.npy has a field that is not a signal")
        data = member.read(min(size, shape[0] * dtype.itemsize + 1))
    rows = np.frombuffer(data, dtype) if len(data) == shape[0] * dtype.itemsize else None
    if rows is None:
        raise ValueError(f"{task.name}.npy does not have the rows that its header says")
    if np.any(np.diff(rows[TIME_FIELD]) <= 0):
        raise ValueError(f"{task.name}.npy has times that do not rise")
    return rows


def _group(task: _Task, rows: Rows) -> Group:
    paths = tuple(signal.path for signal in task.signals)
    missing = [path for path in paths if path not in (rows.dtype.names or ())]
    if missing:
        raise ValueError(f"{task.name}.npy has no signal {missing[0]!r}")
    units = tuple(signal.unit for signal in task.signals)
    return Group(task.name, rows, paths, units, task.period_ns)
