"""`rigloop model advise`: which formulation, integrator and step suit a mechanism best, from measurements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from codegen.analysis import advice
from codegen.analysis.advice import Bench, Measured, MotionError, Task
from codegen.description.mechanism import Mechanism, MechanismError, find, load, ports
from codegen.kernels.build import build_kernel
from codegen.kernels.trial import Motion, Swing
from codegen.kernels.verify import VerificationError
from rig_configs.mistakes import Mistake, near

LONGEST_S = 0.01
FEWEST_ROWS = 50  # looks at a motion
NICE = (1.0, 2.0, 5.0)


class Run(msgspec.Struct, frozen=True):
    """One kernel that was measured."""

    formulation: str
    integrator: str
    step_s: float
    error: float | None
    """Error, relative to the largest value of each signal; none if the run stopped."""
    step_us: float | None
    us_per_s: float | None
    """Microseconds for a simulated second."""
    meets: bool
    worst: str
    problem: str


class Advised(msgspec.Struct, frozen=True):
    """The advice that `rigloop model advise` prints."""

    name: str
    sha256: str
    error: float
    duration_s: float
    motions: dict[str, str]
    fastest_pole_rad_s: float | None
    """In the file's pose: stiffness; none where that is singular."""
    speed_rad_s: float
    reference: str
    options: dict[str, str | float | int]
    """Options of the best candidate, for `[blocks.<name>.options]` and `--option`; empty if none meets the error."""
    best: Run | None
    runs: tuple[Run, ...]
    refusal: str
    """The reason why there is no advice, empty if there is."""


def advise(
    name: str,
    *,
    error: float,
    duration_s: float,
    period_s: float | None,
    motions: Iterable[str],
    tell: Callable[[str], None],
) -> Advised:
    """Measure candidates on a mechanism, and choose.

    Parameters
    ----------
    name : str
        A mechanism file, or the name of one that ships.
    error : float
        That outputs and coordinates may have, of their largest values.
    duration_s : float
        Of the motion that is tried.
    period_s : float, optional
        Of the rig's cycle; the step is a whole part of it.
    motions : iterable of str
        `port=amplitude@hz`: sines that drive it.
    tell : callable
        Told what is being tried.

    Raises
    ------
    MechanismError
        With every mistake of the file and of the options.
    BuildError
        There is no compiler.
    """
    path = find(name)
    mechanism = load(path)
    swings = _swings(mechanism, motions)
    row_s, longest_s = _looks(duration_s, period_s)
    motion = Motion(swings, row_s, round(duration_s / row_s))
    task = Task(mechanism, motion, error, longest_s, period_s)
    tell("stiffness")
    pole = advice.stiffness(mechanism)
    try:
        reference = advice.find_reference(task, pole, tell)
    except MotionError as problem:
        return _answer(task, pole, _Found(f"there is nothing to compare with: {problem}"))
    speed = advice.speed_of(reference, motion.row_s)
    bench = Bench(task, reference, tell)
    best = advice.search(bench, pole, speed)
    refusal = ""
    while best is not None:
        tell(f"verifying {best.candidate}, {1e3 * best.step_s:g} ms")
        try:
            build_kernel(path, task.options(best.candidate, best.parts))
            break
        except VerificationError as problem:
            bench.refuse(best, f"verification: {problem}")
            best = advice.best_of(bench)
    if best is None:
        refusal = _refusal(task, bench.measured)
    return _answer(task, pole, _Found(refusal, reference.words, speed, best, bench.measured))


def _looks(duration_s: float, period_s: float | None) -> tuple[float, float]:
    """Time between two looks, and the longest step."""
    if period_s is not None:
        longest_s = period_s
        return max(
            1, math.floor(min(LONGEST_S, duration_s / FEWEST_ROWS) / period_s)
        ) * period_s, longest_s
    most_s = min(LONGEST_S, duration_s / FEWEST_ROWS)
    decade = 10.0 ** math.floor(math.log10(most_s) + 1e-9)
    longest_s = max(n * decade for n in NICE if n * decade <= most_s * (1.0 + 1e-9))
    return longest_s, longest_s  # fmt: skip


def _swings(mechanism: Mechanism, motions: Iterable[str]) -> dict[str, Swing]:
    reads = ports(mechanism)[0]
    n_guides = len(mechanism.system.guides)
    driven = [*reads[: 3 * n_guides : 3], *reads[3 * n_guides :]]
    found: dict[str, Swing] = {}
    mistakes = []
    for word in motions:
        port, sign, rest = word.partition("=")
        amplitude, at, hz = rest.partition("@")
        try:
            swing = Swing(float(amplitude), float(hz) if at else 1.0)
            is_good = (
                bool(sign) and math.isfinite(swing.amplitude) and 0.0 < swing.frequency_hz <= 1e4
            )
        except ValueError:
            is_good = False
        if port not in driven:
            mistakes.append(
                Mistake("command line", "--motion", "is not an input", near(port, driven), port)
            )
        elif not is_good:
            remedy = "write port=amplitude@hertz, such as guide/wheel/position_rad=0.5@1"
            mistakes.append(Mistake("command line", "--motion", "is not a sine", remedy, word))
        else:
            found[port] = swing
    if mistakes:
        raise MechanismError(mistakes)
    return advice.default_swings(mechanism, found, reads)  # fmt: skip


def _refusal(task: Task, measured: tuple[Measured, ...]) -> str:
    ran = [m for m in measured if math.isfinite(m.error)]
    if not ran:
        return "no candidate runs through this motion; the table says where each stops"
    least = min(ran, key=lambda m: m.error)
    return (
        f"nothing meets {task.error:g}: the most exact is {least.candidate} at {1e3 * least.step_s:g} ms with "
        f"{least.error:.2g} of '{least.worst}'; ask for a larger error, or a shorter period or duration"
    )


class _Found(NamedTuple):
    """The outcome of a search: why there is no advice, or the best of what was measured against a reference."""

    refusal: str
    reference: str = ""
    speed_rad_s: float = 0.0
    best: Measured | None = None
    measured: tuple[Measured, ...] = ()


def _answer(task: Task, pole: float | None, found: _Found) -> Advised:
    mechanism, best = task.mechanism, found.best
    options: dict[str, str | float | int] = {}
    if best is not None:
        made = task.options(best.candidate, best.parts)
        options = {
            "formulation": made.formulation,
            "integrator": str(made.integrator),
            "step_s": made.step_s,
        }
        if made.substeps > 1:
            options["substeps"] = made.substeps
    return Advised(
        name=mechanism.name,
        sha256=mechanism.sha256,
        error=task.error,
        duration_s=task.motion.row_s * task.motion.rows,
        motions={port: f"{s.amplitude:g} at {s.frequency_hz:g} Hz" for port, s in task.motion.swings.items()},
        fastest_pole_rad_s=pole,
        speed_rad_s=found.speed_rad_s,
        reference=found.reference,
        options=options,
        best=None if best is None else _run(best, task),
        runs=tuple(_run(m, task) for m in sorted(found.measured, key=_cheapest_first)),
        refusal=found.refusal,
    )  # fmt: skip


def _cheapest_first(m: Measured) -> float:
    return m.us_per_s if math.isfinite(m.us_per_s) else math.inf


def _run(m: Measured, task: Task) -> Run:
    is_timed = math.isfinite(m.us_per_s)
    return Run(
        formulation=m.candidate.formulation,
        integrator=m.candidate.integrator,
        step_s=m.step_s,
        error=m.error if math.isfinite(m.error) else None,
        step_us=1e-3 * m.step_ns if is_timed else None,
        us_per_s=m.us_per_s if is_timed else None,
        meets=m.error <= task.error,
        worst=m.worst,
        problem=m.problem,
    )
