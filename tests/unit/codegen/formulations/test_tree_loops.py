"""Long trees step in loops over their links: the same numbers as the lines that short ones are written in."""

import numpy as np
import pytest
from mechanisms.random_trees import written_tree

from codegen.description.builder import MechanismBuilder
from codegen.formulations import articulated
from codegen.kernels.build import build_kernel
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.targets.kernel_text import KernelText

STEPS = 20


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A mechanism's kernel in lines and in loops; both are proved against the same twin."""

    def built(text, name):
        path = tmp_path_factory.mktemp("loops") / f"{name}.toml"
        path.write_text(text)
        with pytest.MonkeyPatch.context() as patch:
            options = KernelOptions(formulation="articulated")
            lines = build_kernel(path, options).module
            patch.setattr(articulated, "MOST_UNROLLED", 0)
            # other options give the loops a place of their own in the cache
            options = KernelOptions(formulation="articulated", cflags=("-DLOOPED",))
            return lines, build_kernel(path, options).module

    return built


def somewhere(module):
    """A start away from the built pose: quaternions of length 1, rates across them."""
    rng = np.random.default_rng(3)
    names = [name for name, _ in module.model_info()["coordinates"]]
    q = np.array(module.Kernel().q) + 0.3 * rng.uniform(-1.0, 1.0, len(names))
    qd = rng.uniform(-1.0, 1.0, len(names))
    for k in (k for k, name in enumerate(names) if name.endswith("_e0")):
        ball = slice(k, k + 4)
        q[ball] /= np.linalg.norm(q[ball])
        qd[ball] -= q[ball] * (q[ball] @ qd[ball])
    return q, qd


@pytest.mark.parametrize(
    ("seed", "kinds"), [(2, ("hinge", "slide", "ball")), (5, ("free", "ball", "hinge", "slide"))]
)
def test_loops_accelerate_and_show_as_the_lines_do(both, seed, kinds):
    made = written_tree(seed, 4, kinds)
    for k in (1, 3):
        made.body_point(f"tip{k}", body=f"b{k}", position_m=(0.3, 0.1 * k, -0.2))
    made.spring_between("pull", points=["tip1", "tip3"], stiffness_n_per_m=5.0)
    made.output("pull/length_m", "spring_between.pull.length_m").output("total_j", "energy")
    compare(both(made.text(), "random_tree"), 1e-12)


def compare(modules, limit):
    lines, loops = (module.Kernel() for module in modules)
    q, qd = somewhere(modules[0])
    assert lines.reset(q=q, qd=qd) == 0
    assert loops.reset(q=q, qd=qd) == 0
    exact = np.array(lines.qdd)
    assert np.max(np.abs(np.array(loops.qdd) - exact)) < limit * np.max(np.abs(exact))
    for _ in range(STEPS):
        assert lines.step() == 0
        assert loops.step() == 0
    assert loops.outputs == pytest.approx(lines.outputs, rel=1e-11, abs=1e-11)


def branches():
    """A rod that is guided, with a rod on each end and one on one of those: every joint shows its force."""
    made = MechanismBuilder("branches", gravity_m_s2=(0, -9.81, 0))
    rods = {
        "a": ((-0.5, 0), (0.5, 0)),
        "b": ((-0.5, -1), (-0.5, 0)),
        "c": ((0.5, -1), (0.5, 0)),
        "d": ((1, -2), (0.5, -1)),
    }
    for name, (begin, end) in rods.items():
        for end_name, at in (("0", begin), ("1", end)):
            made.point(f"{name}{end_name}", position_m=(*at, 0), moves="xy")
        centre = tuple((x + y) / 2 for x, y in zip((*begin, 0), (*end, 0), strict=True))
        made.rigid_body(
            name, points=[f"{name}0", f"{name}1"], axis=(0, 0, 1), mass_kg=1.0, centre_m=centre, inertia_kg_m2=0.1
        )  # fmt: skip
    pins = {
        "a": ("ground", (0, 0)),
        "b": ("a", (-0.5, 0)),
        "c": ("a", (0.5, 0)),
        "d": ("c", (0.5, -1)),
    }
    for first, (second, at) in pins.items():
        made.angle(f"of_{first}")
        made.revolute(
            f"pin_{first}",
            bodies=[first, second],
            point_m=(*at, 0),
            axis=(0, 0, 1),
            angle=f"of_{first}",
        )
        for axis in "xy":
            made.output(f"{first}/f{axis}_n", f"revolute.pin_{first}.f{axis}_n")
    made.guide("a", coordinate="of_a").output("drive_nm", "guide.a.reaction")
    made.damper("d", angle="of_d", damping_nms_per_rad=0.2)
    return made


def test_joint_forces_and_guides_are_those_of_the_lines(both):
    lines, loops = (module.Kernel() for module in both(branches().text(), "branches"))
    for stepper in (lines, loops):
        assert stepper.reset(0.1, 0.5, 2.0) == 0
        for k in range(1, STEPS + 1):
            assert stepper.step(0.1 + 0.5e-3 * k + 1e-6 * k * k, 0.5 + 2e-3 * k, 2.0) == 0
    assert loops.outputs == pytest.approx(lines.outputs, rel=1e-11, abs=1e-11)
    assert loops.outputs["drive_nm"] != 0.0


def pendulums(count, length_m=1.0):
    """Equal rods on pins, hanging askew."""
    made = MechanismBuilder(f"pendulums_{count}", gravity_m_s2=(0, -9.81, 0))
    way = np.array([0.6, -0.8, 0.0]) * length_m
    for k in range(1, count + 1):
        made.point(f"p{k}", position_m=(k * way).tolist(), moves="xy")
        made.rigid_body(
            f"rod{k}", points=[f"p{k - 1}" if k > 1 else (0, 0, 0), f"p{k}"], axis=(0, 0, 1), mass_kg=1.0,
            centre_m=((k - 0.5) * way).tolist(), inertia_kg_m2=length_m**2 / 12,
        )  # fmt: skip
    made.output("tip/x_m", f"p{count}_x").output("total_j", "energy")
    return made


def routine_text(count):
    made = program(pendulums(count).build(), KernelOptions(formulation="articulated", frozen=True))
    text = KernelText(made, has_block=False, calls="")
    routines = text.fill["routines"]
    return routines[routines.index("void articulate_1") : routines.index("void hold")]


def test_the_text_of_equal_links_does_not_grow_with_their_number():
    # only limits of loops and the numbers of rows differ
    assert abs(len(routine_text(66)) - len(routine_text(82))) < 40


def test_a_long_row_of_pendulums_swings_for_ten_seconds_and_keeps_its_energy(tmp_path):
    path = pendulums(66).save(tmp_path)
    stepper = build_kernel(path, KernelOptions(formulation="articulated")).module.Kernel()
    assert stepper.reset() == 0
    begin = stepper.outputs["total_j"]
    shown = np.zeros((10_000, 2))
    assert stepper.run(np.zeros((10_000, 0)), shown, 10_000) == 10_000
    # of some 1e5 J that go to and fro; 1e-8 J was measured
    assert np.ptp(shown[:, 1]) < 1e-6
    assert shown[-1, 1] == pytest.approx(begin, abs=1e-6)
