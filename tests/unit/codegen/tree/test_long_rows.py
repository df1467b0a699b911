"""Rows of which only the ends are written out: the same motion as with every link written out, or refused by name."""

import re

import numpy as np
import pytest

from codegen.description import repeat
from codegen.description.mechanism import MechanismError, load
from codegen.kernels.build import build_kernel
from codegen.kernels.generate import generate, program
from codegen.options.options import KernelOptions
from codegen.targets.c99 import texts

OPTIONS = KernelOptions(formulation="articulated")
ROW = """
gravity_m_s2 = [0, -9.81, 0]
[repeat.row]
count = COUNT
before = { p_0 = [0, 0, 0], rod_0 = "ground" }
[repeat.row.point."p_{k}"]
position_m = ["0.06 * k", "-0.08 * k", 0]
moves = "xy"
[repeat.row.rigid_body."rod_{k}"]
points = ["p_{k-1}", "p_{k}"]
axis = [0, 0, 1]
mass_kg = 0.1
centre_m = ["0.06 * (k - 0.5)", "-0.08 * (k - 0.5)", 0]
inertia_kg_m2 = 1e-4
[repeat.row.angle."turn_{k}"]
[repeat.row.revolute."pin_{k}"]
bodies = ["rod_{k}", "rod_{k-1}"]
point_m = ["0.06 * (k - 1)", "-0.08 * (k - 1)", 0]
axis = [0, 0, 1]
angle = "turn_{k}"
[repeat.row.damper."bearing_{k}"]
angle = "turn_{k}"
damping_nms_per_rad = 0.01
[outputs]
"tip/x_m" = "p_COUNT_x"
"pin/fx_n" = "revolute.pin_2.fx_n"
"last/turn_rad_s2" = "turn_COUNT.acceleration"
"""


@pytest.fixture
def row(tmp_path):
    def written(count, **changes):
        text = ROW.replace("COUNT", str(count))
        for old, new in changes.values():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "row.toml"
        path.write_text(text)
        return path

    return written


def test_a_row_moves_as_if_every_link_were_written_out(row, monkeypatch):
    kernels = [build_kernel(row(12), OPTIONS).module]
    monkeypatch.setattr(repeat, "WRITTEN", 6)
    copied = build_kernel(row(12), KernelOptions(formulation="articulated", cflags=("-DCOPIED",)))
    kernels.append(copied.module)
    shown = []
    for module in kernels:
        stepper = module.Kernel()
        assert stepper.reset() == 0
        for _ in range(100):
            assert stepper.step() == 0
        names = [name for name, _ in module.model_info()["coordinates"]]
        shown.append((names, np.array(stepper.q), stepper.outputs))
    (names, q, outputs), (other_names, other_q, other_outputs) = shown
    assert names == other_names
    assert other_q == pytest.approx(q, abs=1e-12)
    # forces are sums over all links that hang below
    assert other_outputs == pytest.approx(outputs, rel=1e-9, abs=1e-9)


def test_a_long_row_takes_less_than_a_kilobyte_a_link_and_little_text(row):
    sizes = []
    for count in (2000, 4000):
        made = program(row(count), OPTIONS)
        files = texts(made)
        (name,) = (key for key in files if key.endswith(".h"))
        size = int(re.search(r"_BYTES = (\d+)|_BYTES (\d+)", files[name])[0].split()[-1])
        assert size < 1000 * count
        start = files[name.replace(".h", ".c")].index("static void move(")
        sizes.append(
            len(
                files[name.replace(".h", ".c")][
                    start : files[name.replace(".h", ".c")].index("\nstatic real size(")
                ]
            )
        )
    assert abs(sizes[1] - sizes[0]) < 100


def refused(path, **options):
    with pytest.raises(MechanismError) as caught:
        generate(path, KernelOptions(**({"formulation": "articulated"} | options)))
    return str(caught.value)


def test_what_a_long_row_cannot_have_is_refused_by_name(row):
    assert "repeat.row.count = 2000" in refused(row(2000), formulation="ali3p")
    with pytest.raises(MechanismError, match="articulated"):
        load(row(2000))
    told = refused(row(2000, mass=("mass_kg = 0.1", 'mass_kg = "0.1 * k"')))
    assert "repeat.row: 2000 repetitions are not the same" in told
    told = refused(row(2000, shown=("[outputs]", '[outputs]\n"total_j" = "energy"')))
    assert "outputs.total_j" in told
