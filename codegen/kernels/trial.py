"""A kernel tried out: compiled without its Python face, stepped through a motion, its steps timed.

Four times as fast to make as a kernel that enters the cache, and not proved by `verify`: for those who try many.
"""

from __future__ import annotations

import ctypes
import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codegen.description.mechanism import Mechanism, ports
from codegen.equations.program import Program
from codegen.kernels.build import compile_shared
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.options.statuses import STATUSES
from codegen.targets import c99

Array = NDArray[np.float64]
CHUNK = 100_000  # steps whose inputs are made at a time
SINGLES = 5000  # calls at a time that are timed one by one
WARM_UP = 100
ENOUGH_S = 0.03  # of stepping, for a time that can be believed
MOST_REPEATS = 5


@dataclass(frozen=True)
class Swing:
    """A sine about the file's value: of a guide's position, or of an input signal."""

    amplitude: float
    frequency_hz: float


@dataclass(frozen=True)
class Motion:
    """The inputs of a trial, its duration and its sampling time.

    Attributes
    ----------
    swings : mapping of str to Swing
        By read port; ports that are not named stand still.
    row_s : float
        Time between two looks.
    rows : int
    """

    swings: Mapping[str, Swing]
    row_s: float
    rows: int

    def inputs(self, mechanism: Mechanism, times: Array) -> tuple[Array, Array]:
        """Guides (position, rate, acceleration each) and signals at these times."""
        system = mechanism.system
        reads = ports(mechanism)[0]
        guide = np.zeros((len(times), 3 * len(system.guides)))
        for k, made in enumerate(system.guides):
            guide[:, 3 * k] = made.coordinate.initial
            if (swing := self.swings.get(reads[3 * k])) is not None:
                w = 2.0 * math.pi * swing.frequency_hz
                guide[:, 3 * k] += swing.amplitude * np.sin(w * times)
                guide[:, 3 * k + 1] = swing.amplitude * w * np.cos(w * times)
                guide[:, 3 * k + 2] = -swing.amplitude * w**2 * np.sin(w * times)
        signal = np.zeros((len(times), len(system.signals)))
        for k, quantity in enumerate(system.signals):
            signal[:, k] = quantity.default
            if (swing := self.swings.get(reads[3 * len(system.guides) + k])) is not None:
                w = 2.0 * math.pi * swing.frequency_hz
                signal[:, k] += swing.amplitude * np.sin(w * times)
        return guide, signal


@dataclass(frozen=True)
class Tried:
    """The result of a trial.

    Attributes
    ----------
    rows : ndarray of float64, shape (n_rows, n_coordinates + n_outputs)
        At each look, the start left out; fewer than asked for if it stopped.
    call_ns : float
        Time of a call, of the quarter of the rows that were least disturbed.
    problem : str
        Why it stopped, empty if it did not.
    """

    rows: Array
    call_ns: float
    problem: str


class Trial:
    """A kernel that is tried out.

    Parameters
    ----------
    mechanism : Mechanism
    options : KernelOptions

    Raises
    ------
    BuildError
        It cannot be compiled.
    """

    def __init__(self, mechanism: Mechanism, options: KernelOptions) -> None:
        self.mechanism, self.options = mechanism, options
        made = program(mechanism, options)
        # those that it steps may be others than the file's
        self._n_shown = len(made.mechanism.system.coordinates) + len(mechanism.outputs)
        self._library = _library(made, options)

    def run(self, motion: Motion, *, is_timed: bool = True) -> Tried:
        """Step it through a motion; a short one several times where it is timed."""
        every = round(motion.row_s / self.options.step_s)
        tried = self._run(motion, every)
        spent = tried.call_ns * every * max(1, len(tried.rows))
        repeats = 0
        while is_timed and not tried.problem and spent < ENOUGH_S * 1e9 and repeats < MOST_REPEATS:
            again = self._run(motion, every)
            tried = min(tried, again, key=lambda t: t.call_ns)
            spent += again.call_ns * every * len(again.rows)
            repeats += 1
        return tried

    def _run(self, motion: Motion, every: int) -> Tried:
        library, mechanism, options = self._library, self.mechanism, self.options
        rows, ns = np.zeros((motion.rows, self._n_shown)), np.zeros(motion.rows)
        guide, signal = motion.inputs(mechanism, np.zeros(1))
        status = library.trial_start(guide.ctypes.data, signal.ctypes.data)
        if status != 0:
            return Tried(rows[:0], math.nan, f"does not start: {STATUSES[status]}")
        at_a_time = max(1, CHUNK // every)
        for first in range(0, motion.rows, at_a_time):
            count = min(at_a_time, motion.rows - first)
            steps = np.arange(first * every + 1, (first + count) * every + 1, dtype=np.float64)
            times: Array = steps * options.step_s
            guide, signal = (
                np.ascontiguousarray(given) for given in motion.inputs(mechanism, times)
            )
            done = library.trial_run(
                count, every, guide.ctypes.data, signal.ctypes.data,
                rows[first:].ctypes.data, ns[first:].ctypes.data,
            )  # fmt: skip
            if done < count * every:
                good = first + done // every
                at_s = options.step_s * (first * every + done)
                words = STATUSES[library.trial_status()]
                call_ns = _typical(ns[:good]) / every
                return Tried(rows[:good], call_ns, f"stops after {at_s:.4g} s: {words}")
        return Tried(rows, _typical(ns) / every, "")

    def iterations(self) -> int:
        """Return how many iterations the last call took."""
        return int(self._library.trial_iterations())

    def times(self, motion: Motion, steps: int, first: int = SINGLES) -> Array:
        """Return the time of every single call, ns, the look at the clock included; the same motion each time.

        Parameters
        ----------
        steps : int
            Calls; those before in which caches warm up are left out.
        first : int
            Calls of the first piece. Every piece begins with caches that Python has used meanwhile: another number
            puts these calls elsewhere.

        Raises
        ------
        ValueError
            It does not start, or stops before its time.
        """
        begin = motion.inputs(self.mechanism, np.zeros(1))
        if (status := self._library.trial_start(*(given.ctypes.data for given in begin))) != 0:
            raise ValueError(f"does not start: {STATUSES[status]}")
        ns = np.zeros(steps + WARM_UP)
        rows = np.zeros((SINGLES, self._n_shown))
        done, count = 0, first
        while done < len(ns):
            count = min(count, len(ns) - done)
            numbers = np.arange(done + 1, done + count + 1, dtype=np.float64)
            times: Array = numbers * self.options.step_s
            given = [np.ascontiguousarray(a) for a in motion.inputs(self.mechanism, times)]
            pointers = (a.ctypes.data for a in (*given, rows, ns[done:]))
            if (good := self._library.trial_run(count, 1, *pointers)) < count:
                words = STATUSES[self._library.trial_status()]
                raise ValueError(f"stops after {done + good} steps: {words}")
            done, count = done + count, SINGLES
        return ns[WARM_UP:]


def _library(made: Program, options: KernelOptions) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="trial-") as folder:
        work = Path(folder)
        for name, text in c99.trial(made).items():
            (work / name).write_text(text)
        compile_shared(work, "trial.so", options)
        library = ctypes.CDLL(str(work / "trial.so"))
    library.trial_run.restype = ctypes.c_long
    library.trial_run.argtypes = [ctypes.c_long, ctypes.c_long] + [ctypes.c_void_p] * 4
    library.trial_start.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return library


def _typical(ns: Array) -> float:
    # whoever else uses the machine only adds
    return float(np.quantile(ns, 0.25)) if len(ns) else math.nan
