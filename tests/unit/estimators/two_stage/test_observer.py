"""The two-stage observer on a generated mechanism: the bench's hand-written slider-crank is the oracle."""

import math
from functools import partial

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.observers.build import build_observer
from codegen.observers.spec import ObserverSpec
from codegen.options.options import KernelOptions
from estimators.augmented.ekf import AugmentedEkf
from estimators.augmented.settings import AugmentedSettings
from estimators.closed_loop.settings import Channel
from estimators.two_stage.closed_loop_model import ClosedLoopModel
from estimators.two_stage.force_observer import ForceObserver
from estimators.two_stage.kinematic_observer import KinematicObserver
from estimators.two_stage.observer import TwoStageObserver
from estimators.two_stage.settings import TwoStageSettings, two_stage_reads, two_stage_writes
from estimators.two_stage.stages import ForceSettings, KinematicSettings
from rigloop.bench.two_stage.slider_crank import SliderCrank
from rigloop.bench.two_stage.two_stage import CASES, NOMINAL, simulate
from rt_core.settings import SettingsError

T = 1e-3
KNOWN, UNKNOWN = "force/crank/torque_nm", "force/slider/force_n"
SENSORS = {
    "encoder": {"kind": "encoder", "angle": "crank"},
    "felt": {"kind": "accelerometer", "point": "P3", "axis": [1, 0, 0], "feels_gravity": False},
}
STD = {"encoder": 0.003, "felt": 0.35}
FORCES = {
    "known_std": {KNOWN: 0.02},
    "balance_std": {KNOWN: 0.05},
    "input_noise": {UNKNOWN: 10.0 / T},
}


@pytest.fixture(scope="module")
def mechanism(tmp_path_factory):
    crank, rod, crank_kg, rod_kg, slider_kg = NOMINAL
    turn = 1.6
    x, y = crank * math.cos(turn), crank * math.sin(turn)
    m = MechanismBuilder("crank_and_slider", gravity_m_s2=(0, -9.81, 0))
    m.point("P2", position_m=(x, y, 0), moves="xy")
    m.point("P3", position_m=(x + math.sqrt(rod**2 - y**2), 0, 0), moves="x")
    m.angle("crank", initial_rad=turn)
    m.constant_distance("crank", points=[(0, 0, 0), "P2"])
    m.constant_distance("rod", points=["P2", "P3"])
    m.rotation(
        "crank", angle="crank", axis=(0, 0, 1), zero=(1, 0, 0), point="P2", centre_m=(0, 0, 0)
    )
    m.uniform_rod("crank", points=[(0, 0, 0), "P2"], mass_kg=crank_kg)
    m.uniform_rod("rod", points=["P2", "P3"], mass_kg=rod_kg)
    m.mass("slider", point="P3", mass_kg=slider_kg)
    m.force("crank", angle="crank", torque_nm={"input": 0.0})
    m.distance("travel", initial_m=x + math.sqrt(rod**2 - y**2))
    m.slide("travel", point="P3", start_m=(0, 0, 0), along=(1, 0, 0), by="travel")
    m.force("slider", distance="travel", force_n={"input": 0.0})
    m.output("crank/angle_rad", "crank")
    return m.save(tmp_path_factory.mktemp("mechanism"))


@pytest.fixture(scope="module")
def built(mechanism):
    spec = ObserverSpec(SENSORS, ("crank",), (KNOWN, UNKNOWN))
    return build_observer(mechanism, spec, KernelOptions(step_s=T))


@pytest.fixture(scope="module")
def motion():
    return simulate(CASES["smooth"], 0)


def two_stage(built, **changes):
    settings = TwoStageSettings(STD, **FORCES, least_sensitivity=0.03, held_noise=0.5, **changes)
    return TwoStageObserver("crank", built.module.Model(), settings)


def columns(block, *ports):
    return [block.write_ports.index(port) for port in ports]


MOTION = ("crank_rad", "crank_rate_rad_s", "crank_acceleration_rad_s2")


def hand_written(motion, form="A"):
    model = SliderCrank(*NOMINAL)
    kinematic = KinematicObserver(
        "k",
        model,
        KinematicSettings(
            period_s=T,
            position_noise=STD["encoder"],
            acceleration_noise=STD["felt"],
            least_sensitivity=0.03,
            held_noise=0.5,
            gate_sigma=6.0,
        ),
        reads={"position_0": "-"},
    )
    force = ForceObserver(
        "f",
        model,
        ForceSettings(
            form=form,
            known_noise=0.02,
            balance_noise=0.05,
            walk_noise=math.sqrt(10.0),
            gate_sigma=6.0,
        ),
        reads={f"{part}_0": "-" for part in ("z", "zd", "zdd")},
    )
    found = kinematic.run(motion.measured_angle_rad[:, None], motion.measured_acceleration[:, None])
    forces = force.run(np.ascontiguousarray(found[:, :3]), motion.measured_torque_nm[:, None])
    return np.c_[found[:, :3], forces[:, :2]]


@pytest.mark.slow
def test_estimates_are_those_of_the_hand_written_model(built, motion):
    block = two_stage(built)
    samples = np.c_[motion.measured_angle_rad, motion.measured_acceleration]
    out = block.run(samples, motion.measured_torque_nm[:, None])
    found = out[:, columns(block, *MOTION, KNOWN, UNKNOWN)]
    right = hand_written(motion)
    # both take exact slopes; what is left is rounding, through 2000 cycles
    size = np.max(np.abs(right), axis=0)
    np.testing.assert_allclose(found / size, right / size, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_a_rig_that_stands_far_from_its_file_is_gone_to_in_strides(built):
    # 1.3 rad from the pose of the file, then round and round through dead centres
    motion = simulate(CASES["rotations"], 0)
    block = two_stage(built)
    samples = np.c_[motion.measured_angle_rad, motion.measured_acceleration]
    out = block.run(samples, motion.measured_torque_nm[:, None])
    guarded = out[:, columns(block, "guarded")[0]]
    assert 0 < guarded[5] <= 12
    found, right = (
        out[200:, columns(block, *MOTION, UNKNOWN)],
        hand_written(motion)[200:, [0, 1, 2, 4]],
    )
    size = np.max(np.abs(right), axis=0)
    # what is left of the first cycles
    np.testing.assert_allclose(found / size, right / size, rtol=0, atol=1e-3)


def test_form_b_divides_by_the_lever_of_the_unknown_force(built, motion):
    settings = TwoStageSettings(
        STD, known_std={KNOWN: 0.02}, balance_std={UNKNOWN: 0.05}, input_noise={KNOWN: 10.0 / T},
        form="B", least_sensitivity=0.03, held_noise=0.5,
    )  # fmt: skip
    block = TwoStageObserver("crank", built.module.Model(), settings)
    samples = np.c_[motion.measured_angle_rad, motion.measured_acceleration]
    out = block.run(samples, motion.measured_torque_nm[:, None])
    right = hand_written(motion, "B")[:, 3:]
    found = out[:, columns(block, KNOWN, UNKNOWN)]
    np.testing.assert_allclose(found[1:], right[1:], rtol=0, atol=1e-5 * np.max(np.abs(right)))


def test_stage_one_does_not_see_the_forces(built, motion):
    samples = np.c_[motion.measured_angle_rad, motion.measured_acceleration]
    right, wrong = (
        two_stage(built).run(samples, (motion.measured_torque_nm + push)[:, None])
        for push in (0.0, 50.0)
    )
    at = columns(two_stage(built), *MOTION)
    np.testing.assert_array_equal(right[:, at], wrong[:, at])


@pytest.mark.slow
def test_without_sensors_the_motion_is_read(mechanism, built, motion):
    spec = ObserverSpec({}, ("crank",), (KNOWN, UNKNOWN))
    module = build_observer(mechanism, spec, KernelOptions(step_s=T)).module
    alone = TwoStageObserver("forces", module.Model(), TwoStageSettings(**FORCES))
    assert alone.read_ports[:3] == MOTION
    assert alone.kinematic is None
    both = two_stage(built)
    samples = np.c_[motion.measured_angle_rad, motion.measured_acceleration]
    known = motion.measured_torque_nm[:, None]
    whole = both.run(samples, known)
    forces = alone.run(np.ascontiguousarray(whole[:, columns(both, *MOTION)]), known)
    # positions are found to 1e-11, from another start
    np.testing.assert_allclose(
        forces[:, columns(alone, KNOWN, UNKNOWN)], whole[:, columns(both, KNOWN, UNKNOWN)],
        rtol=1e-6, atol=1e-6,
    )  # fmt: skip


@pytest.mark.slow
def test_without_forces_it_is_a_kinematic_observer(mechanism, built, motion):
    spec = ObserverSpec(SENSORS, ("crank",))
    module = build_observer(mechanism, spec, KernelOptions(step_s=T)).module
    settings = TwoStageSettings(STD, least_sensitivity=0.03, held_noise=0.5)
    alone = TwoStageObserver("motion", module.Model(), settings)
    assert alone.force is None
    assert KNOWN not in alone.write_ports
    samples = np.c_[motion.measured_angle_rad, motion.measured_acceleration]
    found = alone.run(samples)[:, columns(alone, *MOTION)]
    whole = two_stage(built).run(samples)[:, columns(two_stage(built), *MOTION)]
    # the position problem starts where the forces left it, and slopes are differences of 1e-6
    size = np.max(np.abs(whole), axis=0)
    np.testing.assert_allclose(found / size, whole / size, rtol=0, atol=1e-6)


class Cells:
    """A block on cells of its own, stepped as a task does."""

    def __init__(self, step, block, reads):
        self.block = block
        self.cells = np.full(len(reads), math.nan)
        self.out = np.zeros(len(block.write_ports))
        self.index = {port: i for i, port in enumerate(reads)}
        address = [self.cells.ctypes.data + 8 * i for i in range(len(reads))]
        written = [self.out.ctypes.data + 8 * i for i in range(len(self.out))]
        block.bind(address, written)
        self.call = step(block)

    def step(self, t_ns, values):
        for port, value in values.items():
            self.cells[self.index[port]] = value
        assert self.call(t_ns) == 0
        return dict(zip(self.block.write_ports, self.out.copy(), strict=True))


@pytest.fixture
def live(step_of, built):
    return partial(make_live, step_of, built)


def make_live(step_of, built, **changes):
    settings = TwoStageSettings(STD, **FORCES, least_sensitivity=0.03, held_noise=0.5, **changes)
    model = built.module.Model()
    reads = {port: port for port in two_stage_reads(model.info)}
    writes = {port: port for port in two_stage_writes(model.info)}
    return Cells(
        step_of, TwoStageObserver("c", model, settings, reads=reads, writes=writes), list(reads)
    )


def feed(cells, motion, k, **changes):
    values = {
        "encoder": motion.measured_angle_rad[k], "encoder/valid": 1.0,
        "felt": motion.measured_acceleration[k], "felt/valid": 1.0,
        f"input/{KNOWN}": motion.measured_torque_nm[k],
    }  # fmt: skip
    return cells.step(k * 1_000_000, values | changes)


def test_a_stepped_block_gives_what_run_gives(live, built, motion):
    cells = live()
    samples = np.c_[motion.measured_angle_rad, motion.measured_acceleration][:200]
    block = two_stage(built)
    out = block.run(samples, motion.measured_torque_nm[:200, None])
    for k in range(200):
        found = feed(cells, motion, k)
        np.testing.assert_array_equal(list(found.values()), out[k])


def test_a_channel_has_its_own_scale_and_an_invalid_sample_is_none(live, motion):
    plain = live()
    counts = live(channels={"encoder": Channel(scale=1e-3, offset=0.5)})
    for k in range(300):
        blind = {"encoder/valid": 0.0} if 100 <= k < 110 else {}
        right = feed(plain, motion, k, **blind)
        encoder = (motion.measured_angle_rad[k] - 0.5) / 1e-3
        found = feed(counts, motion, k, encoder=encoder, **blind)
        assert found["crank_rad"] == pytest.approx(right["crank_rad"], abs=1e-9)
        if k >= 50:  # settled: no known force is beyond the gate
            assert found["used"] == (1.0 if blind else 2.0)


def test_a_wild_sample_is_rejected_and_believed_when_it_stays(live, motion):
    cells = live(gate_patience=5)
    for k in range(300):
        before = feed(cells, motion, k)
    wild = feed(cells, motion, 300, encoder=motion.measured_angle_rad[300] + 1.0)
    assert wild["rejected"] == before["rejected"] + 1
    assert wild["crank_rad"] == pytest.approx(motion.angle_rad[300], abs=0.02)
    for k in range(301, 450):
        moved = feed(cells, motion, k, encoder=motion.measured_angle_rad[k] + 0.3)
    assert moved["crank_rad"] == pytest.approx(motion.angle_rad[449] + 0.3, abs=0.05)


def test_lost_periods_are_predicted_over_and_after_many_it_begins_anew(live, motion):
    cells = live()
    for k in range(400):
        feed(cells, motion, k)
    short = feed(cells, motion, 405)
    assert short["repaired"] == 0.0
    assert short["crank_rad"] == pytest.approx(motion.angle_rad[405], abs=0.02)
    long = feed(cells, motion, 900)
    assert long["repaired"] > 0.0
    for k in range(901, 1000):
        found = feed(cells, motion, k)
    assert found["crank_rad"] == pytest.approx(motion.angle_rad[999], abs=0.01)
    assert found["ready"] == 1.0


def test_nis_is_within_its_bounds_on_a_matched_model(built):
    # noise of the size that is set, on a crank that the accelerometer describes exactly
    rng = np.random.default_rng(3)
    n, crank = 3000, SliderCrank(*NOMINAL)
    t = T * np.arange(n)
    angle, rate = 1.6 + 0.4 * np.sin(8 * t), 3.2 * np.cos(8 * t)
    turning = -25.6 * np.sin(8 * t)
    place = np.array([crank.place(a) for a in angle])
    slider = place[:, 0] * turning + place[:, 1] * rate**2
    torque = place[:, 2] * turning + 0.5 * place[:, 3] * rate**2 + place[:, 4]
    samples = np.c_[
        angle + STD["encoder"] * rng.normal(size=n), slider + STD["felt"] * rng.normal(size=n)
    ]
    block = two_stage(built)
    out = block.run(samples, (torque + 0.02 * rng.normal(size=n))[:, None])
    nis, used = (out[500:, columns(block, port)[0]] for port in ("nis", "used"))
    assert set(used) == {2.0}
    # stage 2 is given a balance_std of its own: of the position alone 1 a sample, of both at most 2
    assert 0.8 < np.mean(nis) < 2.2


@pytest.mark.slow
def test_sensors_that_it_cannot_take_are_named(mechanism):
    sensors = SENSORS | {
        "rate": {"kind": "gyroscope", "angle": "crank"},
        "twice": {"kind": "encoder", "angle": "crank"},
    }
    spec = ObserverSpec(sensors, ("crank",), (KNOWN, UNKNOWN))
    module = build_observer(mechanism, spec, KernelOptions(step_s=T)).module
    std = STD | {"rate": 0.1, "twice": 0.1}
    with pytest.raises(ValueError, match="sensors = 'rate': reads neither") as caught:
        TwoStageObserver("c", module.Model(), TwoStageSettings(std, **FORCES))
    assert "2 encoders of crank: needs one" in str(caught.value)


def test_settings_out_of_range_are_told_at_once(built):
    with pytest.raises(SettingsError) as caught:
        TwoStageSettings(
            {}, known_std={KNOWN: -1.0}, form="C", held_noise=0.0, gate_sigma=-1.0, gate_patience=0
        )
    wrong = [w.key.partition(".")[0] for w in caught.value.wrong]
    assert wrong == ["gate_sigma", "gate_patience", "known_std", "form", "held_noise"]
    settings = TwoStageSettings(
        {"encoder": 0.003}, known_std={}, balance_std={}, input_noise={KNOWN: 1.0}
    )
    wrong = [w.key for w in settings.mistakes(built.module.model_info())]
    assert wrong == ["sensor_std", "known_std", "balance_std", "input_noise"]


@pytest.mark.slow
def test_forces_come_in_pairs_of_known_and_unknown(mechanism):
    spec = ObserverSpec(SENSORS, ("crank",), (UNKNOWN,))
    module = build_observer(mechanism, spec, KernelOptions(step_s=T)).module
    with pytest.raises(ValueError, match="1 forces for 1 freedoms: 1 known and 1 unknown, or none"):
        ClosedLoopModel(module.Model())


@pytest.mark.slow
def test_an_augmented_filter_takes_a_generated_model_as_one_by_hand(built, motion):
    samples = (motion.measured_angle_rad, motion.measured_acceleration, motion.measured_torque_nm)
    samples = [np.ascontiguousarray(column[:, None]) for column in samples]
    found, right = (
        AugmentedEkf(
            "single", model,
            AugmentedSettings(
                period_s=T, position_noise=0.003, acceleration_noise=0.35, disturbance=1.0, walk_noise=3.0
            ),
            reads={"position_0": "-"},
        ).run(*samples)[:, :5]
        for model in (ClosedLoopModel(built.module.Model()), SliderCrank(*NOMINAL))
    )  # fmt: skip
    size = np.max(np.abs(right), axis=0)
    np.testing.assert_allclose(found / size, right / size, rtol=0, atol=1e-9)
