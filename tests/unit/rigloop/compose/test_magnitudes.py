"""Numbers of a rig that are off by a thousand are doubted by name; what ships is not."""

import pytest
from swaps import swapped

from rig_configs.load import HERE, shipped_rigs
from rigloop.compose.magnitudes import magnitudes
from rigloop.compose.wiring import load

RIGS = HERE / "rigs"


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped_rigs())
def test_no_rig_that_ships_is_doubted(name):
    assert magnitudes(load(name)) == []


def doubted(tmp_path, rig, old, new):
    text = (RIGS / f"{rig}.toml").read_text()
    path = tmp_path / "own.toml"
    path.write_text(swapped(text, (old, new)))
    return magnitudes(load(str(path)))


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("inertia_kg_m2 = 0.06", "inertia_kg_m2 = 60", "bus.drives.wheel.plant.inertia_kg_m2"),
        ("inertia_kg_m2 = 0.06", "inertia_kg_m2 = 6e-5", "bus.drives.wheel.plant.inertia_kg_m2"),
        ("viscous_nms = 0.05", "viscous_nms = 50", "bus.drives.wheel.plant.viscous_nms"),
        ("viscous_nms = 0.05", "viscous_nms = 5e-5", "bus.drives.wheel.plant.viscous_nms"),
        ("coulomb_nm = 0.1", "coulomb_nm = 100.0", "bus.drives.wheel.plant.coulomb_nm"),
        ("coulomb_nm = 0.1", "coulomb_nm = 1e-4", "bus.drives.wheel.plant.coulomb_nm"),
        (
            "hands_stiffness_nm_rad = 20.0",
            "hands_stiffness_nm_rad = 2e4",
            "bus.drives.wheel.plant.hands_stiffness_nm_rad",
        ),
        ("amplitude_deg = 60.0", "amplitude_deg = 6e4", "bus.drives.wheel.plant.amplitude_deg"),
        ("amplitude_deg = 60.0", "amplitude_deg = 0.06", "bus.drives.wheel.plant.amplitude_deg"),
        ("frequency_hz = 0.3", "frequency_hz = 300.0", "bus.drives.wheel.plant.frequency_hz"),
        ("frequency_hz = 0.3", "frequency_hz = 3e-4", "bus.drives.wheel.plant.frequency_hz"),
        ("counts_per_rev = 1048576\nrated", "counts_per_rev = 20\nrated", "bus.drives.wheel.counts_per_rev"),
        ("counts_per_rev = 1048576\nband", "counts_per_rev = 1048\nband", "wheel.counts_per_rev"),
        ("counts_per_rev = 1048576\nband", "counts_per_rev = 1e9\nband", "wheel.counts_per_rev"),
        ("bandwidth_rad_s = 310.4", "bandwidth_rad_s = 0.31", "wheel.bandwidth_rad_s"),
        ("bandwidth_rad_s = 310.4", "bandwidth_rad_s = 310.4\nnoise_rad = 2e-3", "wheel.noise_rad"),
        ("bandwidth_rad_s = 310.4", "bandwidth_rad_s = 310.4\nnoise_rad = 1e-9", "wheel.noise_rad"),
        ("limit_nm = 12.0", "limit_nm = 0.012", "guard.limit_nm"),
        ("limit_nm = 12.0\nrate_nm_s = 2000.0", "limit_nm = 12e3\nrate_nm_s = 2e6", "guard.limit_nm"),
        ("rate_nm_s = 2000.0", "rate_nm_s = 2e6", "guard.rate_nm_s"),
        ("rate_nm_s = 2000.0", "rate_nm_s = 2.0", "guard.rate_nm_s"),
        ("max_angle_rad = 7.7", "max_angle_rad = 7700.0", "guard.max_angle_rad"),
        ("max_angle_rad = 7.7", "max_angle_rad = 0.0077", "guard.max_angle_rad"),
        ("max_rate_rad_s = 40.0", "max_rate_rad_s = 4e4", "guard.max_rate_rad_s"),
        ("max_rate_rad_s = 40.0", "max_rate_rad_s = 0.04", "guard.max_rate_rad_s"),
        ("heartbeat_timeout_ms = 1000.0", "heartbeat_timeout_ms = 1.0", "guard.heartbeat_timeout_ms"),
        ("heartbeat_timeout_ms = 1000.0", "heartbeat_timeout_ms = 1e6", "guard.heartbeat_timeout_ms"),
        ("max_request_age_ms = 200.0", "max_request_age_ms = 2e5", "guard.max_request_age_ms"),
    ],
)  # fmt: skip
def test_a_number_off_by_a_thousand_is_doubted_by_name(tmp_path, old, new, key):
    found = doubted(tmp_path, "steering_wheel", old, new)
    assert any(line.startswith(f"blocks.{key}: ") for line in found), found
    assert all("usual" in line for line in found)


def test_an_own_parameter_far_from_that_of_the_mechanism_is_doubted(tmp_path):
    old = 'mechanism = "steering_26"\n'
    path = "bore_torque/left/stiffness_nm_per_rad"
    new = f'{old}parameters = {{ "{path}" = 1.2 }}\n'
    found = doubted(tmp_path, "steering_wheel", old, new)
    assert [line.partition(":")[0] for line in found] == [f"blocks.steering.parameters.{path}"]


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("maximum_force_n = 1200.0", "maximum_force_n = 1.2", "bore_torque.right.maximum_force_n"),
        ("initial_slope_n = 30000.0", "initial_slope_n = 30.0", "bore_torque.left.initial_slope_n"),
        ("rolling_radius_m = 0.3", "rolling_radius_m = 300.0", "bore_torque.left.rolling_radius_m"),
        ("bore_radius_m = 0.05", "bore_radius_m = 50.0", "bore_torque.left.bore_radius_m"),
        ("slip_at_maximum = 0.12", "slip_at_maximum = 12.0", "bore_torque.left.slip_at_maximum"),
        ("inertia_kg_m2 = 0.9", "inertia_kg_m2 = 900.0", "inertia.knuckle_left.inertia_kg_m2"),
    ],
)
def test_a_mechanism_that_a_rig_names_is_doubted_too(tmp_path, old, new, key):
    mechanism = (HERE / "mechanisms" / "steering_26.toml").read_text()
    own = swapped(mechanism, (old, new), ('name = "steering_26"', ""))
    (tmp_path / "own_steering.toml").write_text(own)
    found = doubted(tmp_path, "steering_wheel", '"steering_26"', '"own_steering.toml"')
    assert any(line.startswith(f"own_steering.toml: {key}: ") for line in found), found


def test_a_sensor_whose_noise_is_off_is_doubted(tmp_path):
    found = doubted(tmp_path, "steering_observer", "std = 1.73e-06 ", "std = 1.73e-02 ")
    assert any(line.startswith("blocks.hands.sensors.encoder.std") for line in found), found
