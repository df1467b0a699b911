"""The frequency response of a rig: one run with sines in its torque, measured and judged beside its linear loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from codegen.analysis.linearise import LinearisationError
from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake
from rigloop.bench.frf.measure import BAR_DB, BAR_DEG, Measured, measure
from rigloop.bench.frf.outcome import FrfOutcome
from rigloop.bench.frf.rig import RAMP_S, Sweep, excited, sweep_for
from rigloop.blocks.kinds.guard import guard_config
from rigloop.compose.parts import EMULATED, backend_of, one_guard
from rigloop.haptic.check import linear_model
from rigloop.haptic.loop import make_loop
from rigloop.haptic.path import NoPathError, haptic_path
from rigloop.host.children import cycle_process
from rigloop.live.run_options import RunOptions
from rigloop.live.supervise import run_live
from rigloop.run_folder.folders import new_run_folder
from rigloop.run_folder.manifest import read_manifest

RESULT = "frf.json"
MORE_S = 1.0


@dataclass(frozen=True)
class Sines:
    """The sines that are asked for.

    Attributes
    ----------
    amplitude_nm : float or None
        Peak of their sum; None: a tenth of the guard's limit, at most 1.
    periods : int
        Of 2 s, measured.
    guard : str or None
        Of the axis; needed where there are several.
    may_be_real : bool
        They may go to a real drive.
    """

    amplitude_nm: float | None
    periods: int
    guard: str | None = None
    may_be_real: bool = False


def run_frf(loaded: LoadedRig, sines: Sines, options: RunOptions) -> FrfOutcome:
    """Run a rig with sines in its torque, and measure both responses.

    Raises
    ------
    ConfigError
        The rig has no haptic loop, its sines would not pass its guard, or a real drive was not asked for.
    NotStartedError
        The run did not start, or ended before the sines had run long enough.
    """
    from rigloop.bench.frf.plot import write_plot

    file, rig = str(loaded.path), loaded.rig
    try:
        path = haptic_path(rig, one_guard(rig, sines.guard))
    except NoPathError as error:
        remedy = "wire drive, encoder filter, mechanism and guard as in the rig steering_wheel"
        raise ConfigError([Mistake(file, "blocks", str(error), remedy)]) from None
    if path.gains:
        problem = f"{path.gains[0].block!r} stands between {path.model!r} and {path.guard!r}"
        remedy = "wire the model to the guard, whose request_gain is a gain, too"
        raise ConfigError([Mistake(file, "blocks", problem, remedy)])
    sweep = sweep_for(loaded, sines.amplitude_nm, path.guard)
    backend = backend_of(rig, path.bus, options.bus)
    emulated = backend in EMULATED
    if not emulated and not sines.may_be_real:
        problem = (
            f"sines of up to {sweep.amplitude_nm:g} Nm would go to a real drive on {backend!r}"
        )
        remedy = "make sure that only the person at the wheel is near it, and give --arm"
        raise ConfigError([Mistake("command line", "--arm", problem, remedy)])
    folder = new_run_folder(options.runs, "bench-frf")
    with options.console.status("linearising") as status:
        try:
            lin = linear_model(loaded, path, lambda stage: status.update(f"kernel: {stage}"))
        except LinearisationError as error:
            raise ConfigError([Mistake(file, f"blocks.{path.model}", str(error))]) from None
    loop = make_loop(rig, path, lin, delay_s=0.0 if emulated else None)
    rig_excited, block = excited(loaded, path, sweep, folder, emulated=emulated)
    guard = guard_config(rig, path.guard, rig.blocks[path.guard])  # type: ignore[arg-type]
    seconds = guard.ramp_in_s + RAMP_S + (sines.periods + 1) / sweep.base_hz + MORE_S
    words = (
        f"{len(sweep.harmonics)} sines from {sweep.base_hz:g} to {sweep.base_hz * sweep.harmonics[-1]:g} Hz, together "
        f"{sweep.amplitude_nm:g} Nm at most, for {seconds:.0f} s"
    )
    options.console.print(words, highlight=False)
    with cycle_process() as cycle:
        ran = run_live(
            rig_excited,
            cycle,
            replace(options, seconds=seconds, runs=folder),
        )
    run = Path(ran.folder)
    found = measure(run, rig_excited, path, sweep, loop, block)
    outcome = _judged(found, loaded, backend, sweep, folder, run)
    (folder / RESULT).write_bytes(msgspec.json.format(msgspec.json.encode(outcome)))
    write_plot(folder / "frf.svg", outcome)
    return outcome


def _judged(
    found: Measured, loaded: LoadedRig, backend: str, sweep: Sweep, folder: Path, run: Path
) -> FrfOutcome:
    manifest = read_manifest(run)
    reasons, notes = [], []
    if found.flat_db > BAR_DB:
        reasons.append(f"torque path: {found.flat_db:.2f} dB from flat, limit {BAR_DB:g}")
    for name, response in (("torque path", found.torque), ("haptic impedance", found.haptic)):
        if response.worst_db > BAR_DB:
            reasons.append(
                f"{name}: {response.worst_db:.2f} dB from the prediction, limit {BAR_DB:g}"
            )
        if response.worst_deg > BAR_DEG:
            reasons.append(
                f"{name}: {response.worst_deg:.1f}° from the prediction, limit {BAR_DEG:g}°"
            )
        if response.n_incoherent:
            reasons.append(
                f"{name}: {response.n_incoherent} of {len(found.frequency_hz)} lines are lost in noise "
                "(coherence below 0.9): give more --amplitude-nm or --periods"
            )
    if manifest.verdict == "bad":
        # of the run's timing, not of the response
        notes += [f"run: {reason}" for reason in manifest.reasons]
    if found.n_dropped:
        notes.append(f"{found.n_dropped} periods had lost cycles and were left out")
    return FrfOutcome(
        not reasons,
        reasons,
        notes,
        str(folder),
        loaded.name,
        backend,
        sweep.amplitude_nm,
        found.n_periods,
        found.frequency_hz.tolist(),
        found.torque,
        found.flat_db,
        found.delay_ms,
        found.haptic,
        found.faithful,
        found.hand_over,
    )
