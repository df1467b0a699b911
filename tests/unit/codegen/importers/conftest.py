"""Imported robots beside MuJoCo's own motion of them."""

from pathlib import Path

import numpy as np
import pytest

from codegen.build import build_kernel
from codegen.options import KernelOptions

ROBOTS = Path(__file__).parents[3] / "data" / "robots"


@pytest.fixture
def mujoco():
    """The package, which only the extra `import` brings."""
    return pytest.importorskip("mujoco")


@pytest.fixture
def robots():
    return ROBOTS


@pytest.fixture
def ours(tmp_path):
    """ours(imported, step_s, seconds, inputs): outputs at the end, every step good."""

    def run(imported, step_s, seconds, inputs=None):
        path = imported.builder.save(tmp_path)
        options = KernelOptions(step_s=step_s, rho_inf="trapezoidal")
        kernel = build_kernel(path, options).module.Kernel()
        if inputs:
            kernel.signals = inputs
        assert kernel.reset() == 0
        statuses = [kernel.step() for _ in range(round(seconds / step_s))]
        assert not any(statuses)
        assert kernel.residual < 1e-9
        return kernel.outputs

    return run


@pytest.fixture
def theirs(mujoco):
    """theirs(model, seconds, q, ctrl): MuJoCo's joints and centres after some motion, without contacts and
    limits; with RK4 at 0.1 ms as exact as can be told, unless the model has soft loops.
    """

    def run(model, seconds, q=None, ctrl=()):
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
        data = mujoco.MjData(model)
        if q is not None:
            data.qpos[:] = q
        data.ctrl[:] = ctrl if len(ctrl) else 0.0
        for _ in range(round(seconds / model.opt.timestep)):
            mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        found = {}
        for j in range(model.njnt):
            if model.jnt_type[j] >= 2:
                found[model.joint(j).name] = float(data.qpos[model.jnt_qposadr[j]])
        for b in range(1, model.nbody):
            found[model.body(b).name] = np.array(data.xipos[b])
        return found

    return run


@pytest.fixture
def gap():
    """gap(outputs, found): largest difference of joint coordinates (rad, m) and centres (m) in both."""

    def largest(outputs, found):
        differences = []
        for name, value in found.items():
            for port in (f"{name}/angle_rad", f"{name}/travel_m"):
                if port in outputs:
                    differences.append(abs(outputs[port] - value))
            if f"{name}/x_m" in outputs:
                centre = [outputs[f"{name}/{axis}_m"] for axis in "xyz"]
                differences.append(float(np.max(np.abs(centre - value))))
        assert differences
        return max(differences)

    return largest
