"""A mechanism from Python: arrays in and out, the bits of the kernel itself, copies, and states that are kept."""

import numpy as np
import pytest
from mechanisms.pendulum import PENDULUM

import rigloop
from codegen.kernels.build import build_kernel
from codegen.options.options import KernelOptions
from rigloop.api.mechanism import StepError
from rigloop.api.saved_state import StateError, pack

pytestmark = pytest.mark.slow

DRIVEN = (
    'name = "driven"\n'
    + PENDULUM.replace("initial_rate_rad_s = 1.0", "initial_rad = 0")
    + """"arm/rate_rad_s" = "arm.rate"
[force.motor]
angle = "arm"
torque_nm = { input = 0.0 }
"""
)
TORQUE, ANGLE = "input/force/motor/torque_nm", "arm/angle_rad"
POSITION, RATE, ACCELERATION = (
    f"guide/rod/{part}" for part in ("position_rad", "rate_rad_s", "acceleration_rad_s2")
)


@pytest.fixture(scope="module")
def driven_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("mechanisms") / "driven.toml"
    path.write_text(DRIVEN)
    return path


@pytest.fixture
def driven(driven_file):
    return rigloop.mechanism(driven_file)


@pytest.fixture
def rod():
    return rigloop.mechanism("guided_rod")


def swing(n):
    t = 1e-3 * np.arange(n)
    w = 6.0
    return {
        POSITION: 0.5 * np.sin(w * t),
        RATE: 0.5 * w * np.cos(w * t),
        ACCELERATION: -0.5 * w * w * np.sin(w * t),
    }


def test_a_batch_has_the_bits_of_steps_by_hand(driven):
    torque = np.random.default_rng(1).normal(0.0, 3.0, 500)
    other = driven.copy()
    motion = driven.run({TORQUE: torque})
    assert all(other.step({TORQUE: torque[k]})[ANGLE] == motion[ANGLE][k] for k in range(500))
    assert motion.t_s[:3].tolist() == [0.0, 1e-3, 2e-3]
    assert driven.time_s == pytest.approx(0.499)
    assert motion.units == {ANGLE: "rad", "arm/rate_rad_s": "rad/s"}


def test_guides_are_inputs_and_the_bits_are_those_of_a_block(rod):
    inputs = swing(200)
    motion = rod.run(inputs)
    kernel = build_kernel("guided_rod", KernelOptions()).module.Kernel()
    for k in range(200):
        assert kernel.step(*(float(values[k]) for values in inputs.values())) == 0
        assert motion["guide/torque_nm"][k] == kernel.outputs["guide/torque_nm"]


def test_steps_in_pieces_are_those_of_one_call(driven):
    torque = np.linspace(0.0, 2.0, 100)
    other = driven.copy()
    whole = driven.run({TORQUE: torque})[ANGLE]
    pieces = [other.run({TORQUE: part})[ANGLE] for part in np.split(torque, 4)]
    assert np.array_equal(np.concatenate(pieces), whole)
    assert other.time_s == driven.time_s


def test_an_input_that_is_left_out_keeps_its_value(driven):
    driven.signals[TORQUE] = 1.5
    other = driven.copy()
    assert np.array_equal(driven.run(steps=50)[ANGLE], other.run({TORQUE: np.full(50, 1.5)})[ANGLE])


def test_a_copy_goes_its_own_way(driven):
    driven.run(steps=20)
    other = driven.copy()
    other.parameters["rigid_body/arm/mass_kg"] = 3.0
    other.run(steps=20)
    assert driven.parameters["rigid_body/arm/mass_kg"] == 2.0
    assert driven.time_s == pytest.approx(0.019)


def test_a_saved_state_goes_on_with_the_same_bits(rod):
    inputs = swing(300)
    first = {port: values[:100] for port, values in inputs.items()}
    rest = {port: values[100:] for port, values in inputs.items()}
    rod.parameters["uniform_rod/rod/mass_kg"] = 2.5
    rod.run(first)
    kept = rod.save()
    ahead = rod.run(rest)
    again = rigloop.mechanism("guided_rod")
    again.restore(kept)
    assert again.parameters["uniform_rod/rod/mass_kg"] == 2.5
    repeated = again.run(rest)
    assert np.array_equal(repeated.array(), ahead.array())
    assert np.array_equal(repeated.t_s, ahead.t_s)


def test_a_state_that_is_damaged_or_of_another_kernel_is_refused(rod, driven):
    kept = rod.save()
    with pytest.raises(StateError, match=r"a state of kernel .* of 'guided_rod'"):
        driven.restore(kept)
    for damaged in (
        b"",
        kept[:-1],
        kept[:50],
        kept[:200] + bytes([kept[200] ^ 1]) + kept[201:],
        b"x" + kept,
    ):
        before = rod.save()
        with pytest.raises(StateError):
            rod.restore(damaged)
        assert rod.save() == before
    for no_bytes in ("abc", None, 7):
        with pytest.raises(StateError, match="give the bytes that save"):
            rod.restore(no_bytes)
    with pytest.raises(StateError, match="bytes"):
        rod.restore(pack("guided_rod", rod.hash, 1, b"\0" * 8))


def test_an_index_in_forged_bytes_leads_nowhere(rod):
    # the checksum is no secret: whoever makes such bytes can make it, too
    size = len(rod._state)
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(50):
        state = bytearray(bytes(rod._state))
        state[8:] = rng.bytes(size - 8)
        try:
            rod.restore(pack("guided_rod", rod.hash, 1, bytes(state)))
        except ValueError:
            refused += 1
    assert refused == 50


def test_a_failed_step_says_which_and_keeps_what_was_good(driven):
    torque = np.zeros(50)
    torque[30:] = 1e12
    with pytest.raises(StepError, match=r"step 3\d of 50, at 0\.03\d* s: not_") as caught:
        driven.run({TORQUE: torque})
    assert caught.value.step == len(caught.value.motion.t_s)
    assert np.all(np.isfinite(caught.value.motion[ANGLE]))
    driven.reset({TORQUE: 0.0})
    assert driven.time_s == 0.0
    assert driven.health["status_name"] == "good"
    # after a reset the pose of the file is at time 0, so the first step is at the end of the first period
    assert driven.run(steps=2).t_s.tolist() == [1e-3, 2e-3]


@pytest.mark.parametrize(
    ("inputs", "steps", "error", "words"),
    [
        ({"input/force/motor/torque": 1.0}, 1, KeyError, "did you mean 'input/force/motor/torque_nm'"),
        ({TORQUE: [1.0, 2.0]}, 3, ValueError, "2 values for 3 steps"),
        ({TORQUE: [[1.0]]}, None, ValueError, r"shape \(1, 1\)"),
        ({TORQUE: "hard"}, 1, ValueError, "'hard': give a number"),
        ({TORQUE: [0.0, float("nan")]}, None, ValueError, "must be a finite number"),
        ({TORQUE: 1j}, 1, ValueError, "1j: give a number"),
        ({TORQUE: None}, 1, ValueError, "None: give a number"),
        (np.zeros(3), None, TypeError, "type ndarray: give a mapping"),
        ({}, 1.5, TypeError, "steps = 1.5: give a whole number"),
        ({}, None, ValueError, "how many steps"),
        ({}, -1, ValueError, "0 or more"),
    ],
)  # fmt: skip
def test_a_wrong_input_is_named_and_nothing_moves(driven, inputs, steps, error, words):
    before = driven.save()
    with pytest.raises(error, match=words):
        driven.run(inputs, steps)
    assert driven.save() == before


def test_a_guide_needs_all_of_its_ports(rod):
    with pytest.raises(ValueError, match=r"guide/rod/rate_rad_s.*not given"):
        rod.run({POSITION: np.zeros(3)})


def test_a_guide_that_is_not_finite_is_named_and_nothing_moves(rod):
    before, motion = rod.save(), swing(20)
    motion[RATE][[7, 9]] = np.nan, np.inf
    with pytest.raises(ValueError, match="guide/rod/rate_rad_s = nan at step 7, and 1 more: give"):
        rod.run(motion)
    assert rod.save() == before


def test_inputs_of_different_lengths_are_named_with_their_lengths(rod):
    with pytest.raises(ValueError, match="position_rad has 3 values, guide/rod/rate_rad_s has 2 v"):
        rod.run({POSITION: np.zeros(3), RATE: np.zeros(2), ACCELERATION: np.zeros(3)})


def test_an_unknown_option_is_named():
    with pytest.raises(TypeError, match=r"no option 'steps': did you mean .*'step_s'"):
        rigloop.mechanism("four_bar", steps=1e-3)


def test_one_step_gives_its_outputs(driven):
    assert driven.step({TORQUE: 0.0}).keys() == {ANGLE, "arm/rate_rad_s"}
    assert set(driven.coordinates) == {"q", "qd", "qdd", "lam"}


def test_how_a_mechanism_is_sent_is_said_where_it_is_not_pickled(driven):
    import copy
    import pickle

    with pytest.raises(TypeError, match=r"send the bytes of save\(\)"):
        pickle.dumps(driven)
    driven.run(steps=3)
    assert copy.deepcopy(driven).save() == driven.save()


@pytest.mark.parametrize("steps", [10**15, 10**30])
def test_more_steps_than_there_is_memory_for_are_refused(driven, steps):
    with pytest.raises(ValueError, match=f"steps = {steps}: .*run fewer at a time"):
        driven.run(steps=steps)


@pytest.mark.parametrize("source", [None, 3])
def test_what_is_no_name_of_a_mechanism_is_refused(source):
    with pytest.raises(TypeError, match=f"source = {source}: give the name of a mechanism"):
        rigloop.mechanism(source)
