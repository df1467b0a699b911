"""Trees in joint coordinates as kernels: exact motions, joint forces, guides, quaternions, and everything refused."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from mechanisms.spatial_tree import spatial_tree
from mechanisms.written_rods import PINS, branches

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError
from codegen.formulations import articulated
from codegen.kernels.build import build_kernel, load_reference
from codegen.kernels.generate import generate
from codegen.options.options import KernelOptions

REFERENCES = Path(__file__).parents[3] / "data" / "references"
OPTIONS = KernelOptions(formulation="articulated")


def spinning():
    """A top on a ball joint, and a body that floats beside it."""
    made = MechanismBuilder("spinning", gravity_m_s2=(0, 0, -9.81))
    for name, at in (("top", (0.0, 0.0, 0.0)), ("stone", (1.0, 0.0, 0.0))):
        for k, way in enumerate(np.eye(3)):
            made.unit_vector(f"{name}_{k}", direction=way.tolist())
        points = [list(at)] if name == "top" else ["stone_at"]
        if name == "stone":
            made.point("stone_at", position_m=at, velocity_m_s=(0.1, 0.0, 2.0))
        centre = (at[0], at[1], 0.3) if name == "top" else at
        made.rigid_body(
            name, points=points, vectors=[f"{name}_{k}" for k in range(3)], mass_kg=1.5, centre_m=centre,
            inertia_kg_m2=(0.02, 0.03, 0.045),
        )  # fmt: skip
    made.output("total_j", "energy")
    return made


@pytest.fixture(scope="module")
def exact():
    with (REFERENCES / "branch_pendulum.csv").open() as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    def built(made, **options):
        path = made.save(tmp_path_factory.mktemp("trees"))
        return build_kernel(path, KernelOptions(formulation="articulated", **options)).module

    return built


def test_branches_follow_the_exact_motion_with_order_four_and_show_its_joint_forces(build, exact):
    found = []
    for step_s in (4e-3, 2e-3):
        stepper = build(branches(), step_s=step_s).Kernel()
        assert stepper.reset() == 0
        error, force, energy, steps = 0.0, 0.0, 0.0, 0
        for k, t in enumerate(exact["t"]):
            while steps < round(t / step_s):
                assert stepper.step() == 0
                steps += 1
            shown = stepper.outputs
            turned = {"7": shown["aground7/angle_rad"]}
            turned["1"] = turned["7"] + shown["a17/angle_rad"] + math.pi / 2
            turned["5"] = turned["7"] + shown["a57/angle_rad"] + math.pi / 2
            turned["3"] = turned["5"] + shown["a35/angle_rad"]
            error = max(error, *(abs(turned[rod] - exact[f"theta{rod}"][k]) for rod in turned))
            for pin in PINS:
                gaps = [shown[f"p{pin}/f{a}_n"] - exact[f"F{a}_{pin}"][k] for a in "xy"]
                force = max(force, *map(abs, gaps))
            energy = max(energy, abs(shown["total_j"] + 24.525))
        found.append((error, force, energy))
    # 1e-6 rad of a motion of several turns at 4 ms; forces follow the second derivative
    assert found[0][0] < 1e-6
    assert found[0][1] < 1e-4
    for coarse, fine in zip(*found, strict=True):
        assert 3.5 < math.log2(coarse / fine) < 5.5


def test_quaternions_keep_their_length_and_a_top_its_energy_over_a_million_steps(build):
    module = build(spinning(), step_s=1e-4)
    stepper = module.Kernel()
    assert stepper.reset(qd=start_rates(module)) == 0
    begin = stepper.outputs["total_j"]
    steps = 250_000
    no_inputs, shown = np.zeros((steps, 0)), np.zeros((steps, 1))
    for _ in range(4):
        assert stepper.run(no_inputs, shown, steps) == steps
    q = dict(zip((name for name, _ in module.model_info()["coordinates"]), stepper.q, strict=True))
    for body in ("top", "stone"):
        size = math.sqrt(sum(q[f"{body}_e{k}"] ** 2 for k in range(4)))
        assert size == pytest.approx(1.0, abs=1e-15)
    # the order of the integrator is five in what it takes from an energy: 1e-6 of it in 600 turns at 1600 steps each
    assert stepper.outputs["total_j"] == pytest.approx(begin, rel=1e-5)


def start_rates(module):
    """Both bodies spin at the start."""
    rates = np.zeros(len(module.model_info()["coordinates"]))
    for n, (name, _) in enumerate(module.model_info()["coordinates"]):
        rates[n] = {"top_e3": 20.0, "stone_e1": 0.2, "stone_e2": 2.0}.get(name, 0.0)
    return rates


def pendulums(name, *, is_guided):
    """Two point masses on rods that are no bodies of the file; the upper one may be guided."""
    made = MechanismBuilder(name, gravity_m_s2=(0, -9.81, 0))
    made.point("P", position_m=(1, 0, 0), moves="xy").point("Q", position_m=(2, 0, 0), moves="xy")
    made.constant_distance("upper", points=[(0, 0, 0), "P"]).constant_distance(
        "lower", points=["P", "Q"]
    )
    made.mass("p", point="P", mass_kg=1.0).mass("q", point="Q", mass_kg=2.0)
    made.angle("phi").rotation(
        "phi", angle="phi", axis=(0, 0, 1), zero=(1, 0, 0), point="P", centre_m=(0, 0, 0)
    )
    made.damper("d", angle="phi", damping_nms_per_rad=0.1)
    made.spring_between("s", points=[(0, -1, 0), "Q"], stiffness_n_per_m=3.0, damping_ns_per_m=0.2)
    made.output("Q/x_m", "Q_x").output("Q/acceleration_m_s2", "Q_y.acceleration")
    if is_guided:
        made.guide("phi", coordinate="phi").output("drive_nm", "guide.phi.reaction")
    return made


@pytest.mark.parametrize("is_guided", [False, True])
def test_points_on_rods_move_and_push_as_in_natural_coordinates(tmp_path, is_guided):
    made = pendulums("pendulums", is_guided=is_guided)
    path = made.save(tmp_path)
    shown = []
    for formulation in ("articulated", "independent"):
        source = tmp_path / f"{formulation}.py"
        source.write_text(generate(path, KernelOptions(formulation=formulation)).reference)
        stepper = load_reference(source).Kernel()
        stepper.reset(*([0.0, 0.0, 2.0] if is_guided else []), parts=1)
        for k in range(1, 101):
            t = 1e-3 * k
            stepper.step(*([t * t, 2 * t, 2.0] if is_guided else []))
        shown.append(stepper.outputs)
    for port, value in shown[1].items():
        assert shown[0][port] == pytest.approx(value, rel=1e-9), port


def test_a_guided_joint_starts_where_its_guide_is(build):
    module = build(pendulums("guided_pendulums", is_guided=True), substeps=2)
    stepper = module.Kernel()
    assert stepper.reset(2.0, 0.0, 0.0) == 0
    assert stepper.step(2.0, 0.0, 0.0) == 0
    assert stepper.q[0] == 2.0


def refused(made, **options):
    with pytest.raises(MechanismError) as caught:
        articulated.build(made.build(), KernelOptions(formulation="articulated", **options))
    return str(caught.value)


def test_a_loop_is_refused_by_the_joint_that_closes_it_with_a_formulation_that_would_do():
    made = branches()
    made.point("tip", position_m=(-0.5, -2, 0), moves="xy")
    made.rigid_body(
        "link",
        points=["rod1_a", "tip"],
        axis=(0, 0, 1),
        mass_kg=1.0,
        centre_m=(-0.5, -1.5, 0),
        inertia_kg_m2=0.1,
    )
    made.revolute("closing", bodies=["link", "ground"], point_m=(-0.5, -2, 0), axis=(0, 0, 1))
    told = refused(made)
    assert "point.rod1_a: closes a loop: link and rod1 share it" in told
    assert "'ali3p'" in told


def test_everything_that_joint_coordinates_do_not_carry_is_refused_by_name():
    made = branches()
    made.output("gained_j", "energy.gain")
    assert "outputs.gained_j" in refused(made)
    made = branches()
    made.point("loose", position_m=(3, 0, 0), moves="xy")
    made.mass("weight", point="loose", mass_kg=1.0)
    told = refused(made)
    assert "loose: is on no rigid body" in told


def test_the_twin_prints_the_same_bytes_each_time(tmp_path):
    path = branches().save(tmp_path)
    assert generate(path, OPTIONS) == generate(path, OPTIONS)


@pytest.mark.slow
def test_a_spatial_tree_on_a_free_base_follows_its_exact_motion(build):
    with (REFERENCES / "spatial_tree.csv").open() as file:
        head, *rows = csv.reader(file)
    exact = dict(zip(head, np.array(rows, dtype=float).T, strict=True))
    stepper = build(spatial_tree(), step_s=2e-3).Kernel()
    assert stepper.reset() == 0
    pins = {f"b{n}/q_rad": f"q{n}" for n in (1, 2, 3, 5, 8, 9, 10, 11, 12)}
    names = pins | {"b4/q_m": "q4", "b7_1/q_rad": "q7_1", "b7_2/q_rad": "q7_2"}
    names |= {f"base/{axis}_m": f"base_{axis}" for axis in "xyz"}
    error, energy, steps = 0.0, 0.0, 0
    for k, t in enumerate(exact["t"]):
        while steps < round(t / 2e-3):
            assert stepper.step() == 0
            steps += 1
        shown = stepper.outputs
        error = max(error, *(abs(shown[ours] - exact[theirs][k]) for ours, theirs in names.items()))
        energy = max(energy, abs(shown["total_j"] - exact["energy_total"][k]))
    # of RK4 at 2 ms: 6.2e-8 and 8.7e-8 J, and 16 times less at 1 ms; those of the reference are below 1e-11
    assert error < 1e-7
    assert energy < 1.5e-7
