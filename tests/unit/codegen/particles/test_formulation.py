"""Momenta of particles move mechanisms as the file's own equations do, and as joint coordinates do."""

import numpy as np
import pytest
from mechanisms.flexible_chains import plane_chain
from mechanisms.pendulum import PENDULUM
from mechanisms.random_trees import random_tree, written_tree

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError
from codegen.options.options import KernelOptions
from codegen.particles.mechanism import in_particles
from rt_core.settings import SettingsError


@pytest.mark.slow
def test_a_tree_moves_as_in_joint_coordinates(kernel, tmp_path):
    """Both kernels are proved against the file's equations, too: pins, slides and balls with springs and dampers."""
    path = written_tree(6, 3).save(tmp_path)
    shown = []
    for formulation in ("particles", "articulated"):
        module = kernel(path, formulation=formulation, step_s=5e-4)
        names = [name for name, _ in module.model_info()["coordinates"]]
        joints = sorted(name for name in names if name.startswith("j"))
        assert joints
        stepper = module.Kernel()
        assert stepper.reset() == 0
        shown.append([])
        for _ in range(400):
            assert stepper.step() == 0
            shown[-1].append([stepper.q[names.index(name)] for name in joints])
    # h^4 of both rules: measured 3e-9 at twice the step
    assert np.max(np.abs(np.subtract(*shown))) < 1e-8


@pytest.mark.slow
def test_loops_are_closed_by_multipliers(kernel):
    """The proof compares with multipliers of all rows; Bricard's loop has one that follows from the others."""
    stepper = kernel("bricard", formulation="particles", step_s=5e-4).Kernel()
    assert stepper.reset() == 0
    assert all(stepper.step() == 0 for _ in range(200))


def test_a_body_on_a_ball_has_two_particles_of_its_own():
    tree = in_particles(random_tree(2, 4, kinds=("ball",)))
    names = [c.name for c in tree.made.system.coordinates]
    assert sorted(names) == [
        f"b{n}_p{k}_{axis}" for n in range(4) for k in (2, 4) for axis in "xyz"
    ]


def test_a_pin_that_turns_more_than_once_counts_its_turns(kernel, tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text(PENDULUM.replace("initial_rate_rad_s = 1.0", "initial_rate_rad_s = 30.0"))
    turned = []
    for formulation in ("particles", "articulated"):
        module = kernel(path, formulation=formulation, step_s=5e-4)
        at = [name for name, _ in module.model_info()["coordinates"]].index("arm")
        stepper = module.Kernel()
        assert stepper.reset() == 0
        assert all(stepper.step() == 0 for _ in range(1000))
        turned.append(stepper.q[at])
    assert turned[0] > 4.0 * np.pi
    assert turned[0] == pytest.approx(turned[1], abs=1e-6)


def guided():
    made = MechanismBuilder("guided").angle("turn").point("P", position_m=(1, 0, 0), moves="xy")
    made.rigid_body(
        "arm", points=[(0, 0, 0), "P"], axis=(0, 0, 1), angle="turn", mass_kg=1.0, centre_m=(0.5, 0, 0),
        inertia_kg_m2=0.1,
    )  # fmt: skip
    return made.guide("drive", coordinate="turn").build()


@pytest.mark.parametrize(
    ("mechanism", "told"),
    [
        (guided, r"guide\.drive: is guided"),
        (lambda: plane_chain(1).build(), r"flexible_body\.b0: bends"),
        (
            lambda: random_tree(4, 12, kinds=("ball",)),
            "coordinates of particles; 'particles' solves up to 64",
        ),
    ],
    ids=["guide", "bends", "large"],
)
def test_what_momenta_do_not_carry_is_refused_by_name(mechanism, told):
    with pytest.raises(MechanismError, match=told):
        in_particles(mechanism())


def test_it_closes_no_rows_by_penalties():
    with pytest.raises(SettingsError, match="kappa"):
        KernelOptions(formulation="particles", kappa=1e5)
