"""The inverse dynamics of a serial chain as tables on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rigloop.model.inverse import UNITS, Inverse
from rigloop.model.tables import LOOK, pairs, print_table


def show(found: Inverse, console: Console) -> None:
    """Print cost, torques at the given motion, and the parameters that torques determine."""
    n = found.operations
    console.print(f"[bold]{escape(found.name)}[/]  {escape(found.file)}", highlight=False)
    pairs(
        console,
        [
            ("joints", str(found.n_joints), ""),
            ("parameters", str(found.n_parameters), "generalised: the torques are linear in them"),
            ("base parameters", str(len(found.base)), "of the links, that measured torques determine"),
            ("one call", f"{n['mul'] + n['add'] + n['fma'] + n['div']:g} operations", "all torques"),
        ],
    )  # fmt: skip
    print_table(_torques(found), console)
    print_table(_base(found), console)
    if found.without_effect:
        words = f"without any effect: {', '.join(found.without_effect)}"
        console.print(words, style="dim", highlight=False, markup=False)
    for path in found.written:
        console.print(f"[green]written[/]  {escape(path)}", highlight=False, soft_wrap=True)


def _torques(found: Inverse) -> Table:
    table = Table(title="torques and forces of the joints", **LOOK)
    for name in ("joint", "kind", "at", "rate", "acceleration", "torque or force"):
        table.add_column(name, justify="left" if name in ("joint", "kind") else "right")
    for number, joint in enumerate(found.joints, 1):
        at, rate, acceleration, torque = UNITS[joint.kind]
        table.add_row(
            str(number),
            joint.kind,
            f"{joint.at:g} {at}",
            f"{joint.rate:g} {rate}",
            f"{joint.acceleration:g} {acceleration}",
            f"{joint.torque:.9g} {torque}",
        )
    return table


def _base(found: Inverse) -> Table:
    table = Table(title="base parameters: joint.moment", **LOOK)
    table.add_column("value", justify="right")
    table.add_column("combination")
    for one in found.base:
        table.add_row(f"{one.value:.6g}", escape(one.words))
    return table
