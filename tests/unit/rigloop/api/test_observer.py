"""An observer from Python: arrays in and out, in pieces as in one, and wrong input in words."""

import numpy as np
import pytest

import rigloop

pytestmark = pytest.mark.slow

ENCODER = {"kind": "encoder", "angle": "crank", "std": 0.0175}
NOISE = {"acceleration_noise": [0.09], "start_std": (0.09, 0.09), "step_s": 5e-3}


@pytest.fixture
def crank():
    return rigloop.observer("four_bar", {"wheel": ENCODER}, independent=("crank",), **NOISE)


@pytest.fixture(scope="module")
def samples():
    true = rigloop.mechanism("four_bar", step_s=5e-3).run(steps=401)["crank/angle_rad"][1:]
    return true, true + np.random.default_rng(1).normal(0.0, 0.0175, len(true))


def test_the_estimate_is_better_than_the_samples(crank, samples):
    true, measured = samples
    estimate = crank.run({"wheel": measured})
    assert np.std(estimate["crank_rad"] - true) < 0.5 * np.std(measured - true)
    assert estimate.t_s[-1] == pytest.approx(2.0)
    assert estimate.units["variance/crank_rad"] == "rad^2"
    assert estimate.units["innovation/wheel"] == "rad"
    assert crank.covariance.shape == (2, 2)
    assert np.allclose(crank.x, [estimate["crank_rad"][-1], estimate["crank_rate_rad_s"][-1]])


def test_pieces_are_as_one_call_and_a_reset_begins_again(crank, samples):
    _, measured = samples
    whole = crank.run({"wheel": measured}).array()
    crank.reset()
    pieces = [crank.run({"wheel": part}).array() for part in np.split(measured, 5)]
    assert np.array_equal(np.concatenate(pieces), whole)


def test_without_a_sample_it_predicts(crank):
    estimate = crank.run({}, steps=10)
    assert not estimate["used"].any()
    assert np.all(np.diff(estimate["variance/crank_rad"]) > 0.0)


def test_wrong_input_is_named(crank):
    with pytest.raises(KeyError, match="has no input 'weel': did you mean 'wheel'"):
        crank.run({"weel": np.zeros(3)})
    with pytest.raises(ValueError, match="wheel = inf at step 1: give a finite number, or NaN"):
        crank.run({"wheel": [0.0, np.inf]})
    with pytest.raises(TypeError, match="no option 'step'"):
        rigloop.observer(
            "four_bar",
            {"wheel": ENCODER},
            acceleration_noise=[1.0],
            start_std=(1.0, 1.0),
            step=1e-3,
        )
    with pytest.raises(TypeError, match="sensor 'wheel' has no 'std'"):
        rigloop.observer(
            "four_bar", {"wheel": {"kind": "encoder"}}, acceleration_noise=[1.0], start_std=(1.0,)
        )
    with pytest.raises(ValueError, match="start_std"):
        rigloop.observer(
            "four_bar", {"wheel": ENCODER}, independent=("crank",), **NOISE | {"start_std": (1.0,)}
        )


@pytest.mark.parametrize(
    ("source", "sensors", "words"),
    [
        (None, {}, "source = None: give the name of a mechanism"),
        ("four_bar", None, "sensors = None: give a mapping"),
    ],
)
def test_what_is_no_mechanism_and_no_table_is_refused(source, sensors, words):
    with pytest.raises(TypeError, match=words):
        rigloop.observer(source, sensors, acceleration_noise=[0.1], start_std=(0.1, 0.1))
