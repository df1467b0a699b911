"""Steps at singular poses are counted, and only those."""

import math

import numpy as np
import pytest

from codegen.description.n_four_bar import n_four_bar


def counted(module, steps, guide=lambda t: ()):
    """Whether each step was counted, and the pose after it."""
    stepper, step_s = module.Kernel(), module.model_info()["step_s"]
    assert stepper.reset(*guide(0.0)) == 0
    flags, poses, before = [], [], 0
    for k in range(1, steps + 1):
        assert stepper.step(*guide(k * step_s)) == 0
        flags.append(stepper.singular > before)
        poses.append(stepper.q)
        before = stepper.singular
    return np.array(flags), np.array(poses)


@pytest.mark.parametrize("n", [1, 10, 60])
@pytest.mark.slow
def test_four_bars_are_singular_where_they_lie_flat_however_many_there_are(kernel, tmp_path, n):
    path = tmp_path / f"n_four_bar_{n}.toml"
    path.write_text(n_four_bar(n))
    flags, poses = counted(kernel(path), 1500)
    # B0 is on a circle of 1 m about the origin
    flat = np.degrees(np.abs(np.arcsin(np.clip(poses[:, 1], -1.0, 1.0))))
    assert np.any(flat < 0.4)
    assert np.all(flags[flat < 0.4])
    assert not np.any(flags[flat > 2.0])  # 0.5 degrees for one, 1.3 for sixty


@pytest.mark.slow
def test_slider_crank_is_singular_where_both_rods_stand_upright(kernel):
    flags, poses = counted(kernel("slider_crank"), 3000)
    upright = np.degrees(np.abs(np.arctan2(poses[:, 0], np.abs(poses[:, 1]))))
    assert np.all(flags[upright < 0.3])
    assert not np.any(flags[upright > 1.0])
    assert np.any(flags)


@pytest.mark.parametrize("name", ["steering_26", "steering_rack_guided"])
@pytest.mark.slow
def test_steering_is_nowhere_singular_from_lock_to_lock(kernel, name):
    size = math.radians(450.0)

    def guide(t):
        return size * math.sin(2 * t), 2 * size * math.cos(2 * t), -4 * size * math.sin(2 * t)

    flags, poses = counted(kernel(name), 3200, guide)
    assert np.ptp(poses, axis=0).max() > 1.9 * size
    assert not flags.any()


@pytest.mark.slow
def test_andrews_squeezer_is_nowhere_singular(kernel):
    # its bodies differ by thousands in inertia: small pivots alone counted 3 of 4 steps
    flags, poses = counted(kernel("squeezer", step_s=1e-4), 300)
    assert np.ptp(poses[:, 0]) > 0.0139  # the crank of 7 mm has gone round
    assert not flags.any()


@pytest.mark.slow
def test_all_coordinates_of_the_steering_are_nowhere_singular(kernel):
    def guide(t):
        return 2.0 * math.sin(9 * t), 18.0 * math.cos(9 * t), -162.0 * math.sin(9 * t)

    flags, _ = counted(kernel("steering_26", presolve=False), 700, guide)
    assert not flags.any()


@pytest.mark.slow
def test_the_block_writes_the_count(kernel):
    assert kernel("slider_crank").Kernel().writes["singular"] == "singular"
