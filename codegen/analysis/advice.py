"""Choose formulation, integrator and step: candidates run through one motion beside a reference, and the cheapest
that meets the wanted error is taken.

The error of a run is the largest gap to the reference of any output or coordinate, of that signal's largest value.
The reference is two kernels of order four, of different formulations and at different steps, that agree far more
closely than the error that is wanted.

Each candidate is tried at the step where its order, and the stiffness of the mechanism, say that it will do, and at
longer or shorter ones until two neighbours of the ladder of steps are known, one that does and one that does not, or
until it can only be more expensive than the best found. So a dozen candidates take some thirty kernels instead
of two hundred.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.analysis.linear_mechanism import local_poles
from codegen.analysis.linearise import LinearisationError
from codegen.description.mechanism import Mechanism
from codegen.kernels.trial import Motion, Swing, Trial, Tried
from codegen.options.options import Formulation, Integrator, KernelOptions

Array = NDArray[np.float64]
# parts of the longest step: its ladder goes 1, 2, 4, 5, 8 a decade
LADDER = (1, 2, 4, 5, 8, 10, 20, 40, 50, 80, 100, 200, 400, 500, 800, 1000)
ORDER: dict[str, int] = {
    "rk4": 4, "generalized_alpha": 2, "trapezoidal": 2, "semi_implicit_euler": 1,
}  # fmt: skip
# steps times the fastest pole up to which an explicit rule is stable
STABLE = {"rk4": 2.7, "semi_implicit_euler": 2.0, "trapezoidal": 2.0}
FLOOR = 1e-3  # of the largest signal of the same unit: what is smaller is measured by this
BEYOND = 0.05  # of the error wanted: how well two references agree
AT_LEAST = 0.3  # of it: the error for which a reference is still good
REFERENCES = ("index1", "independent")
MOST_STEPS = 2_000_000  # of a reference
ROUNDS = 3  # in which what comes near the best is timed again, side by side
NEAR = 1.5  # times the cost of the best
HOPE = 2.0  # how much cheaper than its order says a candidate may turn out


@dataclass(frozen=True)
class Candidate:
    """A formulation with an integrator."""

    formulation: Formulation
    integrator: Integrator

    def __str__(self) -> str:
        return f"{self.formulation}, {self.integrator}"


# in the order in which they are tried: often the best ones first, so that the rest is soon known to be dearer
CANDIDATES = (
    Candidate("index1", "rk4"),
    Candidate("ali3p", "generalized_alpha"),
    Candidate("independent", "semi_implicit_euler"),
    Candidate("penalty", "rk4"),
    Candidate("index1", "semi_implicit_euler"),
    Candidate("ali3p", "trapezoidal"),
    Candidate("penalty", "semi_implicit_euler"),
    Candidate("independent", "rk4"),
    Candidate("hamiltonian", "rk4"),
    Candidate("index1", "trapezoidal"),
    Candidate("hamiltonian", "trapezoidal"),
    Candidate("independent", "trapezoidal"),
)


@dataclass(frozen=True)
class Measured:
    """A candidate at one step.

    Attributes
    ----------
    step_s : float
        The time that the integrator advances in one substep.
    error : float
        Of the largest value of each signal; infinite where the run stopped.
    step_ns : float
        Median time of a step.
    us_per_s : float
        Time for a simulated second.
    worst : str
        The signal with that error.
    problem : str
        Why the run stopped, empty if it did not.
    """

    candidate: Candidate
    parts: int
    step_s: float
    error: float
    step_ns: float
    us_per_s: float
    worst: str
    problem: str


@dataclass(frozen=True)
class Reference:
    """The reference of the runs; `known_to` is the gap between its two kernels."""

    rows: Array
    known_to: float
    words: str


class MotionError(ValueError):
    """There is no motion to compare with; the message says why."""


@dataclass(frozen=True)
class Task:
    """The motion to simulate, and the wanted error.

    Attributes
    ----------
    period_s : float, optional
        Of the rig's cycle: the options have this step, and substeps.
    """

    mechanism: Mechanism
    motion: Motion
    error: float
    longest_s: float
    period_s: float | None = None

    def options(self, candidate: Candidate, parts: int) -> KernelOptions:
        """Options of a candidate whose step is `parts` parts of the longest."""
        steps: dict[str, Any] = {"step_s": self.longest_s / parts}
        if self.period_s is not None:
            steps = {"step_s": self.period_s, "substeps": parts}
        return KernelOptions(
            formulation=candidate.formulation, integrator=candidate.integrator, **steps
        )


def shown_signals(mechanism: Mechanism) -> tuple[list[str], list[str]]:
    """Names and units of a trial's columns: coordinates, then outputs."""
    coordinates = mechanism.system.coordinates
    names = [c.name for c in coordinates] + [o.port for o in mechanism.outputs]
    units = [c.unit for c in coordinates]
    return names, units + ["_".join(o.port.rpartition("/")[2].split("_")[1:]) for o in mechanism.outputs]  # fmt: skip


def scales(rows: Array, units: Sequence[str]) -> Array:
    """Largest value of each column, not below a small part of the largest of its unit."""
    largest = np.nanmax(np.abs(rows), axis=0, initial=0.0, where=np.isfinite(rows))
    by_unit = {u: max(v for v, w in zip(largest, units, strict=True) if w == u) for u in set(units)}
    floor = np.array([FLOOR * by_unit[u] for u in units])
    found = np.maximum(largest, floor)
    return np.where(found > 0.0, found, 1.0)


def gap(rows: Array, reference: Array, scale: Array) -> tuple[float, int]:
    """Largest error of a run, and its column; values that the reference does not determine are left out."""
    if len(rows) < len(reference):
        return math.inf, 0
    apart = np.abs(rows - reference) / scale
    apart = np.where(np.isfinite(reference), np.where(np.isfinite(apart), apart, np.inf), 0.0)
    by_column = np.max(apart, axis=0)
    column = int(np.argmax(by_column))
    return float(by_column[column]), column


def stiffness(mechanism: Mechanism) -> float | None:
    """Size of the fastest pole in the file's pose, rad/s; None where it is singular."""
    try:
        poles = local_poles(mechanism)
    except LinearisationError:
        return None
    return float(np.max(np.abs(poles), initial=0.0))


def find_reference(
    task: Task, pole_rad_s: float | None, tell: Callable[[str], None] = lambda words: None
) -> Reference:
    """The motion that all runs are compared with.

    Raises
    ------
    MotionError
        Nothing runs to the end, or two kernels do not come near enough to each other.
    """
    units = shown_signals(task.mechanism)[1]
    parts = next((n for n in LADDER if (pole_rad_s or 0.0) * task.longest_s / n < 1.0), LADDER[-1])
    parts = max(4, parts)
    kept: dict[tuple[str, int], Tried] = {}
    best, problem = math.inf, ""
    found: Reference | None = None

    def run(formulation: Formulation, n: int) -> Tried:
        if (formulation, n) not in kept:
            step_s = task.longest_s / n
            tell(f"reference: {formulation}, rk4, {1e3 * step_s:g} ms")
            options = KernelOptions(formulation=formulation, integrator="rk4", step_s=step_s)
            trial = Trial(task.mechanism, options)
            kept[formulation, n] = trial.run(task.motion, is_timed=False)
        return kept[formulation, n]

    while parts * round(task.motion.row_s / task.longest_s) * task.motion.rows <= MOST_STEPS:
        fine, coarse = run("index1", 2 * parts), run("independent", parts)
        if coarse.problem and not fine.problem:
            coarse = run("index1", parts)
        elif fine.problem and not coarse.problem:
            fine = run("independent", 2 * parts)
        problem = fine.problem or coarse.problem
        if not problem:
            apart, column = gap(coarse.rows, fine.rows, scales(fine.rows, units))
            if apart < best:
                best = apart
                step_ms = 1e3 * task.longest_s / parts
                words = f"two kernels of order four agree to {apart:.1g}, at {step_ms:g} ms and half of it"
                found = Reference(fine.rows, apart, words)
            if apart <= BEYOND * task.error:
                break
            problem = f"'{shown_signals(task.mechanism)[0][column]}' differs by {apart:.2g}"
        parts *= 2
    if found is None:
        raise MotionError(f"no kernel runs through this motion: {problem}")
    if best > AT_LEAST * task.error:
        raise MotionError(
            f"the motion itself is known to {best:.2g} only, at the shortest steps ({problem}): it is chaotic, or has "
            "kinks that no step resolves; ask for a larger error or a shorter duration"
        )
    return found


class Bench:
    """Measures candidates, each step once."""

    def __init__(
        self, task: Task, reference: Reference, tell: Callable[[str], None] = lambda words: None
    ) -> None:
        self.task, self.reference, self.tell = task, reference, tell
        self.names, units = shown_signals(task.mechanism)
        self.scale = scales(reference.rows, units)
        self._measured: dict[tuple[Candidate, int], Measured] = {}
        self._trials: dict[tuple[Candidate, int], Trial] = {}
        self._step_ns: dict[Candidate, float] = {}

    @property
    def measured(self) -> tuple[Measured, ...]:
        """All that was measured, each with the least time of a step that its candidate has shown."""
        return tuple(self._timed(m) for m in self._measured.values())

    def __call__(self, candidate: Candidate, parts: int) -> Measured:
        """Error and cost of a candidate with a step of `parts` parts of the longest."""
        key = candidate, parts
        if key not in self._measured:
            task = self.task
            step_s = (task.period_s or task.longest_s) / parts
            self.tell(f"{candidate}, {1e3 * step_s:g} ms")
            trial = self._trials[key] = Trial(task.mechanism, task.options(candidate, parts))
            tried = trial.run(task.motion)
            self._note(candidate, tried, trial)
            error, column = gap(tried.rows, self.reference.rows, self.scale)
            worst = self.names[column] if math.isfinite(error) else ""
            self._measured[key] = Measured(
                candidate, parts, step_s, error, math.nan, math.nan, worst, tried.problem
            )
        return self._timed(self._measured[key])

    def time_again(self, found: Measured) -> None:
        """Run one that has been measured once more, for its time alone."""
        trial = self._trials[found.candidate, found.parts]
        self._note(found.candidate, trial.run(self.task.motion), trial)

    def refuse(self, found: Measured, problem: str) -> None:
        """Take one out that has met the error: it fails in another way."""
        key = found.candidate, found.parts
        self._measured[key] = replace(self._measured[key], error=math.inf, problem=problem)

    def _note(self, candidate: Candidate, tried: Tried, trial: Trial) -> None:
        # a step does the same work however long it is
        step_ns = tried.call_ns / trial.options.substeps
        if math.isfinite(step_ns):
            self._step_ns[candidate] = min(step_ns, self._step_ns.get(candidate, math.inf))

    def _timed(self, found: Measured) -> Measured:
        step_ns = self._step_ns.get(found.candidate, math.nan)
        return replace(found, step_ns=step_ns, us_per_s=1e-3 * step_ns / found.step_s)


def best_of(bench: Bench) -> Measured | None:
    """Return the cheapest candidate that has met the error; close rivals are timed side by side first."""
    met = [m for m in bench.measured if m.error <= bench.task.error]
    if not met:
        return None
    least = min(m.us_per_s for m in met)
    for _ in range(ROUNDS):
        for m in met:
            if m.us_per_s <= NEAR * least:
                bench.time_again(m)
    return min((m for m in bench.measured if m.error <= bench.task.error), key=lambda m: m.us_per_s)


def search(
    bench: Bench,
    pole_rad_s: float | None,
    speed_rad_s: float,
    candidates: Sequence[Candidate] = CANDIDATES,
) -> Measured | None:
    """The cheapest that meets the error, None if nothing does.

    Parameters
    ----------
    bench : Bench
    pole_rad_s : float, optional
        The fastest pole, `stiffness`.
    speed_rad_s : float
        Of the motion, `speed_of`.
    """
    task = bench.task
    best: Measured | None = None
    longest_s = task.period_s or task.longest_s
    for candidate in candidates:
        rung = _first_rung(candidate, longest_s, pole_rad_s, speed_rad_s)
        met: Measured | None = None
        failed = -1  # the longest rung that is known not to do
        while 0 <= rung < len(LADDER):
            now = bench(candidate, LADDER[rung])
            if now.error <= task.error:
                met = now
                if best is None or now.us_per_s < best.us_per_s:
                    best = now
                if rung - 1 <= failed:
                    break
                rung = max(
                    failed + 1, rung - _strides(task.error, now.error, candidate, True, rung)
                )
                continue
            failed = max(failed, rung)
            if met is not None:
                if LADDER.index(met.parts) - 1 <= failed:
                    break
                rung = LADDER.index(met.parts) - 1
                continue
            rung += 1
            if rung < len(LADDER) and _is_dearer(now, LADDER[rung], best, 1.0):
                break
            further = _strides(task.error, now.error, candidate, False, rung - 1) - 1
            further = min(further, len(LADDER) - 1 - rung)
            if further > 0 and _is_dearer(now, LADDER[rung + further], best, HOPE):
                break
            rung += max(0, further)
    return best_of(bench)


def _is_dearer(now: Measured, parts: int, best: Measured | None, hope: float) -> bool:
    """Return whether a step of `parts` parts costs more than the best, even with `hope`."""
    if best is None or not math.isfinite(now.us_per_s):
        return False
    return now.us_per_s * parts / now.parts > hope * best.us_per_s


def _strides(wanted: float, error: float, candidate: Candidate, is_longer: bool, rung: int) -> int:
    """Rungs that the order of the rule says are left to the error wanted, at least one."""
    if not math.isfinite(error) or error <= 0.0:
        return 1
    reach = (wanted / error) ** (1.0 / ORDER[candidate.integrator])
    here, strides = LADDER[rung], 1
    if is_longer:
        while rung - strides > 0 and here / LADDER[rung - strides - 1] <= reach:
            strides += 1
        return strides
    while rung + strides < len(LADDER) - 1 and here / LADDER[rung + strides] > reach:
        strides += 1
    return strides


def _first_rung(
    candidate: Candidate, longest_s: float, pole_rad_s: float | None, speed_rad_s: float
) -> int:
    """A step that is stable, and short beside the motion."""
    most_s = 0.3 / max(speed_rad_s, 1e-9)
    if candidate.formulation != "ali3p" and pole_rad_s:
        most_s = min(most_s, STABLE[candidate.integrator] / pole_rad_s)
    return next((k for k, n in enumerate(LADDER) if longest_s / n <= most_s), len(LADDER) - 1)


def speed_of(reference: Reference, row_s: float) -> float:
    """Return the speed of the motion, rad/s: the largest ratio of a signal's rate to its range."""
    rates = np.abs(np.diff(reference.rows, axis=0)) / row_s
    span = np.ptp(np.nan_to_num(reference.rows), axis=0)
    moves = span > 1e-6 * max(float(np.max(span, initial=0.0)), 1e-12)
    if not moves.any():
        return 0.0
    return float(np.max(np.nanmax(rates[:, moves], axis=0) / (0.5 * span[moves])))


def default_swings(
    mechanism: Mechanism, given: Mapping[str, Swing], reads: Sequence[str]
) -> dict[str, Swing]:
    """Motions of the guides: 0.3 rad or 30 mm at 1 Hz where none is given."""
    found = dict(given)
    for k, guide in enumerate(mechanism.system.guides):
        found.setdefault(reads[3 * k], Swing(0.3 if guide.coordinate.unit == "rad" else 0.03, 1.0))
    return found  # fmt: skip
