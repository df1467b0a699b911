"""Slopes that models hand to observers, beside central differences of the functions that they are slopes of."""

import ctypes
import math

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.observers.build import build_observer
from codegen.observers.spec import ObserverSpec
from codegen.options.options import KernelOptions
from estimators.two_stage.closed_loop_model import ClosedLoopModel
from estimators.two_stage.kinematic_observer import KinematicObserver
from estimators.two_stage.rotor_model import RotorModel
from estimators.two_stage.stages import KinematicSettings
from rigloop.bench.two_stage.slider_crank import SliderCrank
from rigloop.bench.two_stage.two_stage import NOMINAL

T = 1e-3
START = np.array([0.0, math.pi])  # of the five-bar
Pointer = ctypes.POINTER(ctypes.c_double)
Four = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[Pointer] * 4)
Six = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[Pointer] * 6)


class Observed(ctypes.Structure):
    _fields_ = (
        ("abi", ctypes.c_int64),
        ("n_dof", ctypes.c_int),
        ("n_sensors", ctypes.c_int),
        ("sensors", Four),
        ("dynamics", Six),
        ("sensor_slopes", Four),
        ("dynamics_slopes", Four),
        ("model", ctypes.c_void_p),
    )


class Asked:
    """The functions of a model's capsule, with arrays."""

    def __init__(self, model):
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        self.model = model
        self.view = Observed.from_address(get(model.model_capsule(), b"rigloop.observed_model"))
        self.n, self.m = self.view.n_dof, self.view.n_sensors

    def _call(self, function, given, shapes):
        given = [np.array(v, dtype=float) for v in given]
        out = [np.zeros(shape) for shape in shapes]
        pointers = [a.ctypes.data_as(Pointer) for a in (*given, *out)]
        function(self.view.model, *pointers)
        return out

    def felt(self, x, zdd):
        z, zd = np.split(np.asarray(x), 2)
        sens, bias = self._call(self.view.sensors, (z, zd), ((self.m, self.n), self.m))
        return sens @ zdd + bias

    def felt_slopes(self, x, zdd):
        self.felt(x, zdd)
        shape = ((self.m, 2 * self.n),)
        return self._call(self.view.sensor_slopes, (*np.split(np.asarray(x), 2), zdd), shape)[0]

    def accelerate(self, x, force):
        square = (self.n, self.n)
        mass, bias, known, unknown = self._call(
            self.view.dynamics, np.split(np.asarray(x), 2), (square, self.n, square, square)
        )
        known_f, unknown_f = np.split(np.asarray(force), 2)
        return np.linalg.solve(mass, known @ known_f + unknown @ unknown_f - bias)

    def accelerate_slopes(self, x, force):
        shape = ((self.n, 2 * self.n),)
        return self._call(self.view.dynamics_slopes, (*np.split(np.asarray(x), 2), force), shape)[0]


def differences(function, x):
    h = 1e-5
    columns = [(function(x + h * e) - function(x - h * e)) / (2 * h) for e in np.eye(len(x))]
    return np.array(columns).T


def five_bar(folder):
    """Two freedoms, three accelerometers, four torques."""
    m = MechanismBuilder("five_bar", gravity_m_s2=(0, -10, 0))
    m.point("L", position_m=(0.5, 0, 0), moves="xy")
    m.point("P", position_m=(0, 2, 0), moves="xy")
    m.point("R", position_m=(2.5, 0, 0), moves="xy")
    m.angle("left", initial_rad=0.0)
    m.angle("right", initial_rad=math.pi)
    bars = (("left", (0, 0, 0), "L", 3.0), ("right", (3, 0, 0), "R", 3.0))
    for name, centre, point, mass_kg in bars:
        m.constant_distance(name, points=[centre, point])
        m.constant_distance(f"{name}_coupler", points=[point, "P"])
        m.rotation(
            name, angle=name, axis=(0, 0, 1), zero=(1, 0, 0), point=point, centre_m=centre
        )  # fmt: skip
        m.uniform_rod(name, points=[centre, point], mass_kg=mass_kg)
        m.uniform_rod(f"{name}_coupler", points=[point, "P"], mass_kg=1.5)
    for name, angle in (("k1", "left"), ("k2", "right"), ("u1", "left"), ("u2", "right")):
        m.force(name, angle=angle, torque_nm={"input": 0.0})
    m.output("left/angle_rad", "left")
    sensors = {
        "one": {"kind": "encoder", "angle": "left"},
        "two": {"kind": "encoder", "angle": "right"},
    }
    for name, point, axis in (
        ("ly", "L", [0, 1, 0]),
        ("px", "P", [1, 0, 0]),
        ("py", "P", [0, 1, 0]),
    ):
        sensors[name] = {"kind": "accelerometer", "point": point, "axis": axis}
    forces = tuple(f"force/{name}/torque_nm" for name in ("k1", "k2", "u1", "u2"))
    spec = ObserverSpec(sensors, ("left", "right"), forces)
    return build_observer(m.save(folder), spec, KernelOptions(step_s=T))


@pytest.fixture(scope="module")
def bars(tmp_path_factory):
    return five_bar(tmp_path_factory.mktemp("mechanism"))


MODELS = {
    "slider crank": lambda _: SliderCrank(*NOMINAL),
    "rotor": lambda _: RotorModel(0.03, 0.2, 0.5, 0.3, 0.1),
    "generated": lambda request: ClosedLoopModel(request.getfixturevalue("bars").module.Model()),
}


@pytest.fixture(params=list(MODELS))
def asked(request):
    return Asked(MODELS[request.param](request))


@pytest.mark.parametrize("seed", range(4))
def test_slopes_are_those_of_the_functions(asked, seed):
    rng = np.random.default_rng(seed)
    n = asked.n
    start = START if n == 2 else [0.4]
    x = np.r_[start + 0.3 * rng.uniform(-1, 1, n), rng.uniform(-2, 2, n)]
    zdd, force = rng.uniform(-20, 20, n), rng.uniform(-5, 5, 2 * n)
    # near x first: a generated model closes its constraints to 1e-11 after a long way, and to 1e-16 after a short one
    asked.felt(x, zdd)
    right = differences(lambda x: asked.felt(x, zdd), x)
    size = 1.0 + np.max(np.abs(right))
    np.testing.assert_allclose(asked.felt_slopes(x, zdd) / size, right / size, atol=1e-8)
    right = differences(lambda x: asked.accelerate(x, force), x)
    size = 1.0 + np.max(np.abs(right))
    np.testing.assert_allclose(asked.accelerate_slopes(x, force) / size, right / size, atol=1e-7)


@pytest.mark.parametrize("z", [[2.0, 2.0], [math.nan, math.pi]])
def test_slopes_where_the_mechanism_cannot_be_are_no_numbers(bars, z):
    asked = Asked(ClosedLoopModel(bars.module.Model()))
    x = np.r_[z, 0.0, 0.0]
    assert np.isnan(asked.accelerate_slopes(x, np.zeros(4))).all()


def test_stage_one_takes_more_accelerometers_than_freedoms_with_exact_slopes(bars):
    rng = np.random.default_rng(5)
    model = ClosedLoopModel(bars.module.Model())
    asked = Asked(ClosedLoopModel(bars.module.Model()))
    block = KinematicObserver(
        "k",
        model,
        KinematicSettings(period_s=T, position_noise=1e-3, acceleration_noise=0.5),
        reads={"position_0": "a", "position_1": "b"},
    )
    cycles = 20
    position = START + 1e-3 * rng.normal(size=(cycles, 2))
    # readings that no acceleration explains: the left inverse turns towards them
    u = 3.0 * rng.normal(size=(cycles, 3)) + [5.0, 0.0, 5.0]
    found = block.run(position, u)
    x = np.r_[position[0], np.zeros(4)]
    cov = np.diag(np.repeat([1e-6, 2 * (1e-3 / T) ** 2, 6 * (1e-3 / T**2) ** 2], 2))
    for k in range(1, cycles):

        def sens(z, zd):
            bias = asked.felt(np.r_[z, zd], np.zeros(2))
            columns = [asked.felt(np.r_[z, zd], e) - bias for e in np.eye(2)]
            return np.array(columns).T, bias

        def move(x, k=k):
            z, zd = x[:2] + T * x[2:4] + T * T / 2 * x[4:], x[2:4] + T * x[4:]
            s, bias = sens(z, zd)
            a = np.linalg.pinv(s) @ (u[k] - bias)
            return np.r_[z, x[2:4] + T / 2 * (x[4:] + a), a]

        inverse = np.linalg.pinv(sens(move(x)[:2], np.zeros(2))[0])
        push = np.vstack((0 * inverse, T / 2 * inverse, inverse))
        f, x = differences(move, x), move(x)
        cov = f @ cov @ f.T + 0.25 * push @ push.T
        h = np.eye(2, 6)
        gain = cov @ h.T @ np.linalg.inv(h @ cov @ h.T + 1e-6 * np.eye(2))
        x = x + gain @ (position[k] - x[:2])
        keep = np.eye(6) - gain @ h
        cov = keep @ cov @ keep.T + 1e-6 * gain @ gain.T
        np.testing.assert_allclose(found[k, :6], x, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(block.covariance, cov, rtol=1e-4, atol=1e-12)
