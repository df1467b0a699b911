"""Binary formats are read in a process of their own, so that a damaged file takes neither memory nor the command."""

from __future__ import annotations

import io
import json
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from io_bridge.logs.formats.opened import extra
from io_bridge.logs.formats.table import MOST_BYTES, LogError, Table, whole_table

MOST_MEMORY = 4 << 30
LONGEST_CPU_S = 120
LONGEST_S = 1200  # on a busy machine; a reader that waits for something takes no processor
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
    command = [
        sys.executable,
        "-P",
        "-m",
        "io_bridge.logs.formats.fence",
        kind,
        str(path.resolve()),
    ]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        raise LogError(f"{path}: {kind}: not read within {LONGEST_S} s; is it damaged?") from None
    if done.returncode == 0:
        return received(done.stdout, kind)
    if done.returncode == -signal.SIGXCPU:
        raise LogError(
            f"{path}: {kind}: not read within {LONGEST_CPU_S} s of processor time; is it damaged?"
        )
    words = done.stderr.decode(errors="replace").strip().splitlines()
    if done.returncode == 2 and words:
        raise LogError(f"{path}: {words[-1]}")
    why = (
        f"its reader ended by signal {-done.returncode}"
        if done.returncode < 0
        else (words or ["?"])[-1]
    )
    raise LogError(f"{path}: damaged {kind} file: {why[:200]}")


def tables_of(path: Path, kind: str) -> list[Table]:
    """Read a file of a binary format here, in this process.

    Raises
    ------
    LogError
        In one line: what is wrong with it.
    """
    from io_bridge.logs.formats import binary

    try:
        tables = binary.READERS[kind](path)
    except LogError:
        raise
    except MemoryError:
        raise LogError(f"{kind}: takes more than {MOST_MEMORY >> 20} MiB when read") from None
    except Exception as error:
        # libraries raise what they like over a damaged file
        said = " ".join(str(error).split())[:160]
        raise LogError(f"damaged {kind} file: {type(error).__name__}: {said}") from None
    tables = [table for table in tables if len(table.row) and table.numbers]
    if not tables:
        raise LogError(f"{kind}: no columns of numbers; expected at least an angle over some rows")
    if sum(values.nbytes for table in tables for values in table.numbers.values()) > 4 * MOST_BYTES:
        raise LogError(f"{kind}: unpacks to more than {4 * MOST_BYTES >> 20} MiB")
    return tables


def send(tables: list[Table], out: BinaryIO) -> None:
    """Write tables so that `received` has them again."""
    facts = [
        {"name": t.name, "columns": list(t.numbers), "units": t.units, "remarks": list(t.remarks)}
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
        return [
            whole_table(
                fact["name"],
                {name: arrays[f"{i}_{k}"] for k, name in enumerate(fact["columns"])},
                fact["units"],
                kind,
                tuple(fact["remarks"]),
            )
            for i, fact in enumerate(facts)
        ]


def bound_memory(most: int = MOST_MEMORY) -> None:
    """Let this process take no more than so much memory."""
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def bound_time(most_s: int = LONGEST_CPU_S) -> None:
    """Let this process take no more than so much processor time; SIGXCPU ends it."""
    resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s + 1))


def main() -> int:
    """Read one file and write its tables to the standard output."""
    kind, name = sys.argv[1:3]
    bound_memory()
    bound_time()
    try:
        tables = tables_of(Path(name), kind)
    except LogError as error:
        print(error, file=sys.stderr)
        return 2
    send(tables, sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
