"""The inverse dynamics of a tree or serial chain as tables on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from rigloop.display.tables import Table, facts, figures, show_filled, words
from rigloop.display.tables import show as show_table
from rigloop.display.verdict import paragraph
from rigloop.model.inverse import UNITS
from rigloop.model.inverse_facts import Inverse


def show(found: Inverse, console: Console) -> None:
    """Print cost, torques at the given motion, and the parameters that torques determine."""
    n = found.operations
    console.print(f"[bold]{escape(found.name)}[/]  {escape(found.file)}", highlight=False)
    show_table(
        facts(
            [
                ("joints", str(found.n_joints), ""),
                ("parameters", str(found.n_parameters), "generalised: the torques are linear in them"),
                ("base parameters", str(len(found.base)), "of the links, that measured torques determine"),
                ("one call", f"{n['mul'] + n['add'] + n['fma'] + n['div']:g} operations", "all torques"),
            ]
        ),
        console,
    )  # fmt: skip
    show_filled([_torques(found), _base(found)], console)
    if found.without_effect:
        paragraph(f"without any effect: {', '.join(found.without_effect)}", console, tone="dim")
    for path in found.written:
        console.print(f"[green]written[/]  {escape(path)}", highlight=False, soft_wrap=True)


def _torques(found: Inverse) -> Table:
    rows = []
    for number, joint in enumerate(found.joints, 1):
        if joint.kind not in UNITS:  # a ball or free body: its motion is that of a quaternion
            rows.append([joint.name, joint.kind, "", "", "", f"{joint.torque:.9g} {joint.unit}"])
            continue
        at, rate, acceleration, torque = UNITS[joint.kind]
        rows.append(
            [
                joint.name or str(number),
                joint.kind,
                f"{joint.at:g} {at}",
                f"{joint.rate:g} {rate}",
                f"{joint.acceleration:g} {acceleration}",
                f"{joint.torque:.9g} {torque}",
            ]
        )
    heads = figures("at", "rate", "acceleration", "torque or force")
    return Table([*words("joint", "kind"), *heads], rows, "torques and forces of the joints")


def _base(found: Inverse) -> Table:
    rows = [[f"{one.value:.6g}", one.words] for one in found.base]
    heads = [*figures("value"), *words("combination")]
    return Table(heads, rows, "base parameters: joint.moment")
