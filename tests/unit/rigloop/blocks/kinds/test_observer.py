"""An observer in a rig file: every mistake with its place, its ports before it is built, and the gate at the start."""

import math

import numpy as np
import pytest

from estimators.closed_loop.kinds.error_ekf import ErrorEkf
from estimators.closed_loop.observability import UnobservableError
from rig_configs.load import find_rig
from rig_configs.mistakes import ConfigError
from rigloop.blocks.catalogue import ports_of
from rigloop.blocks.kind import Making
from rigloop.blocks.kinds.observer import make as make_observer
from rigloop.blocks.mechanisms import kernel_options
from rigloop.compose.blocks import make_blocks
from rigloop.compose.kernels import build_kernels
from rigloop.compose.wiring import load

SHIPPED = find_rig("steering_observer").read_text()
HANDS = "force/hands/torque_nm"


def written(tmp_path, *changes):
    text = SHIPPED
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = tmp_path / "rig.toml"
    path.write_text(text)
    return str(path)


def mistakes(tmp_path, *changes):
    path = written(tmp_path, *changes)
    with pytest.raises(ConfigError) as caught:
        load(path)
    found = [str(mistake) for mistake in caught.value.mistakes]
    assert all(line.startswith(f"{path}: ") for line in found), found
    return [line.removeprefix(f"{path}: ") for line in found]


def test_ports_are_known_without_building():
    block = load("steering_observer").rig.blocks["hands"]
    ports = ports_of(block.model_dump())
    assert ports.read_names == ("encoder", "encoder/valid", "input/force/motor/torque_nm")
    assert tuple(p.name for p in ports.reads if p.optional) == ("encoder/valid",)
    assert ports.write_names[:3] == ("wheel_rad", "wheel_rate_rad_s", HANDS)
    assert {f"variance/{HANDS}", "innovation/encoder", "nis", "nis_low", "status"} <= set(
        ports.write_names
    )


@pytest.mark.slow
def test_a_rig_s_observer_is_the_one_that_it_names():
    loaded = load("steering_observer")
    kernels = build_kernels(loaded)
    block = make_blocks(loaded.rig, kernels)["hands"]
    assert isinstance(block, ErrorEkf)
    assert block.writes[HANDS] == f"hands/{HANDS}"
    assert block.reads["encoder"] == "bus/wheel/position_count"
    assert tuple(block.write_ports) == ports_of(loaded.rig.blocks["hands"].model_dump()).write_names
    # the step is the period of its task
    assert kernels["hands"].module.model_info()["step_s"] == pytest.approx(200e-6)
    assert block.covariance[2, 2] == 100.0
    assert block.proc_cov[2, 2] == pytest.approx(1.0 * 200e-6)


@pytest.mark.slow
def test_parameters_of_the_rig_reach_the_model(tmp_path):
    path = written(
        tmp_path,
        (
            "[blocks.hands.input_noise]",
            '[blocks.hands.parameters]\n"inertia/wheel/inertia_kg_m2" = 0.12\n\n[blocks.hands.input_noise]',
        ),
    )
    loaded = load(path)
    block = make_observer(
        Making(loaded.rig, "hands", loaded.rig.blocks["hands"], build_kernels(loaded)["hands"])
    )
    at = block.model.at([0.0, 0.0, 1.2])
    assert at["zdd"][0] == pytest.approx(10.0)


def test_mistakes_of_a_sensor_and_of_names_come_at_once(tmp_path):
    told = mistakes(
        tmp_path,
        ('angle = "wheel"\nscale', 'angle = "weel"\nscale'),
        ('independent = ["wheel"]', 'independent = ["whel"]'),
        ('unknown = ["force/hands/torque_nm"]', 'unknown = ["force/hand/torque_nm"]'),
        ("std = 1.73e-06", "std = -1.0"),
        ("limit_nm = 12.0", 'limit_nm = "twelve"'),
    )
    by_key = {line.partition(" = ")[0]: line for line in told}
    assert set(by_key) == {
        "blocks.hands.sensors.encoder.angle", "blocks.hands.independent", "blocks.hands.unknown",
        "blocks.hands.sensors.encoder.std", "blocks.guard.limit_nm",
    }  # fmt: skip
    assert "wheel" in by_key["blocks.hands.sensors.encoder.angle"]
    assert "did you mean 'wheel'" in by_key["blocks.hands.independent"]
    assert "did you mean 'force/hands/torque_nm'" in by_key["blocks.hands.unknown"]


def test_an_unknown_kind_of_sensor_names_those_that_there_are(tmp_path):
    (line,) = mistakes(tmp_path, ('kind = "encoder"\nangle', 'kind = "encodr"\nangle'))
    assert line.startswith("blocks.hands.sensors.encoder.kind = 'encodr': unknown sensor")
    assert "did you mean 'encoder'" in line


def test_a_key_that_a_sensor_does_not_have_is_told(tmp_path):
    (line,) = mistakes(tmp_path, ('angle = "wheel"\nscale', 'angle = "wheel"\nmotor = "m"\nscale'))
    assert line.startswith("blocks.hands.sensors.encoder.motor: ")
    assert "angle, relative_to" in line


def test_how_samples_come_is_checked(tmp_path):
    scale = "scale = 5.992112452678286e-06"
    (line,) = mistakes(tmp_path, (scale, "scale = 0.0"))
    assert line == "blocks.hands.sensors.encoder.scale = 0.0: must not be 0"
    (line,) = mistakes(tmp_path, (scale, f"{scale}\nevery = 0"))
    assert line.startswith("blocks.hands.sensors.encoder.every = 0: ")


def test_an_observer_without_sensors_is_told_once(tmp_path):
    begin, end = SHIPPED.index("[blocks.hands.sensors"), SHIPPED.index("[blocks.hands.reads]")
    (line,) = mistakes(tmp_path, (SHIPPED[begin:end], "[blocks.hands.sensors]\n\n"))
    assert line.startswith("blocks.hands.sensors = {}: ")


def test_a_name_of_a_sensor_is_spelled_as_a_signal(tmp_path):
    told = mistakes(tmp_path, ("[blocks.hands.sensors.encoder]", "[blocks.hands.sensors.Encoder]"))
    assert told[0].startswith("blocks.hands.sensors.Encoder = 'Encoder': string should match")


def test_an_estimated_input_cannot_be_wired(tmp_path):
    motor = '"input/force/motor/torque_nm" ='
    hands = '"input/force/hands/torque_nm" = "wheel/rate_rad_s"'
    (line,) = mistakes(tmp_path, (motor, f"{hands}\n{motor}"))
    assert line.startswith("blocks.hands.reads.input/force/hands/torque_nm: no such port")


def test_an_input_that_nobody_feeds_is_told(tmp_path):
    (line,) = mistakes(
        tmp_path, ('"input/force/motor/torque_nm" = "bus/wheel/torque_actual_nm"\n', "")
    )
    assert line.startswith("blocks.hands.reads.input/force/motor/torque_nm: missing")


def test_a_mechanism_that_is_not_there_names_the_near_ones(tmp_path):
    path = written(tmp_path, ('mechanism = "steering_column"', 'mechanism = "stering_column"'))
    with pytest.raises(
        ConfigError, match=r"blocks\.hands: mechanism.*did you mean 'steering_column'"
    ):
        load(path)


def test_settings_that_do_not_suit_the_model_are_told_at_once(tmp_path):
    noise, inputs = "acceleration_noise = [1e-4]", "[blocks.hands.input_noise]"
    told = mistakes(
        tmp_path,
        ("start_std = [10.0, 1.0, 10.0]", "start_std = [10.0, 1.0]"),
        ('"force/hands/torque_nm" = 1.0', '"force/motor/torque_nm" = 1.0'),
        ('transition = "exact" ', 'transition = "published" '),
        (inputs, f"options = {{ kapa = 1e5, presolve = true }}\n{inputs}"),
        (noise, f'parameters = {{ "inertia/wel/inertia_kg_m2" = 1.0 }}\n{noise}'),
    )
    text = "\n".join(told)
    assert "blocks.hands.start_std = [10.0, 1.0]: 3 numbers needed, for " in text
    assert (
        "blocks.hands.input_noise = {'force/motor/torque_nm': 1.0}: give one number for each of force/hands/torque_nm"
        in text
    )
    assert "blocks.hands.transition = 'published': has no slopes of unknown inputs" in text
    assert "blocks.hands.options.kapa = 100000.0: unknown option" in text
    assert "blocks.hands.options.presolve = True: follows from elsewhere" in text
    assert "blocks.hands.parameters.inertia/wel/inertia_kg_m2" in text
    assert len(told) == 6


def test_a_filter_of_all_coordinates_estimates_no_inputs(tmp_path):
    (line,) = mistakes(tmp_path, ('method = "errorEKF"', 'method = "DIEKFpm"'))
    assert (
        line
        == "blocks.hands.method = 'DIEKFpm': this filter estimates no inputs; take one on independent "
        "coordinates, as errorEKF"
    )


@pytest.mark.slow
def test_two_torques_on_one_angle_are_refused_before_anything_runs(tmp_path):
    path = written(
        tmp_path,
        ('unknown = ["force/hands/torque_nm"]', 'unknown = ["force/hands/torque_nm", "force/motor/torque_nm"]'),
        ('"force/hands/torque_nm" = 1.0', '"force/hands/torque_nm" = 1.0\n"force/motor/torque_nm" = 1.0'),
        ("start_std = [10.0, 1.0, 10.0]", "start_std = [10.0, 1.0, 10.0, 1.0]"),
        ('"input/force/motor/torque_nm" = "bus/wheel/torque_actual_nm"\n', ""),
    )  # fmt: skip
    loaded = load(path)
    with pytest.raises(ConfigError) as caught:
        build_kernels(loaded)
    (mistake,) = caught.value.mistakes
    assert (mistake.file, mistake.key) == (path, "blocks.hands.unknown")
    assert "force/hands/torque_nm cannot be observed" in mistake.problem
    assert "together with force/motor/torque_nm" in mistake.problem
    assert "add a sensor that responds to it, or estimate fewer inputs" in mistake.problem
    assert issubclass(UnobservableError, ValueError)


@pytest.mark.slow
def test_options_of_the_kernel_inside_are_taken(tmp_path):
    path = written(
        tmp_path,
        ("[blocks.hands.input_noise]", "options = { iterations = 3 }\n[blocks.hands.input_noise]"),
    )
    options = kernel_options(load(path).rig, "hands")
    assert (options.iterations, options.presolve) == (3, False)
    assert options.step_s == pytest.approx(200e-6)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["errorEKF", "DEKF", "UKF"])
def test_the_shipped_observer_finds_a_held_torque_from_counts(tmp_path, method):
    path = written(tmp_path, ('method = "errorEKF"', f'method = "{method}"'))
    loaded = load(path)
    block = make_observer(
        Making(loaded.rig, "hands", loaded.rig.blocks["hands"], build_kernels(loaded)["hands"])
    )
    # hands turn the column with 1 Nm from rest: J w' = 1 - 0.1 tanh(w / 0.05) - 0.05 w, by a fine Euler
    h, n = 200e-6, 2000
    angle, rate, w, a = np.empty(n), 0.0, 0.0, 0.0
    for k in range(n):
        for _ in range(20):
            rate = (1.0 - 0.1 * math.tanh(w / 0.05) - 0.05 * w) / 0.06
            a += h / 20 * w
            w += h / 20 * rate
        angle[k] = a
    scale = 2.0 * math.pi / 2**20
    counted = np.rint(angle / scale) * scale
    out = block.run(counted[:, None], np.array([[0.0, np.nan]] * n))
    torque = out[:, list(block.write_ports).index(HANDS)]
    # after 0.1 s: it says 0.05 Nm of itself, and a mean over 0.3 s has a quarter of that
    assert np.mean(torque[500:]) == pytest.approx(1.0, abs=0.02)
    assert np.std(torque[500:]) < 0.1


def two_stage_rig(tmp_path, *changes):
    """The shipped rig with a force observer behind its encoder filter in place of the hands' observer."""
    begin, end = SHIPPED.index("[blocks.hands]"), SHIPPED.index("[blocks.guard]")
    table = """[blocks.hands]
kind = "two_stage_observer"
mechanism = "steering_column"
independent = ["wheel"]
unknown = ["force/hands/torque_nm"]
form = "A"
known_std = { "force/motor/torque_nm" = 0.01 }
balance_std = { "force/motor/torque_nm" = 0.1 }
input_noise = { "force/hands/torque_nm" = 50.0 }

[blocks.hands.reads]
wheel_rad = "wheel/angle_rad"
wheel_rate_rad_s = "wheel/rate_rad_s"
wheel_acceleration_rad_s2 = "wheel/acceleration_rad_s2"
"input/force/motor/torque_nm" = "bus/wheel/torque_actual_nm"

"""
    return written(tmp_path, (SHIPPED[begin:end], table), *changes)


@pytest.mark.slow
def test_a_force_observer_behind_the_encoder_filter_finds_a_held_torque(tmp_path):
    loaded = load(two_stage_rig(tmp_path))
    block = make_blocks(loaded.rig, build_kernels(loaded))["hands"]
    assert block.writes[HANDS] == f"hands/{HANDS}"
    # hands turn the column with 1 Nm from rest, sampled from the filter as it is: J w' = 1 - drag(w)
    h, n = 200e-6, 3000
    motion, w, a = np.empty((n, 3)), 0.0, 0.0
    for k in range(n):
        for _ in range(20):
            turning = (1.0 - 0.1 * math.tanh(w / 0.05) - 0.05 * w) / 0.06
            a += h / 20 * w
            w += h / 20 * turning
        motion[k] = a, w, turning
    out = block.run(motion, np.zeros((n, 1)))
    torque = out[:, list(block.write_ports).index(HANDS)]
    # exact motion: what is left is the friction model's spelling and one cycle of delay
    assert np.max(np.abs(torque[500:] - 1.0)) < 0.01


def test_a_two_stage_observer_is_checked_as_the_others(tmp_path):
    changes = (
        ('known_std = { "force/motor/torque_nm" = 0.01 }', 'known_std = { "force/motr/torque_nm" = 0.01 }'),
        ('form = "A"', 'form = "C"'),
        ('wheel_rad = "wheel/angle_rad"', 'wheel_rad = "whel/angle_rad"'),
    )  # fmt: skip
    with pytest.raises(ConfigError) as caught:
        load(two_stage_rig(tmp_path, *changes))
    told = "\n".join(map(str, caught.value.mistakes))
    for word in (
        "blocks.hands.form",
        "blocks.hands.known_std = 'force/motr",
        "did you mean 'force/motor/torque_nm'",
    ):
        assert word in told
    with pytest.raises(ConfigError) as caught:
        load(two_stage_rig(tmp_path, ('balance_std = { "force/motor/torque_nm" = 0.1 }\n', "")))
    (line,) = map(str, caught.value.mistakes)
    assert (
        "blocks.hands.balance_std = {}: give one number for each of force/motor/torque_nm" in line
    )


def test_a_two_stage_observer_without_sensors_and_forces_is_told(tmp_path):
    rig = two_stage_rig(
        tmp_path,
        ('unknown = ["force/hands/torque_nm"]\n', ""),
        ('known_std = { "force/motor/torque_nm" = 0.01 }\n', ""),
        ('balance_std = { "force/motor/torque_nm" = 0.1 }\n', ""),
        ('input_noise = { "force/hands/torque_nm" = 50.0 }\n', ""),
        ('virtual_torque = "hands/force/hands/torque_nm"\n', ""),
        ("[blocks.guard]", '"input/force/hands/torque_nm" = "steering/guide/torque_nm"\n\n[blocks.guard]'),
    )  # fmt: skip
    with pytest.raises(ConfigError, match="neither sensors nor forces"):
        load(rig)
