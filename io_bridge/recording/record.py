"""The record of a run: an append-only `.npy` file that stays readable whatever kills its writer.

One row per cycle: `t_ns` (int64) and one float64 per signal, field name = signal path. While it is
being written the header says zero rows and the size of the file gives their number; a clean
close writes the number into the header, so that a plain `np.load(path, mmap_mode="r")` works too.
"""

from __future__ import annotations

import ast
import errno
import os
import warnings
import weakref
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from rt_core.signals.mapped_file import guard_memory, release_memory, was_cut

TIME_FIELD = "t_ns"
MAGIC = npy.magic(1, 0)
MAX_HEADER = 65_535  # of .npy version 1
SHAPE_DIGITS = 20  # room for the final number of rows


class RecordError(ValueError):
    """A file is not a record, or rows do not fit into it."""


class RecordFull(OSError):
    """The disk took no more rows; those written before are safe."""


class RecordWarning(UserWarning):
    """A record was cut; the message names the part that was left out."""


def record_dtype(fields: Sequence[str]) -> np.dtype:
    """Row of a record: `t_ns` as int64, then one float64 per signal path.

    Raises
    ------
    RecordError
        A path is repeated, empty or is `t_ns`.
    """
    repeated = sorted({name for name in fields if list(fields).count(name) > 1})
    if repeated or "" in fields or TIME_FIELD in fields:
        wrong = repeated[0] if repeated else TIME_FIELD if TIME_FIELD in fields else ""
        raise RecordError(
            f"field {wrong!r}: names of a record are distinct, not empty, not {TIME_FIELD}"
        )
    return np.dtype([(TIME_FIELD, "<i8"), *((name, "<f8") for name in fields)])


class RecordWriter:
    """Writes one record; rows are in the file when `append` returns.

    Parameters
    ----------
    path : str or Path
        Must not exist: a record is never overwritten.
    fields : sequence of str
        Signal paths, in the order of the columns.
    resume : bool
        Continue after the last whole row of a record whose writer has died; it has to have these fields.

    Raises
    ------
    FileExistsError
        There is such a file.
    RecordError
        Wrong names, or more of them than a header of 64 KiB holds; a record with other fields to continue.
    """

    def __init__(self, path: str | Path, fields: Sequence[str], *, resume: bool = False) -> None:
        self.path = Path(path)
        self.dtype = record_dtype(fields)
        self.n_rows = 0
        header = _header(self.dtype, 0)
        self._data_start = len(header)
        if resume:
            self._resume()
            return
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        try:
            self._write(header, 0)
        except OSError:
            os.close(self._file)
            raise

    def _resume(self) -> None:
        with self.path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = file.read(len(MAGIC) + 2 + MAX_HEADER)
        dtype, _, start = _read_header(self.path, head)
        if dtype != self.dtype or start != self._data_start:
            raise RecordError(f"{self.path}: has other fields than the rows to be added")
        self.n_rows = (size - start) // dtype.itemsize
        self._file = os.open(self.path, os.O_WRONLY | os.O_CLOEXEC)
        os.ftruncate(self._file, start + self.n_rows * dtype.itemsize)

    def cut(self, n_rows: int) -> None:
        """Take away the rows behind the first `n_rows`.

        Raises
        ------
        RecordError
            There are fewer.
        """
        if n_rows > self.n_rows:
            raise RecordError(f"{self.path}: {self.n_rows} rows are there, {n_rows} were written")
        self.n_rows = n_rows
        os.ftruncate(self._file, self._data_start + n_rows * self.dtype.itemsize)

    def append(self, rows: NDArray) -> None:
        """Add rows at the end.

        Parameters
        ----------
        rows : ndarray, shape (n,)
            Structured, of `dtype`; or any array with the same fields in the same order.

        Raises
        ------
        RecordError
            Other fields.
        RecordFull
            No space; as many whole rows as fitted are in the file and counted in `n_rows`.
        """
        if rows.dtype != self.dtype:
            if rows.dtype.names != self.dtype.names:
                raise RecordError(f"{self.path}: rows have other fields than the record")
            rows = rows.astype(self.dtype)
        data = np.ascontiguousarray(rows).view(np.uint8).data
        size = self.dtype.itemsize
        start = self._data_start + self.n_rows * size
        try:
            self._write(data, start)
        except OSError as error:
            end = os.fstat(self._file).st_size
            self.n_rows += max(0, (end - start) // size)
            os.ftruncate(self._file, self._data_start + self.n_rows * size)
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise RecordFull(
                    error.errno,
                    f"{os.strerror(error.errno)} after {self.n_rows} rows",
                    str(self.path),
                ) from error
            raise
        self.n_rows += len(rows)

    def close(self) -> None:
        """Write the number of rows into the header, flush, close. Harmless when repeated."""
        if self._file < 0:
            return
        try:
            self._write(_header(self.dtype, self.n_rows), 0)
            os.fsync(self._file)
        finally:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _write(self, data: bytes | memoryview, offset: int) -> None:
        # a short write is followed by one that says why
        done = 0
        while done < len(data):
            done += os.pwrite(self._file, data[done:], offset + done)


def open_record(path: str | Path) -> np.memmap:
    """Map a record, finished or not, read-only.

    Parameters
    ----------
    path : str or Path
        Written by `RecordWriter`, perhaps by one that was killed or still runs.

    Returns
    -------
    np.memmap, shape (n_rows,)
        Structured: `t_ns` and one float64 field per signal path. Rows appended later are not in it.

    Warns
    -----
    RecordWarning
        The last row is incomplete, or rows that the header counts are missing.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
        From opening it.
    RecordError
        Not a record.

    Notes
    -----
    Rows of a record that is cut short while it is read are zeros from then on; `take_cut_records` names it.
    """
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise RecordError(f"{path}: is not a record: it is not a regular file")
    with path.open("rb") as file:
        head = file.read(len(MAGIC) + 2 + MAX_HEADER)
        # after the header: of a record that is being made, a size from before would not hold it
        size = os.fstat(file.fileno()).st_size
    dtype, written, start = _read_header(path, head)
    n_rows, rest = divmod(size - start, dtype.itemsize)
    if rest:
        _warn(f"{path}: the last row is cut ({rest} of {dtype.itemsize} bytes); left out")
    if n_rows < written:
        _warn(f"{path}: {written} rows were written, {n_rows} are there")
    if n_rows == 0:
        # an empty file region cannot be mapped
        return np.empty(0, dtype).view(np.memmap)
    record = np.memmap(path, dtype=dtype, mode="r", offset=start, shape=(n_rows,))
    _guard(record, path)
    return record


# guarded memory is the process's: what was cut is known where a signal handler notes it
_OPEN: dict[int, Path] = {}
_CUT: set[Path] = set()


def _guard(record: np.memmap, path: Path) -> None:
    try:
        place = guard_memory(record.ctypes.data, record.nbytes)
    except OSError:  # no place is left: then a cut ends the process, as everywhere else
        return
    _OPEN[place] = path
    # views of the array keep the map, and not always the array
    weakref.finalize(record.base, _release, place)


def _release(place: int) -> None:
    path = _OPEN.pop(place, None)
    if path is not None and was_cut(place):
        _CUT.add(path)
    release_memory(place)


def take_cut_records() -> list[str]:
    """Return a sentence for each record that something else cut short while it was open here; each is named once."""
    for place in [place for place in _OPEN if was_cut(place)]:
        _CUT.add(_OPEN.pop(place))
    cut = sorted(_CUT)
    _CUT.clear()
    return [f"{path}: was truncated by another program while it was read" for path in cut]


def _read_header(path: Path, head: bytes) -> tuple[np.dtype, int, int]:
    # row, number of rows that the header counts, start of the data
    start = len(MAGIC) + 2
    if head[: len(MAGIC)] != MAGIC or len(head) < start:
        raise RecordError(
            f"{path}: is not a record: it does not start as a .npy file of version 1.0"
        )
    start += int.from_bytes(head[len(MAGIC) : start], "little")
    if len(head) < start:
        raise RecordError(f"{path}: is not a record: it ends within its header")
    try:
        dtype, n_rows = _rows_of(head[len(MAGIC) + 2 : start])
    except (ValueError, SyntaxError, TypeError, KeyError, IndexError, MemoryError, RecursionError):
        raise RecordError(
            f"{path}: is not a record: its header does not say rows of {TIME_FIELD} and signals"
        ) from None
    return dtype, n_rows, start


@lru_cache(maxsize=16)
def _rows_of(text: bytes) -> tuple[np.dtype, int]:
    # a record that grows is opened many times a second, and its header takes a hundred times longer than the rest
    header = ast.literal_eval(text.decode("ascii").strip())
    descr, shape = header["descr"], header["shape"]
    names = [name for name, _ in descr]
    (n_rows,) = shape
    if header["fortran_order"] or n_rows < 0 or names[0] != TIME_FIELD:
        raise ValueError
    dtype = record_dtype(names[1:])
    if descr != npy.dtype_to_descr(dtype):
        raise ValueError
    return dtype, n_rows


def _warn(words: str) -> None:
    warnings.warn(words, RecordWarning, stacklevel=3)


def _header(dtype: np.dtype, n_rows: int) -> bytes:
    # spaces instead of leading zeros keep its length whatever the number
    shape = f"({n_rows},), }}"
    text = f"{{'descr': {npy.dtype_to_descr(dtype)!r}, 'fortran_order': False, 'shape': "
    text += shape.ljust(SHAPE_DIGITS + len("(,), }"))
    # the data start at a multiple of 64 bytes
    length = len(MAGIC) + 2 + len(text) + 1
    text += " " * (-length % npy.ARRAY_ALIGN) + "\n"
    if len(text) > MAX_HEADER or not text.isascii():
        raise RecordError(
            f"{len(dtype.names or ())} fields: their names take {len(text)} bytes and must be "
            f"ASCII, at most {MAX_HEADER} in all"
        )
    return MAGIC + len(text).to_bytes(2, "little") + text.encode("ascii")
