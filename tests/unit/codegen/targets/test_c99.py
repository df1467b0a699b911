"""The standalone C99 target: strict compilers take it, two kernels share a program, and it gives the
bits of the Python kernel for the same flags.
"""

import ctypes
import math
import shutil
import subprocess

import numpy as np
import pytest

from codegen.kernels.build import FLAGS, _march
from codegen.kernels.generate import write
from codegen.options.options import KernelOptions

STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"]
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(("mechanism", "options"), [
    ("guided_rod", {"substeps": 3}), ("slider_crank", {"frozen": True}),
    ("double_four_bar", {"precision": "float32"}),
    ("steering_rack", {"projection": "none", "tolerance": 1e-9}),
])  # fmt: skip
@pytest.mark.slow
def test_strict_compilers_take_it_and_the_example_runs(tmp_path, compiler, mechanism, options):
    names = [path.name for path in write(mechanism, "c99", tmp_path, KernelOptions(**options))]
    assert names == [f"{mechanism}.h", f"{mechanism}.c", f"{mechanism}_example.c"]
    run([compiler, *STRICT, *names[1:], "-lm", "-o", "example"], tmp_path)
    told = run(["./example"], tmp_path)
    assert told.startswith("status 0 after 1000 steps")
    assert "singular steps" in told


@pytest.mark.slow
def test_the_header_is_cpp_too(tmp_path):
    write("guided_rod", "c99", tmp_path)
    (tmp_path / "main.cpp").write_text('#include "guided_rod.h"\nint main() { return 0; }\n')
    run(["gcc", "-x", "c++", "-fsyntax-only", "-Wall", "-Werror", "main.cpp"], tmp_path)


@pytest.mark.slow
def test_two_kernels_link_into_one_program(tmp_path):
    write("guided_rod", "c99", tmp_path)
    write("slider_crank", "c99", tmp_path)
    (tmp_path / "main.c").write_text("""
#include "guided_rod.h"
#include "slider_crank.h"
#include <stdio.h>
static guided_rod_memory rod_memory;
static slider_crank_memory crank_memory;
int main(void)
{
    const double guide[3] = {0.1, 0.0, 0.0};
    double torque[GUIDED_ROD_N_OUTPUTS], slider[SLIDER_CRANK_N_OUTPUTS];
    guided_rod *rod = guided_rod_init(&rod_memory);
    slider_crank *crank = slider_crank_init(&crank_memory);
    int bad = guided_rod_reset(rod, guide, NULL) + slider_crank_reset(crank, NULL, NULL);
    bad += guided_rod_set_parameter(rod, guided_rod_parameter("uniform_rod/rod/mass_kg"), 4.0);
    bad += guided_rod_step(rod, guide, NULL, torque) + slider_crank_step(crank, NULL, NULL, slider);
    bad += guided_rod_parameter("no such") != -1;
    printf("%d %.9f %.9f\\n", bad, torque[0], slider[1]);
    return 0;
}
""")
    run(["gcc", *STRICT, "main.c", "guided_rod.c", "slider_crank.c", "-lm", "-o", "both"], tmp_path)
    bad, torque, rate = run(["./both"], tmp_path).split()
    assert bad == "0"
    # 4 kg instead of 2 at half of 0.3 m
    assert float(torque) == pytest.approx(4.0 * 9.81 * 0.15 * math.cos(0.1), abs=1e-5)
    assert float(rate) == pytest.approx(-4.0, abs=0.01)


@pytest.mark.slow
def test_it_gives_the_bits_of_the_python_kernel(tmp_path, kernel):
    write("steering_26", "c99", tmp_path)
    flags = [f for f in FLAGS if not f.startswith("-fvisibility")] + _march("auto")
    run(["gcc", *flags, "-shared", "steering_26.c", "-o", "kernel.so"], tmp_path)
    library = ctypes.CDLL(str(tmp_path / "kernel.so"))
    library.steering_26_init.restype = ctypes.c_void_p
    memory = ctypes.create_string_buffer(1 << 16)
    mine = ctypes.c_void_p(library.steering_26_init(memory))
    other = kernel("steering_26").Kernel()
    ports = list(other.outputs)
    found = np.zeros(len(ports))
    for k in range(300):
        t = 1e-3 * k
        guide = (0.8 * math.sin(9 * t), 7.2 * math.cos(9 * t), -64.8 * math.sin(9 * t))
        given = (ctypes.c_double * 3)(*guide)
        if k == 0:
            assert library.steering_26_reset(mine, given, None) == other.reset(*guide) == 0
            continue
        out = found.ctypes.data_as(ctypes.c_void_p)
        assert library.steering_26_step(mine, given, None, out) == other.step(*guide) == 0
        assert found.tolist() == list(other.outputs.values())


def test_other_targets_are_written_too(tmp_path):
    assert [p.name for p in write("guided_rod", "cython", tmp_path)] == [
        "kernel.h", "kernel.c", "access.h", "face.pyx", "access.c",
    ]  # fmt: skip
    assert [p.name for p in write("guided_rod", "numpy", tmp_path)] == ["guided_rod.py"]


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_parameter_out_of_its_bounds_is_refused_and_the_old_value_stays(tmp_path, precision):
    write("guided_rod", "c99", tmp_path, KernelOptions(precision=precision))
    (tmp_path / "main.c").write_text("""
#include "guided_rod.h"
#include <math.h>
#include <stdio.h>
static guided_rod_memory memory;
int main(void)
{
    const double tried[] = {-2.0, 0.0, -0.0, 1e-320, 1e300, NAN, INFINITY, 4.0};
    guided_rod *rod = guided_rod_init(&memory);
    int mass = guided_rod_parameter("uniform_rod/rod/mass_kg");
    printf("%d %d %d\\n", GUIDED_ROD_OK, GUIDED_ROD_INPUT_NOT_FINITE, GUIDED_ROD_OUT_OF_BOUNDS);
    for (int i = 0; i < 8; i++) {
        int status = guided_rod_set_parameter(rod, mass, tried[i]);
        double kept = guided_rod_get_parameter(rod, mass);
        printf("%d %g\\n", status, kept);
        if (tried[i] > 0.0 && isfinite(tried[i]))
            guided_rod_set_parameter(rod, mass, 2.0);
    }
    return 0;
}
""")
    run(["gcc", *STRICT, "main.c", "guided_rod.c", "-lm", "-o", "bounds"], tmp_path)
    first, *rest = run(["./bounds"], tmp_path).splitlines()
    good, not_finite, beyond = first.split()
    negative, zero, minus_zero, tiny, huge, nan, infinite, last = (line.split() for line in rest)
    assert negative == zero == minus_zero == [beyond, "2"]
    assert nan == infinite == [not_finite, "2"]
    assert last == [good, "4"]
    if precision == "float32":  # what is zero or infinite in the kernel's own numbers
        assert (tiny, huge) == ([beyond, "2"], [not_finite, "2"])
    else:
        assert tiny[0] == huge[0] == good
