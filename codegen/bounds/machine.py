"""The costs of this machine: latencies and throughputs of what kernels are made of, measured and never assumed.

Each cost is the largest of several least times: a hole of the host or a neighbour only adds, so that the least of a
round is the core's own; rounds lie apart in time, so that the largest of them has the slowest clock that the core
showed. The costs are kept in the user's cache, under the processor's name, the compiler, its flags and the loops.
"""

from __future__ import annotations

import ctypes
import platform
import random
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from string import Template

from codegen.expressions.emit import LATENCY
from codegen.kernels.build import compile_shared
from codegen.kernels.cache import CacheError, open_cache
from codegen.kernels.kept_numbers import keep_numbers, kept_numbers
from codegen.kernels.toolchain import compiler, compiler_version, digest, march
from codegen.options.options import KernelOptions
from codegen.targets.kernel_text import sine_cosine_text

HERE = Path(__file__).parent
ROUNDS, TRIES, APART_S = 12, 40, 0.004
SETTLE_S = 0.05  # a core that was idle takes this long to its usual clock
STATEMENTS, LIVE, MEMORY = 3000, 48, 512  # of the straight lines
# kinds of work in the order of `machine.c.in`, and their conditions
WORKS = {
    "add": "each waits for the one before",
    "mul": "each waits",
    "fma": "each waits",
    "div": "each waits",
    "sqrt": "each waits",
    "sincos": "each waits",
    "memory": "stored, and read at once",
    "side_div": "none waits",
    "side_sqrt": "none waits",
    "picked": "operands out of index tables",
    "branch": "not guessed",
    "slot": "straight lines, with their loads, stores and instructions",
    "clock": "a look at the clock",
}


@dataclass(frozen=True)
class MachineCosts:
    """Costs of one operation in ns.

    `WORKS` has the conditions of each; where each operation waits for the one before, it is a latency.
    """

    add: float
    mul: float
    fma: float
    div: float
    sqrt: float
    sincos: float
    memory: float
    side_div: float
    side_sqrt: float
    picked: float
    branch: float
    slot: float
    clock: float
    processor: str = ""

    def latencies(self) -> dict[float, float]:
        """Return ns by the generator's own latencies in cycles, of operations that share one the largest."""
        found: dict[float, float] = {0.0: 0.0, 1.0: self.add}
        for name, cycles in LATENCY.items():
            found[float(cycles)] = max(found.get(float(cycles), 0.0), getattr(self, name))
        return found


def processor() -> str:
    """Return the name of the processor, as far as this system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    lines = [line.partition(":") for line in text.split("\n\n")[0].splitlines()]
    said = {key.strip(): value.strip() for key, _, value in lines}
    words = [said.get(key, "") for key in ("vendor_id", "cpu family", "model", "model name")]
    return " ".join(word for word in (*words, platform.machine()) if word)


@cache
def machine_costs(options: KernelOptions | None = None) -> MachineCosts:
    """Return the costs of this machine: those of the user's cache, else measured now, which takes a second.

    Parameters
    ----------
    options : KernelOptions, optional
        Whose compiler and flags count.

    Raises
    ------
    BuildError
        No compiler, or it fails.
    """
    options = options or KernelOptions()
    source = text()
    by = compiler(options.compiler)
    flags = " ".join([*march(options.march), *options.cflags])
    parts = (source, processor(), compiler_version(by), flags)
    key = digest(part.encode() for part in parts)
    try:
        kept = open_cache("machines") / f"{key[:32]}.json"
        found = _kept(kept)
    except CacheError:
        return measure(options)
    if found is None:
        found = measure(options)
        keep_numbers(kept, asdict(found))
    return found


def forget_costs() -> None:
    """Measure again at the next call: costs that were kept may be those of a machine with a loud neighbour."""
    machine_costs.cache_clear()
    with suppress(CacheError, OSError):
        for path in open_cache("machines").glob("*.json"):
            path.unlink(missing_ok=True)


def _kept(path: Path) -> MachineCosts | None:
    """Return costs that were kept; None where there are none, or they are not whole."""
    costs = kept_numbers(path, WORKS)
    if costs is None or not all(0.0 < cost < 1e6 for cost in costs.values()):
        return None
    return MachineCosts(**costs, processor=processor())


def measure(options: KernelOptions) -> MachineCosts:
    """Measure the costs of this machine.

    Raises
    ------
    BuildError
        No compiler, or it fails.
    """
    with tempfile.TemporaryDirectory(prefix="machine-") as folder:
        work = Path(folder)
        (work / "machine.c").write_text(text())
        compile_shared(work, "machine.so", options)
        library = ctypes.CDLL(str(work / "machine.so"))
    library.machine_least.restype = ctypes.c_double
    if library.machine_works() != len(WORKS):
        raise AssertionError("machine.c.in and WORKS differ")
    library.machine_begin()
    until = time.monotonic() + SETTLE_S
    while time.monotonic() < until:
        library.machine_least(0, TRIES)
    most = [0.0] * len(WORKS)
    for _ in range(ROUNDS):
        for number in range(len(WORKS)):
            most[number] = max(most[number], library.machine_least(number, TRIES))
        time.sleep(APART_S)
    return MachineCosts(**dict(zip(WORKS, most, strict=True)), processor=processor())


@cache
def text() -> str:
    """Return the loops in C."""
    lines, slots = _straight()
    return Template((HERE / "machine.c.in").read_text()).substitute(
        n_memory=MEMORY,
        sine_cosine=sine_cosine_text(),
        straight=lines,
        n_straight=slots,
    )


def _straight() -> tuple[str, int]:
    """Return straight lines of the kind that the generator prints, and their operations.

    Operands lie up to `LIVE` statements back, so that some have left the registers; a factor of every product is read
    from memory, where it is below one, so that no value grows out of range; every eighth result is stored.
    """
    chosen = random.Random(1)

    def read() -> str:
        return f"m[{chosen.randrange(MEMORY)}]"

    body = []
    for k in range(STATEMENTS):
        first, second = (
            read() if k < LIVE else f"t{k - 1 - chosen.randrange(LIVE)}" for _ in range(2)
        )
        kind = chosen.random()
        if kind < 0.65:
            right = f"{read()} * {first} - {second}"
        elif kind < 0.85:
            right = f"{read()} * {first}"
        else:
            right = f"{first} - {second}"
        body.append(f"    const double t{k} = {right};")
        if k % 8 == 7:
            body.append(f"    out[{k // 8 % MEMORY}] = t{k};")
    rest = " + ".join(f"t{k}" for k in range(STATEMENTS - LIVE, STATEMENTS))
    head = [
        "static double results[N_MEMORY];",
        "static APART double straight(double x, double y, double z)",
        "{",
        "    const double *restrict const m = memory;",
        "    double *restrict const out = results;",
    ]
    return "\n".join([*head, *body, f"    return x + y + z + ({rest});", "}"]), STATEMENTS + LIVE
