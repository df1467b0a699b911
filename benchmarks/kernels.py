"""Time of one step of generated kernels, beside the same algorithm done otherwise.

    taskset -c 1 python benchmarks/kernels.py [--rounds 7] [--steps 4000]

Every row is measured in the same run, in interleaved rounds; the median round is printed with the
p99.9/p50 of single steps. `limit` is what this machine allows: the larger of operation slots times
the measured time of an independent multiply-add, and critical path times the latency of a dependent
one; `times` is the median over it. Peers that are not installed are skipped with a word: Eigen
(Debian: libeigen3-dev), MuJoCo
(`pip install mujoco`).

Real time: no; a benchmark. Needs gcc (g++ for Eigen).
"""

from __future__ import annotations

import argparse
import ctypes
import math
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codegen.build import FLAGS, build_kernel, load_reference
from codegen.generate import program
from codegen.n_four_bar import n_four_bar
from codegen.options import KernelOptions
from codegen.program import Program
from codegen.targets.cython_kernel import texts

TIMER = r"""
#include <stdint.h>
#include <time.h>
typedef int (*step_fn)(void *, int64_t);
static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
/* steps through the block's own function; each step's guide is copied to the cells it reads */
int time_steps(step_fn step, void *self, double *cells, const double *guide, int width, long n,
               int64_t *single, int64_t *whole)
{
    int64_t begin = now();
    for (long k = 0; k < n; k++) {
        for (int i = 0; i < width; i++) cells[i] = guide[k * width + i];
        int64_t before = single ? now() : 0;
        if (step(self, 0)) return 1;
        if (single) single[k] = now() - before;
    }
    *whole = now() - begin;
    return 0;
}
/* ns of one dependent, and of one of ten independent multiply-adds */
void machine(double *dependent, double *independent)
{
    double x[10], a = 0.999999, b = 1e-9;
    for (int i = 0; i < 10; i++) x[i] = i;
    int64_t t = now();
    for (long k = 0; k < 4000000; k++) { x[0] = x[0] * a + b; __asm__ volatile("" : "+x"(x[0])); }
    *dependent = (now() - t) / 4e6;
    t = now();
    for (long k = 0; k < 4000000; k++)
        for (int i = 0; i < 10; i++) { x[i] = x[i] * a + b; __asm__ volatile("" : "+x"(x[i])); }
    *independent = (now() - t) / 4e7;
}
"""

EIGEN = r"""
#include <Eigen/Dense>
extern "C" {
#define restrict __restrict
#include "kernel.h"
}
static const int JAC[][3] = {@jac@};      // row, coordinate, place in phi_q or -1
static const double JAC_CONST[] = {@const@};
static const int WEIGHT[][2] = {@weight@};
static Eigen::MatrixXd phi_q = Eigen::MatrixXd::Zero(N_PHI, N_Q), tangent(N_Q, N_Q);
static Eigen::LLT<Eigen::MatrixXd> llt(N_Q);
extern "C" void factorise(Work *w, const double *weight)
{
    for (unsigned k = 0; k < sizeof JAC / sizeof *JAC; k++)
        phi_q(JAC[k][0], JAC[k][1]) = JAC[k][2] < 0 ? JAC_CONST[k] : w->phi_q[JAC[k][2]];
    tangent.noalias() = phi_q.transpose() * phi_q;
    for (unsigned k = 0; k < sizeof WEIGHT / sizeof *WEIGHT; k++) {
        const int i = WEIGHT[k][0], j = WEIGHT[k][1];
        tangent(i, j) += weight[k];
        if (i != j) tangent(j, i) += weight[k];
    }
    llt.compute(tangent);
}
extern "C" void solve(Work *w)
{
    Eigen::Map<Eigen::VectorXd> x(w->x, N_Q), rhs(w->rhs, N_Q);
    x = rhs;
    llt.solveInPlace(x);
}
extern "C" void solve_guides(Work *w) { solve(w); }
extern "C" Data *make()
{
    static Data d;
    const double par[] = {@par@}, q[] = {@q@};
    for (int i = 0; i < N_PAR; i++) d.work.par[i] = par[i];
    for (int i = 0; i < N_Q; i++) d.build.q[i] = q[i];
    prepare(&d.work, &d.build);
    return &d;
}
extern "C" long run(Data *d, const double *guide, double *out, long n) { return run_steps(d, guide, out, n); }
"""


@dataclass
class Row:
    """One line of the table; `run(n)` takes n steps and returns the seconds."""

    name: str
    run: Callable[[int], float]
    singles: Callable[[int], np.ndarray] | None = None
    slots: int = 0
    path: int = 0


def swing(n: int, guides: int) -> np.ndarray:
    """Guide position, rate, acceleration over n steps of 1 ms: 0.5 Hz, 0.8 rad."""
    rate = math.pi
    t = rate * 1e-3 * np.arange(1, n + 1)
    one = np.stack([np.sin(t), rate * np.cos(t), -rate * rate * np.sin(t)], axis=1)
    return np.ascontiguousarray(0.8 * np.tile(one, guides)) if guides else np.zeros((n, 1))


def compiled(folder: Path, name: str, text: str, *more: str) -> ctypes.CDLL:
    """Shared library of a C or C++ text."""
    source = folder / name
    source.write_text(text)
    target = source.with_suffix(".so")
    compiler = "g++" if source.suffix == ".cpp" else "gcc"
    flags = [f for f in FLAGS if not f.startswith("-fvis") and not f.startswith("-std")]
    command = [compiler, *flags, "-march=native", "-shared", str(source), *more, "-o", str(target)]
    subprocess.run(command, check=True, cwd=folder, timeout=300, capture_output=True)
    return ctypes.CDLL(str(target))


def ours(name: str, mechanism: Path | str, options: KernelOptions, timer: ctypes.CDLL) -> Row:
    """The compiled kernel through its block function, as a loop calls it."""
    module = build_kernel(mechanism, options).module
    stepper = module.Kernel()
    reads, writes = np.zeros(len(stepper.reads) + 1), np.zeros(len(stepper.writes))
    stepper.bind(
        [reads.ctypes.data + 8 * i for i in range(len(stepper.reads))],
        [writes.ctypes.data + 8 * i for i in range(len(stepper.writes))],
    )
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = stepper.capsule()
    _, function, state = (ctypes.c_int64 * 3).from_address(pointer(capsule, b"rigloop.block"))
    width = len(stepper.reads)

    def steps(n: int, single: np.ndarray | None) -> float:
        guide = swing(n, width // 3)
        stepper.reset(*([0.0, 0.8 * math.pi, 0.0] * (width // 3)))
        whole = ctypes.c_int64()
        bad = timer.time_steps(
            ctypes.c_void_p(function), ctypes.c_void_p(state), ctypes.c_void_p(reads.ctypes.data),
            ctypes.c_void_p(guide.ctypes.data), width, ctypes.c_long(n),
            ctypes.c_void_p(single.ctypes.data if single is not None else None),
            ctypes.byref(whole),
        )  # fmt: skip
        if bad:
            raise RuntimeError(f"{name}: step returned status {stepper.status}")
        return whole.value * 1e-9

    def singles(n: int) -> np.ndarray:
        found = np.zeros(n, dtype=np.int64)
        steps(n, found)
        return found

    work = module.model_info()["operations"]
    return Row(name, lambda n: steps(n, None), singles, work["slots"], work["path_cycles"])


def twin(name: str, mechanism: Path | str) -> Row:
    """The NumPy target."""
    stepper = load_reference(build_kernel(mechanism).path).Kernel()

    def run(n: int) -> float:
        n = max(1, n // 100)
        guides = swing(n, 1)
        stepper.reset(0.0, 0.8 * math.pi, 0.0)
        begin = time.perf_counter()
        for guide in guides:
            stepper.step(*guide)
        return (time.perf_counter() - begin) * 100

    return Row(name, run)


def eigen(name: str, mechanism: Path | str, folder: Path) -> Row:
    """The same step in all coordinates, with the tangent assembled and factorised by Eigen's dense
    LLT of dynamic size.
    """
    made: Program = program(mechanism, KernelOptions(presolve=False))
    files = texts(made)
    code = files["kernel.c"]
    for routine in ("factorise", "solve", "solve_guides"):
        pattern = rf"\n(?:static )?(void {routine}\([^)]*\))\n\{{.*?\n\}}\n"
        code = re.sub(pattern, r"\n\1;\n", code, flags=re.DOTALL)
    (folder / "kernel.h").write_text(files["kernel.h"])
    (folder / "rest.c").write_text(code)
    flags = ["-std=gnu11", "-O3", "-march=native", "-ffp-contract=fast", "-fPIC", "-w", "-c"]
    subprocess.run(["gcc", *flags, "rest.c"], cwd=folder, check=True, timeout=120)
    system = made.presolved.system
    jac, constants = [], []
    for (r, i), e in made.phi_q.items():
        place = -1 if e.is_const else int(made.bind[e].split("[")[1][:-1])
        jac.append(f"{{{r}, {i}, {place}}}")
        constants.append(repr(e.value))
    fill = {
        "jac": ", ".join(jac),
        "const": ", ".join(constants),
        "weight": ", ".join(f"{{{i}, {j}}}" for i, j in made.weight_keys),
        "par": ", ".join(repr(p.default) for p in system.parameters),
        "q": ", ".join(repr(c.initial) for c in system.coordinates),
    }
    text = re.sub(r"@(\w+)@", lambda found: fill[found.group(1)], EIGEN)
    library = compiled(folder, "dense.cpp", text, "-I/usr/include/eigen3", "-I.", "rest.o")
    library.make.restype = ctypes.c_void_p
    data = library.make()
    library.run.restype = ctypes.c_long

    def run(n: int) -> float:
        guide, out = swing(n, 1), np.zeros((n, len(made.mechanism.outputs)))
        begin = time.perf_counter()
        done = library.run(
            ctypes.c_void_p(data), ctypes.c_void_p(guide.ctypes.data),
            ctypes.c_void_p(out.ctypes.data), ctypes.c_long(n),
        )  # fmt: skip
        if done != n:
            raise RuntimeError(f"{name}: stopped after {done} steps")
        return time.perf_counter() - begin

    return Row(name, run)


def mujoco_chain(n_bars: int) -> Row:
    """N four-bar in MuJoCo with its soft loop constraints, semi-implicit Euler: no exact peer."""
    import mujoco

    parts = []
    for k in range(n_bars + 1):
        rod = '<geom type="capsule" fromto="0 0 0 0 0 1" size="0.02" mass="1" contype="0" conaffinity="0"/>'
        across = rod.replace("0 0 0 0 0 1", "0 0 0 1 0 0")
        hinge = '<joint type="hinge" axis="0 1 0"/>'
        inner = f'<body name="c{k}" pos="0 0 1">{hinge}{across}</body>' if k < n_bars else ""
        parts.append(f'<body name="l{k}" pos="{k} 0 0">{hinge}{rod}{inner}</body>')
    loops = "".join(
        f'<connect body1="c{k}" body2="l{k + 1}" anchor="1 0 0"/>' for k in range(n_bars)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="0.001"/><worldbody>{"".join(parts)}</worldbody>'
        f"<equality>{loops}</equality></mujoco>"
    )
    data = mujoco.MjData(model)

    def run(n: int) -> float:
        mujoco.mj_resetData(model, data)
        begin = time.perf_counter()
        mujoco.mj_step(model, data, n)
        return time.perf_counter() - begin

    return Row(f"{n_bars} four-bar, MuJoCo (soft loops)", run)


def rows(timer: ctypes.CDLL, folder: Path) -> list[Row]:
    """Everything that this machine can run."""
    made = [
        ours("steering, presolved", "steering_26", KernelOptions(), timer),
        ours("steering, 26 coordinates", "steering_26", KernelOptions(presolve=False), timer),
        ours("slider-crank", "slider_crank", KernelOptions(), timer),
        twin("steering, NumPy target", "steering_26"),
    ]
    for n in (1, 10, 40):
        path = folder / f"n_four_bar_{n}.toml"
        path.write_text(n_four_bar(n))
        made.append(ours(f"{n} four-bar", path, KernelOptions(), timer))
    if Path("/usr/include/eigen3").is_dir():
        made.append(eigen("steering, 26, Eigen dynamic LLT", "steering_26", folder))
    else:
        print("Eigen: not installed, skipped (Debian: apt install libeigen3-dev)")
    try:
        made += [mujoco_chain(n) for n in (1, 10, 40)]
    except ImportError:
        print("MuJoCo: not installed, skipped (pip install mujoco)")
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=4000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timer = compiled(folder, "timer.c", TIMER)
        measured = rows(timer, folder)
        found: dict[str, list[float]] = {row.name: [] for row in measured}
        speeds = []
        for _ in range(given.rounds):
            dependent, independent = ctypes.c_double(), ctypes.c_double()
            timer.machine(ctypes.byref(dependent), ctypes.byref(independent))
            speeds.append((dependent.value, independent.value))
            for row in measured:
                found[row.name].append(row.run(given.steps) / given.steps * 1e6)
        latency, throughput = (statistics.median(s) for s in zip(*speeds, strict=True))
        print(f"multiply-add: {latency:.2f} ns dependent, {throughput:.3f} ns independent")
        print(
            f"{'':34} {'us':>9} {'least':>9} {'p99.9/p50':>9} {'slots':>6} {'path':>5} {'limit':>6} {'times':>6}"
        )
        for row in measured:
            median, least = statistics.median(found[row.name]), min(found[row.name])
            line = f"{row.name:34} {median:9.3f} {least:9.3f}"
            if row.singles is not None:
                single = row.singles(20 * given.steps)
                ratio = np.percentile(single, 99.9) / np.percentile(single, 50)
                # path is in cycles of a machine whose multiply-add takes four
                limit = max(row.slots * throughput, row.path / 4.0 * latency) * 1e-3
                line += (
                    f" {ratio:9.2f} {row.slots:6} {row.path:5} {limit:6.3f} {median / limit:6.2f}"
                )
            print(line, flush=True)


if __name__ == "__main__":
    main()
