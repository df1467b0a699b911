"""The rig of a latency test: another period in the same text, and the signals on the way."""

import tomllib

import pytest

from rig_configs.load import find_rig
from rig_configs.mistakes import ConfigError
from rigloop.bench.latency.rig import at_period, signal_path, slow_guard
from rigloop.compose.wiring import load

RIGS = ("latency_bench", "latency_bench_veth")


@pytest.mark.parametrize("name", RIGS)
@pytest.mark.parametrize("period_us", [1000, 5000])
def test_another_period_changes_nothing_else(name, period_us, tmp_path):
    shipped = load(name)
    rig = at_period(shipped, period_us, tmp_path)
    expected = tomllib.loads(shipped.text)
    expected["tasks"]["simulation"]["period_us"] = period_us
    assert tomllib.loads(rig.text) == expected
    assert rig.rig.tasks["simulation"].period_us == period_us
    # comments stay
    assert [line for line in rig.text.splitlines() if "#" in line] == [
        line for line in shipped.text.splitlines() if "#" in line
    ]


def test_a_period_that_does_not_fit_is_told_with_those_that_do(tmp_path):
    with pytest.raises(
        ConfigError, match=r"tasks\.simulation\.period_us = 1050.*take 1000 or 1100"
    ):
        at_period(load("latency_bench"), 1050, tmp_path)


def test_a_rig_without_a_relay_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"0 blocks of kind 'relay'.*latency_bench"):
        at_period(load("steering_wheel"), 1000, tmp_path)


def test_a_period_in_another_spelling_is_changed_too(tmp_path):
    text = find_rig("latency_bench").read_text()
    path = tmp_path / "odd.toml"
    path.write_text(text.replace("period_us = 1000\n", '"period_us" = 1_000\n'))
    assert at_period(load(str(path)), 5000, tmp_path).rig.tasks["simulation"].period_us == 5000


def test_signals_come_from_the_wiring(tmp_path):
    text = find_rig("latency_bench").read_text().replace("wheel/angle_rad", "wheel/theta_rad")
    text = text.replace(
        "lost_after_ms = 200.0", 'writes = { angle_rad = "wheel/theta_rad" }\nlost_after_ms = 200.0'
    )
    path = tmp_path / "renamed.toml"
    path.write_text(text)
    found = signal_path(load(str(path)))
    assert found.angle_rad == "wheel/theta_rad"
    assert (found.fast, found.slow) == ("estimation", "simulation")
    assert (found.fast_ns, found.slow_ns) == (100_000, 1_000_000)
    assert found.torque_nm == "guard/torque_nm"
    assert found.device_ns == "bus/dc_time_ns"


def test_a_relay_beside_the_way_is_refused(tmp_path):
    text = find_rig("latency_bench").read_text()
    text = text.replace(
        'torque_request_nm = "relay/torque_nm"', 'torque_request_nm = "steering/guide/torque_nm"'
    )
    path = tmp_path / "beside.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"blocks\.relay: no way from a drive's encoder"):
        signal_path(load(str(path)))


@pytest.mark.parametrize("name", RIGS)
def test_the_guard_of_the_shipped_rigs_adds_no_cycle(name):
    assert slow_guard(load(name)) == ""


def test_a_guard_that_adds_cycles_is_told(tmp_path):
    path = tmp_path / "slow.toml"
    path.write_text(
        find_rig("latency_bench").read_text().replace("rate_nm_s = 20000.0", "rate_nm_s = 4000.0")
    )
    assert "give more than 5000" in slow_guard(load(str(path)))
