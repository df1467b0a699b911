"""A linearised mechanism as tables on the terminal."""

from __future__ import annotations

from itertools import zip_longest

from rich.console import Console
from rich.markup import escape

from codegen.analysis.modes import Mode
from rigloop.display.tables import Table, facts, figures, show_filled, words
from rigloop.display.tables import show as show_table
from rigloop.display.verdict import paragraph, remark
from rigloop.model.linearized import Linearized

COLOUR = {"stable": "green", "neutral": "yellow", "unstable": "red"}
MOST_MODES = 40  # of the table; `--json` has all
MOST_PARTS = 4


def show(found: Linearized, console: Console) -> None:
    """Print equilibrium, modes, and what goes in and out."""
    console.print(f"[bold]{escape(found.name)}[/] about its equilibrium", highlight=False)
    start = "the given inputs" if found.given else "the file's pose"
    how = f"found in {found.search_steps} steps from {start}" if found.search_steps else start
    given = ", ".join(f"{key} = {value:g}" for key, value in found.given.items())
    show_table(
        facts(
            [
                ("equilibrium", how, f"forces are balanced to {found.unbalanced:.1g} of the largest"),
                ("inputs", given or "those of the file", "guides at rest"),
                ("degrees of freedom", str(found.dof), "that guides leave"),
                ("states", str(len(found.states)), "coordinates, rates, internal states of forces"),
            ]
        ),
        console,
    )  # fmt: skip
    paragraph(found.stability, console, tone=COLOUR[found.stability])
    for name in found.kinks:
        remark(
            f"a force on '{name}' has another slope on each side of rest: the mean is taken",
            console,
        )
    show_filled([_places(found), _modes(found.modes)], console)
    if not found.modes:
        console.print(
            "\nthere are no modes: the guides prescribe the whole motion", highlight=False
        )
    ports = list(zip_longest(found.inputs, found.outputs, fillvalue=""))
    show_filled([Table(words("input", "output"), ports, "ports")], console)


def _places(found: Linearized) -> Table:
    rows = [(port, f"{value:.9g}") for port, value in found.at.items()]
    if not found.at:
        rows = [(c.name, f"{c.value:.9g} {c.unit}") for c in found.coordinates]
    return Table([*words("signal", whole=True), *figures("value")], rows, "at rest")


def _modes(modes: tuple[Mode, ...]) -> Table:
    heads = [*figures("Hz", "damping", "pole rad/s", whole=True), *words("", whole=True)]
    rows = []
    for mode in modes:
        real, imaginary = mode.pole_rad_s
        pole = f"{real:.4g}" + (f" ± {imaginary:.4g}i" if imaginary else "")
        parts = ", ".join(_part(*p) for p in _parts(mode))
        rows.append(
            (f"{mode.frequency_hz:.5g}", f"{mode.damping_ratio:.4g}", pole, mode.kind, parts)
        )
    return Table([*heads, *words("shape")], rows, "modes", most=MOST_MODES)


def _parts(mode: Mode) -> list[tuple[str, str, float, float]]:
    return [(p.signal, p.unit, p.amplitude, p.phase_deg) for p in mode.shape[:MOST_PARTS]]


def _part(signal: str, unit: str, amplitude: float, phase_deg: float) -> str:
    turned = abs(abs(phase_deg) - 180.0) < 0.5
    text = f"{signal} {'−' if turned else ''}{amplitude:.3g} {unit}".rstrip()
    return text if turned or abs(phase_deg) < 0.5 else f"{text} at {phase_deg:.0f}°"
