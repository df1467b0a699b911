"""What the report says of an observer's innovations, and of a virtual torque."""

import numpy as np
import pytest

from rigloop.report.observer_plots import nis_plot, torque_plot
from rigloop.report.observer_statistics import observer_facts, torque_facts

N = 20_000
VIRTUAL, MEASURED = (
    ("estimation", "hands/force/grip/torque_nm"),
    ("estimation", "bus/wheel/sensor_nm"),
)
STD = 0.05


def record(nis, error_nm=None, settled=2000):
    """A record of an observer with one sensor, a sample every other cycle, and a torque of 3 Nm at 0.5 Hz."""
    names = [
        "t_ns", *(f"hands/{p}" for p in ("nis", "nis_low", "nis_high", "used", "rejected", "repaired", "status")),
        VIRTUAL[1], "hands/variance/force/grip/torque_nm", MEASURED[1],
    ]  # fmt: skip
    found = np.zeros(N, dtype=[(name, "f8") for name in names])
    found["t_ns"] = 2e5 * np.arange(N)
    found["hands/used"][::2] = 1.0
    found["hands/nis"][::2] = nis[::2]
    # of chi-square with one degree of freedom
    found["hands/nis_low"][::2], found["hands/nis_high"][::2] = 9.82e-4, 5.024
    found["hands/rejected"][-1] = 3.0
    torque = 3.0 * np.sin(np.pi * found["t_ns"] * 1e-9)
    found[MEASURED[1]] = torque
    found[VIRTUAL[1]] = torque + (0.0 if error_nm is None else error_nm)
    found[VIRTUAL[1]][:settled] = 40.0
    found["hands/variance/force/grip/torque_nm"] = STD**2
    found["hands/variance/force/grip/torque_nm"][:settled] = 100.0
    return {"estimation": found}


@pytest.fixture
def noise():
    return np.random.default_rng(2).normal(size=N)


def test_a_right_observer_is_called_consistent(noise):
    (facts,) = observer_facts(record(noise**2))
    assert facts.name == "hands"
    assert facts.cycles == N // 2
    assert facts.nis_low < facts.nis_mean < facts.nis_high
    # 5 % of 10000, three standard deviations of that
    assert facts.outside_percent == pytest.approx(5.0, abs=0.7)
    assert facts.words.startswith("Consistent")
    assert facts.rejected == 3
    inside = (facts.mean >= facts.mean_low) & (facts.mean <= facts.mean_high)
    # 160 stretches, one in twenty outside
    assert np.count_nonzero(~inside) < 20


def test_a_wrong_model_is_told(noise):
    (facts,) = observer_facts(record(4.0 * noise**2))
    assert facts.words.startswith("Overconfident: innovations are 2 times")
    assert facts.outside_percent > 20.0


def test_noise_that_is_set_too_large_is_told(noise):
    (facts,) = observer_facts(record(0.01 * noise**2))
    assert facts.words.startswith("Conservative: innovations are 0.1 of")


def test_a_mirror_of_an_observer_is_no_observer(noise):
    found = record(noise**2)["estimation"][["t_ns", "hands/nis", "hands/nis_low"]]
    assert observer_facts({"simulation": found}) == []


def test_a_virtual_torque_is_judged_once_it_has_settled(noise):
    facts = torque_facts(record(noise**2, STD * noise), VIRTUAL, MEASURED)
    assert facts.settled_percent == pytest.approx(90.0)
    assert facts.rms_nm == pytest.approx(STD, rel=0.03)
    assert facts.worst_nm < 6 * STD
    assert facts.measured_rms_nm == pytest.approx(3.0 / np.sqrt(2.0), rel=0.02)
    assert facts.nees_low < facts.nees_mean < facts.nees_high
    assert facts.outside_percent == pytest.approx(5.0, abs=0.7)


def test_a_virtual_torque_without_a_measured_one_is_not_judged(noise):
    assert torque_facts(record(noise**2), VIRTUAL, ("estimation", "bus/wheel/none_nm")) is None
    assert torque_facts({}, VIRTUAL, MEASURED) is None


def test_cycles_without_a_measured_torque_are_not_compared(noise):
    found = record(noise**2, STD * noise)
    right = torque_facts(found, VIRTUAL, MEASURED)
    found["estimation"][MEASURED[1]][1::2] = np.nan
    # between its samples the torque is a straight line: 3 Nm at 0.5 Hz bends by 1e-6 Nm in 0.4 ms
    assert torque_facts(found, VIRTUAL, MEASURED).rms_nm == pytest.approx(right.rms_nm, abs=1e-5)
    found["estimation"][MEASURED[1]] = np.nan
    assert torque_facts(found, VIRTUAL, MEASURED) is None


@pytest.mark.slow
def test_figures_are_drawn(noise):
    made = record(noise**2, STD * noise)
    (facts,) = observer_facts(made)
    for svg in (nis_plot(facts), torque_plot(torque_facts(made, VIRTUAL, MEASURED))):
        assert svg.startswith("<svg")
        assert svg.rstrip().endswith("</svg>")
        assert len(svg) < 400_000
    assert "mean of a stretch" in nis_plot(facts)
