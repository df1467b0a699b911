"""A kernel on trial: every call timed by itself, the same motion however it is cut into pieces."""

import pytest

from codegen.description.mechanism import find, load
from codegen.kernels.trial import WARM_UP, Motion, Swing, Trial
from codegen.options.options import KernelOptions

STILL = Motion({}, 1e-3, 1)


@pytest.fixture(scope="module")
def trial():
    options = KernelOptions(iterations=4, tolerance=1e-7)
    return Trial(load(find("four_bar")), options)


@pytest.mark.parametrize("first", [1, 7, WARM_UP, 5000])
def test_each_call_has_a_time_wherever_pieces_end(trial, first):
    times = trial.times(STILL, 6000, first)
    assert times.shape == (6000,)
    assert (times > 0.0).all()


def test_the_iterations_are_those_of_the_last_call(trial):
    trial.times(STILL, 10)
    assert 1 <= trial.iterations() <= 4


def test_a_motion_that_cannot_be_followed_is_an_error():
    mechanism = load(find("guided_rod"))
    port = mechanism.system.guides[0].name
    motion = Motion({f"guide/{port}/position_rad": Swing(1e9, 1.0)}, 1e-3, 1)
    with pytest.raises(ValueError, match=r"does not start|stops after"):
        Trial(mechanism, KernelOptions()).times(motion, 500)
