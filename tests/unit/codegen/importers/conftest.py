"""Imported robots beside MuJoCo's own motion of them."""

from pathlib import Path

import numpy as np
import pytest

from codegen.kernels.build import load_reference
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.targets import numpy_module

ROBOTS = Path(__file__).parents[3] / "data" / "robots"


@pytest.fixture
def mujoco():
    """The package, which only the extra `import` brings."""
    return pytest.importorskip("mujoco")


@pytest.fixture
def robots():
    return ROBOTS


@pytest.fixture
def twin(tmp_path):
    """twin(imported, step_s): the NumPy target; nothing has to be compiled for one motion of each robot."""

    def made(imported, step_s):
        path = imported.builder.save(tmp_path)
        options = KernelOptions(step_s=step_s, integrator="trapezoidal")
        source = tmp_path / "reference.py"
        source.write_text(numpy_module.text(program(path, options)))
        return load_reference(source)

    return made


@pytest.fixture
def ours(twin):
    """ours(imported, step_s, seconds, signals): outputs at the end, with the loops closed."""

    def run(imported, step_s, seconds, signals=()):
        module = twin(imported, step_s)
        stepper = module.Kernel()
        stepper.signal[:] = signals if len(signals) else stepper.signal
        stepper.reset()
        for _ in range(round(seconds / step_s)):
            stepper.step()
        assert np.max(np.abs(module.phi(stepper.q, np.zeros(0))), initial=0.0) < 1e-9
        return dict(stepper.outputs)

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
                name = model.joint(j).name.replace(" ", "_")
                found[name] = float(data.qpos[model.jnt_qposadr[j]])
        for b in range(1, model.nbody):
            found[f"body {model.body(b).name}"] = np.array(data.xipos[b])
        return found

    return run


@pytest.fixture
def gap():
    """gap(outputs, found): largest difference of joint coordinates (rad, m) and centres (m) in both."""

    def largest(outputs, found):
        differences = []
        for name, value in found.items():
            if np.ndim(value) == 0:
                port = next(p for p in outputs if p in (f"{name}/angle_rad", f"{name}/travel_m"))
                differences.append(abs(outputs[port] - value))
            elif f"{name.removeprefix('body ')}/x_m" in outputs:
                name = name.removeprefix("body ")
                centre = [outputs[f"{name}/{axis}_m"] for axis in "xyz"]
                differences.append(float(np.max(np.abs(centre - value))))
        assert differences
        return max(differences)

    return largest
