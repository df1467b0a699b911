"""A linearised mechanism as tables on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from codegen.analysis.modes import Mode
from rigloop.model.linearized import Linearized
from rigloop.model.tables import LOOK, pairs, print_table

COLOUR = {"stable": "green", "neutral": "yellow", "unstable": "red"}
MOST_MODES = 40  # of the table; `--json` has all
MOST_PARTS = 4


def show(found: Linearized, console: Console) -> None:
    """Print equilibrium, modes, and what goes in and out."""
    console.print(f"[bold]{escape(found.name)}[/] about its equilibrium", highlight=False)
    start = "the given inputs" if found.given else "the file's pose"
    how = f"found in {found.search_steps} steps from {start}" if found.search_steps else start
    given = ", ".join(f"{key} = {value:g}" for key, value in found.given.items())
    pairs(
        console,
        [
            ("equilibrium", how, f"forces are balanced to {found.unbalanced:.1g} of the largest"),
            ("inputs", escape(given) or "those of the file", "guides at rest"),
            ("degrees of freedom", str(found.dof), "that guides leave"),
            ("states", str(len(found.states)), "coordinates, rates, internal states of forces"),
        ],
    )
    console.print(found.stability, style=COLOUR[found.stability], highlight=False)
    for name in found.kinks:
        words = f"a force on '{name}' has another slope on each side of rest: the mean is taken"
        console.print(f"[yellow]•[/] {escape(words)}", highlight=False)
    print_table(_places(found), console)
    print_table(_modes(found.modes), console)
    if not found.modes:
        console.print("\nthere are no modes: the guides give all motion", highlight=False)
    if len(found.modes) > MOST_MODES:
        more = f"… and {len(found.modes) - MOST_MODES} more: --json has all"
        console.print(more, style="dim", markup=False)
    ends = Table("input", "output", title="ports", **LOOK)
    longest = max(len(found.inputs), len(found.outputs))
    for n in range(longest):
        ends.add_row(
            *(escape(ports[n]) if n < len(ports) else "" for ports in (found.inputs, found.outputs))
        )
    print_table(ends, console)  # fmt: skip


def _places(found: Linearized) -> Table:
    table = Table(title="at rest", **LOOK)
    table.add_column("signal", no_wrap=True)
    table.add_column("value", justify="right")
    for port, value in found.at.items():
        table.add_row(escape(port), f"{value:.9g}")
    if not found.at:
        for c in found.coordinates:
            table.add_row(escape(c.name), f"{c.value:.9g} {c.unit}")
    return table


def _modes(modes: tuple[Mode, ...]) -> Table:
    table = Table(title="modes", **LOOK)
    for head, side in (
        ("Hz", "right"),
        ("damping", "right"),
        ("pole rad/s", "right"),
        ("", "left"),
    ):
        table.add_column(head, justify=side, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("shape")
    for mode in modes[:MOST_MODES]:
        real, imaginary = mode.pole_rad_s
        pole = f"{real:.4g}" + (f" ± {imaginary:.4g}i" if imaginary else "")
        parts = ", ".join(_part(*p) for p in _parts(mode))
        table.add_row(
            f"{mode.frequency_hz:.5g}", f"{mode.damping_ratio:.4g}", pole, mode.kind, parts
        )
    return table  # fmt: skip


def _parts(mode: Mode) -> list[tuple[str, str, float, float]]:
    return [(p.signal, p.unit, p.amplitude, p.phase_deg) for p in mode.shape[:MOST_PARTS]]


def _part(signal: str, unit: str, amplitude: float, phase_deg: float) -> str:
    turned = abs(abs(phase_deg) - 180.0) < 0.5
    text = f"{escape(signal)} {'−' if turned else ''}{amplitude:.3g} {unit}".rstrip()
    return text if turned or abs(phase_deg) < 0.5 else f"{text} at {phase_deg:.0f}°"
