"""The whole history at once: states that explain start, samples and equations of motion best. Offline.

    J = |x_0 - start|^2_P0 + sum |x_k+1 - x_k - h/2 (g(x_k) + g(x_k+1))|^2_Q + sum |y_k - y(x_k)|^2_R

over all states x = [z, zd, f] of a generated observer model, g = [zd, zdd(x), 0]: a factor graph, and its minimum by
Levenberg and Marquardt. No filter can know more, so filters are measured against it; it needs
the future, and seconds.

Source: Dellaert, Kaess 2017, Factor Graphs for Robot Perception, doi:10.1561/2300000043.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.closed_loop.settings import Numbers, ObserverSettings

Array = NDArray[np.float64]
Slopes = tuple[Array, Array]
MOST_ITERATIONS = 50


@dataclass(frozen=True)
class Smoothed:
    """The result of a smoother.

    Attributes
    ----------
    states : ndarray, shape (n + 1, n_x)
        At the start and after each of the n steps.
    cost : float
        J / 2.
    iterations : int
        That the optimiser took.
    """

    states: Array
    cost: float
    iterations: int


class Motion:
    """Derivative and readings of a model with their slopes; those of a state are computed once.

    Parameters
    ----------
    model : Model
        Of a generated observer.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._known: dict[int, tuple[bytes, tuple[Array, Array, Array, Array]]] = {}
        info = model.info
        self.n_x = len(info["state_names"])
        self.n_z = (self.n_x - len(info["unknown"])) // 2

    def at(self, k: int, x: Array) -> tuple[Array, Array, Array, Array]:
        """Return g, its slope, y and its slope at state k of the history.

        Raises
        ------
        ArithmeticError
            The mechanism cannot be put together there.
        """
        key = x.tobytes()
        known = self._known.get(k)
        if known is not None and known[0] == key:
            return known[1]
        found = self._model.at(list(x))
        if found["status"]:
            raise ArithmeticError(
                f"no position at state {k} of the history, status {found['status']}"
            )
        rate = np.zeros(self.n_x)
        rate[: self.n_z] = x[self.n_z : 2 * self.n_z]
        rate[self.n_z : 2 * self.n_z] = found["zdd"]
        slope = np.zeros((self.n_x, self.n_x))
        slope[: self.n_z, self.n_z : 2 * self.n_z] = np.eye(self.n_z)
        slope[self.n_z : 2 * self.n_z] = found["zdd_x"]
        parts = rate, slope, np.array(found["y"]), np.array(found["y_x"])
        self._known[k] = key, parts
        return parts

    def step(self, k: int, before: Array, after: Array, step_s: float) -> tuple[Array, Slopes]:
        """Return the residual of the trapezoidal rule from state k to the next, and its two slopes."""
        half, one = 0.5 * step_s, np.eye(self.n_x)
        g0, slope0, _, _ = self.at(k, before)
        g1, slope1, _, _ = self.at(k + 1, after)
        return after - before - half * (g0 + g1), (-one - half * slope0, one - half * slope1)


def process_covariance(numbers: Numbers, n_z: int, step_s: float) -> Array:
    """Return Q of a step: white noise on the accelerations, random walk of the unknown inputs."""
    h, density = step_s, np.diag(numbers.acceleration_noise)
    n_f = len(numbers.input_noise)
    motion = np.block(
        [[density * h**3 / 3.0, density * h**2 / 2.0], [density * h**2 / 2.0, density * h]]
    )
    return np.block(
        [
            [motion, np.zeros((2 * n_z, n_f))],
            [np.zeros((n_f, 2 * n_z)), np.diag(numbers.input_noise) * h],
        ]
    )


def smooth(model: Any, samples: Array, settings: ObserverSettings, first: Array) -> Smoothed:
    """Find the history that explains all samples best.

    Parameters
    ----------
    model : Model
        Of a generated observer; its known inputs stay as they are.
    samples : ndarray, shape (n, n_y)
        Readings after each step; NaN: none.
    settings : ObserverSettings
        As of a filter of the same model.
    first : ndarray, shape (n, n_x)
        Guess of the states after each step: a filter's estimate.

    Returns
    -------
    Smoothed

    Raises
    ------
    ImportError
        GTSAM is not installed.
    ArithmeticError
        The search left the positions in which the mechanism can be put together.
    ValueError
        Wrong shapes or settings.
    """
    gtsam = _load_gtsam()
    info = model.info
    numbers = settings.numbers(info)
    motion = Motion(model)
    n, n_y = len(samples), len(info["sensor_names"])
    if samples.shape != (n, n_y) or first.shape != (n, motion.n_x):
        raise ValueError(
            f"samples {samples.shape} and first guess {first.shape}: ({n}, {n_y}) and ({n}, {motion.n_x}) needed"
        )
    step_s = info["step_s"]
    graph = gtsam.NonlinearFactorGraph()

    def add(
        noise: Any, states: list[int], residual: Callable[..., tuple[Array, tuple[Array, ...]]]
    ) -> None:
        def error(this: Any, values: Any, slopes: Any) -> Array:
            left, parts = residual(*(values.atVector(k) for k in states))
            if slopes is not None:
                for i, part in enumerate(parts):
                    slopes[i] = part
            return left

        graph.add(gtsam.CustomFactor(noise, states, error))

    gaussian = gtsam.noiseModel.Gaussian.Covariance
    add(
        gaussian(np.diag(numbers.start_var)), [0],
        lambda x: (x - numbers.start, (np.eye(motion.n_x),)),
    )  # fmt: skip
    process = gaussian(process_covariance(numbers, motion.n_z, step_s))
    for k in range(n):
        add(process, [k, k + 1], lambda a, b, k=k: motion.step(k, a, b, step_s))
        here = np.flatnonzero(np.isfinite(samples[k]))
        if len(here):
            noise = gaussian(np.diag(numbers.sensor_var[here]))
            add(
                noise,
                [k + 1],
                lambda x, k=k, here=here: _misfit(motion, k + 1, x, samples[k], here),
            )
    guess = gtsam.Values()
    for k, x in enumerate(np.vstack((numbers.start, first))):
        guess.insert(k, x)
    params = gtsam.LevenbergMarquardtParams()
    params.setMaxIterations(MOST_ITERATIONS)
    optimiser = gtsam.LevenbergMarquardtOptimizer(graph, guess, params)
    found = optimiser.optimize()
    states = np.array([found.atVector(k) for k in range(n + 1)])
    return Smoothed(states, float(graph.error(found)), int(optimiser.iterations()))


def _misfit(
    motion: Motion, k: int, x: Array, sample: Array, here: Array
) -> tuple[Array, tuple[Array]]:
    _, _, y, y_x = motion.at(k, x)
    return y[here] - sample[here], (np.ascontiguousarray(y_x[here]),)


def _load_gtsam() -> Any:
    try:
        return importlib.import_module("gtsam")
    except ImportError as error:
        raise ImportError(
            "the batch smoother needs GTSAM: pip install rigloop[smoother]"
        ) from error
