"""Binary formats are read in a process of their own, so that a damaged file takes neither memory nor the command."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from io_bridge.logs.formats.opened import extra
from io_bridge.logs.formats.table import MOST_BYTES, LogError, Table, whole_table
from io_bridge.logs.formats.window import Window

MOST_MEMORY = 4 << 30
MOST_MAT_MEMORY = 2 << 30  # its library holds some copies of all variables
LONGEST_CPU_S = 120
LONGEST_S = 1200  # on a busy machine; a reader that waits for something takes no processor
LENGTH = struct.Struct("<Q")  # of a part, before it
LIBRARY = {
    "mdf": "asammdf",
    "mcap": "mcap",
    "parquet": "pyarrow",
    "hdf5": "h5py",
    "mat": "scipy",
}


def read_fenced(path: Path, kind: str) -> list[Table]:
    """Read a file of a binary format.

    Raises
    ------
    LogError
        Its library is missing, or the file is not what its first bytes say.
    """
    extra(LIBRARY[kind], path)
    try:
        done = subprocess.run(
            _command(path, kind), capture_output=True, timeout=LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise LogError(f"{path}: {kind}: not read within {LONGEST_S} s; is it damaged?") from None
    _check_end(path, kind, done.returncode, done.stderr)
    return received(done.stdout, kind)


def fenced_parts(path: Path, kind: str, window: Window) -> Generator[list[Table], None, None]:
    """Read rows of a file of a binary format, some at a time; the reader ends with the iterator.

    Raises
    ------
    LogError
        As `read_fenced`.
    """
    extra(LIBRARY[kind], path)
    command = [*_command(path, kind), json.dumps(asdict(window))]
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said) as child,
    ):
        try:
            # of a reader that died in the middle of a part, nothing of it is taken
            while part := _next_part(child.stdout, path):
                yield received(part, kind)
        except GeneratorExit:
            child.kill()
            raise
        code = child.wait()
        said.seek(0)
        _check_end(path, kind, code, said.read())


def _next_part(out: Any, path: Path) -> bytes:
    head = out.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return b""
    (size,) = LENGTH.unpack(head)
    if size > 4 * MOST_BYTES:  # of a reader whose library wrote over its memory
        raise LogError(f"{path}: its reader sends {size >> 20} MiB at once; is it damaged?")
    part: bytes = out.read(size)
    return part if len(part) == size else b""


def _command(path: Path, kind: str) -> list[str]:
    module = "io_bridge.logs.formats.fence"
    return [sys.executable, "-P", "-m", module, kind, str(path.resolve())]


def _check_end(path: Path, kind: str, code: int, said: bytes) -> None:
    if code == 0:
        return
    if code == -signal.SIGXCPU:
        raise LogError(
            f"{path}: {kind}: not read within its limit of processor time; is it damaged?"
        )
    words = said.decode(errors="replace").strip().splitlines()
    if code == 2 and words:
        raise LogError(f"{path}: {words[-1]}")
    why = f"its reader ended by signal {-code}" if code < 0 else (words or ["?"])[-1]
    raise LogError(f"{path}: damaged {kind} file: {why[:200]}")


def tables_of(path: Path, kind: str) -> list[Table]:
    """Read a file of a binary format here, in this process.

    Raises
    ------
    LogError
        In one line: what is wrong with it.
    """
    from io_bridge.logs.formats import binary

    with _in_one_line(kind):
        tables = binary.READERS[kind](path)
    tables = [table for table in tables if len(table.row) and table.numbers]
    if not tables:
        raise LogError(f"{kind}: no columns of numbers; expected at least an angle over some rows")
    if sum(values.nbytes for table in tables for values in table.numbers.values()) > 4 * MOST_BYTES:
        raise LogError(f"{kind}: unpacks to more than {4 * MOST_BYTES >> 20} MiB")
    return tables


@contextlib.contextmanager
def _in_one_line(kind: str) -> Iterator[None]:
    try:
        yield
    except LogError:
        raise
    except MemoryError:
        remedy = (
            "; save it as v7.3, of which a long log is read part by part" if kind == "mat" else ""
        )
        most = MOST_MAT_MEMORY if kind == "mat" else MOST_MEMORY
        raise LogError(f"{kind}: takes more than {most >> 20} MiB when read{remedy}") from None
    except Exception as error:
        # libraries raise what they like over a damaged file
        said = " ".join(str(error).split())[:160]
        raise LogError(f"damaged {kind} file: {type(error).__name__}: {said}") from None


def send(tables: list[Table], out: BinaryIO) -> None:
    """Write tables so that `received` has them again."""
    facts = [
        {
            "name": t.name,
            "columns": list(t.numbers),
            "units": t.units,
            "remarks": list(t.remarks),
            "begin": int(t.row[0]) if len(t.row) else 0,
        }
        for t in tables
    ]
    arrays = {f"{i}_{k}": v for i, t in enumerate(tables) for k, v in enumerate(t.numbers.values())}
    packed = io.BytesIO()
    words = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    everything: dict[str, Any] = {"facts": words, **arrays}
    np.savez(packed, **everything)
    out.write(packed.getvalue())


def received(raw: bytes, kind: str) -> list[Table]:
    """Return the tables that `send` wrote."""
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        facts = json.loads(arrays["facts"].tobytes())
        tables = [
            whole_table(
                fact["name"],
                {name: arrays[f"{i}_{k}"] for k, name in enumerate(fact["columns"])},
                fact["units"],
                kind,
                tuple(fact["remarks"]),
            )
            for i, fact in enumerate(facts)
        ]
    begins = [fact["begin"] for fact in facts]
    return [
        replace(table, row=table.row + begin, n_rows=table.n_rows + begin)
        for table, begin in zip(tables, begins, strict=True)
    ]


def bound_memory(most: int = MOST_MEMORY) -> None:
    """Let this process take no more than so much memory."""
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def bound_time(most_s: int = LONGEST_CPU_S) -> None:
    """Let this process take no more than so much processor time; SIGXCPU ends it."""
    resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s + 1))


def _send_parts(path: Path, kind: str, window: Window, out: BinaryIO) -> None:
    from io_bridge.logs.formats import binary

    columns = window.columns
    window = replace(window, columns=None if columns is None else tuple(columns))
    with _in_one_line(kind):
        for tables in binary.PARTS[kind](path, window):
            packed = io.BytesIO()
            send(tables, packed)
            part = packed.getbuffer()
            try:
                out.write(LENGTH.pack(len(part)))
                out.write(part)
                out.flush()
            except BrokenPipeError:
                return  # nobody wants more


def main() -> int:
    """Read one file and write its tables, or rows of them one after the other, to the standard output."""
    kind, name, *asked = sys.argv[1:]
    # a library that prints, prints elsewhere: here tables go out
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    bound_memory(MOST_MAT_MEMORY if kind == "mat" else MOST_MEMORY)
    try:
        if asked:
            # a long log takes its time
            bound_time(LONGEST_CPU_S + (Path(name).stat().st_size >> 20))
            _send_parts(Path(name), kind, Window(**json.loads(asked[0])), out)
            return 0
        bound_time()
        tables = tables_of(Path(name), kind)
    except LogError as error:
        print(error, file=sys.stderr)
        return 2
    with out:
        send(tables, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
