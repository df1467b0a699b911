"""Hostile run folders, logs, mappings, ESI and device files through the commands that take them, seeded.

    python tests/fuzz/fuzz_evidence.py --files 2000 --seed 1

A short run is recorded (or one is given by --run), its records are cut to a few hundred rows, and in each copy a few
things are changed: bytes, numbers, keys, headers, whole files that are gone, cut, pipes, folders or links. Whatever it
is, the command ends with an exit code of its own, with words and no traceback, within a minute of processor time and
`MOST_MIB` of memory, and nothing beside the copy is changed. One JSON line says what became of them.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import tokenize
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
from numpy.lib import recfunctions
from typer.testing import CliRunner

from rigloop.cli import app

DATA = Path(__file__).parents[1] / "data"
RIGS = Path(__file__).parents[2] / "rig_configs"
SECONDS = 60  # of processor time, of one command
MOST_MIB = 1500  # of the whole process
MOST_ADDRESSES = 6 << 30
ROWS = 400  # that are left of each record
WORDS = [
    "", "a" * 100_000, "\x1b]0;x\x07", "\u202e", "../../secret", "/etc/passwd", "/dev/zero", "<script>x</script>",
    "{{ 7 * 7 }}", "[red]x[/red]", "\x00", "\ud800", "%s", "nan", "1e999", "*", "$(touch CANARY)", "\n\n", "é",
    "running", "ended", "live", "replay", "estimation", "simulation.npy", "steering",
]  # fmt: skip
NUMBERS = [
    1e300, -1e300, 5e-324, float("nan"), float("inf"), -float("inf"), -1, 0, -0.0, 1, 2**31, 2**53 + 1, 2**63, -(2**63),
    10**30, 10**400, True, False,
]  # fmt: skip
CELLS = [1e300, -1e300, 5e-324, np.nan, np.inf, -np.inf, -1.0, 0.0, 2.0**53, 2.0**63, 2.0**64]


class TooLongError(Exception):
    """A command took longer than `SECONDS`."""


def _alarm(signum: int, frame: FrameType | None) -> None:
    raise TooLongError


def bytes_changed(data: bytes, rng: random.Random) -> bytes:
    """Some bytes others, gone, doubled or cut."""
    made = bytearray(data)
    for _ in range(rng.choice([1, 1, 3, 30])):
        at = rng.randrange(len(made) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            made[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del made[at : at + rng.choice([1, 10, 1000])]
        elif kind == 2:
            made[at:at] = made[max(0, at - rng.choice([1, 50])) : at]
        elif kind == 3:
            made[at:at] = rng.choice(WORDS).encode(errors="surrogatepass")[:500]
        else:
            del made[at:]
    return bytes(made)


def leaves(value: object, path: tuple = ()) -> list[tuple]:
    """Where a JSON document has something."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [p for key, inner in items for p in ((*path, key), *leaves(inner, (*path, key)))]


def json_changed(data: bytes, rng: random.Random) -> bytes:
    """One value another, a key gone or another, or a document in a document."""
    try:
        document = json.loads(data)
    except ValueError:
        return bytes_changed(data, rng)
    places = leaves(document)
    if not places:
        return bytes_changed(data, rng)
    for _ in range(rng.choice([1, 1, 2, 5])):
        *way, key = rng.choice(places)
        inner = document
        try:
            for step in way:
                inner = inner[step]
            was = inner[key]
        except (KeyError, IndexError, TypeError):
            continue
        kind = rng.randrange(5)
        if kind == 0 and isinstance(inner, dict):
            del inner[key]
        elif kind == 1 and isinstance(inner, dict):
            inner[rng.choice(WORDS)[:300]] = inner.pop(key)
        elif kind == 2:
            inner[key] = rng.choice([None, [], {}, [was], {"a": was}, [was] * 1000])
        elif kind == 3:
            inner[key] = rng.choice(WORDS)
        else:
            inner[key] = rng.choice(NUMBERS)
    return json.dumps(document).encode(errors="surrogatepass")


def record_changed(path: Path, rng: random.Random) -> None:
    """Cells, times, order, fields or the header of a record."""
    try:
        # what an earlier change made of it may be no array of rows, or no header that numpy's own parser survives
        rows = np.atleast_1d(np.load(path))
    except (ValueError, OSError, EOFError, TypeError, SyntaxError, tokenize.TokenError):
        path.write_bytes(bytes_changed(path.read_bytes(), rng))
        return
    if not rows.ndim:  # it has been changed before
        return
    names = rows.dtype.names or ()
    kind = rng.randrange(7)
    if kind == 0 and len(rows):
        for name in rng.sample(names, min(len(names), rng.choice([1, 3, 40]))):
            at = (
                slice(rng.randrange(len(rows)), None)
                if rng.random() < 0.5
                else rng.randrange(len(rows))
            )
            cell = rng.choice(CELLS)
            with np.errstate(all="ignore"):
                number = cell if rows.dtype[name].kind == "f" else rng.choice([0, -1, 2**30])
                # a whole number beyond its field wraps
                rows[name][at] = np.array(number).astype(rows.dtype[name])
        np.save(path, rows)
    elif kind == 1:
        np.save(path, rows[rng.sample(range(len(rows)), len(rows))])
    elif kind == 2:
        np.save(path, rows[: rng.choice([0, 1, 2, len(rows) // 2])])
    elif kind == 3 and len(names) > 1:
        kept = [n for n in names if rng.random() < 0.8] or list(names[:1])
        np.save(path, recfunctions.repack_fields(rows[kept]))
    elif kind == 4 and names:
        new = list(names)
        new[rng.randrange(len(new))] = rng.choice(
            ["x", "guard/torque_nm", "<b>", "\x1b[2J", "loop/x/cycle"]
        )
        if len(set(new)) == len(new):
            rows.dtype.names = tuple(new)
        np.save(path, rows)
    elif kind == 5:
        data = path.read_bytes()
        head = bytes_changed(data[10:200], rng)
        path.write_bytes(data[:10] + head + data[200:])
    else:
        np.save(
            path,
            rng.choice(
                [np.zeros(9), np.zeros((3, 3)), np.array(["a"]), np.zeros(0), np.float64(1.0)]
            ),
        )


def file_changed(path: Path, rng: random.Random, secret: Path) -> None:
    """One file of a folder is another, or none."""
    kind = rng.randrange(12)
    if path.is_symlink() or not path.is_file():
        return  # changed before: a pipe would be waited for, a link leads elsewhere
    if kind < 3:
        if kind == 0:
            path.unlink()
        else:
            with path.open("r+b") as file:
                file.truncate(rng.randrange(path.stat().st_size + 1))
    elif kind == 3:
        path.unlink()
        how = rng.randrange(6)
        if how == 0:
            path.mkdir()
        elif how == 1:
            os.mkfifo(path)
        else:
            path.symlink_to(["/dev/zero", str(secret), "/proc/self/mem", "nothing"][how - 2])
    elif kind == 4:
        path.write_bytes(bytes_changed(path.read_bytes(), rng))
    elif path.suffix == ".json":
        path.write_bytes(json_changed(path.read_bytes(), rng))
    elif path.suffix == ".npy":
        record_changed(path, rng)
    else:
        path.write_bytes(bytes_changed(path.read_bytes(), rng))


def small_run(folder: Path, given: Path | None) -> Path:
    """A run folder whose records are short."""
    if given is None:
        CliRunner().invoke(
            app, ["run", "steering_wheel", "--for", "0.5", "--runs", str(folder / "first")]
        )
        given = next((folder / "first").iterdir())
    made = folder / "run"
    shutil.copytree(given, made)
    for path in made.glob("*.npy"):
        rows = np.load(path)
        np.save(path, rows[:ROWS])
    (made / "report.html").unlink(missing_ok=True)
    return made


def hostile_folder(place: Path, run: Path, rng: random.Random, secret: Path) -> list[str]:
    """A copy of a run with a few things changed, and the command for it."""
    shutil.copytree(run, place)
    if rng.random() < 0.4:  # as if it had been cut short
        manifest = json.loads((place / "manifest.json").read_text())
        manifest |= {"state": rng.choice(["running", "starting"]), "boot": "another"}
        (place / "manifest.json").write_text(json.dumps(manifest))
    if rng.random() < 0.1:
        (place / "signal_table").write_bytes(rng.randbytes(rng.choice([0, 100, 100_000])))
    for _ in range(rng.choice([1, 1, 2, 4])):
        file_changed(rng.choice(sorted(place.iterdir())), rng, secret)
    command = rng.choice(["report", "report", "report", "bus", "replay"])
    words = [command, str(place), *(["--json"] if rng.random() < 0.3 else [])]
    return [*words, "--runs", str(place.parent / "again")] if command == "replay" else words


def hostile_file(place: Path, rng: random.Random) -> list[str]:
    """A log, mapping, ESI or device with changed bytes, and the command for it."""
    logs = sorted((DATA / "logs").glob("*.csv"))

    def served(path: str) -> list[str]:
        return ["sim-segment", "--interface", "nowhere0", path]

    sources: dict[str, tuple[list[Path], Callable[[str], list[str]]]] = {
        "log": (logs, lambda p: rng.choice([
            ["replay", p, "--rig", "steering_wheel", "--runs", str(place / "again")],
            ["identify", p], ["tune", "--log", p],
        ])),
        "mapping": (
            sorted((RIGS / "logs").glob("*.toml")),
            lambda p: ["identify", str(rng.choice(logs)), "--mapping", p],
        ),
        "esi": (sorted((DATA / "esi").glob("*.xml")), served),
        "device": (sorted((RIGS.parent / "io_bridge" / "emulator" / "catalogue").glob("*.toml")), served),
    }  # fmt: skip
    files, command = sources[rng.choice(sorted(sources))]
    source = rng.choice(files)
    place.mkdir()
    path = place / source.name
    data = source.read_bytes()
    if source.suffix == ".csv":  # the first rows, so that many are tried
        data = b"\n".join(data.split(b"\n")[: rng.choice([3, 50, 3000])])
        if rng.random() < 0.5:
            rows = data.split(b"\n")
            for _ in range(rng.choice([1, 5, 100])):
                at = rng.randrange(len(rows))
                cells = rows[at].split(b",")
                cells[rng.randrange(len(cells))] = str(rng.choice([*NUMBERS, *WORDS]))[:400].encode(
                    errors="replace"
                )
                rows[at] = b",".join(cells)
            data = b"\n".join(rows)
        else:
            data = bytes_changed(data, rng)
    else:
        data = bytes_changed(data, rng)
    path.write_bytes(data)
    return command(str(path))


def one(words: list[str]) -> str:
    """What a command says; or what is wrong with us."""
    print(*words[:2], file=sys.stderr)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        done = CliRunner().invoke(app, words)
    except TooLongError:
        return f"WRONG {words[0]}: longer than {SECONDS} s of processor time"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    error = done.exception
    if error is not None and not isinstance(error, SystemExit):
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"WRONG {words[0]}: {type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"[
            :400
        ]
    if done.exit_code not in (0, 1, 2, 3):
        return f"WRONG {words[0]}: exit code {done.exit_code}"
    if "\x1b" in done.output or "\u202e" in done.output:
        return f"WRONG {words[0]}: an escape sequence reaches the terminal"
    if not done.output.strip():
        return f"WRONG {words[0]}: no word"
    return f"{words[0]} {done.exit_code}"


def fuzz(seed: int, n: int, until_s: float, given: Path | None) -> dict[str, object]:
    """Counts of what became of files and folders, and each one that went wrong."""
    rng = random.Random(seed)
    counts: collections.Counter[str] = collections.Counter()
    wrong: list[dict[str, str]] = []
    begin = time.monotonic()
    signal.signal(signal.SIGPROF, _alarm)
    # what asks for more gets a MemoryError, which is a finding
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        secret = folder / "secret"
        secret.write_text("secret\n")
        run = small_run(folder, given)
        for number in range(n):
            if time.monotonic() - begin > until_s:
                break
            place = folder / "tried"
            if rng.random() < 0.6:
                words = hostile_folder(place, run, rng, secret)
            else:
                words = hostile_file(place, rng)
            became = one(words)
            if secret.read_text() != "secret\n" or list(folder.rglob("CANARY")):
                became = f"WRONG {words[0]}: something beside the copy was changed"
                secret.write_text("secret\n")
            if became.startswith("WRONG"):
                wrong.append(
                    {"number": str(number), "what": became, "words": " ".join(words)[:300]}
                )
                became = "WRONG"
            counts[became] += 1
            for path in (place, folder / "again"):
                shutil.rmtree(path, ignore_errors=True)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    if most > MOST_MIB:
        wrong.append({"what": f"WRONG {most} MiB of memory, limit {MOST_MIB}"})
    return {
        "seed": seed, "tried": sum(counts.values()), "became": dict(counts), "most_mib": most, "wrong": wrong,
    }  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--files", type=int, default=2000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    options.add_argument("--run", type=Path, help="a recorded run to begin with")
    given = options.parse_args()
    found = fuzz(given.seed, given.files, given.seconds, given.run)
    print(json.dumps(found))
    raise SystemExit(bool(found["wrong"]))


if __name__ == "__main__":
    main()
