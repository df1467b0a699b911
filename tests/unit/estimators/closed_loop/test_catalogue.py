"""Every observer against a plain NumPy filter over the twin of its model."""

import ctypes
import importlib
import itertools
import math
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from codegen.kernels.build import load_reference
from codegen.observers.build import build_observer
from codegen.observers.spec import ObserverSpec
from codegen.options.options import KernelOptions
from estimators.closed_loop.catalogue import PLACE, observer_class, observers
from estimators.closed_loop.observability import UnobservableError
from estimators.closed_loop.settings import Channel, ObserverSettings
from estimators.numerics.chi_square import mean_bounds
from rt_core.block import Block
from rt_core.settings import SettingsError

STEP_S, STEP_NS = 5e-3, 5_000_000
DEG = math.pi / 180.0
NOISE = 0.09
SPEC = ObserverSpec(
    {
        "angle": {"kind": "encoder", "angle": "crank"},
        "rate": {"kind": "gyroscope", "points": ["A", "B"]},
    },
    ("crank",),
)
STD = {"angle": DEG, "rate": DEG}


@pytest.fixture(scope="module")
def built():
    return build_observer("four_bar", SPEC, KernelOptions(step_s=STEP_S, integrator="newmark"))


def make(built, kind, reads=None, writes=None, **changes):
    given = {"sensor_std": STD, "acceleration_noise": [NOISE], "start_std": (5 * DEG, 5 * DEG)}
    settings = ObserverSettings(**(given | {"gate_sigma": 0.0} | changes))
    return observer_class(kind)("crank", built.module.Model(), settings, reads=reads, writes=writes)


def samples(built, steps, seed=0, every=(1, 3)):
    """Noisy readings of the free motion: angle every step, rate every third."""
    model = built.module.Model()
    x = model.info["start"]
    model.kernel_start(x)
    states = []
    for _ in range(steps):
        status, x = model.kernel_step()
        assert status == 0
        states.append(x)
    exact = np.array(built.module.Model().readings(states))
    rng = np.random.default_rng(seed)
    given = exact + DEG * rng.normal(size=exact.shape)
    for column, step in enumerate(every):
        missing = np.ones(steps, dtype=bool)
        missing[step - 1 :: step] = False
        given[missing, column] = np.nan
    return np.array(states), given


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Let the folder of observers go on in a temporary one."""
    place = importlib.import_module(PLACE)
    monkeypatch.setattr(place, "__path__", [*place.__path__, str(tmp_path)])
    observers.cache_clear()
    yield tmp_path
    sys.modules.pop(f"{PLACE}.lazy", None)
    observers.cache_clear()


def test_one_module_is_an_observer(folder, built):
    (folder / "lazy.py").write_text(LAZY)
    assert "lazyEKF" in observers()
    _, given = samples(built, 5)
    right = make(built, "DEKF").run(given)
    np.testing.assert_array_equal(make(built, "lazyEKF").run(given), right)


def test_every_module_of_the_folder_is_one_observer():
    modules = [Path(path).glob("*.pyx") for path in importlib.import_module(PLACE).__path__]
    assert len(observers()) == len(list(itertools.chain(*modules)))


LAZY = """
from estimators.closed_loop.kinds.dekf import Dekf


class Lazy(Dekf):
    published = "lazyEKF"
"""


class Plain:
    """DEKF, errorEKF's update and UKF as they stand in textbooks."""

    def __init__(self, twin, exact):
        self.model, self.exact = twin.Observed(), exact
        self.x, self.cov = np.array(twin.START), np.diag([(5 * DEG) ** 2] * 2)
        h = STEP_S
        self.proc = NOISE * np.array([[h**3 / 3, h**2 / 2], [h**2 / 2, h]])
        self.meas = np.diag([DEG**2, DEG**2])

    def euler(self, x):
        return x + STEP_S * np.array([x[1], self.at(x)["zdd"][0]])

    def at(self, x):
        found = self.model.at(x)
        self.model.near = found["q"]
        return found

    def predict(self):
        transition = np.array([[1.0, STEP_S], [0.0, 1.0]])
        if self.exact:
            transition[1] += STEP_S * self.model.slopes(self.x)[0][0]
        self.x = self.euler(self.x)
        self.cov = transition @ self.cov @ transition.T + self.proc

    def correct(self, y):
        here = ~np.isnan(y)
        if not here.any():
            return
        slope = self.model.slopes(self.x)[1][here]
        left = y[here] - self.at(self.x)["y"][here]
        inverse = np.linalg.inv(slope @ self.cov @ slope.T + self.meas[np.ix_(here, here)])
        gain = self.cov @ slope.T @ inverse
        self.x = self.x + gain @ left
        self.cov = (np.eye(2) - gain @ slope) @ self.cov
        self.nis = left @ inverse @ left


class PlainUkf(Plain):
    def points(self):
        root = np.linalg.cholesky(2.0 * self.cov)
        return np.array([self.x + s * root[:, k] for k in range(2) for s in (1.0, -1.0)])

    def predict(self):
        moved = np.array([self.euler(point) for point in self.points()])
        self.x = moved.mean(axis=0)
        self.cov = (moved - self.x).T @ (moved - self.x) / 4.0 + self.proc

    def correct(self, y):
        here = ~np.isnan(y)
        if not here.any():
            return
        points = self.points()
        seen = np.array([self.at(point)["y"][here] for point in points])
        mean = seen.mean(axis=0)
        p_yy = (seen - mean).T @ (seen - mean) / 4.0 + self.meas[np.ix_(here, here)]
        p_xy = (points - self.x).T @ (seen - mean) / 4.0
        gain = p_xy @ np.linalg.inv(p_yy)
        self.nis = (y[here] - mean) @ np.linalg.inv(p_yy) @ (y[here] - mean)
        self.x = self.x + gain @ (y[here] - mean)
        self.cov = self.cov - gain @ p_yy @ gain.T


@pytest.mark.parametrize(
    ("kind", "plain", "transition"),
    [("DEKF", Plain, "published"), ("DEKF", Plain, "exact"), ("UKF", PlainUkf, "published")],
)
@pytest.mark.slow
def test_an_observer_is_the_textbook_filter(built, kind, plain, transition):
    _, given = samples(built, 40)
    observer = make(built, kind, transition=transition)
    slow = plain(load_reference(built.path), transition == "exact")
    for y in given:
        out = dict(zip(observer.write_ports, observer.run(y[None, :])[0], strict=True))
        slow.predict()
        slow.correct(y)
        # position problems end at 1e-11, both sum in another order
        assert observer.x == pytest.approx(slow.x, abs=1e-9)
        assert observer.covariance == pytest.approx(slow.cov, abs=1e-11)
        assert out["nis"] == pytest.approx(slow.nis, rel=1e-6)
    assert np.array_equal(observer.covariance, observer.covariance.T)


@pytest.mark.slow
def test_error_ekf_corrects_the_kernel_and_leaves_it_alone_without_samples(built):
    states, _ = samples(built, 300)
    observer = make(built, "errorEKF")
    out = observer.run(np.full((300, 2), np.nan))
    assert out[:, :2] == pytest.approx(states, abs=1e-12)


@pytest.mark.parametrize("kind", list(observers()))
def test_an_observer_finds_the_motion_from_a_wrong_start(built, kind):
    states, given = samples(built, 800, every=(1, 1))
    observer = make(built, kind, start=(math.pi / 3 + 0.1, 0.2))
    out = observer.run(given)
    error = out[400:, :2] - states[400:]
    assert np.all(out[:, observer.write_ports.index("status")] == 0.0)
    # the noise of one sample is 0.017
    assert np.sqrt(np.mean(error[:, 0] ** 2)) < 0.02
    assert np.sqrt(np.mean(error[:, 1] ** 2)) < 0.2


@pytest.mark.slow
def test_error_ekf_knows_its_own_error_between_rare_samples(built):
    # plants that are the kernel itself, driven by the filter's noise; an angle every tenth step, while the
    # slope of the acceleration turns the error over: without it NEES grows to ten
    runs, marks = 250, (50, 100, 150, 200)
    model, rng = built.module.Model(), np.random.default_rng(3)
    start_std = (0.5 * DEG, 2 * DEG)
    observer = make(built, "errorEKF", start_std=start_std, acceleration_noise=[NOISE / 100])
    root = np.linalg.cholesky(observer.proc_cov)
    squared = []
    for _ in range(runs):
        x = np.array(observer.start) + np.array(start_std) * rng.normal(size=2)
        given, states = np.full((marks[-1], 2), np.nan), []
        for k, row in enumerate(given, 1):
            model.kernel_start(list(x))
            x = np.array(model.kernel_step()[1]) + root @ rng.normal(size=2)
            states.append(x)
            if k % 10 == 0:
                row[0] = x[0] + DEG * rng.normal()
        observer.reset()
        here = []
        for begin, end in itertools.pairwise((0, *marks)):
            observer.run(given[begin:end])
            error = observer.x - states[end - 1]
            here.append(error @ np.linalg.solve(observer.covariance, error))
        squared.append(here)
    low, high = mean_bounds(0.95, 2, runs)
    assert np.all((low < np.mean(squared, axis=0)) & (np.mean(squared, axis=0) < high))


@pytest.mark.parametrize("kind", ["DEKF", "UKF"])
def test_a_matched_observer_is_consistent(built, kind):
    # plants that are the filter's own model, driven by its own noise: mean NEES of independent runs
    runs, steps = 60, 30
    model = built.module.Model()
    rng = np.random.default_rng(3)
    start_std = (0.5 * DEG, 2 * DEG)
    observer = make(built, kind, transition="exact", start_std=start_std)
    root = np.linalg.cholesky(observer.proc_cov)
    squared, nis, errors = [], [], []
    for _ in range(runs):
        x = np.array(observer.start) + np.array(start_std) * rng.normal(size=2)
        given = np.empty((steps, 2))
        for row in given:
            x = (
                x
                + STEP_S * np.array([x[1], model.at(list(x))["zdd"][0]])
                + root @ rng.normal(size=2)
            )
            row[:] = model.at(list(x))["y"] + DEG * rng.normal(size=2)
        observer.reset()
        out = observer.run(given)
        error = observer.x - x
        errors.append(error / np.sqrt(np.diag(observer.covariance)))
        squared.append(error @ np.linalg.solve(observer.covariance, error))
        nis += list(out[:, observer.write_ports.index("nis")])
    low, high = mean_bounds(0.999, 2, runs)
    assert low < np.mean(squared) < high
    low, high = mean_bounds(0.999, 2, runs * steps)
    assert low < np.mean(nis) < high
    # unbiased: the mean of 60 standard normal errors
    assert np.all(np.abs(np.mean(errors, axis=0)) < 3.3 / math.sqrt(runs))


@pytest.mark.parametrize("kind", list(observers()))
def test_covariance_is_symmetric_and_grows_without_samples(built, kind):
    observer = make(built, kind)
    at = observer.write_ports.index("variance/crank_rad")
    observer.run(samples(built, 50, every=(1, 1))[1])
    before = observer.covariance
    out = observer.run(np.full((50, 2), np.nan))
    assert np.array_equal(before, before.T)
    assert np.all(np.linalg.eigvalsh(before) > -1e-15)
    assert np.all(np.diff(out[:, at]) > 0.0) or kind in ("DIEKFpm", "projectionEKF", "UKF")
    assert out[-1, at] > out[0, at]


@pytest.mark.parametrize("kind", ["errorEKF", "DEKF", "UKF"])
def test_an_outlier_is_rejected_and_an_agreeing_sensor_believed_in_the_end(built, kind):
    _, given = samples(built, 200, every=(1, 1))
    given[100, 0] += 1.0
    observer = make(built, kind, gate_sigma=6.0, gate_patience=5)
    out = observer.run(given)
    rejected = out[:, observer.write_ports.index("rejected")]
    assert rejected[99] == 0.0
    assert rejected[-1] == 1.0
    given[:, 0] += 0.8  # a sensor that has slipped
    observer.reset()
    out = observer.run(given)
    assert out[4, observer.write_ports.index("rejected")] == 5.0
    assert abs(out[-1, 0] - given[-1, 0]) < 0.3


def test_nis_has_the_bounds_of_the_samples_that_went_in(built):
    observer = make(built, "DEKF")
    ports = observer.write_ports
    out = observer.run(np.array([[1.05, np.nan], [1.05, -0.01], [np.nan, np.nan]]))
    used = out[:, ports.index("used")]
    high = out[:, ports.index("nis_high")]
    assert list(used) == [1.0, 2.0, 0.0]
    # chi-square tables, 0.975
    assert list(high) == pytest.approx([5.0239, 7.3778, 0.0], abs=1e-3)


def test_a_position_that_does_not_exist_ends_the_cycle_with_a_status(built):
    # a crank that a sensor puts a thousand turns away by one sample leaves newton behind
    observer = make(built, "DEKF", start_std=(1e6, 1e6))
    before = observer.x
    out = observer.run(np.array([[np.inf, np.nan]]))
    assert out[0, observer.write_ports.index("status")] != 0.0
    assert np.array_equal(observer.x, before)


def test_all_wrong_settings_are_told_at_once(built):
    with pytest.raises(SettingsError) as caught:
        make(built, "DEKF", start_std=(-1.0, 1.0), transition="best", gate_sigma=-1)
    assert [w.key for w in caught.value.wrong] == ["gate_sigma", "start_std.0", "transition"]
    with pytest.raises(SettingsError) as caught:
        make(
            built, "DEKF", sensor_std={"angle": 1.0}, start_std=(1.0,), start=(0.0,) * 3,
            channels={"speed": Channel()},
        )  # fmt: skip
    assert [w.key for w in caught.value.wrong] == ["sensor_std", "channels", "start_std", "start"]
    with pytest.raises(SettingsError, match=r"every = 0: .*; scale = 0\.0: must not be 0"):
        Channel(every=0, scale=0.0)
    with pytest.raises(ValueError, match="no such read port wheel"):
        make(built, "DEKF", reads={"wheel": "a/b"})


@pytest.mark.parametrize("kind", list(observers()))
def test_a_block_steps_on_signals_as_on_arrays(built, kind, step_of):
    _, given = samples(built, 60)
    ports = ("crank_rad", "crank_rate_rad_s", "nis", "status")
    block = make(
        built, kind, reads={"angle": "a", "angle/valid": "b", "rate": "c"},
        writes={port: f"out/{port}" for port in ports},
    )  # fmt: skip
    assert isinstance(block, Block)
    cells, out = (ctypes.c_double * 3)(), (ctypes.c_double * 4)()
    size = ctypes.sizeof(ctypes.c_double)
    block.bind(
        [ctypes.addressof(cells) + k * size for k in range(3)],
        [ctypes.addressof(out) + k * size for k in range(4)],
    )
    step = step_of(block)
    offline = make(built, kind)
    for y in given:
        cells[0], cells[1], cells[2] = np.nan_to_num(y[0]), float(not np.isnan(y[0])), y[1]
        assert step() == 0
        row = offline.run(y[None, :])[0]
        assert list(out) == [row[offline.write_ports.index(port)] for port in ports]


@pytest.fixture
def wired(built, step_of):
    """Make a block with the angle's cell, its estimate's cells and a step."""
    return partial(make_wired, built, step_of)


def make_wired(built, step_of, kind="errorEKF", **changes):
    ports = ("crank_rad", "variance/crank_rad", "used", "repaired")
    block = make(
        built, kind, reads={"angle": "a"}, writes={port: f"out/{port}" for port in ports}, **changes
    )
    cell, out = ctypes.c_double(), (ctypes.c_double * 4)()
    size = ctypes.sizeof(ctypes.c_double)
    block.bind([ctypes.addressof(cell)], [ctypes.addressof(out) + k * size for k in range(4)])
    return block, cell, out, step_of(block)


def test_a_sensor_of_counts_every_third_cycle(built, wired):
    counts = Channel(every=3, scale=0.001, offset=-0.2)
    _, cell, out, step = wired(channels={"angle": counts})
    offline = make(built, "errorEKF")
    used = []
    for k in range(9):
        cell.value = 1247.0
        assert step(k * STEP_NS) == 0
        used.append(out[2])
        angle = 0.001 * 1247.0 - 0.2 if k % 3 == 0 else np.nan
        row = offline.run(np.array([[angle, np.nan]]))[0]
        assert list(out)[:2] == list(row[[0, 2]])
    assert used == [1.0, 0.0, 0.0] * 3


def test_lost_periods_are_predicted_over(built, wired):
    _, cell, out, step = wired()
    cell.value = math.nan
    offline = make(built, "errorEKF")
    assert step(10 * STEP_NS) == 0
    # four periods are lost
    assert step(15 * STEP_NS) == 0
    row = offline.run(np.full((6, 2), np.nan))[-1]
    assert list(out)[:2] == list(row[[0, 2]])


@pytest.mark.parametrize("lost", [1, 2, 3, 4])
def test_a_slow_sensor_keeps_its_periods_when_the_loop_loses_some(built, wired, lost):
    _, cell, out, step = wired(channels={"angle": Channel(every=3)})
    cell.value = math.pi / 3
    used = {}
    for k in (0, 1, 2, 3, *range(4 + lost, 12 + lost)):
        assert step(k * STEP_NS) == 0
        used[k] = out[2]
    # its samples are those of periods 0, 3, 6, ... of the clock, and not of every third executed cycle
    assert used == {k: float(k % 3 == 0) for k in used}


def test_after_a_long_gap_the_next_sample_is_believed(built, wired):
    block, cell, out, step = wired(gate_sigma=6.0, transition="published")
    cell.value = math.pi / 3
    for k in range(20):
        assert step(k * STEP_NS) == 0
    assert out[1] < (2 * DEG) ** 2
    cell.value = math.nan
    assert step(120 * STEP_NS) == 0
    assert out[3] == 1.0
    # that of the start, and the prediction of this cycle
    started = make(built, "errorEKF", transition="published")
    started.run(np.full((1, 2), np.nan))
    assert np.array_equal(block.covariance, started.covariance)


@pytest.mark.slow
def test_an_input_that_is_no_number_keeps_its_last_value(tmp_path, step_of):
    module = loaded(tmp_path)
    settings = ObserverSettings({"angle": 1e-4}, [1e-4], (1e-3, 1e-2))
    block = observer_class("errorEKF")(
        "wheel", module.Model(), settings, reads={f"input/{MOTOR}": "a"}, writes={"turn_rad": "b"}
    )
    cell, out = ctypes.c_double(5.0), ctypes.c_double()
    block.bind([ctypes.addressof(cell)], [ctypes.addressof(out)])
    step = step_of(block)
    assert step(0) == 0
    cell.value = math.nan
    assert step(1_000_000) == 0
    assert block.model.inputs[1] == 5.0
    assert math.isfinite(out.value)


LOADED = """
name = "loaded"
gravity_m_s2 = [0, -9.81, 0]
[point.P]
position_m = [0.5, 0, 0]
moves = "xy"
[angle.turn]
[constant_distance.rod]
points = [[0, 0, 0], "P"]
[rotation.turn]
angle = "turn"
axis = [0, 0, 1]
zero = [1, 0, 0]
point = "P"
centre_m = [0, 0, 0]
[mass.ball]
point = "P"
mass_kg = 2.0
[force.hands]
angle = "turn"
torque_nm = { input = 0.0 }
[force.motor]
angle = "turn"
torque_nm = { input = 0.0 }
"""
HANDS, MOTOR = "force/hands/torque_nm", "force/motor/torque_nm"


def loaded(tmp_path, *unknown):
    path = tmp_path / "loaded.toml"
    path.write_text(LOADED)
    spec = ObserverSpec({"angle": {"kind": "encoder", "angle": "turn"}}, ("turn",), unknown)
    return build_observer(path, spec, KernelOptions(step_s=1e-3)).module


@pytest.mark.parametrize("kind", ["errorEKF", "DEKF", "UKF"])
@pytest.mark.slow
def test_a_virtual_torque_sensor_finds_a_torque_that_nobody_measures(tmp_path, kind):
    module = loaded(tmp_path, HANDS)
    settings = ObserverSettings(
        {"angle": 1e-4}, [1e-4], (1e-3, 1e-2, 1.0), input_noise={HANDS: 100.0}, transition="exact"
    )
    observer = observer_class(kind)("wheel", module.Model(), settings)
    # hands that hold the pendulum level: half a metre, two kilograms
    given = 1e-4 * np.random.default_rng(1).normal(size=(1500, 1))
    out = observer.run(given)
    assert np.mean(out[800:, 2]) == pytest.approx(2.0 * 9.81 * 0.5, rel=0.02)


@pytest.mark.slow
def test_two_torques_on_one_angle_are_refused_with_the_reason(tmp_path):
    module = loaded(tmp_path, HANDS, MOTOR)
    settings = ObserverSettings(
        {"angle": 1e-4}, [1e-4], (1e-3, 1e-2, 1.0, 1.0), input_noise={HANDS: 1.0, MOTOR: 1.0},
        transition="exact",
    )  # fmt: skip
    with pytest.raises(UnobservableError, match="together with") as caught:
        observer_class("DEKF")("wheel", module.Model(), settings)
    assert HANDS in str(caught.value)
    assert MOTOR in str(caught.value)
