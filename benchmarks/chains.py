"""Long rows in joint coordinates: what describing, building and an evaluation of them cost, from 100 links to 100 000.

    python benchmarks/chains.py [--most 100000] [--json FILE]

Each row is of equal bodies on pins about x, y and z in turn, with a damper in each, written by one `[repeat]` table.

build_s      from the file to a compiled kernel, without the proof of its ends
ns_a_link    accelerations, the least of several rounds
bytes        of a link: states, records and numbers of the kernel
exponent     of the time of an evaluation over the number of links, between the shortest and the longest row
Exit code 0: every bar holds. 1: one does not.
"""

from __future__ import annotations

import ctypes
import json
import math
import tempfile
import time
from pathlib import Path
from string import Template
from typing import Annotated

import typer
from trees import LOOP

from codegen.description import repeat
from codegen.kernels.build import compile_shared
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.targets import c99

OPTIONS = KernelOptions(formulation="articulated", step_s=1e-3)
ROUNDS = 9
SIZES = (100, 1000, 10_000, 100_000)
BARS = {"build_s": 10.0, "evaluation_ms": 25.0, "bytes": 1000.0, "exponent": 1.06}
BODY = """\
[repeat.row.unit_vector."${letter}u_{k}"]
direction = [1, 0, 0]
[repeat.row.unit_vector."${letter}v_{k}"]
direction = [0, 1, 0]
[repeat.row.unit_vector."${letter}w_{k}"]
direction = [0, 0, 1]
[repeat.row.point."${letter}p_{k}"]
position_m = ["0.3 * k + ${at}", 0, 0]
[repeat.row.rigid_body."${letter}_{k}"]
points = ["${letter}p_{k}"]
vectors = ["${letter}u_{k}", "${letter}v_{k}", "${letter}w_{k}"]
mass_kg = 1.0
centre_m = ["0.3 * k + ${at} + 0.05", 0.01, 0.02]
inertia_kg_m2 = [0.01, 0.02, 0.015]
[repeat.row.angle."${letter}q_{k}"]
[repeat.row.revolute."${letter}j_{k}"]
bodies = ["${letter}_{k}", "${before}"]
point_m = ["0.3 * k + ${at}", 0, 0]
axis = ${axis}
angle = "${letter}q_{k}"
[repeat.row.damper."${letter}d_{k}"]
angle = "${letter}q_{k}"
damping_nms_per_rad = 0.01
"""


def row(links: int) -> str:
    """A mechanism file with a row of links, three to a repetition."""
    bodies = [
        Template(BODY).substitute(letter=letter, at=at, before=before, axis=axis)
        for letter, at, before, axis in (
            ("a", 0.0, "c_{k-1}", [1, 0, 0]),
            ("b", 0.1, "a_{k}", [0, 1, 0]),
            ("c", 0.2, "b_{k}", [0, 0, 1]),
        )
    ]
    head = f'[repeat.row]\ncount = {links // 3}\nbefore = {{ c_0 = "ground" }}\n'
    return "gravity_m_s2 = [0, 0, -9.81]\n" + head + "".join(bodies)


def measured(links: int, folder: Path) -> dict[str, float]:
    """The figures of one row."""
    path = folder / f"row_{links}.toml"
    path.write_text(row(links))
    begin = time.perf_counter()
    files = c99.texts(program(path, OPTIONS))
    name = next(key[:-2] for key in files if key.endswith(".h"))
    work = folder / name
    (work / "text").mkdir(parents=True)
    for file, text in files.items():
        (work / "text" / file).write_text(text)
    loop = Template(LOOP).substitute(name=name).replace(f'"{name}.c"', f'"text/{name}.c"')
    (work / "loop.c").write_text(loop)
    compile_shared(work, "loop.so", OPTIONS)
    build_s = time.perf_counter() - begin
    library = ctypes.CDLL(str(work / "loop.so"))
    library.accelerations_ns.restype = ctypes.c_double
    times = []
    for _ in range(ROUNDS):
        if library.bench_start() != 0:
            raise SystemExit(f"{name} does not start")
        times.append(library.accelerations_ns(ctypes.c_long(max(2, 300_000 // links))))
    size = next(line for line in files[f"{name}.h"].splitlines() if "_BYTES " in line)
    count = 3 * (links // 3)
    return {
        "build_s": build_s,
        "ns_a_link": min(times) / count,
        "evaluation_ms": min(times) / 1e6,
        "bytes": int(size.split()[2]) / count,
    }


def main(
    most: Annotated[int, typer.Option(help="Links of the longest row.")] = SIZES[-1],
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the figures there.")
    ] = None,
) -> None:
    """Measure, and compare with the bars."""
    found: dict[int, dict[str, float]] = {}
    repeat.WRITTEN = 6  # all rows in the same way
    with tempfile.TemporaryDirectory() as name:
        for links in (size for size in SIZES if size <= most):
            found[links] = measured(links, Path(name))
            figures = "  ".join(f"{key} {value:.4g}" for key, value in found[links].items())
            print(f"{links:7}  {figures}", flush=True)
    first, last = min(found), max(found)
    ratio = found[last]["evaluation_ms"] / found[first]["evaluation_ms"]
    worst = dict(found[last])
    if last > first:
        worst["exponent"] = math.log(ratio) / math.log(last / first)
        print(f"exponent {worst['exponent']:.3f}")
    missed = [f"{key} {worst[key]:.4g}" for key, bar in BARS.items() if worst.get(key, 0.0) > bar]
    if missed:
        print("missed:", ", ".join(missed))
    if json_file is not None:
        json_file.write_text(json.dumps(found, indent=1))
    raise typer.Exit(1 if missed else 0)


if __name__ == "__main__":
    typer.run(main)
