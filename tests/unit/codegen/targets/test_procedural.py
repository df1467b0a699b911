"""Functions on a state that the caller holds: the same motion as the class, and states that can be
kept and put back.
"""

import math

import numpy as np
import pytest

pytestmark = pytest.mark.slow


def guide(k):
    t = 1e-3 * k
    return 0.5 * math.sin(6 * t), 3.0 * math.cos(6 * t), -18.0 * math.sin(6 * t)


@pytest.fixture(scope="module")
def rod(kernel):
    return kernel("guided_rod", wrapper="procedural")


def test_functions_step_as_the_class_does(rod, kernel):
    state, other = rod.new_state(), kernel("guided_rod").Kernel()
    assert len(state) == rod.STATE_SIZE
    assert rod.reset(state, guide(0)) == other.reset(*guide(0)) == 0
    for k in range(1, 100):
        assert rod.step(state, guide(k)) == other.step(*guide(k)) == 0
        assert rod.outputs(state) == other.outputs
    assert rod.coordinates(state) == (other.q, other.qd, other.qdd, other.lam)
    assert rod.reaction(state) == other.reaction
    assert rod.health(state)["status"] == 0


def test_a_state_is_kept_and_put_back(rod):
    state = rod.new_state()
    rod.reset(state, guide(0))
    kept = bytes(state)
    first = [rod.step(state, guide(k)) or rod.reaction(state) for k in range(1, 20)]
    state[:] = kept
    assert [rod.step(state, guide(k)) or rod.reaction(state) for k in range(1, 20)] == first
    # any buffer will do
    shared = np.frombuffer(kept, dtype=np.uint8).copy()
    assert [rod.step(shared, guide(k)) or rod.reaction(shared) for k in range(1, 20)] == first


def test_parameters_and_runs(rod):
    state = rod.new_state()
    rod.set_parameters(state, {"uniform_rod/rod/mass_kg": 4.0})
    assert rod.parameters(state)["uniform_rod/rod/mass_kg"] == 4.0
    rod.reset(state, (0.0, 0.0, 0.0))
    assert rod.reaction(state)[0] == pytest.approx(4.0 * 9.81 * 0.15, rel=1e-6)
    out = np.zeros((50, 4))
    assert rod.run(state, np.array([guide(k) for k in range(50)]), out, 50) == 50
    assert out[-1].tolist() == list(rod.outputs(state).values())
    with pytest.raises(KeyError, match="no parameter 'mass'"):
        rod.set_parameters(state, {"mass": 1.0})


def test_what_is_no_state_is_refused(rod):
    with pytest.raises(ValueError, match="bytes given"):
        rod.step(bytearray(16), guide(0))
    with pytest.raises(ValueError, match="new_state"):
        rod.step(bytearray(rod.STATE_SIZE), guide(0))
    with pytest.raises(ValueError, match="3 needed"):
        rod.step(rod.new_state(), (0.0,))
