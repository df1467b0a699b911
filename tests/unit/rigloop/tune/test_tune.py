"""What the tuning promises is what the filter does."""

from pathlib import Path

import numpy as np
import pytest

from estimators.encoder.filter import WRITE_PORTS, EncoderFilter
from io_bridge.logs.formats.table import LogError
from io_bridge.logs.reader import read_log
from rig_configs.mistakes import ConfigError
from rigloop.tune.tune import Wish, at, fit, tune

LOGS = Path(__file__).parents[3] / "data" / "logs"


def test_published_lag_gives_the_published_filter():
    tuning = tune(2**17, 100e-6, Wish(lag_ms=6.4))
    assert tuning.bandwidth_rad_s == pytest.approx(310.4, abs=0.2)
    (angle, _), (rate, _), (acceleration, _) = at(tuning, 4.0)
    assert acceleration == pytest.approx(6.4, abs=1e-6)
    assert rate == pytest.approx(0.061, abs=1e-3)
    assert angle == pytest.approx(-0.020, abs=1e-3)
    # from quantisation alone
    assert tuning.noise["acceleration"] == pytest.approx(0.136, rel=0.01)


@pytest.mark.parametrize("model", ["constant_velocity", "constant_acceleration", "constant_jerk"])
def test_noise_of_each_state_is_what_the_filter_shows(model):
    rng = np.random.default_rng(5)
    noise_rad, cpr, n = 1e-4, 2**24, 60_000
    tuning = tune(cpr, 1e-3, Wish(150.0), model=model, noise_rad=noise_rad)
    block = EncoderFilter(
        "e", {"position_count": "c"}, {}, counts_per_rev=cpr, period_s=1e-3, model=model,
        bandwidth_rad_s=150.0, max_acceleration_rad_s2=1e9,
    )  # fmt: skip
    count = np.rint(noise_rad * rng.normal(size=n) * cpr / (2 * np.pi))
    out = block.run(count, np.ones(n), np.ones(n))[1000:]
    ports = {"angle": "angle_rad", "rate": "rate_rad_s", "acceleration": "acceleration_rad_s2"}
    for state, port in ports.items():
        if state in tuning.noise:
            # correlated over some ten samples: 2 % of scatter
            found = out[:, WRITE_PORTS.index(port)].std()
            assert found == pytest.approx(tuning.noise[state], rel=0.08)


def test_one_of_bandwidth_and_lag_is_asked_for():
    with pytest.raises(ConfigError, match="give one of"):
        tune(1000, 1e-3, Wish())
    with pytest.raises(ConfigError, match="give one of"):
        tune(1000, 1e-3, Wish(100.0, 5.0))


def test_lag_that_no_bandwidth_gives_is_refused_with_what_there_is():
    with pytest.raises(ConfigError, match=r"it can be .* ms"):
        tune(1000, 1e-3, Wish(lag_ms=0.01))
    with pytest.raises(ConfigError, match="try bandwidth_rad_s"):
        tune(1000, 1e-3, Wish(1e6))


def test_noise_fitted_to_a_real_log_makes_the_innovations_white():
    log = read_log(LOGS / "comma2k19_segment40.csv")
    found = fit(log, "constant_acceleration", None)
    assert abs(found.whiteness) < 0.1
    # 0.1 deg steps: 0.5 mrad of rounding
    assert found.noise_rad == pytest.approx(np.radians(0.1) / np.sqrt(12), rel=0.1)
    assert not found.at_edge


def test_resting_stretch_cannot_be_fitted():
    log = read_log(LOGS / "comma2k19_segment40.csv")
    with pytest.raises(LogError, match="more than 50 samples"):
        fit(log, "constant_acceleration", (0.0, 0.2))
