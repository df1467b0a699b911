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


LOAD = """
[point.tip]
position_m = [X, -0.48, 0]
moves = "xy"
[rigid_body.load]
points = ["p_COUNT", "tip"]
axis = [0, 0, 1]
mass_kg = 0.1
centre_m = [X, -0.48, 0]
inertia_kg_m2 = 1e-4
[outputs]
"load/x_m" = "tip_x"
"""
SPRING = (
    '[spring_between.s]\npoints = ["p_COUNT", [120, -160, 0]]\nstiffness_n_per_m = 1.0\n[outputs]'
)


def test_a_load_on_the_end_of_a_long_row_is_not_placed_by_numbers_of_another_pose(row):
    load = ("[outputs]", LOAD.replace("COUNT", "2000").replace("X", "120.1"))
    told = refused(row(2000, load=load))
    assert "rigid_body.load.centre_m" in told
    assert "pose has 6 of its 2000 repetitions" in told
    assert "pose_count = 6 in [repeat.row]" in told
    # numbers of the other parts of the file are no concern of the row
    assert told.count("pose_count") == 2


@pytest.mark.slow
def test_a_load_is_placed_as_on_a_row_of_six_where_the_row_says_so(row, monkeypatch):
    monkeypatch.setattr(repeat, "WRITTEN", 6)
    load = ("[outputs]", LOAD.replace("COUNT", "12").replace("X", "0.46"))
    path = row(12, load=load, said=("count = 12", "count = 12\npose_count = 6"))
    stepper = build_kernel(path, OPTIONS).module.Kernel()
    assert stepper.reset() == 0
    # 12 rods of 0.06 m along x, and the load's 0.1 m
    assert stepper.outputs["load/x_m"] == pytest.approx(0.82, abs=1e-12)


def test_a_spring_from_the_end_of_a_long_row_has_no_length_as_built(row):
    spring = ("[outputs]", SPRING.replace("COUNT", "2000"))
    assert "give rest_m" in refused(row(2000, spring=spring))
    assert "spring_between.s" in refused(row(2000, spring=spring))
    rest = ("stiffness_n_per_m = 1.0", "stiffness_n_per_m = 1.0\nrest_m = 1.0")
    program(row(2000, spring=spring, rest=rest), OPTIONS)


def test_the_pose_of_a_row_that_is_written_out_is_its_own(row):
    told = refused(row(12, said=("count = 12", "count = 12\npose_count = 6")))
    assert "repeat.row.pose_count = 6" in told
