"""Metrics from pieces: the same as of the whole, wherever it is cut."""

import math

import numpy as np
import pytest

from rig_configs.mistakes import ConfigError
from rig_configs.schema import Metric
from rigloop.compose.wiring import load
from rigloop.judge.metrics import Gauge, metrics_of

MS = 1_000_000
VALUES = np.array([0.0, 5.0, -7.0, 2.0, 0.1, -0.1, 0.05])


def measured(measure, values=VALUES, cuts=(), **given):
    gauge = Gauge(Metric(signal="a/b", measure=measure, **given))
    t_ns = np.arange(len(values)) * MS
    for times, piece in zip(np.split(t_ns, cuts), np.split(values, cuts), strict=True):
        gauge.take(times, piece)
    return gauge.value()


@pytest.mark.parametrize("cuts", [(), (1,), (3, 4), range(1, 7)])
@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("rms", np.sqrt(np.mean(VALUES**2))),
        ("mean", np.mean(VALUES)),
        ("min", -7),
        ("max", 5),
        ("peak", 7),
        ("range", 12),
        ("last", 0.05),
    ],
)
def test_a_metric_is_that_of_the_whole_signal(measure, value, cuts):
    assert measured(measure, cuts=list(cuts)) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("cuts", [(), (1,), (3,), (4,), (5,), range(1, 7)])
@pytest.mark.parametrize(
    ("target", "tolerance", "settled_s"),
    [(0.0, 0.2, 0.004), (0.0, 10.0, 0.0), (0.0, 0.06, 0.006), (5.0, 0.5, math.nan)],
)
def test_a_signal_has_settled_once_it_stays(target, tolerance, settled_s, cuts):
    found = measured("settled_s", cuts=list(cuts), target=target, tolerance=tolerance)
    assert found == pytest.approx(settled_s, nan_ok=True)


def test_cycles_before_from_s_do_not_count():
    assert measured("max", from_s=0.002, cuts=[1]) == 2
    assert math.isnan(measured("max", from_s=1.0))


def test_nan_is_told_and_never_settled():
    values = np.array([1.0, np.nan, 1.0])
    assert math.isnan(measured("max", values))
    assert math.isnan(measured("rms", values))
    assert measured("settled_s", values, target=1.0, tolerance=0.1) == 0.002


DECLARED = '[metrics.stiff]\nsignal = "{signal}"\nmeasure = "{measure}"\n'


def declaring(tmp_path, rigs, **given):
    path = tmp_path / "rig.toml"
    path.write_text(rigs("steering_wheel").text + "\n" + DECLARED.format(**given))
    return str(path)


def test_a_rig_declares_its_metrics_or_has_those_of_what_it_shows(rigs, tmp_path):
    usual = metrics_of(rigs("steering_wheel").rig)
    assert set(usual) == {"angle_rms", "angle_peak", "torque_rms", "torque_peak"}
    given = {"signal": "steering/guide/torque_nm", "measure": "rms"}
    assert set(metrics_of(load(declaring(tmp_path, rigs, **given)).rig)) == {"stiff"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"signal": "wheel/angel_rad", "measure": "rms"}, "metrics.stiff.signal"),
        ({"signal": "wheel/angle_rad", "measure": "settled_s"}, "metrics.stiff.tolerance"),
        ({"signal": "wheel/angle_rad", "measure": "rsm"}, "metrics.stiff.measure"),
    ],
)
def test_a_wrong_metric_is_a_mistake_of_the_rig(rigs, tmp_path, given, words):
    with pytest.raises(ConfigError) as caught:
        load(declaring(tmp_path, rigs, **given))
    assert words in str(caught.value)
