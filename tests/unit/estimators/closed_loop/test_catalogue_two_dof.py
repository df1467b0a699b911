"""The observers with two coordinates and three accelerometers, against EKFs in NumPy.

The model is handed over as any model is: a capsule with two C functions, here of Python.
"""

import ctypes

import numpy as np
import pytest

from estimators.augmented.ekf import AugmentedEkf
from estimators.augmented.settings import AugmentedSettings
from estimators.two_stage.force_observer import ForceObserver
from estimators.two_stage.kinematic_observer import KinematicObserver
from estimators.two_stage.stages import ForceSettings, KinematicSettings

T, N = 2e-3, 60
AUGMENTED = AugmentedSettings(
    period_s=T, position_noise=1e-3, acceleration_noise=0.8, disturbance=0.2, walk_noise=0.05
)
Pointer = ctypes.POINTER(ctypes.c_double)
Sensors = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[Pointer] * 4)
Dynamics = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[Pointer] * 6)
Slopes = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[Pointer] * 4)


def sens(z):
    return np.array([[1.0, 0.2], [0.3 * np.cos(z[0]), 1.0], [0.5, np.sin(z[1]) + 2.0]])


def sens_bias(z, zd):
    return np.array([0.0, -0.3 * np.sin(z[0]) * zd[0] ** 2, np.cos(z[1]) * zd[1] ** 2])


def mass(z):
    return np.array([[2.0, 0.3 * np.cos(z[1])], [0.3 * np.cos(z[1]), 1.0]])


def mass_bias(z, zd):
    return np.array([0.4 * zd[0] + np.sin(z[0]), 0.1 * zd[1] - 0.3 * np.sin(z[1]) * zd[0] ** 2])


def known_map(z):
    return np.array([[1.0, -0.4], [0.0, 1.0]])


def unknown_map(z):
    return np.array([[1.0, 0.1], [0.5 * np.sin(z[0]), 2.0]])


class TwoDof:
    """An `ObservedModel` whose functions are Python's."""

    class Struct(ctypes.Structure):
        _fields_ = (
            ("abi", ctypes.c_int64),
            ("n_dof", ctypes.c_int),
            ("n_sensors", ctypes.c_int),
            ("sensors", Sensors),
            ("dynamics", Dynamics),
            ("sensor_slopes", Slopes),
            ("dynamics_slopes", Slopes),
            ("model", ctypes.c_void_p),
        )

    def __init__(self, abi=2, n_sensors=3):
        def write(pointer, values):
            for i, value in enumerate(np.ravel(values)):
                pointer[i] = value

        def sensors(_, z, zd, out, bias):
            write(out, sens(z))
            write(bias, sens_bias(z, zd))

        def dynamics(_, z, zd, out, bias, known, unknown):
            write(out, mass(z))
            write(bias, mass_bias(z, zd))
            write(known, known_map(z))
            write(unknown, unknown_map(z))

        def sensor_slopes(_, z, zd, zdd, out):
            write(out, slopes(lambda z, zd: sens(z) @ zdd[:2] + sens_bias(z, zd), z[:2] + zd[:2]))

        def dynamics_slopes(_, z, zd, force, out):
            def accelerate(z, zd):
                pushed = known_map(z) @ force[:2] + unknown_map(z) @ force[2:4]
                return np.linalg.solve(mass(z), pushed - mass_bias(z, zd))

            write(out, slopes(accelerate, z[:2] + zd[:2]))

        def without(function):
            def tell(*given):
                function(*given)
                if self.has_no_slopes:
                    write(given[-1], np.full(8 if function is dynamics_slopes else 12, np.nan))

            return tell

        self.has_no_slopes = False
        self.struct = self.Struct(
            abi, 2, n_sensors, Sensors(sensors), Dynamics(dynamics),
            Slopes(without(sensor_slopes)), Slopes(without(dynamics_slopes)), None,
        )  # fmt: skip

    def model_capsule(self):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.struct), b"rigloop.observed_model", None)


def slopes(function, at):
    """Exact Jacobian in (z, zd) by complex step."""
    steps = 1e-30j * np.eye(4)
    return np.array([function(x[:2], x[2:]).imag / 1e-30 for x in np.array(at) + steps]).T


def difference(function, x):
    """Jacobian by central differences, shape (len(function(x)), len(x))."""
    h = 1e-6
    columns = [(function(x + h * e) - function(x - h * e)) / (2 * h) for e in np.eye(len(x))]
    return np.array(columns).T


def update(x, cov, h, innovation, r):
    """All samples of a cycle at once, Joseph form."""
    gain = cov @ h.T @ np.linalg.inv(h @ cov @ h.T + r)
    keep = np.eye(len(x)) - gain @ h
    return x + gain @ innovation, keep @ cov @ keep.T + gain @ r @ gain.T


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(3)
    t = T * np.arange(N)
    z = np.c_[0.5 + 0.3 * np.sin(5 * t), 0.2 * np.cos(7 * t)] + 1e-3 * rng.normal(size=(N, 2))
    return z, rng.normal(size=(N, 3)), rng.normal(size=(N, 2))


def test_kinematic_observer(samples):
    position, u, _ = samples
    model = TwoDof()
    ports = {"position_0": "a", "position_1": "b"}
    block = KinematicObserver(
        "k",
        model,
        KinematicSettings(period_s=T, position_noise=1e-3, acceleration_noise=0.5),
        reads=ports,
    )
    found = block.run(position, u)
    x = np.r_[position[0], np.zeros(4)]
    cov = np.diag(np.repeat([1e-6, 2 * (1e-3 / T) ** 2, 6 * (1e-3 / T**2) ** 2], 2))
    h, r = np.eye(2, 6), 1e-6 * np.eye(2)
    for k in range(1, N):

        def move(x, k=k):
            # the acceleration of this cycle, where the motion has come to by then; rates by the trapezoidal rule
            z, zd = x[:2] + T * x[2:4] + T * T / 2 * x[4:], x[2:4] + T * x[4:]
            a = np.linalg.pinv(sens(z)) @ (u[k] - sens_bias(z, zd))
            return np.r_[z, x[2:4] + T / 2 * (x[4:] + a), a]

        inverse = np.linalg.pinv(sens(move(x)[:2]))
        f, push = difference(move, x), np.vstack((0 * inverse, T / 2 * inverse, inverse))
        x, cov = move(x), f @ cov @ f.T + 0.25 * push @ push.T
        x, cov = update(x, cov, h, position[k] - x[:2], r)
        # the reference takes central differences, of which rounding is 1e-10 of an acceleration
        np.testing.assert_allclose(found[k, :6], x, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(block.covariance, cov, rtol=1e-4, atol=1e-12)


@pytest.mark.parametrize("form", ["A", "B"])
def test_force_observer(samples, form):
    position, u, known = samples
    motion = np.ascontiguousarray(np.c_[position, u[:, :2], known[::-1]])
    model = TwoDof()
    ports = {f"{part}_{i}": "m" for part in ("z", "zd", "zdd") for i in range(2)}
    block = ForceObserver(
        "f",
        model,
        ForceSettings(form=form, known_noise=0.1, balance_noise=0.05, walk_noise=0.3),
        reads=ports,
    )
    found = block.run(motion, known)
    x, cov = np.zeros(4), np.eye(4) * 1e6 * (0.01 + 0.0025 + 0.09)
    for k in range(N):
        z, zd, zdd = motion[k].reshape(3, 2)
        tau = mass(z) @ zdd + mass_bias(z, zd)
        b1, b2 = known_map(z), unknown_map(z)
        zero, eye = np.zeros((2, 2)), np.eye(2)
        if form == "A":
            f, add = (
                np.block([[zero, -np.linalg.solve(b1, b2)], [zero, eye]]),
                np.linalg.solve(b1, tau),
            )
            add, walk, q = (
                np.r_[add, 0, 0],
                np.diag([0, 0, 0.09, 0.09]),
                np.diag([0.0025, 0.0025, 0, 0]),
            )
        else:
            f, add = (
                np.block([[eye, zero], [-np.linalg.solve(b2, b1), zero]]),
                np.linalg.solve(b2, tau),
            )
            add, walk, q = (
                np.r_[0, 0, add],
                np.diag([0.09, 0.09, 0, 0]),
                np.diag([0, 0, 0.0025, 0.0025]),
            )
        # the other force walks first
        x, cov = f @ x + add, f @ (cov + walk) @ f.T + q
        x, cov = update(x, cov, np.eye(2, 4), known[k] - x[:2], 0.01 * np.eye(2))
        # the wide start: variances of 1e5 beside 1e-3
        np.testing.assert_allclose(found[k, :4], x, rtol=1e-6, atol=1e-6)


def test_augmented_ekf(samples):
    position, u, known = samples
    model = TwoDof()
    block = AugmentedEkf(
        "s",
        model,
        AUGMENTED,
        reads={"position_0": "a", "position_1": "b"},
    )
    found = block.run(position, u, known)
    x = np.r_[position[0], np.zeros(4)]
    cov = np.diag(np.repeat([1e-6, 2 * (1e-3 / T) ** 2, 1e4 * 0.0025], 2))

    def accelerate(x, force):
        z, zd = x[:2], x[2:4]
        right = known_map(z) @ force + unknown_map(z) @ x[4:] - mass_bias(z, zd)
        return np.linalg.solve(mass(z), right)

    r = np.diag([1e-6, 1e-6, 0.64, 0.64, 0.64])
    push = np.vstack((T * T / 2 * np.eye(2), T * np.eye(2), np.zeros((2, 2))))
    for k in range(1, N):

        def move(x, k=k):
            a = accelerate(x, known[k - 1])
            return np.r_[x[:2] + T * x[2:4] + T * T / 2 * a, x[2:4] + T * a, x[4:]]

        def measure(x, k=k):
            return np.r_[x[:2], sens(x[:2]) @ accelerate(x, known[k]) + sens_bias(x[:2], x[2:4])]

        f = difference(move, x)
        cov = f @ cov @ f.T + 0.04 * push @ push.T
        cov[4:, 4:] += 0.0025 * np.eye(2)
        x = move(x)
        innovation = np.r_[position[k], u[k]] - measure(x)
        x, cov = update(x, cov, difference(measure, x), innovation, r)
        np.testing.assert_allclose(found[k, [0, 1, 2, 3, 6, 7]], x, rtol=1e-5, atol=1e-5)


def test_model_of_another_abi_or_with_too_few_sensors_is_refused():
    ports = {"position_0": "a", "position_1": "b"}
    settings = {"period_s": T, "position_noise": 1.0, "acceleration_noise": 1.0}
    with pytest.raises(ValueError, match="k: model of version 7, needs 2"):
        KinematicObserver("k", TwoDof(abi=7), KinematicSettings(**settings), reads=ports)
    with pytest.raises(ValueError, match="needs as many as dof"):
        KinematicObserver("k", TwoDof(n_sensors=1), KinematicSettings(**settings), reads=ports)


@pytest.mark.parametrize("kind", ["kinematic", "augmented"])
def test_cycles_without_slopes_leave_the_estimate_and_its_covariance_whole(samples, kind):
    position, u, known = samples
    model = TwoDof()
    ports = {"position_0": "a", "position_1": "b"}
    if kind == "kinematic":
        block = KinematicObserver(
            "k",
            model,
            KinematicSettings(period_s=T, position_noise=1e-3, acceleration_noise=0.5),
            reads=ports,
        )
        given = (position, u)
    else:
        block = AugmentedEkf(
            "s",
            model,
            AUGMENTED,
            reads=ports,
        )
        given = (position, u, known)
    block.run(*(part[:20] for part in given))
    spread = np.trace(block.covariance)
    model.has_no_slopes = True
    blind = block.run(*(part[20:24] for part in given))
    assert np.isfinite(blind).all()
    assert np.isfinite(block.covariance).all()
    # nothing was learned of what the slopes say: no gain of certainty from zeros
    assert np.trace(block.covariance) > 0.5 * spread
    model.has_no_slopes = False
    found = block.run(*(part[24:] for part in given))
    assert np.max(np.abs(found[-1, :2] - position[-1])) < 0.01
