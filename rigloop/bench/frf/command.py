"""`rigloop bench frf`: arguments in, a verdict out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from rigloop.console.answers import JsonOption, answer, errors_as_lines
from rigloop.console.run_options import BusOption, GuardOption, ModeOption, RigArgument, RunsOption
from rigloop.console.screen import Screen
from rigloop.display.tables import Table, figures
from rigloop.display.tables import show as show_table
from rigloop.display.verdict import line, remark, show_places, show_verdict
from rigloop.run_folder.messages import Mode

if TYPE_CHECKING:
    from rigloop.bench.frf.measure import Response
    from rigloop.bench.frf.outcome import FrfOutcome


def frf(
    rig: RigArgument,
    bus: BusOption = None,
    amplitude_nm: Annotated[
        float | None,
        typer.Option(
            "--amplitude-nm",
            help="Peak of the added torque; by default a tenth of the guard's limit, at most 1.",
        ),
    ] = None,
    periods: Annotated[
        int, typer.Option(min=3, max=1000, help="Number of periods of 2 s that are measured.")
    ] = 8,
    arm: Annotated[
        bool,
        typer.Option(
            "--arm", help="Allow the torque on a real drive; emulated drives need no permission."
        ),
    ] = False,
    guard: GuardOption = None,
    mode: ModeOption = Mode.DEGRADED,
    runs: RunsOption = Path("runs"),
    json: JsonOption = False,
) -> None:
    """Measure torque path and haptic impedance from 0.5 to 30 Hz, and compare with the prediction from model, filter
    and delays.
    """
    console = Screen(stderr=json)
    with errors_as_lines(json):
        from rigloop.bench.frf.frf import Sines, run_frf
        from rigloop.compose.wiring import load
        from rigloop.live.run_options import RunOptions

        outcome = run_frf(
            load(rig),
            Sines(amplitude_nm, periods, guard, may_be_real=arm),
            RunOptions(runs, console, bus=bus, mode=mode),
        )
    answer(outcome, lambda: show(outcome, console), json, good=outcome.good)


def show(outcome: FrfOutcome, console: Console) -> None:
    """Print both responses, the verdict and where the picture is."""
    a, b, f = outcome.torque_path, outcome.haptic, outcome.faithful
    rows = [
        [
            f"{hz:g}",
            _pair(a.gain_db[i], a.phase_deg[i]),
            _off(a, i),
            _pair(b.gain_db[i], b.phase_deg[i]),
            _off(b, i),
            f"{min(a.coherence[i], b.coherence[i]):.2f}",
            _pair(f.gain_db[i], f.phase_deg[i]),
        ]
        for i, hz in enumerate(outcome.frequency_hz)
    ]
    heads = figures("Hz", "torque", "off", "impedance", "off", "coh.", "to model", whole=True)
    title = "measured, and how far it is from the prediction (dB, °)"
    show_table(Table(heads, rows, title), console)
    for sentence in (
        f"torque path: within {outcome.flat_db:.2f} dB of flat; {a.worst_db:.2f} dB and {a.worst_deg:.1f}° from the "
        f"prediction; delay {outcome.torque_delay_ms:.2f} ms",
        f"haptic impedance: {b.worst_db:.2f} dB and {b.worst_deg:.1f}° from the prediction",
        f"faithful to the model alone, within 3 dB and 45°, up to {f.up_to_hz:g} Hz",
        f"hand-overs: {outcome.hand_over_cycles[0]:.2f} cycles to the model, {outcome.hand_over_cycles[1]:.2f} back",
    ):
        line(sentence, console)
    for note in outcome.notes:
        remark(note, console)
    show_verdict(outcome.good, outcome.reasons, console, otherwise="within the limits")
    show_places([f"{outcome.folder}/frf.svg"], console)


def _pair(db: float, deg: float) -> str:
    return f"{db:.1f} {deg:.0f}°"


def _off(response: Response, i: int) -> str:
    turn = (response.phase_deg[i] - response.predicted_deg[i] + 180.0) % 360.0 - 180.0
    return f"{response.gain_db[i] - response.predicted_db[i]:+.2f} {turn:+.1f}°"
