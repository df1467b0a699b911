"""A kernel on trial: every call timed by itself, the same motion however it is cut into pieces."""

import math

import pytest

from codegen.description.mechanism import find, load, ports
from codegen.kernels.trial import WARM_UP, Motion, Swing, Trial
from codegen.options.options import KernelOptions

OPTIONS = KernelOptions(iterations=4, tolerance=1e-7)
MECHANISM = load(find("guided_rod"))
PORT = ports(MECHANISM)[0][0]
STILL = Motion({}, 1e-3, 1)


@pytest.fixture(scope="module")
def trial():
    return Trial(MECHANISM, OPTIONS)


@pytest.mark.parametrize("first", [1, 7, WARM_UP, 5000])
def test_each_call_has_a_time_wherever_pieces_end(trial, first):
    times = trial.times(STILL, 6000, first)
    assert times.shape == (6000,)
    assert (times > 0.0).all()


def test_the_iterations_are_those_of_the_last_call(trial):
    trial.times(STILL, 10)
    assert 1 <= trial.iterations() <= 4


def test_a_motion_that_cannot_be_followed_is_an_error(trial):
    motion = Motion({PORT: Swing(math.nan, 1.0)}, 1e-3, 1)
    with pytest.raises(ValueError, match=r"does not start|stops after"):
        trial.times(motion, 500)
