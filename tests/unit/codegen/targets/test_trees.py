"""Every target of every formulation in joint coordinates, of one tree with all that a tree may have."""

import shutil
import subprocess

import numpy as np
import pytest

from codegen.analysis.linearise import linearise_step
from codegen.description.builder import MechanismBuilder
from codegen.kernels.build import build_kernel
from codegen.kernels.generate import write
from codegen.kernels.trial import Motion, Trial
from codegen.options.options import KernelOptions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize(
        "formulation", ["articulated", "riccati", "composite", "semi_recursive"]
    ),
]
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"]


def made_tree():
    made = MechanismBuilder("mixed_tree", gravity_m_s2=(0, -1, -9.81))
    for name, at in (
        ("a", (0, 0, 0)),
        ("b", (0.4, 0, 0)),
        ("c", (0.8, 0, 0)),
        ("d", (0.4, 0.4, 0)),
    ):
        made.point(f"{name}_p", position_m=at)
        ways = [f"{name}_{k}" for k in "uvw"]
        for way, direction in zip(ways, np.eye(3).tolist(), strict=True):
            made.unit_vector(way, direction=direction)
        made.rigid_body(
            name, points=[f"{name}_p"], vectors=ways, mass_kg=1.0, inertia_kg_m2=(0.02, 0.03, 0.04),
            centre_m=tuple(np.add(at, (0.1, -0.05, 0.07)).tolist()),
        )  # fmt: skip
    made.angle("q0").revolute(
        "j0", bodies=["a", "ground"], point_m=(0, 0, 0), axis=(0, 1, 0), angle="q0"
    )
    made.distance("q1").prismatic(
        "j1", bodies=["b", "a"], point_m=(0.4, 0, 0), axis=(1, 0, 0), travel="q1"
    )
    made.spherical("j2", bodies=["c", "b"], point_m=(0.8, 0, 0))
    made.angle("q3").screw(
        "j3", bodies=["d", "a"], point_m=(0.4, 0.4, 0), axis=(0, 0, 1), angle="q3", lead_m=0.1
    )  # fmt: skip
    made.spring("s", distance="q1", stiffness_n_per_m=200.0, damping_ns_per_m=2.0)
    made.friction("f", angle="q0", coulomb=0.2, viscous=0.05, transition_speed=0.1)
    made.force("drive", angle="q0", torque_nm={"input": 0.5}).guide("lead", coordinate="q3")
    for port, source in (
        ("j0/fx_n", "revolute.j0.fx_n"), ("lead/torque_nm", "guide.lead.reaction"), ("energy_j", "energy"),
        ("c/x_m", "c_p_x"), ("c/z_m_s2", "c_p_z.acceleration"), ("q0/angle_rad", "q0"),
    ):  # fmt: skip
        made.output(port, source)
    return made


def guide(k):
    t = 1e-3 * k
    return 0.3 * t * t, 0.6 * t, 0.6


def test_the_class_functions_on_a_state_a_trial_and_a_linear_step_agree(tmp_path, formulation):
    path, options = made_tree().save(tmp_path), KernelOptions(formulation=formulation)
    stepper = build_kernel(path, options).module.Kernel()
    state_of = build_kernel(
        path, KernelOptions(formulation=formulation, wrapper="procedural")
    ).module
    state = state_of.new_state()
    assert stepper.reset(*guide(0)) == state_of.reset(state, guide(0)) == 0
    guides = np.array([guide(k) for k in range(1, 41)])
    shown = np.zeros((40, len(stepper.outputs)))
    assert state_of.run(state, guides, shown, 40) == 40
    for k in range(40):
        assert stepper.step(*guides[k]) == 0
        assert list(stepper.outputs.values()) == shown[k].tolist()
    assert np.isfinite(shown).all()
    # by the same text without its face: from the file's pose, where the guide stands
    still = Trial(made_tree().build(), options).run(Motion({}, 1e-2, 2), is_timed=False)
    assert not still.problem
    again = build_kernel(path, options).module
    other = again.Kernel()
    assert other.reset(0.0, 0.0, 0.0) == 0
    for _ in range(20):
        assert other.step(0.0, 0.0, 0.0) == 0
    q0 = [name for name, _ in again.model_info()["coordinates"]].index("q0")
    assert still.rows[-1, q0] == pytest.approx(other.q[q0], abs=1e-12)
    linear = linearise_step(
        again, ["q0/angle_rad"], signals=["input/force/drive/torque_nm"], settle_s=0.01
    )
    assert np.isfinite(linear.a).all()


@pytest.mark.parametrize("options", [{"precision": "float32", "substeps": 2}, {"frozen": True}])
def test_strict_compilers_take_its_c99(tmp_path, formulation, options):
    made = KernelOptions(formulation=formulation, **options)
    names = [path.name for path in write(made_tree().save(tmp_path), "c99", tmp_path, made)]
    compiler = shutil.which("gcc")
    assert compiler
    command = [compiler, *STRICT, *names[1:], "-lm", "-o", "example"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = subprocess.run(["./example"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert told.stdout.startswith("status 0 after 1000 steps")
