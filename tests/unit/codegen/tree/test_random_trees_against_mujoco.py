"""Random trees of hinges, slides and balls accelerate as in MuJoCo, at equal states far from the built pose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanisms.file_equations import Equations
from mechanisms.random_trees import written_links

from codegen.closed_trees.closed import closed_tree
from codegen.expressions.evaluated import Evaluated
from codegen.importers.natural import write
from codegen.tree.mechanism import in_joint_coordinates
from codegen.tree.recursion import accelerations

SEEDS = st.tuples(st.integers(0, 2**31), st.integers(1, 6))


def mujoco_accelerations(mujoco, links, gravity, state):
    """Accelerations by joint, from positions and rates by joint; quaternions and angular velocities are as ours."""
    spec, at = mujoco.MjSpec(), {"ground": np.zeros(3)}
    bodies = {"ground": spec.worldbody}
    spec.compiler.degree = False
    spec.option.gravity = list(gravity)
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    for link in links:
        (joint,) = link.joints
        at[link.name] = np.array(joint.at)
        turn = np.zeros(4)
        axes = np.array([*link.axes, np.cross(*link.axes)]).T
        mujoco.mju_mat2Quat(turn, axes.ravel())
        body = bodies[link.parent].add_body(
            name=link.name, pos=at[link.name] - at[link.parent], mass=link.mass,
            ipos=np.array(link.centre) - at[link.name], inertia=list(link.inertia), iquat=turn,
            explicitinertial=True,
        )  # fmt: skip
        body.add_joint(
            name=joint.name, axis=list(joint.axis), damping=[joint.damping, 0.0, 0.0], ref=joint.value,
            stiffness=[joint.stiffness, 0.0, 0.0], springref=joint.rest,
            type=getattr(mujoco.mjtJoint, f"mjJNT_{joint.kind.upper()}"),
        )  # fmt: skip
        bodies[link.name] = body
    model = spec.compile()
    data = mujoco.MjData(model)
    for name, (q, qd) in state.items():
        joint = model.joint(name)
        size, dofs = len(q), len(qd)
        data.qpos[joint.qposadr[0] : joint.qposadr[0] + size] = q
        data.qvel[joint.dofadr[0] : joint.dofadr[0] + dofs] = qd
    mujoco.mj_forward(model, data)
    return {
        name: data.qacc[model.joint(name).dofadr[0] :][: len(qd)] for name, (_, qd) in state.items()
    }


def angular(p, rates):
    """Angular velocity beside the parent, in the body's axes, of a quaternion of length 1."""
    e0, e, r0, r = p[0], p[1:], rates[0], rates[1:]
    return 2.0 * (e0 * r - r0 * e - np.cross(e, r))


@given(SEEDS)
@settings(deadline=None, max_examples=8)
@pytest.mark.slow
def test_random_trees_accelerate_as_in_mujoco(drawn):
    mujoco = pytest.importorskip("mujoco")
    seed, count = drawn
    made = written_links(seed, count, ("hinge", "slide", "ball", "hinge"))
    mechanism = write(made, "tree", "").build()
    tree = in_joint_coordinates(mechanism)
    system, rng = tree.made.system, np.random.default_rng(seed)
    z, zd = tree.motion.somewhere(seed), rng.normal(size=len(system.coordinates))
    state, shown = {}, {}
    for link in tree.chain.links:
        places = list(link.coordinates)
        joint = f"j{link.name.removeprefix('b')}"
        if link.kind == "ball":
            zd[places] -= z[places] * (z[places] @ zd[places])
            state[joint] = z[places], angular(z[places], zd[places])
        else:
            state[joint] = z[places], zd[places]
        shown[joint] = places
    exact = mujoco_accelerations(mujoco, made.links, made.gravity, state)
    at = Equations(system).at(z, zd)
    by_links = accelerations(tree.chain, tree.loads)
    by_sweeps = Evaluated([by_links[i] for i in range(len(z))])(at)
    by_mass = Equations(closed_tree(mechanism).made.system).accelerations(z, zd)
    size = max(1.0, max(np.max(np.abs(a)) for a in exact.values()))
    for zdd in (by_sweeps, by_mass):
        for joint, places in shown.items():
            ours = zdd[places] if len(places) == 1 else angular(z[places], zdd[places])
            assert np.max(np.abs(ours - exact[joint])) < 1e-10 * size
