"""Building and caching of kernels, and the block that comes out."""

import ctypes
import math
import shutil
import sys
import threading

import numpy as np
import pytest
from block_view import view_of

from codegen.description.mechanism import MECHANISMS
from codegen.kernels import build
from codegen.kernels.build import BuildError, build_kernel, load
from codegen.options.options import KernelOptions
from codegen.targets.describe import BLOCK_ABI


@pytest.fixture
def fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "rigloop" / "kernels"


@pytest.mark.slow
def test_second_build_neither_generates_nor_compiles(fresh_cache):
    stages = []
    cold = build_kernel("guided_rod", on_stage=stages.append)
    assert stages == ["generating", "compiling", "verifying"]
    assert not cold.from_cache
    warm = build_kernel(MECHANISMS / "guided_rod.toml", on_stage=stages.append)
    assert warm.from_cache
    assert len(stages) == 3
    assert (warm.hash, warm.path) == (cold.hash, cold.path)
    assert [p.name for p in fresh_cache.iterdir()] == [cold.hash[:32]]
    assert load(cold.path).model_info() == warm.module.model_info()


def test_threads_that_load_a_kernel_at_once_all_get_a_whole_one(tmp_path):
    """Two pages of one rig, opened together, do this."""
    built, found = build_kernel("guided_rod").path, []
    gate = threading.Barrier(4)

    def load_one(path):
        gate.wait()
        found.append(load(path).Kernel("rod").name)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for k in range(3):
            path = tmp_path / f"{k}.so"
            shutil.copy(built, path)  # one that no thread has loaded yet
            threads = [threading.Thread(target=load_one, args=(path,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(before)
    assert found == ["rod"] * 12


def test_the_hash_covers_options_mechanism_and_compiler(tmp_path):
    def hashed(mechanism, options, flag):
        by = build._compiling(options)._replace(flags=[flag])
        return build._hash([mechanism, options.text().encode()], by)

    base = hashed(b"a", KernelOptions(), "-O3")
    assert base == hashed(b"a", KernelOptions(), "-O3")
    assert len({
        base,
        hashed(b"b", KernelOptions(), "-O3"),
        hashed(b"a", KernelOptions(kappa=1e5), "-O3"),
        hashed(b"a", KernelOptions(), "-O2"),
    }) == 4  # fmt: skip


def test_a_missing_compiler_is_told_with_a_remedy(fresh_cache, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    build._compiler.cache_clear()
    with pytest.raises(BuildError, match="apt install gcc"):
        build_kernel("guided_rod")
    build._compiler.cache_clear()


@pytest.mark.slow
def test_a_failing_compiler_leaves_nothing_in_the_cache(fresh_cache):
    with pytest.raises(BuildError, match="such-flag"):
        build_kernel("guided_rod", KernelOptions(cflags=("-fno-such-flag-of-gcc",)))
    assert list(fresh_cache.iterdir()) == []


@pytest.mark.parametrize(("wrong", "text"), [
    ({"step_s": 0.0}, "step_s"), ({"rho_inf": 1.2}, "rho_inf"), ({"iterations": 0}, "iterations"),
    ({"kappa": 1.0, "alpha": 1.0}, "alpha"), ({"cflags": ("-ffast-math",)}, "fast"),
    ({"reaction": "f1"}, "F1"),
])  # fmt: skip
def test_wrong_options_are_refused(wrong, text):
    with pytest.raises(ValueError, match=text):
        KernelOptions(**wrong)


class Wired:
    """A kernel's block, stepped through its capsule as the loop does."""

    def __init__(self, stepper):
        self.kernel = stepper
        self.reads, self.writes = np.zeros(len(stepper.reads)), np.zeros(len(stepper.writes))
        stepper.bind(
            *([a.ctypes.data + 8 * i for i in range(len(a))] for a in (self.reads, self.writes))
        )
        self.view = view_of(stepper)

    def step(self, *guide):
        self.reads[: len(guide)] = guide
        return self.view.call()

    def out(self, port):
        return self.writes[list(self.kernel.writes).index(port)]


def test_the_block_assembles_at_a_turned_wheel_and_follows(kernel):
    block = Wired(kernel("steering_26").Kernel(name="model"))
    assert block.view.abi == BLOCK_ABI
    start = math.radians(-437.0)
    assert block.step(start, 0.5, 0.0) == 0
    assert block.out("wheel/angle_rad") == pytest.approx(start, abs=1e-12)
    by_hand = kernel("steering_26").Kernel()
    by_hand.reset(start, 0.5, 0.0)
    for k in range(1, 50):
        guide = (start + 0.5e-3 * k, 0.5, 0.0)
        assert block.step(*guide) == 0
        assert by_hand.step(*guide) == 0
    assert block.out("guide/torque_nm") == by_hand.outputs["guide/torque_nm"]
    assert block.out("residual") < 1e-10


def test_the_witness_counts_iterations_and_what_an_assembly_takes(kernel):
    block = Wired(kernel("steering_26").Kernel(name="model"))
    view = block.view
    assert view.state <= view.work < view.state + view.bytes
    assert block.step(0.0, 0.0, 0.0) == 0
    first = block.view.count()
    assert first > 1 + block.out("iterations")  # it was assembled
    done = [first]
    for k in range(1, 20):
        assert block.step(1e-3 * k, 1.0, 0.0) == 0
        done.append(block.view.count())
        assert done[-1] - done[-2] == 1 + block.out("iterations")
    # a guide that went too far for one step is assembled again: more work, and it shows
    assert block.step(3.0, 0.0, 0.0) == 0
    assert block.out("reassembled") == 1
    assert block.view.count() - done[-1] > 4 * (done[-1] - done[-2])


def test_a_bad_input_returns_a_status_and_keeps_the_outputs(kernel):
    block = Wired(kernel("steering_26").Kernel())
    assert block.step(0.1, 0.0, 0.0) == 0
    assert block.step(0.1, 0.0, 0.0) == 0
    before = block.out("guide/torque_nm"), block.kernel.q
    assert block.step(math.nan, 0.0, 0.0) == 1
    assert block.out("status") == 1
    assert (block.out("guide/torque_nm"), block.kernel.q) == before
    assert block.step(50.0, 0.0, 0.0) != 0  # eight turns in one step
    assert (block.out("guide/torque_nm"), block.kernel.q) == before
    assert block.step(0.1, 0.0, 0.0) == 0
    block.kernel.request_reset()
    assert block.step(3.0, 0.0, 0.0) == 0
    assert block.out("wheel/angle_rad") == pytest.approx(3.0, abs=1e-12)


def test_two_runs_give_the_same_bits(kernel):
    results = []
    for _ in range(2):
        stepper = kernel("steering_26").Kernel()
        stepper.reset(0.0, 1.0, 0.0)
        guide = np.array([[1e-3 * k, 1.0, 0.0] for k in range(1, 301)])
        out = np.zeros((300, len(stepper.outputs)))
        assert stepper.run(guide, out, 300) == 300
        results.append(out.tobytes())
    assert results[0] == results[1]


def test_parameters_are_live(kernel):
    stepper = kernel("steering_26").Kernel()

    def torque(inertia):
        stepper.parameters = {"inertia/wheel/inertia_kg_m2": inertia}
        stepper.reset(0.0, 0.0, 10.0)
        stepper.step(0.0, 0.0, 10.0)
        return stepper.reaction[0]

    # 0.1 kg m2 more at 10 rad/s2 is 1 Nm more
    assert torque(0.14) - torque(0.04) == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(KeyError, match="no parameter"):
        stepper.parameters = {"inertia/wheel": 1.0}


def test_wrong_wiring_is_refused(kernel):
    module = kernel("steering_26")
    with pytest.raises(ValueError, match="no port 'guide/steer'"):
        module.Kernel(reads={"guide/steer": "a/b_rad"})
    stepper = module.Kernel(writes={"guide/torque_nm": "model/torque_nm"})
    assert stepper.writes["guide/torque_nm"] == "model/torque_nm"
    with pytest.raises(ValueError, match="cells given"):
        stepper.bind([], [])
    with pytest.raises(RuntimeError, match="bind first"):
        stepper.capsule()
    with pytest.raises(ValueError, match="3 needed"):
        stepper.step(0.0)


def test_stepping_allocates_nothing(kernel):
    stepper = kernel("steering_26").Kernel()
    block = Wired(stepper)
    assert block.step(0.0, 0.0, 0.0) == 0
    info = ctypes.CDLL(None).mallinfo2  # field 7: bytes in use

    class Info(ctypes.Structure):
        _fields_ = [(f"field_{i}", ctypes.c_size_t) for i in range(10)]

    info.restype = Info
    guide = np.zeros((2000, 3))
    out = np.zeros((2000, len(stepper.outputs)))
    stepper.run(guide, out, 2000)
    before = info().field_7
    stepper.run(guide, out, 2000)
    once = info().field_7 - before
    before = info().field_7
    stepper.run(guide, out, 10)
    # what Python needs for the call does not depend on the number of steps
    assert abs(once - (info().field_7 - before)) < 4096
