"""The overall transfer equation of a tree, from its graph alone: which block stands where, as data.

Bodies and joints are elements with one numbering, tips first. A state goes from a tip through the elements on its
way; where several ways meet, the joints of the body with several inputs are one element, too, with the number after
that body's:

    main row       -z_root + sum over tips of (product of the elements on the tip's way) z_tip = 0
    rows (j, k)    of a body with inputs 1 to L, for k = 2 to L: where input k is follows from input 1, and its joint
    has no moment,
                   sum over tips of (H_{O1,Ik} U_{j,Ii} - [i = k] H_{a,m}) (product up to input i) z_tip = 0

Source: Rui, Wang, Zhang and others 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codegen.topology.tree import Tree
from codegen.transfer.network import Chain, Network, network

Kind = Literal["body", "joint", "inputs", "joints"]
Matrix = Literal["U", "H_out", "H_in"]


@dataclass(frozen=True)
class Element:
    """A body, a joint, or all joints of a body with several inputs.

    Attributes
    ----------
    number : int
        As in the equation.
    kind : str
        "body" or "joint"; "inputs" is a body with several of them, "joints" all its joints as one element.
    name : str
        Of the body; of a joint its coordinates.
    joint : str
        turn, slide, ball or free; of a body that of its output.
    count : int
        Inputs.
    """

    number: int
    kind: Kind
    name: str
    joint: str
    count: int = 1


@dataclass(frozen=True)
class Factor:
    """A matrix of an element: `U`, its transfer matrix, from one of its inputs where there are several joints; `H_out`
    takes where an input is from the first one, `H_in` the same from the input itself.
    """

    matrix: Matrix
    element: Element
    number: int = 0


@dataclass(frozen=True)
class Term:
    """A product, the last factor first in the way of a state; without factors the unit matrix."""

    sign: int
    factors: tuple[Factor, ...]


@dataclass(frozen=True)
class Row:
    """Block row: the main one, or that of an input of a body with several.

    Attributes
    ----------
    of : Element, optional
        The joints of that body; None: the main row.
    number : int
        The input.
    """

    of: Element | None
    number: int = 0


@dataclass(frozen=True)
class TransferEquation:
    """U_all z_all = 0 of one tree on the ground.

    Attributes
    ----------
    elements : tuple of Element
        By their numbers, from 1 on.
    root : Element
        The body whose output is on the ground.
    tips : tuple of Element
        The bodies with a free input.
    rows : tuple of Row
    blocks : dict of (int, int) to tuple of Term
        Sums of products by row and column: column 0 is that of the root, then those of the tips. A block that is not
        there is zero.
    """

    elements: tuple[Element, ...]
    root: Element
    tips: tuple[Element, ...]
    rows: tuple[Row, ...]
    blocks: dict[tuple[int, int], tuple[Term, ...]]


def overall(tree: Tree) -> list[TransferEquation]:
    """The equations of all trees on the ground, as the graph has them."""
    names = [link.name if link.bodies else f"{link.name} (no mass)" for link in tree.links]
    joints = [
        ", ".join(tree.coordinates[i].name for i in link.coordinates[:1])
        if len(link.coordinates) == 1
        else f"{link.kind} of {link.name}"
        for link in tree.links
    ]
    kinds = [str(link.kind) for link in tree.links]
    return equations([link.parent for link in tree.links], names, joints, kinds)


def equations(
    parents: Sequence[int], names: Sequence[str], joints: Sequence[str], kinds: Sequence[str]
) -> list[TransferEquation]:
    """The equations of trees whose links have these parents."""
    found = network(parents)
    made, begin = [], 0
    for root in found.roots:
        made.append(_equation(found, found.chains[begin : root + 1], begin, names, joints, kinds))
        begin = root + 1
    return made


def _equation(
    of: Network,
    chains: Sequence[Chain],
    begin: int,
    names: Sequence[str],
    joints: Sequence[str],
    kinds: Sequence[str],
) -> TransferEquation:
    elements: list[Element] = []

    def add(kind: Kind, name: str, joint: str, count: int = 1) -> Element:
        elements.append(Element(len(elements) + 1, kind, name, joint, count))
        return elements[-1]

    # the ways of the tips to the end of each chain, and what a body with several inputs has of each of its own
    ways: list[dict[int, tuple[Factor, ...]]] = []
    tips: list[Element] = []
    rows: list[Row] = [Row(None)]
    blocks: dict[tuple[int, int], tuple[Term, ...]] = {}
    for chain in chains:
        way: dict[int, tuple[Factor, ...]] = {}
        steps: list[Factor] = []
        for place, link in enumerate(chain.links):
            inputs = of.inputs.get(link, [])
            body = add(
                "inputs" if inputs else "body", names[link], kinds[link], max(1, len(inputs))
            )
            if place == 0 and not inputs:
                way[len(tips)] = ()
                tips.append(body)
            elif inputs:
                hub = add("joints", names[link], "", len(inputs))
                _meet(hub, [ways[n - begin] for n in inputs], way, rows, blocks)
            steps.append(Factor("U", body))
            if link != chain.links[-1]:
                steps.append(Factor("U", add("joint", joints[link], kinds[link])))
        if chain.hub >= 0:
            # one of the joints of the body that the chain ends on
            add("joint", joints[chain.links[-1]], kinds[chain.links[-1]])
        ways.append({tip: (*reversed(steps), *before) for tip, before in way.items()})
    blocks[0, 0] = (Term(-1, ()),)
    for tip, factors in ways[-1].items():
        blocks[0, 1 + tip] = (Term(1, factors),)
    root = next(e for e in reversed(elements) if e.kind in ("body", "inputs"))
    return TransferEquation(tuple(elements), root, tuple(tips), tuple(rows), blocks)


def _meet(
    hub: Element,
    ways: Sequence[dict[int, tuple[Factor, ...]]],
    way: dict[int, tuple[Factor, ...]],
    rows: list[Row],
    blocks: dict[tuple[int, int], tuple[Term, ...]],
) -> None:
    """Put the ways of a body's inputs together, and add the rows that say where its further inputs are."""
    for k, before in enumerate(ways, 1):
        for tip, factors in before.items():
            way[tip] = (Factor("U", hub, k), *factors)
    for k in range(2, len(ways) + 1):
        rows.append(Row(hub, k))
        for i, before in enumerate(ways, 1):
            for tip, factors in before.items():
                terms = [Term(1, (Factor("H_out", hub, k), Factor("U", hub, i), *factors))]
                if i == k:
                    terms.append(Term(-1, (Factor("H_in", hub, k), *factors)))
                blocks[len(rows) - 1, 1 + tip] = tuple(terms)
