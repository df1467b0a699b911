"""Screws as joints of trees: the exact fall of a nut, and trees of them beside natural coordinates."""

import math

import numpy as np
import pytest
from mechanisms.file_equations import difference

from codegen.analysis.inverse import inverse_dynamics
from codegen.description.builder import MechanismBuilder
from codegen.expressions.dag import evaluate
from codegen.kernels.build import build_kernel
from codegen.options.options import KernelOptions
from codegen.topology.motion import topology
from codegen.tree.mechanism import in_joint_coordinates
from codegen.tree.recursion import accelerations

MASS, TURNING, OFF, LEAD, G = (
    2.0,
    0.03,
    0.1,
    0.25,
    9.81,
)  # kg, kg m2, m off the axis, m a turn, m/s2
FORMULATIONS = ("articulated", "riccati", "composite", "semi_recursive")


def body(made, name, at, mass=1.0, centre=None, inertia=(0.02, 0.03, 0.04)):
    made.point(f"{name}_p", position_m=at)
    ways = [f"{name}_{k}" for k in "uvw"]
    for way, direction in zip(ways, np.eye(3).tolist(), strict=True):
        made.unit_vector(way, direction=direction)
    made.rigid_body(
        name, points=[f"{name}_p"], vectors=ways, mass_kg=mass, inertia_kg_m2=inertia,
        centre_m=centre or tuple(np.add(at, (0.1, -0.05, 0.07)).tolist()),
    )  # fmt: skip


def nut():
    """A nut that falls along a vertical thread, its centre beside the axis."""
    made = MechanismBuilder("nut", gravity_m_s2=(0, 0, -G))
    body(made, "nut", (0.0, 0.0, 0.5), MASS, (OFF, 0.0, 0.5), (0.02, 0.02, TURNING))
    made.angle("turn", initial_rad=0.3, initial_rate_rad_s=1.0)
    made.screw(
        "thread", bodies=["nut", "ground"], point_m=(0, 0, 0), axis=(0, 0, 1), angle="turn", lead_m=LEAD
    )  # fmt: skip
    for key in ("fz_n", "tz_nm", "fx_n"):
        made.output(f"thread/{key}", f"screw.thread.{key}")
    return made.output("height_m", "nut_p_z").output("total_j", "energy")


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_nut_falls_along_its_thread_as_it_must(tmp_path, formulation):
    stepper = build_kernel(nut().save(tmp_path), KernelOptions(1e-3, formulation)).module.Kernel()
    assert stepper.reset() == 0
    start = stepper.outputs
    for _ in range(1000):
        assert stepper.step() == 0
    travel = LEAD / (2.0 * math.pi)
    about = TURNING + MASS * OFF**2
    turning = -MASS * G * travel / (about + MASS * travel**2)
    turned, rate = 1.0 + turning / 2.0, 1.0 + turning  # after 1 s
    shown = stepper.outputs
    # a steady acceleration: each of these rules is exact but for round-off
    assert shown["height_m"] - start["height_m"] == pytest.approx(travel * turned, abs=1e-11)
    assert shown["total_j"] == pytest.approx(start["total_j"], abs=1e-9)
    # what the thread hands on lifts the weight, turns the nut and holds its centre on a circle
    assert shown["thread/fz_n"] == pytest.approx(MASS * (G + travel * turning), rel=1e-9)
    assert shown["thread/tz_nm"] == pytest.approx(about * turning, rel=1e-9)
    at = 0.0 + turned
    pull = MASS * OFF * (-(rate**2) * math.cos(at) - turning * math.sin(at))
    assert shown["thread/fx_n"] == pytest.approx(pull, rel=1e-8)


def train(kinds=("screw", "revolute", "screw", "prismatic", "screw"), *, is_guided=False):
    """Bodies in a row, each on the one before; screws right- and left-handed."""
    made = MechanismBuilder("train", gravity_m_s2=(0.4, -1.0, -G))
    rng, before = np.random.default_rng(5), "ground"
    for k, kind in enumerate(kinds):
        at = tuple((0.3 * k + rng.uniform(-0.1, 0.1, 3)).tolist())
        axis = rng.normal(size=3) if k % 2 else np.eye(3)[k % 3]
        axis = tuple((axis / np.linalg.norm(axis)).tolist())
        body(made, f"b{k}", at)
        keys = {"bodies": [f"b{k}", before] if k != 2 else [before, f"b{k}"], "point_m": at}
        if kind == "prismatic":
            made.distance(f"q{k}").prismatic(f"j{k}", **keys, axis=axis, travel=f"q{k}")
        elif kind == "revolute":
            made.angle(f"q{k}").revolute(f"j{k}", **keys, axis=axis, angle=f"q{k}")
        else:
            made.angle(f"q{k}")
            lead = (-1.0) ** k * (0.4 + 0.1 * k)
            made.screw(f"j{k}", **keys, axis=axis, angle=f"q{k}", lead_m=lead)
            made.spring(f"s{k}", angle=f"q{k}", stiffness_nm_per_rad=3.0, rest_rad=0.2)
            made.inertia(f"r{k}", angle=f"q{k}", inertia_kg_m2=0.01 * k) if k else None
        made.output(f"j{k}/fy_n", f"{kind}.j{k}.fy_n").output(f"j{k}/tx_nm", f"{kind}.j{k}.tx_nm")
        before = f"b{k}"
    if is_guided:
        made.guide("g", coordinate="q2").output("g/torque_nm", "guide.g.reaction")
    return made.output("total_j", "energy").output(
        "end_m_s2", f"b{len(kinds) - 1}_p_x.acceleration"
    )


def test_screws_are_links_of_one_coordinate():
    tree = topology(train().build().system).tree
    assert not tree.cuts
    assert [link.kind for link in tree.links] == ["screw", "turn", "screw", "slide", "screw"]
    leads = [link.single.lead * 2.0 * math.pi for link in tree.links if link.kind == "screw"]
    # of the third one the bodies are named the other way round, which is no other thread
    assert leads == pytest.approx([0.4, 0.6, 0.8], abs=1e-12)


def test_trees_of_screws_accelerate_as_in_natural_coordinates():
    mechanism = train(("screw", "screw", "revolute")).build()
    assert difference(mechanism) < 1e-9
    tree = in_joint_coordinates(mechanism)
    system, rng = tree.made.system, np.random.default_rng(2)
    at = {p.var.name: p.default for p in (*system.parameters, *system.signals)}
    for c in system.coordinates:
        at |= {c.q.name: float(rng.normal()), c.qd.name: float(rng.normal())}
    found = accelerations(tree.chain, tree.loads)
    zdd = [evaluate(found[i], at) for i in range(3)]
    motion = [
        [at[name] for name in names]
        for names in zip(*((c.q.name, c.qd.name) for c in system.coordinates), strict=True)
    ]
    # inverse dynamics gives back that nothing drives it
    torques = inverse_dynamics(train(("screw", "screw", "revolute")).build()).at(*motion, zdd)
    assert np.max(np.abs(torques)) < 1e-11 * np.max(np.abs(zdd))


@pytest.mark.slow
@pytest.mark.parametrize("is_guided", [False, True])
def test_every_formulation_of_trees_steps_and_shows_the_same(tmp_path, is_guided):
    path = train(("screw", "prismatic", "screw"), is_guided=is_guided).save(tmp_path)
    shown = []
    for formulation in ("articulated", "riccati", "composite"):
        stepper = build_kernel(path, KernelOptions(1e-3, formulation)).module.Kernel()
        guide = (lambda t: (0.1 * t * t, 0.2 * t, 0.2)) if is_guided else (lambda t: ())
        assert stepper.reset(*guide(0.0)) == 0
        for k in range(1, 101):
            assert stepper.step(*guide(1e-3 * k)) == 0
        shown.append(stepper.outputs)
    # composite closes the guide by a row, on accelerations
    assert shown[1] == pytest.approx(shown[0], rel=1e-9, abs=1e-9)
    assert shown[2] == pytest.approx(shown[0], rel=1e-6, abs=1e-6)
    if not is_guided:
        start = build_kernel(path, KernelOptions(1e-3, "articulated")).module.Kernel()
        start.reset()
        assert shown[0]["total_j"] == pytest.approx(start.outputs["total_j"], abs=1e-7)


@pytest.mark.slow
def test_a_long_row_of_screws_steps_in_loops_as_in_lines(tmp_path, monkeypatch):
    path = train(("screw", "revolute", "screw")).save(tmp_path)
    lines = build_kernel(path, KernelOptions(1e-3, "articulated")).module.Kernel()
    monkeypatch.setattr("codegen.formulations.articulated.MOST_UNROLLED", 2)
    loops = build_kernel(
        path, KernelOptions(1e-3, "articulated", cflags=("-DLOOPED",))
    ).module.Kernel()
    for stepper in (lines, loops):
        assert stepper.reset() == 0
        for _ in range(100):
            assert stepper.step() == 0
    assert loops.outputs == pytest.approx(lines.outputs, rel=1e-10, abs=1e-10)
