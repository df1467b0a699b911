"""N four-bar mechanisms: exact motion through singular positions, and text that does not grow with
N.
"""

import math
from pathlib import Path

import numpy as np
import pytest

from codegen.description.n_four_bar import n_four_bar
from codegen.kernels.build import build_kernel
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.targets.cython_kernel import texts

DATA = Path(__file__).parents[3] / "data" / "n_four_bar"


@pytest.fixture
def chain(tmp_path):
    def write(n):
        path = tmp_path / f"n_four_bar_{n}.toml"
        path.write_text(n_four_bar(n))
        return path

    return write


def angles(module, steps):
    stepper = module.Kernel()
    assert stepper.reset() == 0
    out = np.zeros((steps, 2))
    assert stepper.run(np.zeros((steps, 1)), out, steps) == steps
    return np.unwrap(np.arctan2(out[:, 1], out[:, 0]))


@pytest.mark.parametrize("n", [1, 10])
@pytest.mark.slow
def test_chain_follows_the_exact_motion_through_its_singular_positions(chain, n):
    # ten singular positions in 10 s; 1.9e-4 rad measured at 1 ms, a second-order phase error
    module = build_kernel(chain(n), KernelOptions(integrator="trapezoidal")).module
    rows = np.loadtxt(DATA / f"reference_{n}.csv", delimiter=",", skiprows=1)[1:]
    got = angles(module, 10000)[np.round(rows[:, 0] / 1e-3).astype(int) - 1]
    gap = (got - rows[:, 5] + math.pi) % (2.0 * math.pi) - math.pi
    assert np.max(np.abs(gap)) < 2.5e-4


@pytest.mark.slow
def test_loops_step_as_the_unrolled_kernel_does(chain, monkeypatch):
    path = chain(12)
    unrolled = build_kernel(path).module
    monkeypatch.setattr("codegen.equations.equations.LARGE", 4)
    # other options give the looped kernel a place of its own in the cache
    looped = build_kernel(path, KernelOptions(cflags=("-DLOOPED",))).module
    gap = angles(looped, 300) - angles(unrolled, 300)
    # the same sums in another order; a singular position is not passed in 0.3 s
    assert np.max(np.abs(gap)) < 1e-9


@pytest.mark.slow
def test_text_and_work_of_a_long_chain_grow_as_they_should(chain):
    lines, slots = [], []
    for n in (60, 120):
        made = program(chain(n), KernelOptions())
        files = texts(made)
        code = [line for line in files["kernel.c"].splitlines() if not line.startswith("    {")]
        lines.append(len(code))
        head = files["kernel.h"].split("one step: ")[1]
        slots.append(int(head.split()[0]))
    # only index tables grow; work is proportional to n
    assert lines[1] < 1.15 * lines[0]
    assert slots[1] / slots[0] == pytest.approx(2.0, abs=0.05)
