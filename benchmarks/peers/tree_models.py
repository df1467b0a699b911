"""The trees of `benchmarks/trees.py` in MuJoCo and Pinocchio: the same bodies, the same joints, the same state.

Both are called from Python, one call an evaluation; the call itself costs some 0.3 us.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from codegen.importers.tree import Link

ROUNDS = 7


def mujoco_model(links: Sequence[Link], gravity: Sequence[float]) -> Any:
    """Hinges for MuJoCo, every body's frame where its joint is; None where it is not installed.

    They are built by its own calls: its reader of files takes no deep trees.
    """
    try:
        import mujoco
    except ImportError:
        return None
    spec = mujoco.MjSpec()
    spec.option.gravity = list(gravity)
    flags = mujoco.mjtDisableBit
    spec.option.disableflags |= int(flags.mjDSBL_CONTACT) | int(flags.mjDSBL_CONSTRAINT)
    at, bodies = {"ground": np.zeros(3)}, {"ground": spec.worldbody}
    for link in links:
        joint = link.joints[0]
        at[link.name] = np.array(joint.at)
        body = bodies[link.parent].add_body(
            name=link.name,
            pos=at[link.name] - at[link.parent],
            mass=link.mass,
            ipos=np.array(link.centre) - at[link.name],
            inertia=list(link.inertia),
            explicitinertial=True,
        )
        body.add_joint(name=joint.name, axis=list(joint.axis), damping=[joint.damping, 0.0, 0.0])
        bodies[link.name] = body
    return spec.compile()


def pinocchio_model(links: Sequence[Link], gravity: Sequence[float]) -> Any:
    """The same for Pinocchio; None where it is not installed."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    model = pin.Model()
    model.gravity.linear = np.array(gravity)
    at, ids = {"ground": np.zeros(3)}, {"ground": 0}
    for link in links:
        joint = link.joints[0]
        at[link.name] = np.array(joint.at)
        place = pin.SE3(np.eye(3), at[link.name] - at[link.parent])
        kind = pin.JointModelRevoluteUnaligned(np.array(joint.axis))
        ids[link.name] = model.addJoint(ids[link.parent], kind, place, joint.name)
        centre = np.array(link.centre) - at[link.name]
        body = pin.Inertia(link.mass, centre, np.diag(link.inertia))
        model.appendBodyToJoint(ids[link.name], body, pin.SE3.Identity())
    return model


def mujoco_us(model: Any, rounds: int, state: np.ndarray) -> tuple[float, np.ndarray] | None:
    """An evaluation of `mj_forward` in us, and its accelerations."""
    if model is None:
        return None
    import mujoco

    data = mujoco.MjData(model)
    places = [model.jnt_dofadr[model.joint(f"j{k}").id] for k in range(model.nv)]
    data.qpos[places], data.qvel[places] = state
    best = np.inf
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(rounds):
            mujoco.mj_forward(model, data)
        best = min(best, time.perf_counter() - begin)
    return 1e6 * best / rounds, np.array(data.qacc)[places]


def pinocchio_us(
    model: Any, rounds: int, state: np.ndarray, damping: float
) -> tuple[float, np.ndarray] | None:
    """An evaluation of `aba` in us, and its accelerations."""
    if model is None:
        return None
    import pinocchio as pin

    data = model.createData()
    order = [model.joints[model.getJointId(f"j{k}")].idx_v for k in range(model.nv)]
    q, v = np.zeros(model.nv), np.zeros(model.nv)
    q[order], v[order] = state
    tau = -damping * v
    best = np.inf
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(rounds):
            pin.aba(model, data, q, v, tau)
        best = min(best, time.perf_counter() - begin)
    return 1e6 * best / rounds, np.array(data.ddq)[order]
