"""Links that can share one text: the same joint, and numbers that are zero or one in the same places.

A number that all links of a group have in common is a constant of their text; the others are columns of a table
with a row for each different link, so that a thousand equal links have one row.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from codegen.expressions.dag import Expr, Graph
from codegen.spatial.algebra import NO_WRENCH, Matrix, Passage, Value, Wrench
from codegen.tree.chain import Chain, ChainLink
from codegen.tree.passages import COUNT, numbers_of
from codegen.tree.transmission import Loads

MOST_GROUPS = 16  # of texts: beyond, links share them whatever numbers are zero
PLAIN = (0.0, 1.0, -1.0)
SECOND = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # order of second moments
LOAD = 7  # force of the joint, moment and force on the link, in its own axes
ROUNDED = 4e-14  # frames are cut to 14 digits: what follows from one a metre away is known to this


@dataclass(frozen=True)
class LoopLink:
    """One link as the loops see it.

    Attributes
    ----------
    number : int
        Of the tree's link.
    parent : int
        Place of the parent among these; -1: the ground.
    entries : tuple of Expr
        Numbers of the passage, mass, first moments (3), second moments (xx, yy, zz, xy, xz, yz), rotor, and those
        of the joint's own force; over parameters.
    force : Expr
        Of the joint, over `own q`, `own qd` and `force k`, the last entries.
    is_loaded : bool
        Whether something else acts on it, which is found before the sweeps.
    """

    number: int
    parent: int
    kind: str
    is_guided: bool
    coordinates: tuple[int, ...]
    entries: tuple[Expr, ...]
    force: Expr
    is_loaded: bool


@dataclass
class Group:
    """Links with one text; `values` are constants or `number k`, a column of the row of each."""

    members: list[int]
    like: LoopLink
    values: list[Value] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)

    @property
    def is_root(self) -> bool:
        return self.like.parent < 0


class TextLink(NamedTuple):
    """The link that a group's text is written for, what acts along its joint, and the load on it."""

    link: ChainLink
    acting: Expr
    load: Wrench


def text_link(graph: Graph, group: Group, parent: int, bind: dict[Expr, str]) -> TextLink:
    """Make the link of a group's text, over elements of `number`, `q`, `qd`, `qdd` and `load`, as `bind` gets them."""

    def var(name: str, array: str, k: int) -> Expr:
        made = graph.var(f"{name} {k}")
        bind[made] = f"{array}[{k}]"
        return made

    like, values = group.like, group.values
    first = COUNT[like.kind]
    n_forces = len(values) - first - 11
    forces: dict[Expr, Expr] = {}
    for k, value in enumerate(values):
        if isinstance(value, Expr):
            bind[value] = f"number[{value.name.split()[1]}]"
        if k >= first + 11:
            forces[graph.var(f"force {k - len(values) + n_forces}")] = graph.lift(value)
    places = range(len(like.coordinates))
    q, qd, qdd = ([var(f"own {array}", array, k) for k in places] for array in ("q", "qd", "qdd"))
    link = ChainLink(
        "own", parent, like.kind, tuple(places), like.is_guided, q, qd, qdd, Passage([])
    )
    if like.kind == "screw":
        link.lead = values[first - 1]
    mass, x, y, z, *second = values[first : first + 10]
    turning: Matrix = [[0.0] * 3 for _ in range(3)]
    for (i, j), value in zip(SECOND, second, strict=True):
        turning[i][j] = turning[j][i] = value
    link.weigh(mass, (x, y, z), turning)
    link.rotor = values[first + 10]
    if like.is_loaded:
        along, mx, my, mz, fx, fy, fz = (var("load", "load", k) for k in range(LOAD))
        return TextLink(link, along, Wrench((mx, my, mz), (fx, fy, fz)))
    acting = graph.zero if like.force.is_zero else graph.substitute(like.force, forces)
    return TextLink(link, acting, NO_WRENCH)


@dataclass
class Grouped:
    """All links in the order of the loops, their groups, and the rows of numbers.

    Attributes
    ----------
    group : list of int
        Of each link.
    row : list of int
        Where the numbers of each link begin in `numbers`.
    numbers : list of Expr
        Constants and expressions of parameters.
    """

    links: list[LoopLink]
    groups: list[Group]
    group: list[int]
    row: list[int]
    numbers: list[Expr]


def in_order(chain: Chain) -> list[int]:
    """Numbers of links, each after its parent and, where it may be, right after it."""
    links = chain.tree.links
    weight = [1] * len(links)
    children: list[list[int]] = [[] for _ in links]
    roots = []
    for n in reversed(range(len(links))):
        parent = links[n].parent
        if parent >= 0:
            weight[parent] += weight[n]
            children[parent].append(n)
        else:
            roots.append(n)
    found, waiting = [], roots
    while waiting:
        n = waiting.pop()
        found.append(n)
        waiting += sorted(children[n], key=lambda k: (weight[k], -k))
    return found


def loop_links(chain: Chain, loads: Loads, parameters: set[Expr]) -> list[LoopLink]:
    """The links of a chain in the order of the loops."""
    order = in_order(chain)
    place = {n: k for k, n in enumerate(order)}
    reach = max((float(np.max(np.abs(f[1:, 0]))) for f in chain.motion.frames), default=0.0)
    known = Known(ROUNDED * max(1.0, reach))
    return [_loop_link(chain, n, place, loads, parameters, known) for n in order]


class Known:
    """Numbers that have been met: one that is the same but for round-off is taken for it."""

    def __init__(self, apart: float) -> None:
        self._sorted, self._apart = sorted(PLAIN), apart

    def like(self, value: float) -> float:
        at = bisect.bisect(self._sorted, value)
        for other in self._sorted[max(0, at - 1) : at + 1]:
            if abs(other - value) <= self._apart * max(1.0, abs(value)):
                return other
        self._sorted.insert(at, value)
        return value


def _loop_link(
    chain: Chain,
    n: int,
    place: dict[int, int],
    loads: Loads,
    parameters: set[Expr],
    known: Known,
) -> LoopLink:
    graph, link = chain.graph, chain.links[n]
    assert link.inertia is not None
    turning = link.inertia.turning
    moments = [turning[i][j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    weights = [graph.lift(e) for e in (link.mass, *link.first, *moments, link.rotor)]
    entries = [graph.const(known.like(value)) for value in numbers_of(chain.motion, n)]
    entries += [graph.const(known.like(e.value)) if e.is_const else e for e in weights]
    force = loads.forces.get(link.coordinates[0], graph.zero) if len(link.q) == 1 else graph.zero
    inside = graph.variables(force)
    own = {link.q[0]: graph.var("own q 0"), link.qd[0]: graph.var("own qd 0")}
    is_local = all(v in own or v in parameters for v in inside)
    is_loaded = n in loads.wrenches or not is_local
    if is_local and not is_loaded:
        given = [v for v in inside if v in parameters]
        own |= {v: graph.var(f"force {k}") for k, v in enumerate(given)}
        force = graph.substitute(force, own)
        entries += given
    return LoopLink(
        number=n,
        parent=place.get(link.parent, -1),
        kind=link.kind,
        is_guided=link.is_guided,
        coordinates=link.coordinates,
        entries=tuple(entries),
        force=force if not is_loaded else graph.zero,
        is_loaded=is_loaded,
    )


def grouped(links: Sequence[LoopLink], graph: Graph) -> Grouped:
    """Find the groups, at most `MOST_GROUPS` by zeros and ones."""
    # copies of a link share its entries
    plain = {key: tuple(_plain(e)) for key, e in {id(k.entries): k.entries for k in links}.items()}
    keys = [(*_kind(link), plain[id(link.entries)]) for link in links]
    if len(set(keys)) > MOST_GROUPS:
        keys = [_kind(link) for link in links]
    members: dict[tuple, list[int]] = {}
    for k, key in enumerate(keys):
        members.setdefault(key, []).append(k)
    made = Grouped(list(links), [], [0] * len(links), [0] * len(links), [])
    for number, found in enumerate(members.values()):
        group = Group(found, links[found[0]])
        different = {id(links[k].entries): links[k].entries for k in found}.values()
        for column, values in enumerate(zip(*different, strict=True)):
            if values[0].is_const and all(e is values[0] for e in values):
                group.values.append(values[0].value)
            else:
                group.values.append(graph.var(f"number {len(group.columns)}"))
                group.columns.append(column)
        rows: dict[tuple, int] = {}
        for k in found:
            made.group[k] = number
            row = tuple(links[k].entries[c] for c in group.columns)
            if row not in rows:
                rows[row] = len(made.numbers)
                made.numbers += row
            made.row[k] = rows[row]
        made.groups.append(group)
    return made


def _kind(link: LoopLink) -> tuple:
    is_root = link.parent < 0
    return link.kind, is_root, link.is_guided, link.is_loaded, link.force, len(link.entries)


def _plain(entries: Sequence[Expr]) -> Iterator[float | None]:
    for e in entries:
        yield e.value if e.is_const and e.value in PLAIN else None
