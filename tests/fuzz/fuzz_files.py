"""Hostile mechanism and rig files through loading, generation and the compiler's syntax check.

    python tests/fuzz/fuzz_files.py --files 10000 --load 300 --seed 1

Each file is a good one with mutations: names, numbers, expressions, structure, bytes. Whatever it is, there
is no command run (a canary), no crash or hang of the process, no C or Python that does not compile, and no
exception but the project's own mistakes. One JSON line says what became of them.
"""

from __future__ import annotations

import argparse
import ast
import collections
import json
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from codegen.description.mechanism import MECHANISMS, MechanismError, load
from codegen.kernels.build import build_kernel
from codegen.kernels.generate import generate, write
from codegen.kernels.verify import VerificationError
from codegen.options.options import KernelOptions
from rig_configs.mistakes import ConfigError
from rigloop.compose.wiring import load as load_rig

RIGS = MECHANISMS.parent / "rigs"
SMALL = ("guided_rod", "slider_crank", "four_bar", "governor", "five_bar")
CANARY = "CANARY"
SECONDS = 60  # of processor time, of one file
COMPILER_S = 300
RUN = f'__import__("os").system("touch {CANARY}")'
NAMES = [
    "int", "lambda", "self", "NULL", "main", "double", "class", "q", "w", "s", "N_Q", "Q_0", "real", "phi",
    "step_s", "unknown", "ground", "a" * 300, "é", "ﬁ", "a-b", "a b", "", "0", "_", "__class__", "../../x",
    "/etc/passwd", "a\x00b", "a\nb", "a\x1b]0;x\x07", "\u202e", "$name", "${name}", "{x}", "%s", "<b>x</b>",
    "[red]x", "*/", "/*", "//", "\\", '"""', "'''", "??/", f"*/ int x = system(\"touch {CANARY}\"); /*",
    'x\n#include "/etc/passwd"\n', f"x\n{RUN}\n", f'";system("touch {CANARY}");"', f"$(touch {CANARY})",
    f"`touch {CANARY}`", f";touch {CANARY};", "energy", "status", "residual", "rate", "pi", "np", "out",
]  # fmt: skip
NUMBERS = [
    "1e300", "-1e300", "1e308", "1e-308", "5e-324", "nan", "inf", "-inf", "0", "-0.0", "-1", "1e16", "1e15",
    "1e999", "0x7fffffffffffffff", "99999999999999999999", "1_000", "true", "false", '""', "[]", "{}",
    "1979-05-27", "[1, 2]", "[1, 2, 3, 4]", "[[1]]", "[nan, 0, 0]", "{ input = 0.0 }", "{ input = 1e300 }",
    "9" * 5000,
]  # fmt: skip
TEXTS = [
    RUN, "1/0", "1e308*1e308", "2**2**2**2**2", "(" * 300 + "1" + ")" * 300, "-" * 1000 + "1", "sqrt(-1)",
    "atan2(0,0)", "unit([0,0,0])", "x.__class__", "lambda: 1", "[x for x in y]", "f'{1}'", "1 if 1 else 2",
    "().__class__", "abs", "= 1", "=", "= rate(rate(rod))", "= rod ** 12 ** 12", "= 1 / (rod - rod)",
    "= sqrt(rod - 1)", "= " + " + ".join(["rod"] * 250), "= exp(exp(exp(rod)))", "", " ", "\\u0000", "1;2",
    "= rod.rate", "energy", "energy.kinetic", "guide.rod.reaction", "rod.acceleration", "rod.jerk",
]  # fmt: skip


def quoted(text: str) -> str:
    """A TOML string of any text."""
    return json.dumps(text).replace("\\/", "/").replace("\x7f", "\\u007f")


def hostile(text: str, rng: random.Random) -> str:
    """One mutation of a TOML text."""
    lines = text.split("\n")
    keys = [i for i, row in enumerate(lines) if "=" in row and not row.lstrip().startswith("#")]
    heads = [i for i, row in enumerate(lines) if row.startswith("[")]
    kind = rng.randrange(9)
    if kind == 0 and keys:  # a number
        i = rng.choice(keys)
        lines[i] = f"{lines[i].partition('=')[0]}= {rng.choice(NUMBERS)}"
    elif kind == 1 and keys:  # an expression
        i = rng.choice(keys)
        lines[i] = f"{lines[i].partition('=')[0]}= {quoted(rng.choice(TEXTS))}"
    elif kind == 2 and keys:  # a key
        i = rng.choice(keys)
        lines[i] = f"{quoted(rng.choice(NAMES))} ={lines[i].partition('=')[2]}"
    elif kind == 3 and heads:  # a name
        i = rng.choice(heads)
        table = lines[i].strip("[]").split(".")
        lines[i] = f"[{'.'.join([*table[:-1], quoted(rng.choice(NAMES))])}]"
    elif kind == 4 and heads:  # a name everywhere
        old = lines[rng.choice(heads)].strip("[]").split(".")[-1].split("]")[0].strip('"')
        new = rng.choice(NAMES)
        return text.replace(old, new) if old else text
    elif kind == 5 and len(heads) > 1:  # a table twice, away, or elsewhere
        a, b = rng.choice(heads), rng.choice(heads)
        lines[a] = rng.choice([lines[b], "", lines[a] + "\n" + lines[a], "[" * 60 + "]" * 60])
    elif kind == 6:  # bytes
        at = rng.randrange(len(text) + 1)
        return (
            text[:at] + rng.choice(['"', "\n", "[", "]", "=", "\x00", "\\", "'''", "é"]) + text[at:]
        )
    elif kind == 7:  # an output
        lines.append(f"[outputs]\n{quoted(rng.choice(NAMES))} = {quoted(rng.choice(TEXTS))}")
        if "[outputs]" in text:
            lines[-1] = lines[-1].partition("\n")[2]
    else:  # two values change places
        if len(keys) > 1:
            a, b = rng.sample(keys, 2)
            left, right = lines[a].partition("="), lines[b].partition("=")
            lines[a], lines[b] = f"{left[0]}={right[2]}", f"{right[0]}={left[2]}"
    return "\n".join(lines)


class TooLongError(Exception):
    """A file took longer than `SECONDS`."""


def _alarm(signum: int, frame: FrameType | None) -> None:
    raise TooLongError


def files(seed: int, n: int) -> Iterator[tuple[str, str, str]]:
    """Kind, name and text of hostile files."""
    rng = random.Random(seed)
    mechanisms = {name: (MECHANISMS / f"{name}.toml").read_text() for name in SMALL}
    rigs = {path.stem: path.read_text() for path in sorted(RIGS.glob("*.toml"))}
    for _ in range(n):
        kind, choices = rng.choice(
            [("mechanism", mechanisms), ("mechanism", mechanisms), ("rig", rigs)]
        )
        name = rng.choice(sorted(choices))
        text = choices[name]
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            text = hostile(text, rng)
        yield kind, name, text


def compiles(folder: Path, names: list[str], standard: str) -> str:
    """What the compiler says against C files; nothing if they are good."""
    done = subprocess.run(
        ["gcc", f"-std={standard}", "-fsyntax-only", "-w", *names],
        cwd=folder, capture_output=True, text=True, check=False, timeout=COMPILER_S,
    )  # fmt: skip
    return done.stderr if done.returncode else ""


def one(kind: str, name: str, text: str, folder: Path, *, is_built: bool) -> str:
    """What becomes of a file: refused, good, built; or what is wrong with us."""
    path = folder / f"{name}.toml"
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    if kind == "rig":
        try:
            load_rig(str(path))
        except ConfigError:
            return "rig refused"
        return "rig good"
    try:
        model = load(path)
        made = generate(model, KernelOptions())
    except ConfigError as error:
        return "mechanism refused" if str(error) else "WRONG refused without a word"
    for file, source in made.files.items():
        (folder / file).write_text(source)
    ast.parse(made.reference)
    said = compiles(folder, ["kernel.c"], "gnu11")
    written = [p.name for p in write(model, "c99", folder, KernelOptions()) if p.suffix == ".c"]
    said += compiles(folder, written, "c99")
    if said:
        return f"WRONG bad C: {said[:300]}"
    if not is_built:
        return "mechanism good"
    try:
        build_kernel(path).module.Kernel().step(*[0.0] * (3 * len(model.system.guides)))
    except (MechanismError, VerificationError) as error:
        return f"kernel refused ({type(error).__name__})"
    return "kernel built"


def fuzz(seed: int, n: int, n_loaded: int, until_s: float) -> dict[str, object]:
    """Counts of what became of files, and each one that went wrong."""
    counts: collections.Counter[str] = collections.Counter()
    wrong: list[dict[str, str]] = []
    built = 0
    begin = time.monotonic()
    signal.signal(signal.SIGPROF, _alarm)
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        for number, (kind, name, text) in enumerate(files(seed, n)):
            if time.monotonic() - begin > until_s:
                break
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                became = one(kind, name, text, folder, is_built=built < n_loaded)
            except TooLongError:
                became = f"WRONG longer than {SECONDS} s"
            except Exception as error:  # whatever else it is, it is ours
                became = f"WRONG {type(error).__name__}: {error}"[:300]
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            built += became.startswith("kernel")
            if list(folder.glob(CANARY)) or Path(CANARY).exists():
                became = "WRONG a command was run"
            if became.startswith("WRONG"):
                wrong.append({"number": str(number), "what": became, "text": text})
            counts[became.split(":")[0]] += 1
    return {"seed": seed, "files": sum(counts.values()), "became": dict(counts), "wrong": wrong}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--files", type=int, default=10_000)
    options.add_argument("--load", type=int, default=300, help="kernels to build and load")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    given = options.parse_args()
    found = fuzz(given.seed, given.files, given.load, given.seconds)
    print(json.dumps(found))
    raise SystemExit(bool(found["wrong"]))


if __name__ == "__main__":
    main()
