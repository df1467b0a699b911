"""A C loop that times steps without Python in between, and what this machine can do at best."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

from codegen.kernels.build import FLAGS

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
/* steps through the block's own function; each step's inputs are copied to the cells it reads, and
   `count` cells that it wrote are kept */
int time_steps(step_fn step, void *self, double *cells, const double *inputs, int width,
               const double *written, double *kept, int count, long n, int64_t *single,
               int64_t *whole)
{
    int64_t begin = now();
    for (long k = 0; k < n; k++) {
        for (int i = 0; i < width; i++) cells[i] = inputs[k * width + i];
        int64_t before = single ? now() : 0;
        if (step(self, 0)) return 1;
        if (single) single[k] = now() - before;
        if (kept)
            for (int i = 0; i < count; i++) kept[k * count + i] = written[i];
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
    for (long k = 0; k < 2000000; k++) { x[0] = x[0] * a + b; __asm__ volatile("" : "+x"(x[0])); }
    *dependent = (now() - t) / 2e6;
    t = now();
    for (long k = 0; k < 2000000; k++)
        for (int i = 0; i < 10; i++) { x[i] = x[i] * a + b; __asm__ volatile("" : "+x"(x[i])); }
    *independent = (now() - t) / 2e7;
}
"""


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


def machine_ns(timer: ctypes.CDLL) -> tuple[float, float]:
    """Nanoseconds of a dependent and of an independent multiply-add, now."""
    dependent, independent = ctypes.c_double(), ctypes.c_double()
    timer.machine(ctypes.byref(dependent), ctypes.byref(independent))
    return dependent.value, independent.value
