"""Long chains in joint coordinates, by articulated inertias and by Riccati's transfer matrices.

    python benchmarks/chains.py [--part rows] [--most 100000] [--formulation riccati] [--json FILE] [--plot FILE]

rows       of equal bodies on pins about x, y and z in turn, with a damper in each, written by one `[repeat]` table
           build_s      from the file to a compiled kernel, without the proof of its ends
           ns_a_link    accelerations, the least of several rounds
           bytes        of a link: states, records and numbers of the kernel
           exponent     of the time of an evaluation over the number of links, between the shortest and the longest row
forces     accelerations and the forces of all joints of 1000 links, in both formulations: ns a link
branches   500 rods in space on ball joints: a step of RK4 at 1 ms, beside Exudyn's implicit step with redundant bodies
           (where exudyn is installed), with the error of each after 50 ms; 250 rods with 750 freedoms, beside real time

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
from typing import Annotated, Literal

import numpy as np
import typer
from peers import branch_systems
from peers.branch_systems import Branches
from peers.kernel_loop import loop_text

from codegen.description import repeat
from codegen.kernels.build import compile_shared
from codegen.kernels.generate import program
from codegen.options.options import Formulation, KernelOptions
from codegen.targets import c99

Part = Literal["rows", "forces", "branches"]
SWEEPS: dict[Formulation, str] = {"articulated": "articulate", "riccati": "transfer"}
STEP_S = 1e-3
ROUNDS = 9
SIZES = (100, 1000, 10_000, 100_000)
BARS = {"build_s": 10.0, "evaluation_ms": 25.0, "bytes": 1000.0, "exponent": 1.06}
WRITTEN = 6  # repetitions of a row that are in the file's pose: all rows are made in the same way
RATIO_BAR = 2.5  # riccati over articulated, forces of all joints in both
PEER_BARS = {"riccati": 10.0, "articulated": 20.0}  # Exudyn's step over ours
LARGE, MIDDLE = Branches(166, (166, 167)), Branches(246, (1, 1, 1))
SHORT_S, FINE = 0.05, 8  # of the motion whose errors are said; parts of a step of its reference
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


class Built:
    """A mechanism's kernel, compiled with loops that time it."""

    def __init__(
        self, text: str, folder: Path, formulation: Formulation, step_s: float = STEP_S
    ) -> None:
        options = KernelOptions(formulation=formulation, step_s=step_s)
        work = Path(tempfile.mkdtemp(dir=folder))
        path = work / "row.toml"
        path.write_text(text)
        begin = time.perf_counter()
        files = c99.texts(program(path, options))
        (work / "text").mkdir()
        for file, content in files.items():
            (work / "text" / file).write_text(content)
        name = next(key[:-2] for key in files if key.endswith(".h"))
        loop = loop_text(name, SWEEPS[formulation])
        (work / "loop.c").write_text(loop.replace(f'"{name}.c"', f'"text/{name}.c"'))
        compile_shared(work, "loop.so", options)
        self.build_s = time.perf_counter() - begin
        self.step_s = step_s
        self.library = ctypes.CDLL(str(work / "loop.so"))
        for function in ("accelerations_ns", "forces_ns", "step_ns", "shown"):
            getattr(self.library, function).restype = ctypes.c_double
        size = next(line for line in files[f"{name}.h"].splitlines() if "_BYTES " in line)
        self.bytes = int(size.split()[2])
        self.reset()

    def reset(self) -> None:
        """Back to the start."""
        if self.library.bench_start() != 0:
            raise SystemExit("the kernel does not start")

    def least_ns(self, function: str, count: int) -> float:
        """The least time of a call over some rounds, each from the start."""
        times = []
        for _ in range(ROUNDS):
            self.reset()
            times.append(getattr(self.library, function)(ctypes.c_long(max(2, count))))
        return min(times)

    def tip(self, duration_s: float) -> np.ndarray:
        """The first three outputs after some time."""
        self.reset()
        self.library.step_ns(ctypes.c_long(round(duration_s / self.step_s)))
        return np.array([self.library.shown(k) for k in range(3)])


def measured(links: int, folder: Path, formulation: Formulation) -> dict[str, float]:
    """The figures of one row."""
    made = Built(row(links), folder, formulation)
    least = made.least_ns("accelerations_ns", 300_000 // links)
    count = 3 * (links // 3)
    return {
        "build_s": made.build_s,
        "ns_a_link": least / count,
        "evaluation_ms": least / 1e6,
        "bytes": made.bytes / count,
    }


def rows(most: int, folder: Path, formulation: Formulation) -> tuple[dict, list[str]]:
    """Rows up to some length; what misses its bar."""
    found: dict[int, dict[str, float]] = {}
    for links in (size for size in SIZES if size <= most):
        found[links] = measured(links, folder, formulation)
        figures = "  ".join(f"{key} {value:.4g}" for key, value in found[links].items())
        print(f"{formulation} {links:7}  {figures}", flush=True)
    first, last = min(found), max(found)
    ratio = found[last]["evaluation_ms"] / found[first]["evaluation_ms"]
    worst = dict(found[last])
    if last > first:
        worst["exponent"] = math.log(ratio) / math.log(last / first)
        print(f"exponent {worst['exponent']:.3f}")
    missed = [f"{key} {worst[key]:.4g}" for key, bar in BARS.items() if worst.get(key, 0.0) > bar]
    return {"links": found, "exponent": worst.get("exponent")}, missed


def forces(folder: Path) -> tuple[dict, list[str]]:
    """Accelerations and forces of all joints in space and, with the same bodies on parallel pins, in a plane."""
    found: dict[str, float] = {}
    missed = []
    keys = ("fx_n", "fy_n", "fz_n", "tx_nm", "ty_nm", "tz_nm")
    outputs = "[outputs]\n" + "".join(f'"root/{k}" = "revolute.aj_1.{k}"\n' for k in keys)
    plane = row(1000).replace("axis = [1, 0, 0]", "axis = [0, 1, 0]")
    plane = plane.replace("axis = [0, 0, 1]", "axis = [0, 1, 0]")
    for name, text in (("space", row(1000)), ("plane", plane)):
        made = {f: Built(text + outputs, folder, f) for f in SWEEPS}
        least = {f: made[f].least_ns("forces_ns", 300) / 999 for f in made}
        found |= {f"{name} {f} ns": value for f, value in least.items()}
        ratio = found[f"{name} ratio"] = least["riccati"] / least["articulated"]
        if ratio > RATIO_BAR:
            missed.append(f"{name} ratio {ratio:.3g}")
    for key, value in found.items():
        print(f"{key:24} {value:8.3f}")
    return found, missed


def branches(folder: Path) -> tuple[dict, list[str]]:
    """Steps of branched systems, and where they are after some time."""
    found: dict[str, float] = {}
    missed = []
    text = branch_systems.text(LARGE, WRITTEN, shows=False)
    exact = Built(text, folder, "articulated", STEP_S / FINE).tip(SHORT_S)
    for formulation in SWEEPS:
        made = Built(text, folder, formulation)
        found[f"{formulation} ms"] = made.least_ns("step_ns", 50) / 1e6
        found[f"{formulation} error_m"] = float(np.max(np.abs(made.tip(SHORT_S) - exact)))
    try:
        place, step_s = branch_systems.exudyn_tip(LARGE, STEP_S, SHORT_S)
    except ImportError:
        print(f"without Exudyn: {branch_systems.INSTALL}")
    else:
        found |= {"exudyn ms": 1e3 * step_s, "exudyn error_m": float(np.max(np.abs(place - exact)))}
        for formulation, bar in PEER_BARS.items():
            ratio = found[f"exudyn / {formulation}"] = 1e3 * step_s / found[f"{formulation} ms"]
            if ratio < bar:
                missed.append(f"exudyn / {formulation} {ratio:.3g}")
    middle = Built(branch_systems.text(MIDDLE, WRITTEN, shows=False), folder, "riccati")
    found["250 rods, riccati ms"] = middle.least_ns("step_ns", 100) / 1e6
    if found["250 rods, riccati ms"] > 1e3 * STEP_S:
        missed.append("250 rods are slower than real time")
    for key, value in found.items():
        print(f"{key:24} {value:10.3g}")
    return found, missed


def drawn(found: dict[str, dict[int, dict[str, float]]], output: Path) -> None:
    """A picture of the time a link over the number of links; linear cost is level."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    axes = figure.subplots()
    for name, rows_of in found.items():
        axes.loglog(list(rows_of), [r["ns_a_link"] for r in rows_of.values()], "o-", label=name)
    axes.set(xlabel="links", ylabel="ns a link, accelerations", ylim=(10, 1000))
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(output)


def main(
    part: Annotated[Part | None, typer.Option(help="Only this.")] = None,
    most: Annotated[int, typer.Option(help="Links of the longest row.")] = SIZES[-1],
    formulation: Annotated[
        Literal["articulated", "riccati"] | None, typer.Option(help="Rows by this one only.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the figures there.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the rows' time a link over their length.")
    ] = None,
) -> None:
    """Measure, and compare with the bars."""
    found: dict[str, dict] = {}
    missed: list[str] = []
    repeat.WRITTEN = WRITTEN
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in SWEEPS:
            if part in (None, "rows") and formulation in (None, kind):
                found[kind], less = rows(most, folder, kind)
                missed += [f"{kind} {words}" for words in less]
        for key, run in (("forces", forces), ("branches", branches)):
            if part in (None, key):
                found[key], less = run(folder)
                missed += less
    if plot is not None:
        drawn({key: found[key]["links"] for key in SWEEPS if key in found}, plot)
    if missed:
        print("missed:", ", ".join(missed))
    if json_file is not None:
        json_file.write_text(json.dumps(found, indent=1))
    raise typer.Exit(1 if missed else 0)


if __name__ == "__main__":
    typer.run(main)
