"""Our kernels, through their block function as a cycle calls them; their NumPy twin; and the same C
compiled alone.
"""

from __future__ import annotations

import ctypes
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from codegen.description.n_four_bar import n_four_bar
from codegen.kernels.build import FLAGS, build_kernel, load_reference
from codegen.options.options import KernelOptions
from peers.exact import chain_angle, largest_gap
from peers.row import Row

ALONE = "the same C alone"


class Stepper:
    """A compiled kernel, stepped from C. `inputs` has a row for every step, in the order of its
    ports.
    """

    def __init__(self, mechanism: Path | str, options: KernelOptions, timer: ctypes.CDLL) -> None:
        built = build_kernel(mechanism, options)
        self.path, self.timer, self.name = built.path, timer, str(mechanism)
        self.info = built.module.model_info()
        self.kernel = kernel = built.module.Kernel()
        self.reads, self.writes = np.zeros(len(kernel.reads) + 1), np.zeros(len(kernel.writes))
        kernel.bind(
            [self.reads.ctypes.data + 8 * i for i in range(len(kernel.reads))],
            [self.writes.ctypes.data + 8 * i for i in range(len(kernel.writes))],
        )
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        self.capsule = kernel.capsule()
        address = pointer(self.capsule, b"rigloop.block")
        _, self.function, self.state = (ctypes.c_int64 * 3).from_address(address)
        self.ports = list(kernel.writes)

    def steps(
        self, inputs: np.ndarray, first: list[float], *, keep: bool = False, single: bool = False
    ) -> tuple[float, np.ndarray | None, np.ndarray | None]:
        """Seconds, outputs and single nanoseconds of one step a row, from a fresh start."""
        n, width = inputs.shape
        self.kernel.reset(*first)
        kept = np.zeros((n, len(self.ports))) if keep else None
        singles = np.zeros(n, dtype=np.int64) if single else None
        whole = ctypes.c_int64()

        def at(values: np.ndarray | None) -> ctypes.c_void_p:
            return ctypes.c_void_p(None if values is None else values.ctypes.data)

        bad = self.timer.time_steps(
            ctypes.c_void_p(self.function), ctypes.c_void_p(self.state), at(self.reads),
            at(np.ascontiguousarray(inputs)), width, at(self.writes), at(kept), len(self.ports),
            ctypes.c_long(n), at(singles), ctypes.byref(whole),
        )  # fmt: skip
        if bad:
            raise RuntimeError(f"{self.name}: step returned status {self.kernel.status}")
        return whole.value * 1e-9, kept, singles


def row(
    work: str,
    stepper: Stepper,
    inputs: Callable[[int], np.ndarray],
    first: list[float],
    *,
    who: str = "rigloop",
    error: Callable[[], float] | None = None,
    unit: str = "rad",
    steps: int = 2000,
    per_ms: float = 1.0,
    bar_us: float | None = None,
) -> Row:
    """A kernel's row; `inputs(n)` feeds n steps."""

    def singles(n: int) -> np.ndarray:
        found = stepper.steps(inputs(n), first, single=True)[2]
        assert found is not None
        return found

    work_done = stepper.info["operations"]
    return Row(
        work, who, lambda n: stepper.steps(inputs(n), first)[0], error, unit, singles, steps, per_ms,
        work_done["slots"], work_done["path_cycles"], bar_us,
    )  # fmt: skip


def twin(
    work: str, stepper: Stepper, inputs: Callable[[int], np.ndarray], first: list[float]
) -> Row:
    """The NumPy target of the same mechanism, guides only."""
    module = load_reference(stepper.path).Kernel()

    def run(n: int) -> float:
        guides = inputs(n)
        module.reset(*first, parts=1)
        begin = time.perf_counter()
        for guide in guides:
            module.step(*guide)
        return time.perf_counter() - begin

    return Row(work, "rigloop, NumPy target", run, steps=20)


def alone(
    work: str,
    stepper: Stepper,
    inputs: Callable[[int], np.ndarray],
    first: list[float],
    folder: Path,
) -> Row:
    """The kernel's C compiled without its Cython face, with the flags of the build."""
    from codegen.kernels.build import _march

    source = stepper.path.parent
    text = """
#include <string.h>
#include "kernel.h"
#define SHOWN __attribute__((visibility("default")))
SHOWN Data *make(const void *built)
{
    static _Alignas(64) Data d;
    memcpy(&d, built, sizeof d);
    return &d;
}
SHOWN void *step(void)
{
    return (void *)block_step;
}
"""
    (folder / "alone.c").write_text(text)
    command = [
        "gcc", *FLAGS, *_march("auto"), "-shared", f"-I{source}",
        "alone.c", str(source / "kernel.c"), "-o", "alone.so",
    ]  # fmt: skip
    subprocess.run(command, check=True, cwd=folder, timeout=300, capture_output=True)
    library = ctypes.CDLL(str(folder / "alone.so"))
    library.make.restype = library.step.restype = ctypes.c_void_p
    data = library.make(ctypes.c_void_p(stepper.state))
    function = library.step()

    def run(n: int) -> float:
        # the face's own data, copied: same start, same cells
        stepper.kernel.reset(*first)
        library.make(ctypes.c_void_p(stepper.state))
        whole, guides = ctypes.c_int64(), np.ascontiguousarray(inputs(n))
        bad = stepper.timer.time_steps(
            ctypes.c_void_p(function), ctypes.c_void_p(data), ctypes.c_void_p(stepper.reads.ctypes.data),
            ctypes.c_void_p(guides.ctypes.data), guides.shape[1], None, None, 0, ctypes.c_long(n),
            None, ctypes.byref(whole),
        )  # fmt: skip
        if bad:
            raise RuntimeError("the kernel compiled alone stopped")
        return whole.value * 1e-9

    return Row(work, ALONE, run)


def chain(n: int, timer: ctypes.CDLL, folder: Path) -> Row:
    """N four-bar through all its flat positions; the trapezoidal rule keeps the energy."""
    path = folder / f"n_four_bar_{n}.toml"
    path.write_text(n_four_bar(n))
    stepper = Stepper(path, KernelOptions(integrator="trapezoidal"), timer)

    def error() -> float:
        kept = stepper.steps(np.zeros((10000, 1)), [], keep=True)[1]
        assert kept is not None
        x, y = (kept[:, stepper.ports.index(f"B0/{axis}_m")] for axis in "xy")
        return largest_gap(np.arctan2(y, x)[19::20], chain_angle(n, 10.0)[19::20])

    bar = {1: 0.2, 10: 0.9, 40: 4.0}.get(n)
    steps = max(200, 4000 // n)
    return row(
        f"{n} four-bar",
        stepper,
        lambda k: np.zeros((k, 1)),
        [],
        error=error,
        steps=steps,
        bar_us=bar,
    )
