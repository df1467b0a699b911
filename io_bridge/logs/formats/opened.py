"""The bytes of a log, unpacked, and never more of them than a limit."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from io_bridge.logs.formats.table import MOST_BYTES, LogError
from rig_configs.bounded import open_regular

GZIP, ZSTD = (
    b"\x1f\x8b",
    (b"\x28\xb5\x2f\xfd", *(bytes((k, 0x2A, 0x4D, 0x18)) for k in range(80, 96))),
)
"""First bytes; a file of zstd may begin with a frame that is to be skipped."""
PIECE = 1 << 20
EXTRA = {
    "asammdf": ("mdf", "MDF4"),
    "mcap": ("mcap", "MCAP"),
    "pyarrow": ("parquet", "Parquet"),
    "h5py": ("hdf5", "HDF5 and MATLAB v7.3"),
    "scipy": ("mat", "MATLAB v5"),
    "cantools": ("can", "CAN logs with a DBC"),
    "zstandard": ("zst", "zst"),
}


def extra(module: str, path: Path, done: str = "read") -> Any:
    """Import a library that only some formats need, or name the extra that brings it.

    Parameters
    ----------
    done : str
        What is done with the file, "read" or "written".

    Raises
    ------
    LogError
        It is not installed.
    """
    library = module.split(".")[0]
    name, reads = EXTRA[library]
    try:
        return import_module(module)
    except ImportError as error:
        raise LogError(
            f"{path}: {reads} is {done} with {library}, which is not here ({error}): "
            f"pip install 'rigloop[{name}]'"
        ) from None


def head_of(path: Path, n: int = 4096, most: int | None = None) -> bytes:
    """Return the first bytes of a regular file.

    Raises
    ------
    LogError
        Missing, a folder, a device, not readable, empty, or larger than `most`, which is `MOST_BYTES` if not given.
    """
    most = MOST_BYTES if most is None else most
    try:
        if path.is_dir():
            raise LogError(f"{path}: is a folder, not a log")
        if not path.exists():
            raise LogError(f"{path}: no such file")
        if not path.is_file():
            raise LogError(f"{path}: is not a regular file")
        size = path.stat().st_size
        if size == 0:
            raise LogError(f"{path}: is empty")
        if size > most:
            remedy = (
                "convert it to Parquet, HDF5, MATLAB v7.3, MDF4 or CSV, which are read part by part"
                if most == MOST_BYTES
                else "cut it into several"
            )
            raise LogError(
                f"{path}: {size / 2**20:.0f} MiB, at most {most >> 20} MiB of it are read: {remedy}"
            )
        with open_regular(path) as file:
            return file.read(n)
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror}") from error


def packing_of(head: bytes) -> str:
    """Return how a file is packed by its first bytes: `gz`, `zst`, or ""."""
    return "gz" if head.startswith(GZIP) else "zst" if head.startswith(ZSTD) else ""


def unpacked(path: Path) -> tuple[bytes, str, bool]:
    """Return the bytes of a file behind gzip or zstd, the packing, and whether it ends too early.

    A packed file that is cut gives what comes before the cut.

    Raises
    ------
    LogError
        It unpacks to more than `MOST_BYTES`, or to nothing.
    """
    source = Unpacking(path)
    raw = b"".join(source)
    return raw, source.packing, source.is_cut


class Unpacking:
    """The bytes of a file behind gzip or zstd, piece by piece.

    Attributes
    ----------
    packing : str
        `gz`, `zst`, or "".
    is_cut : bool
        It ended too early; known at the end.
    """

    def __init__(self, path: Path, most: int | None = None) -> None:
        head = head_of(path, most=most)
        self._path, self._most = path, MOST_BYTES if most is None else most
        self.packing = packing_of(head)
        self.is_cut = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield pieces of at most 1 MiB.

        Raises
        ------
        LogError
            It unpacks to more than it may, or to nothing, or is damaged from its beginning.
        """
        path, packing, size = self._path, self.packing, 0
        with open_regular(path) as raw:
            reader: Any = raw
            if packing == "gz":
                reader = gzip.GzipFile(fileobj=raw)
            elif packing == "zst":
                reader = _unzstd(path, raw)
            while piece := self._piece(reader, raw, size):
                size += len(piece)
                if size > self._most:
                    raise LogError(
                        f"{path}: unpacks to more than {self._most >> 20} MiB, which is the most that is read"
                    )
                yield piece
        if not size:
            raise LogError(f"{path}: is empty once unpacked")

    def after(self, taken: int) -> Iterator[bytes]:
        """Yield the pieces that come after `taken` bytes."""
        for piece in self:
            if len(piece) > taken:
                yield piece[taken:]
            taken = max(0, taken - len(piece))

    def _piece(self, reader: Any, raw: BinaryIO, size: int) -> bytes:
        path, packing = self._path, self.packing
        try:
            return bytes(reader.read1(PIECE) if packing == "gz" else reader.read(PIECE))
        except (EOFError, OSError, zlib.error, ValueError, MemoryError) as error:
            if isinstance(error, OSError) and not packing:
                raise LogError(f"{path}: cannot be read: {error.strerror}") from None
            if not size:
                raise LogError(
                    f"{path}: {packing} data damaged at byte {raw.tell()} of the file: {error}"
                ) from None
        except Exception as error:
            # zstandard has an error class of its own, which no module here may import
            if packing != "zst" or type(error).__name__ != "ZstdError":
                raise
            if not size:
                raise LogError(f"{path}: zst data damaged: {error}") from None
        self.is_cut = True
        return b""


def _unzstd(path: Path, raw: BinaryIO) -> Any:
    zstandard = extra("zstandard", path)
    return zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
        raw, read_across_frames=True
    )
