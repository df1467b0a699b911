"""`rigloop model show --transfer`: the overall transfer equation of a mechanism's tree, as text and as LaTeX."""

from __future__ import annotations

import msgspec
from rich.console import Console
from rich.markup import escape

from codegen.description.mechanism import Mechanism, MechanismError, find, load
from codegen.topology.motion import topology
from codegen.transfer import shown
from codegen.transfer.equation import TransferEquation, overall
from codegen.transfer.network import network
from rig_configs.mistakes import Mistake
from rigloop.display.tables import Table, show, words
from rigloop.display.verdict import paragraph

MOST_TIPS = 40  # of a tree whose equation is written: its rows and columns are as many


class TransferFacts(msgspec.Struct, frozen=True):
    """The equation of one tree on the ground."""

    root: str
    tips: tuple[str, ...]
    elements: tuple[tuple[str, str, str], ...]
    """Number, name and role."""
    lines: tuple[str, ...]
    latex: str


def show_transfer(name: str, console: Console, *, quiet: bool) -> list[TransferFacts]:
    """Print the overall transfer equations of a mechanism: one for each tree on the ground.

    Raises
    ------
    MechanismError
        The file has mistakes, no rigid body, a closed loop, or more tips than an equation is written for.
    """
    found = [_facts(made) for made in _equations(load(find(name)))]
    if quiet:
        return found
    for made in found:
        tips = "1 tip" if len(made.tips) == 1 else f"{len(made.tips)} tips"
        title = f"overall transfer equation of the tree on {escape(made.root)}, {tips}"
        console.print(title, style="bold", highlight=False)
        show(Table(words("number", "name", "element"), [list(e) for e in made.elements]), console)
        for line in made.lines:
            console.print(escape(line), highlight=False, soft_wrap=True)
        console.print()
        console.print(escape(made.latex), highlight=False, soft_wrap=True)
        console.print()
    paragraph(
        'states are [a, alpha, m, q, 1] in the axes of the ground; tips have m = q = 0, `formulation = "riccati"` '
        "reduces each way to m, q = S (alpha, a) + e",
        console,
    )
    return found


def _equations(mechanism: Mechanism) -> list[TransferEquation]:
    tree = topology(mechanism.system).tree
    file = mechanism.system.file
    remedy = "take formulation = 'semi_recursive' or 'ali3p', which close loops"
    mistakes = [
        Mistake(file, cut.element.replace("/", "."), f"{cut.problem}; this equation is of trees", remedy)
        for cut in tree.cuts
    ]  # fmt: skip
    tips = len(network([link.parent for link in tree.links]).tips)
    if not tree.links and not mistakes:
        mistakes.append(
            Mistake(
                file, "rigid_body", "is missing: there is no body to transfer a state", "add one"
            )
        )
    if tips > MOST_TIPS:
        words_ = f"has {tips} tips, and an equation is written for at most {MOST_TIPS}"
        mistakes.append(Mistake(file, "--transfer", words_, "show a part of it"))
    if mistakes:
        raise MechanismError(mistakes)
    return overall(tree)


def _facts(of: TransferEquation) -> TransferFacts:
    return TransferFacts(
        of.root.name,
        tuple(tip.name for tip in of.tips),
        tuple(shown.legend(of)),
        tuple(shown.lines(of)),
        shown.latex(of),
    )
