"""The same step in all coordinates, its tangent assembled and factorised by Eigen's dense LLT of
dynamic size: what a careful programmer would write with a library.

The generated `factorise` and `solve` are taken out of the kernel's text and Eigen's put in.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.targets.cython_kernel import texts
from peers.row import Row
from peers.timer import compiled

INSTALL = "Debian: apt install libeigen3-dev"
HEADERS = Path("/usr/include/eigen3")

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
extern "C" long run(Data *d, const double *guide, double *out, long n) { return run_steps(d, guide, 0, out, n); }
"""


def row(work: str, mechanism: Path | str, inputs: Callable[[int], np.ndarray], folder: Path) -> Row:
    """Row of a guided mechanism."""
    if not HEADERS.is_dir():
        raise ImportError(INSTALL)
    made = program(mechanism, KernelOptions(presolve=False))
    files = texts(made)
    code = files["kernel.c"]
    for routine in ("factorise", "solve", "solve_guides"):
        pattern = rf"\n(?:static )?(void {routine}\([^)]*\))\n\{{.*?\n\}}\n"
        code, count = re.subn(pattern, r"\n\1;\n", code, flags=re.DOTALL)
        assert count == 1, routine
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
    library = compiled(folder, "dense.cpp", text, f"-I{HEADERS}", "-I.", "rest.o")
    library.make.restype = ctypes.c_void_p
    data = library.make()
    library.run.restype = ctypes.c_long

    def run(n: int) -> float:
        guide, out = inputs(n), np.zeros((n, len(made.mechanism.outputs)))
        begin = time.perf_counter()
        done = library.run(
            ctypes.c_void_p(data), ctypes.c_void_p(guide.ctypes.data),
            ctypes.c_void_p(out.ctypes.data), ctypes.c_long(n),
        )  # fmt: skip
        if done != n:
            raise RuntimeError(f"Eigen: stopped after {done} steps")
        return time.perf_counter() - begin

    return Row(work, "Eigen, dynamic LLT", run)
