"""Threads beside each other through seqlock, ring and hand-over, with delays between their operations: docs/proofs.md.

    python tests/proof/stress.py --seconds 20
    python tests/proof/stress.py --sanitize
    python tests/proof/stress.py --mutants

The functions are those of the sources, as Cython prints them in C, with a delay now and then before each atomic
operation. --sanitize builds them with ThreadSanitizer, but not `latest`: it does not know fences that stand alone, and
sees nothing in words that are all atomic. --mutants changes what an x86 processor or the sanitizer can show, and
expects that it is found. Exit codes: 0 good, 1 a wrong value or a race (a mutant that is not found), 3 no compiler.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutants import MUTANTS, Mutant, applied
from spin_models import CYCLE, ROOT, SHARED

HARNESS = Path(__file__).with_name("stress") / "beside.c"
PAIRS = ("latest", "ring", "hand-over")
SANITIZED = ("ring", "hand-over")
SANITIZER = ("-fsanitize=thread", "-g")
# what may be changed, the pair that shows it, and whether it needs the sanitizer: x86 does not reorder stores
SHOWN = (
    ("if load_relaxed(latest) == s:", "latest", False),
    (">= <uint64_t>slots", "ring", False),
    ("store_release(ring + WRITTEN", "ring", True),
    ("__atomic_store_n(owner, 0, __ATOMIC_RELEASE)", "hand-over", True),
    ("__ATOMIC_ACQ_REL", "hand-over", True),
)
FUNCTIONS = ("publish_latest", "read_latest", "push_ring")
CALLS = """\
from libc.stdint cimport int64_t
from rt_core.shared cimport publish_latest, push_ring, read_latest
cdef public int64_t all_of_them(int64_t *words) noexcept nogil:
    publish_latest(words, 1, words, 1)
    push_ring(words, 1, 1, words, 1)
    return read_latest(words, 1, NULL, 1, words)
"""
PREFIX = re.compile(r"__pyx_[fe]_7rt_core_6shared_")
ATOMIC = re.compile(r"^( *#define [A-Z_]+\([a-z, ]*\)) (__atomic_.*)$", re.MULTILINE)


class StressError(Exception):
    """The sources could not be made a program."""


def build(
    folder: Path, changed: Mapping[str, str] | None = None, flags: Sequence[str] = ()
) -> Path:
    """Make the program of the sources, or of changed ones.

    Raises
    ------
    StressError
        Cython or the compiler refuses.
    """
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in (SHARED, CYCLE)}
    texts |= changed or {}
    (folder / "rt_core").mkdir(exist_ok=True)
    (folder / "rt_core" / "__init__.pxd").touch()
    (folder / "rt_core" / "shared.pxd").write_text(texts[SHARED])
    (folder / "calls.pyx").write_text(CALLS)
    cython = [sys.executable, "-m", "cython", "-3", "calls.pyx"]
    _run(cython, folder)
    made = (folder / "calls.c").read_text()
    (folder / "sources.h").write_text("\n".join([*_of_shared(made), _of_cycle(texts[CYCLE])]))
    program = folder / "beside"
    command = ["gcc", "-O2", "-pthread", "-Wno-tsan", *flags, f"-I{folder}", "-o", str(program)]
    _run([*command, str(HARNESS)], folder)
    return program


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise StressError(done.stdout + done.stderr)


def _of_shared(made: str) -> Iterator[str]:
    """Take macros, numbers and functions out of what Cython has printed."""
    macros = re.search(
        r"^ *#define LOAD_RELAXED.*?FENCE_RELEASE\(\).*?$", made, re.DOTALL | re.MULTILINE
    )
    numbers = re.search(r"^enum +\{\s*__pyx_e_7rt_core_6shared_\w+ = [^}]*\};", made, re.MULTILINE)
    found = [macros, numbers]
    for name in FUNCTIONS:
        begin = rf"^static CYTHON_INLINE \w+ __pyx_f_7rt_core_6shared_{name}\([^;{{]*\) \{{\n"
        found.append(re.search(begin + r".*?^\}", made, re.DOTALL | re.MULTILINE))
    for part in found:
        if part is None:
            raise StressError("the C of rt_core/shared.pxd has another form")
        text = (
            PREFIX.sub("", part[0]).replace("CYTHON_INLINE", "inline").replace("CYTHON_UNUSED", "")
        )
        yield ATOMIC.sub(r"\1 (delayed(), \2)", text)


def _of_cycle(text: str) -> str:
    block = re.search(r'extern from \* nogil:\n    """\n(.*?)"""', text, re.DOTALL)
    if block is None or "take(" not in block[1]:
        raise StressError("io_bridge/exchange/cycle.pyx has no C of take and release")
    return block[1]


def run(program: Path, pair: str, seconds: float, seed: int = 1) -> tuple[bool, str]:
    """Run one pair of threads; return whether all was well, and the words for it."""
    done = subprocess.run(
        [str(program), pair, str(seconds), str(seed)],
        capture_output=True,
        text=True,
        timeout=60 + 20 * seconds,
    )
    return done.returncode == 0, (done.stdout + done.stderr).strip()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=5.0, help="of each pair of threads")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sanitize", action="store_true", help="with ThreadSanitizer")
    parser.add_argument(
        "--mutants", action="store_true", help="change the functions and see that it is found"
    )
    options = parser.parse_args()
    try:
        return _mutants(options) if options.mutants else _pairs(options)
    except (OSError, StressError) as error:
        print(error, file=sys.stderr)
        return 3


def _pairs(options: argparse.Namespace) -> int:
    is_good = True
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder), flags=SANITIZER if options.sanitize else ())
        for pair in SANITIZED if options.sanitize else PAIRS:
            good, said = run(program, pair, options.seconds, options.seed)
            print(f"{pair}: {'good' if good else 'WRONG'}: {said}")
            is_good &= good
    return 0 if is_good else 1


def _mutants(options: argparse.Namespace) -> int:
    survivors = 0
    for old, pair, needs_sanitizer in SHOWN:
        mutant = next(m for m in MUTANTS if m.old == old)
        with tempfile.TemporaryDirectory() as folder:
            program = build(Path(folder), _changed(mutant), SANITIZER if needs_sanitizer else ())
            good, _ = run(program, pair, options.seconds, options.seed)
        print(
            f"{pair}: {mutant.function}: {old} -> {mutant.new}: {'survived' if good else 'found'}"
        )
        survivors += good
    return 1 if survivors else 0


def _changed(mutant: Mutant) -> dict[str, str]:
    return {mutant.source: applied(mutant, (ROOT / mutant.source).read_text(encoding="utf-8"))}


if __name__ == "__main__":
    sys.exit(main())
