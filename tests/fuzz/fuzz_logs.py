"""Damaged logs of each format through intake: no crash, no hang, bounded memory.

    python tests/fuzz/fuzz_logs.py [--files 10000] [--forms csv parquet ...] [--seed 0] [--rows 400]

A planted log is written in a format, and then cut, flipped, overwritten, doubled or filled with zeros in some places.
`dbc` and `mapping` damage the file beside a log instead, and `nested` packs a log in odd ways before it is damaged.
Each file is read in a forked process with a limit of memory and time; its end must be a table or a `LogError`.
Libraries in C that end by a signal are caught by `fence.py` in the real command, and are counted here.
"""

from __future__ import annotations

import argparse
import gzip
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "logs"))

from intake.files import BINARIES, CAN, RECORDS, TEXTS, write
from intake.planted import Planted, make

from io_bridge.logs.formats import binary
from io_bridge.logs.formats.fence import bound_memory, tables_of
from io_bridge.logs.formats.opened import head_of
from io_bridge.logs.formats.read import format_of, read_tables
from io_bridge.logs.formats.table import LogError
from rig_configs.log_schema import MappingError, load_mapping
from rigloop.logs.check import check_log, mapping_text

MOST_BYTES = 3 << 30
LONGEST_S = 20  # of computing
LONGEST_WAIT_S = 600
ROWS = 400  # of a log
BINARY = set(binary.READERS)
ODD = ("dbc", "mapping", "nested")
READ, REFUSED, WRONG, OUT_OF_MEMORY = 0, 2, 3, 4


def damaged(raw: bytes, rng: np.random.Generator) -> bytes:
    """Return a file with some damage."""
    data = bytearray(raw)
    for _ in range(int(rng.integers(1, 6))):
        if not data:
            break
        at = int(rng.integers(len(data)))
        n = int(rng.integers(1, 64))
        match int(rng.integers(6)):
            case 0:
                data[at] ^= 1 << int(rng.integers(8))
            case 1:
                data[at : at + n] = rng.bytes(n)
            case 2:
                del data[at : at + n]
            case 3:
                data[at:at] = data[at : at + n]
            case 4:
                data[at : at + n] = bytes(n)
            case _:
                del data[at if rng.random() < 0.3 else max(at, len(data) - n) :]
    return bytes(data)


@dataclass(frozen=True)
class Files:
    """A log and what lies beside it."""

    log: Path
    dbc: Path | None = None
    mapping: Path | None = None

    def instead(self, whole: Path, damaged: Path) -> Files:
        """Return the same with a damaged file in the place of a whole one."""
        names = (self.log, self.dbc, self.mapping)
        return Files(*(damaged if name == whole else name for name in names))


def written(form: str, folder: Path, rng: np.random.Generator, rows: int) -> tuple[Files, Path]:
    """Write a log and what lies beside it, and say which file is to be damaged."""
    log = shortened(make(int(rng.integers(10**6))), rows)
    kind = {"dbc": str(rng.choice(CAN)), "mapping": "csv", "nested": "csv"}.get(form, form)
    whole = write(log, folder, rng, kind)
    if form == "mapping":
        found, used = check_log(whole)
        beside = folder / "mapping.toml"
        beside.write_text(mapping_text(used, found.certainty), encoding="utf-8")
        return Files(whole, mapping=beside), beside
    dbc = whole.with_suffix(".dbc") if kind in CAN else None
    if form == "nested":
        whole.write_bytes(nested(whole.read_bytes(), rng))
    return Files(whole, dbc), dbc if form == "dbc" and dbc else whole


def nested(raw: bytes, rng: np.random.Generator) -> bytes:
    """Pack bytes in odd ways: within each other, in pieces, with empty ones and with other bytes around them."""
    import zstandard

    pack = (lambda data: gzip.compress(data, 1), zstandard.ZstdCompressor().compress)
    for _ in range(int(rng.integers(1, 4))):
        one = pack[int(rng.integers(2))]
        at = sorted(int(rng.integers(len(raw) + 1)) for _ in range(2))
        match int(rng.integers(6)):
            case 0:
                raw = one(raw[: at[0]]) + one(raw[at[0] : at[1]]) + one(raw[at[1] :])
            case 1:
                raw = one(raw[: at[0]]) + pack[int(rng.integers(2))](raw[at[0] :])
            case 2:
                raw = one(b"") + one(raw) + one(b"") + rng.bytes(int(rng.integers(40)))
            case 3:
                # a frame that is to be skipped comes first
                raw = b"\x50\x2a\x4d\x18\x08\x00\x00\x00" + rng.bytes(8) + one(raw)
            case 4:
                raw = one(raw) + bytes(int(rng.integers(600)))
            case _:
                raw = one(raw)
    return raw


def try_one(files: Files) -> int:
    """Read one log as `log check` does; the code of its end."""
    path = files.log
    try:
        kind = format_of(head_of(path))
        if kind in BINARY:
            tables_of(path, kind)
        elif kind == "own record":
            read_tables(path)
        else:
            mapping = load_mapping(files.mapping) if files.mapping else None
            check_log(path, dbc=files.dbc, mapping=mapping)
    except LogError as error:
        return REFUSED if "\n" not in str(error) else WRONG
    except MappingError:
        return REFUSED
    except MemoryError:
        return OUT_OF_MEMORY
    return READ


def fenced(files: Files) -> str:
    """Read one log in a process of its own; the name of its end."""
    child = os.fork()
    if child == 0:
        code = WRONG
        try:
            warnings.simplefilter("ignore")
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            bound_memory(MOST_BYTES)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            # by what it computes: a busy machine is no reason
            resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_S, LONGEST_S + 5))
            signal.alarm(LONGEST_WAIT_S)
            code = try_one(files)
        except BaseException as error:
            print(f"{files.log.name}: {type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        ended = os.WTERMSIG(status)
        return "hung" if ended in (signal.SIGALRM, signal.SIGXCPU) else f"signal {ended}"
    names = {READ: "read", REFUSED: "refused", WRONG: "wrong", OUT_OF_MEMORY: "out of memory"}
    return names[os.WEXITSTATUS(status)]


def shortened(log: Planted, rows: int) -> Planted:
    """Return the first rows of a log: damage of a short file is as odd, and more of them are tried."""
    kept = slice(0, rows)
    return replace(
        log,
        stamp=log.stamp[kept],
        value=log.value[kept],
        torque=log.torque[kept],
        truth=[],
        excused=[],
    )


def fuzz(
    form: str, files: int, seed: int, keep: Path | None = None, rows: int = ROWS
) -> Counter[str]:
    """Damage files of a form, and count their ends."""
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for k in range(files):
            rng = np.random.default_rng([seed, k])
            if k % 50 == 0:
                beside, whole = written(form, Path(name), rng, rows)
                raw = whole.read_bytes()
                try_one(beside)  # what is imported here is not in each process
            path = whole.with_name(f"damaged_{whole.name}")
            path.write_bytes(damaged(raw, rng))
            end = fenced(beside.instead(whole, path))
            ends[end] += 1
            if end not in ("read", "refused"):
                print(f"{form}, seed {seed}, file {k}: {end}", file=sys.stderr)
                if keep:
                    (keep / f"{form}-{k}-{path.name}").write_bytes(path.read_bytes())
    return ends


def main() -> int:
    """Fuzz each form, print how its files ended; 1 if one crashed or hung."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--forms", nargs="*", default=sorted({*TEXTS, *BINARIES, *ODD}))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=ROWS, help="of each log; at least 200")
    parser.add_argument("--keep", type=Path, help="a folder that gets the files that ended badly")
    asked = parser.parse_args()
    bad = 0
    for form in asked.forms:
        ends = fuzz(form, asked.files, asked.seed, asked.keep, asked.rows)
        print(
            f"{form:>14}  " + ", ".join(f"{name} {n}" for name, n in ends.most_common()), flush=True
        )
        # what a library in C dies of is a refusal behind the fence
        in_text = form in (*TEXTS, *ODD, *RECORDS, *CAN)
        bad += (
            ends["wrong"]
            + ends["hung"]
            + ends["out of memory"]
            + in_text * sum(n for e, n in ends.items() if e.startswith("signal"))
        )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
