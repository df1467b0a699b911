"""Trees by transfer matrices as kernels: exact motions, joint forces, long chains, and everything refused."""

import csv
import math
import re
from pathlib import Path

import numpy as np
import pytest
from mechanisms.written_rods import PINS, branches

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError
from codegen.formulations import riccati
from codegen.kernels.build import build_kernel
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.targets.c99 import texts

REFERENCE = Path(__file__).parents[3] / "data" / "references" / "branch_pendulum.csv"
OPTIONS = KernelOptions(formulation="riccati")
# R1: angles of rods 1, 3, 5 and 7 at 1 s and 5 s, to every digit that is given
DIGITS = {
    1.0: (1.28930529, 2.35435752, 1.35750647, -1.73605246),
    5.0: (1.62877266, 1.49402388, 1.34981179, -2.87476859),
}


@pytest.fixture(scope="module")
def exact():
    with REFERENCE.open() as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


def angles(shown):
    seven = shown["aground7/angle_rad"]
    one, five = (seven + shown[f"a{pin}/angle_rad"] + math.pi / 2 for pin in ("17", "57"))
    return one, five + shown["a35/angle_rad"], five, seven


def test_branches_follow_the_exact_motion_to_all_digits_and_show_its_joint_forces(tmp_path, exact):
    options = KernelOptions(formulation="riccati", step_s=5e-4)
    stepper = build_kernel(branches().save(tmp_path), options).module.Kernel()
    assert stepper.reset() == 0
    force, steps = 0.0, 0
    for k, t in enumerate(exact["t"]):
        while steps < round(t / 5e-4):
            assert stepper.step() == 0
            steps += 1
        shown = stepper.outputs
        for pin in PINS:
            gaps = [shown[f"p{pin}/f{a}_n"] - exact[f"F{a}_{pin}"][k] for a in "xy"]
            force = max(force, *map(abs, gaps))
        if t in DIGITS:
            assert [round(v, 8) for v in angles(shown)] == list(DIGITS[t])
    # rk4 at 0.5 ms: forces follow the second derivative of angles that are within 1e-9
    assert force < 1e-6


def chain(count):
    """Pins about x, y and z in turn, ball joints and slides among them; a spring across and a drive on a branch."""
    made = MechanismBuilder("chain", gravity_m_s2=(0.2, -0.1, -9.81))
    for k in range(count):
        at = (0.1 * k, 0.03 * k, 0.0)
        before = f"b{k - 1}" if k else "ground"
        made.point(f"p{k}", position_m=at)
        ways = [f"b{k}_{n}" for n in range(3)]
        for name, way in zip(ways, np.eye(3), strict=True):
            made.unit_vector(name, direction=way.tolist())
        made.rigid_body(
            f"b{k}", points=[f"p{k}"], vectors=ways, mass_kg=1.0 + 0.1 * k,
            centre_m=(at[0] + 0.05, at[1] + 0.01, 0.02), inertia_kg_m2=(0.01, 0.02, 0.015),
        )  # fmt: skip
        axis = np.eye(3)[k % 3].tolist()
        if k % 4 == 1:
            made.spherical(f"j{k}", bodies=[f"b{k}", before], point_m=at)
        elif k % 4 == 3:
            made.distance(f"q{k}")
            made.prismatic(f"j{k}", bodies=[f"b{k}", before], point_m=at, axis=axis, travel=f"q{k}")
            made.spring(f"s{k}", distance=f"q{k}", stiffness_n_per_m=50.0)
        else:
            made.angle(f"q{k}")
            made.revolute(f"j{k}", bodies=[f"b{k}", before], point_m=at, axis=axis, angle=f"q{k}")
            made.damper(f"d{k}", angle=f"q{k}", damping_nms_per_rad=0.05)
        for key in ("fx_n", "ty_nm"):
            kind = {1: "spherical", 3: "prismatic"}.get(k % 4, "revolute")
            made.output(f"j{k}/{key}", f"{kind}.j{k}.{key}")
    made.spring_between("across", points=["p1", f"p{count - 1}"], stiffness_n_per_m=5.0)
    made.output("total_j", "energy").output("p2/acceleration_m_s2", "p2_x.acceleration")
    return made


def test_any_joint_shows_forces_energies_and_accelerations_as_articulated_inertias_do(tmp_path):
    path = chain(5).save(tmp_path)
    shown = []
    for formulation in ("riccati", "articulated"):
        stepper = build_kernel(path, KernelOptions(formulation=formulation)).module.Kernel()
        assert stepper.reset() == 0
        for _ in range(100):
            assert stepper.step() == 0
        shown.append(stepper.outputs)
    assert shown[0] == pytest.approx(shown[1], rel=1e-10, abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "limit"), [(100, 1e-10), (10_000, 1e-8)])
def test_rows_accelerate_as_by_articulated_inertias_at_equal_states(row, monkeypatch, count, limit):
    monkeypatch.setattr("codegen.description.repeat.WRITTEN", 6)
    path = row(count)
    rng = np.random.default_rng(1)
    q, qd = rng.uniform(-0.5, 0.5, count), 0.1 * rng.uniform(-1.0, 1.0, count)
    found = []
    for formulation in ("riccati", "articulated"):
        stepper = build_kernel(path, KernelOptions(formulation=formulation)).module.Kernel()
        assert stepper.reset(q=q, qd=qd) == 0
        found.append(np.array(stepper.qdd))
    # rounding does not grow with the length: no matrix is larger than six by six
    assert np.max(np.abs(found[0] - found[1])) < limit * np.max(np.abs(found[1]))


@pytest.mark.slow
def test_the_end_of_a_thousand_links_is_where_articulated_inertias_take_it(row, monkeypatch):
    monkeypatch.setattr("codegen.description.repeat.WRITTEN", 6)
    path, ends = row(1000), []
    for formulation in ("riccati", "articulated"):
        stepper = build_kernel(path, KernelOptions(formulation=formulation)).module.Kernel()
        assert stepper.reset() == 0
        for _ in range(200):
            assert stepper.step() == 0
        shown = stepper.outputs
        ends.append((shown["tip/x_m"], shown["tip/y_m"]))
    # 100 m long, let go at a slant: m
    assert np.max(np.abs(np.subtract(*ends))) < 1e-9
    assert math.hypot(ends[0][0] - 60.0, ends[0][1] + 80.0) > 0.01


def test_text_and_memory_of_a_link_do_not_grow_with_their_number(row):
    sizes, lengths = [], []
    for count in (2000, 4000):
        files = texts(program(row(count), OPTIONS))
        (name,) = (key for key in files if key.endswith(".h"))
        sizes.append(int(re.search(r"_BYTES = (\d+)|_BYTES (\d+)", files[name])[0].split()[-1]))
        text = files[name.replace(".h", ".c")]
        lengths.append(
            len(text[text.index("static void move(") : text.index("\nstatic real size(")])
        )
    assert abs(lengths[1] - lengths[0]) < 100
    assert (sizes[1] - sizes[0]) / 2000 < 1000


def refused(made, **options):
    with pytest.raises(MechanismError) as caught:
        riccati.build(made.build(), KernelOptions(formulation="riccati", **options))
    return str(caught.value)


def test_a_loop_is_refused_by_the_joint_that_closes_it_with_a_formulation_that_would_do():
    made = branches()
    made.point("tip", position_m=(-0.5, -2, 0), moves="xy").point(
        "tip_b", position_m=(-0.5, -1, 0), moves="xy"
    )
    made.rigid_body(
        "link", points=["tip", "tip_b"], axis=(0, 0, 1), mass_kg=1.0, centre_m=(-0.5, -1.5, 0), inertia_kg_m2=0.1,
    )  # fmt: skip
    made.revolute("elbow", bodies=["link", "rod1"], point_m=(-0.5, -1, 0), axis=(0, 0, 1))
    made.revolute("closing", bodies=["link", "ground"], point_m=(-0.5, -2, 0), axis=(0, 0, 1))
    told = refused(made)
    assert re.search(r"revolute\.(closing|elbow|pground7|p17): closes a loop", told)
    assert "'riccati' is for trees" in told
    assert "'semi_recursive' or 'ali3p'" in told


def test_no_body_is_told_as_such():
    made = MechanismBuilder("bare", gravity_m_s2=(0, -9.81, 0))
    made.point("P", position_m=(1, 0, 0), moves="xy").mass("P", point="P", mass_kg=1.0)
    assert "is on no rigid body" in refused(made)


def test_one_body_falls():
    made = MechanismBuilder("stone", gravity_m_s2=(0, 0, -9.81))
    for k, way in enumerate(np.eye(3)):
        made.unit_vector(f"way_{k}", direction=way.tolist())
    made.point("at", position_m=(0, 0, 0))
    made.rigid_body(
        "stone", points=["at"], vectors=[f"way_{k}" for k in range(3)], mass_kg=2.0,
        centre_m=(0, 0, 0.1), inertia_kg_m2=(0.1, 0.2, 0.3),
    )  # fmt: skip
    text = texts(riccati.build(made.build(), OPTIONS))["stone.c"]
    assert "static void transfer(" in text


def test_a_link_without_mass_is_named():
    made = MechanismBuilder("light", gravity_m_s2=(0, -9.81, 0))
    made.point("P", position_m=(1, 0, 0), moves="xy")
    made.rigid_body(
        "rod",
        points=[(0, 0, 0), "P"],
        axis=(0, 0, 1),
        mass_kg=0.0,
        centre_m=(0.5, 0, 0),
        inertia_kg_m2=0.0,
    )
    with pytest.raises(MechanismError, match="without mass"):
        made.build()


def test_a_chain_of_a_million_links_is_refused_with_the_memory_that_it_would_take(row):
    with pytest.raises(MechanismError) as caught:
        program(row(1_000_000), OPTIONS)
    assert "is more than 200000" in str(caught.value)
    assert "GB" in str(caught.value)
