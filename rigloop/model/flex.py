"""`rigloop model flex`: the modes of the bodies of a mechanism that bend, as numbers, pictures and a film."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from codegen.description.fast_modes import FOLLOWED
from codegen.description.mechanism import MechanismError, find, load
from codegen.flexible.motion import Bending
from rig_configs.mistakes import Mistake
from rigloop.display.tables import Table, facts, figures, show_filled
from rigloop.display.tables import show as show_table

PICTURES = (".svg", ".png", ".pdf")
FILMS = (".gif",)


@dataclass(frozen=True)
class FlexMode:
    """One mode of a body: shares of its mass and inertia that take part, along and about the structure's axes."""

    number: int
    frequency_hz: float
    mass_kg: float
    stiffness_n_per_m: float
    effective_share: tuple[float, ...]
    longest_step_s: float


@dataclass(frozen=True)
class FlexBody:
    """A body that bends, as its mechanism file and its reduction leave it."""

    name: str
    mass_kg: float
    structure_freedoms: int
    coordinates: int
    nodes: tuple[str, ...]
    gauges: tuple[str, ...]
    modes: tuple[FlexMode, ...]
    kept_share: tuple[float, ...]
    dropped: int
    first_dropped_hz: float | None


def flex(name: str, output: Path | None) -> list[FlexBody]:
    """Return the bodies of a mechanism that bend, and draw or film their modes.

    Raises
    ------
    MechanismError
        With every mistake of the file and of the options; or nothing bends.
    """
    path = find(name)
    mistakes = list(_wrong(output))
    if mistakes:
        raise MechanismError(mistakes)
    bodies: dict[str, Bending] = load(path).system.flexible
    if not bodies:
        remedy = "write [flexible_body.NAME]; docs/models/mechanisms.md has an example"
        raise MechanismError([Mistake(path.name, "flexible_body", "nothing bends", remedy)])
    found = [_body(body) for body in bodies.values()]
    if output is not None:
        from rigloop.model.flex_plot import draw, film

        try:
            (film if output.suffix in FILMS else draw)(list(bodies.values()), output)
        except OSError as error:
            problem = f"cannot be written: {error.strerror}"
            raise MechanismError(
                [Mistake(str(output), "--output", problem, "give another")]
            ) from None
    return found


def _wrong(output: Path | None) -> Iterator[Mistake]:
    if output is None:
        return
    if output.suffix not in (*PICTURES, *FILMS):
        remedy = f"end it with {', '.join((*PICTURES, *FILMS))}"
        yield Mistake(
            str(output), "--output", "is not a picture or film that can be written", remedy
        )
    elif not output.parent.is_dir():
        yield Mistake(
            str(output), "--output", "its folder is not there", "make it, or give another"
        )


def _body(body: Bending) -> FlexBody:
    made = body.modes
    rigid = [float(x) for x in made.rigid]
    shares = [
        tuple(float(e) / r if r > 0.0 else 0.0 for e, r in zip(row, rigid, strict=True))
        for row in made.effective
    ]
    modes = tuple(
        FlexMode(
            number=i + 1,
            frequency_hz=float(hz),
            mass_kg=float(made.mass[i]),
            stiffness_n_per_m=float(made.stiffness[i]),
            effective_share=shares[i],
            longest_step_s=1.0 / (FOLLOWED * float(hz)),
        )
        for i, hz in enumerate(made.frequency_hz)
    )
    prefix = f"{body.name}_"
    return FlexBody(
        name=body.name,
        mass_kg=body.modes.total_mass,
        structure_freedoms=body.modes.freedoms,
        coordinates=sum(c.name.startswith(prefix) for c in body.system.coordinates),
        nodes=tuple(body.modes.nodes),
        gauges=tuple(body.modes.gauges),
        modes=modes,
        kept_share=tuple(float(s) for s in map(sum, zip(*shares, strict=True))),
        dropped=len(made.dropped_hz),
        first_dropped_hz=made.dropped_hz[0] if made.dropped_hz else None,
    )


def show(found: list[FlexBody], console: Console) -> None:
    """Print the bodies and their modes."""
    for body in found:
        console.print(f"[bold]{escape(body.name)}[/]", highlight=False)
        dropped = "nothing"
        if body.first_dropped_hz is not None:
            dropped = f"{body.dropped} shapes from {body.first_dropped_hz:.4g} Hz on"
        rows = [
            ("mass", f"{body.mass_kg:.6g} kg", ""),
            ("freedoms of the structure", str(body.structure_freedoms), ""),
            ("modes", str(len(body.modes)), f"{body.coordinates} coordinates with their products"),
            ("left out", dropped, ""),
            ("nodes", ", ".join(body.nodes), ""),
        ]
        if body.gauges:
            rows.append(("strain gauges", ", ".join(body.gauges), ""))
        show_table(facts(rows), console)
        show_filled([_table(body)], console)


def _table(body: FlexBody) -> Table:
    heads = figures("mode", "Hz", "mass kg", "x", "y", "z", "about x", "about y", "about z")
    rows = [
        (
            str(mode.number),
            f"{mode.frequency_hz:.5g}",
            f"{mode.mass_kg:.4g}",
            *(_percent(share) for share in mode.effective_share),
            f"{mode.longest_step_s * 1e3:.3g}",
        )
        for mode in body.modes
    ]
    rows.append(("all", "", "", *(_percent(share) for share in body.kept_share), ""))
    note = (
        "shares of the mass and of the inertia about the structure's origin, along its own axes; "
        f"a step of that length follows a mode with {FOLLOWED} steps a period"
    )
    return Table(
        [*heads, *figures("step ms")], rows, "modes, and the moving parts of the body", note
    )


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %" if share >= 5e-4 else "-"
