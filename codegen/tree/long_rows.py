"""Rows of a thousand links and more: the tree of their ends, and copies of one repetition between them.

Of a long row the file's reader writes out three repetitions at each end (`codegen/description/repeat.py`). All is found
for that short tree: frames, masses, forces, outputs. Where its third and fourth repetition are the same, link by link,
the third one is copied as often as the count says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from codegen.description.mechanism import Mechanism, MechanismError
from codegen.expressions.dag import Expr
from codegen.system.quantities import LongRow
from codegen.system.system import Coordinate
from codegen.tree.groups import LoopLink, loop_links
from codegen.tree.mechanism import TreeMechanism
from rig_configs.mistakes import Mistake

COPIED = 3  # repetition that the others are copies of
DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Lengthened:
    """A tree with all its links.

    Attributes
    ----------
    made : Mechanism
        With the coordinates of all of them.
    places : list of int
        Place among the links of each link of the short tree.
    moves : dict of Expr to Expr
        Accelerations of the short tree's coordinates: those of all of them have other numbers.
    """

    made: Mechanism
    links: list[LoopLink]
    places: list[int]
    moves: dict[Expr, Expr] = field(default_factory=dict)

    def put(self, e: Expr) -> Expr:
        """An expression of the short tree with accelerations by their new numbers."""
        return e.graph.substitute(e, self.moves) if self.moves else e


@dataclass(frozen=True)
class _Block:
    """Links of the short tree that are copied, from `begin` to before `end`, and how many copies come on top."""

    row: LongRow
    begin: int
    end: int
    more: int


def lengthened(tree: TreeMechanism) -> Lengthened:
    """The links of a tree, and those of its long rows.

    Raises
    ------
    MechanismError
        The repetitions of a row are not the same, or do not hang on each other one after the other.
    """
    parameters = {p.var for p in tree.made.system.parameters}
    short = loop_links(tree.chain, tree.loads, parameters)
    rows = tree.source.system.longer
    if not rows:
        return Lengthened(tree.made, short, list(range(len(short))))
    mistakes: list[Mistake] = []
    blocks = sorted((_block(tree, short, row, mistakes) for row in rows), key=lambda b: b.begin)
    mistakes += _energies(tree)
    if mistakes:
        raise MechanismError(mistakes)
    return _copied(tree, short, blocks)


def _block(
    tree: TreeMechanism, short: list[LoopLink], row: LongRow, mistakes: list[Mistake]
) -> _Block:
    place = {link.number: k for k, link in enumerate(short)}
    last = [
        max(place.get(tree.chain.tree.place[body], -1) for body in bodies) for bodies in row.bodies
    ]
    begins = [k + 1 for k in last]
    (begin, end), then = begins[COPIED - 2 : COPIED], begins[COPIED]
    problem = ""
    if min(last) < 0 or then - end != end - begin or end <= begin:
        problem = "are no row: each has to hang on the one before it, and all on the one at its end"
    elif not all(
        _same(tree, a, b, k)
        for k, (a, b) in enumerate(zip(short[begin:end], short[end:then], strict=True), begin)
    ):
        problem = "are not the same: their third and fourth differ, or something else acts on them"
    if problem:
        words = f"{row.count} repetitions {problem}"
        remedy = "repeat it at most 1000 times, which are written out, or make them equal"
        mistakes.append(Mistake(tree.source.system.file, f"repeat.{row.name}", words, remedy))
    return _Block(row, begin, end, row.count - len(row.bodies))


def _same(tree: TreeMechanism, a: LoopLink, b: LoopLink, at: int) -> bool:
    coordinates = tree.made.system.coordinates
    starts = zip(a.coordinates, b.coordinates, strict=False)
    return (
        (a.kind, a.entries, a.force) == (b.kind, b.entries, b.force)
        and not (a.is_guided or b.is_guided or a.is_loaded or b.is_loaded)
        and a.parent == at - 1
        and all(
            abs(coordinates[i].initial - coordinates[j].initial) < 1e-12
            and abs(coordinates[i].initial_rate - coordinates[j].initial_rate) < 1e-12
            for i, j in starts
        )
    )


def _energies(tree: TreeMechanism) -> list[Mistake]:
    """Energies are found for links that are written out only."""
    words = "the potential energy of a row of more than 1000 repetitions is not found"
    return [
        Mistake(tree.source.system.file, f"outputs.{output.port}", words, "leave it out")
        for output in tree.source.outputs
        if output.path in ("outputs/energy", "outputs/energy.potential")
    ]


def _copied(tree: TreeMechanism, short: list[LoopLink], blocks: list[_Block]) -> Lengthened:
    source: list[tuple[int, _Block | None, int]] = []  # of each link: that it is like, and its copy
    places, at = [0] * len(short), 0
    for block in blocks:
        source += [(k, None, 0) for k in range(at, block.end)]
        for copy in range(1, block.more + 1):
            source += [(k, block, copy) for k in range(block.begin, block.end)]
        at = block.end
    source += [(k, None, 0) for k in range(at, len(short))]
    for place, (k, of, _) in enumerate(source):
        if of is None:
            places[k] = place
    system = tree.made.system
    coordinates: list[Coordinate] = []
    links: list[LoopLink] = []
    graph = system.graph
    for place, (k, of, copy) in enumerate(source):
        link = short[k]
        first = len(coordinates)
        for i in link.coordinates:
            old = system.coordinates[i]
            q, qd, name = old.q, old.qd, old.name
            if of is not None:
                like = short[k - (of.end - of.begin)].coordinates[i - link.coordinates[0]]
                name = _named(name, system.coordinates[like].name, COPIED + copy)
                q, qd = graph.var(f"q {name}"), graph.var(f"qd {name}")
            coordinates.append(
                Coordinate(len(coordinates), name, old.unit, old.initial, old.initial_rate, q, qd)
            )
        parent = place - 1 if link.parent == k - 1 else places[link.parent]
        links.append(
            LoopLink(
                link.number,
                parent if link.parent >= 0 else -1,
                link.kind,
                link.is_guided,
                tuple(range(first, len(coordinates))),
                link.entries,
                link.force,
                link.is_loaded,
            )
        )
    by_name = {c.name: c for c in coordinates}
    guides = [replace(g, coordinate=by_name[g.coordinate.name]) for g in system.guides]
    moves = {
        graph.var(f"qdd {c.index}"): graph.var(f"qdd {by_name[c.name].index}")
        for c in system.coordinates
    }
    made = replace(system, coordinates=coordinates, guides=guides)
    long = Lengthened(replace(tree.made, system=made), links, places, moves)
    made.values = {path: long.put(e) for path, e in made.values.items()}
    return long


def _named(name: str, before: str, number: int) -> str:
    """The name of a coordinate of the third repetition, for another one; `before` is that of the second."""
    parts = zip(DIGITS.split(name), DIGITS.split(before), strict=True)
    return "".join(str(number) if part != other else part for part, other in parts)
