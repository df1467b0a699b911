"""The assignments of one link in each sweep of the loops, over what is stored of it and of its parent.

The algebra is that of `chain.py` and `recursion.py`, on a link whose parent is a row of variables. A sweep leaves in
the link's record what a later one needs: the first places are the same in all links, for their children read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codegen.expressions.dag import Expr, Graph
from codegen.expressions.emit import Assign
from codegen.spatial.algebra import ZERO, Inertia, Matrix, Passage, Value, Wrench
from codegen.system.vectors import Vector, plus
from codegen.topology.joints import SINGLE
from codegen.tree.chain import ChainLink, Links
from codegen.tree.energy import moving
from codegen.tree.groups import Group, text_link
from codegen.tree.passages import passage
from codegen.tree.places import Places
from codegen.tree.recursion import Open, follow, open_joint
from codegen.tree.transmission import Loads, bias_of, carried, resisting, with_joint

OMEGA, ALPHA, A, OWN = 0, 3, 6, 9  # places in a link's record; from the last on its own affairs
AXES, ORIGIN, RATE, PLACE = 0, 9, 12, 15  # in the record of where it is; and the size of that
HAND = 27  # inertia (6, 9, 6), moment and force that a link hands to its parent
PASSING = ("given", "up", "there")  # arrays that another sweep finds changed
SYMMETRIC = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class LinkText:
    """One group's link beside its parent.

    Attributes
    ----------
    bind : dict of Expr to str
        Where each variable is: `number[]`, `q[]`, `qd[]`, `qdd[]`, `own[]` and `up[]` (records of the link and of its
        parent), `given[]` and `handed[]`, `load[]`, `here[]` and `there[]` (where the two are).
    size : int
        Of the record.
    """

    def __init__(self, graph: Graph, group: Group, gravity: Vector) -> None:
        self.graph, self.group = graph, group
        self.bind: dict[Expr, str] = {}
        self.size = OWN
        self.links = Links(graph)
        self.n = 0 if group.is_root else 1
        if not group.is_root:
            up = ChainLink("up", -1, "fixed", (), False, [], [], [], Passage([]))
            up.omega = self._triple("up", OMEGA)
            self.links.links.append(up)
        self._at = Open()
        self.link, acting, load = text_link(graph, group, self.n - 1, self.bind)
        self.loads = Loads(gravity=gravity)
        like = group.like
        if like.is_loaded or not like.force.is_zero:
            self.loads.forces[0] = acting
        if like.is_loaded:
            self.loads.wrenches[self.n] = load
        self.moves = self._move()
        self.hands = self._inwards()

    def place(self) -> list[Assign]:
        """Axes of the ground in the link's axes, its origin, and the rate of that in the axes of the ground."""
        places = self._places()
        value, rate, _ = places.origin(self.n)
        found = [e for way in places.axes(self.n) for e in way] + [*value, *rate]
        return [Assign(f"here[{k}]", self.graph.lift(e)) for k, e in enumerate(found)]

    def bend(self) -> list[Assign]:
        """Accelerations of the link, at given ones of its joint."""
        alpha, a = carried(self.link, self._motions(), self.loads)
        return self._motion(*with_joint(self.link, alpha, a, chain=self.links))

    def follow(self) -> list[Assign]:
        """Accelerations of the joint and of the link."""
        alpha, a = carried(self.link, self._motions(), self.loads)
        found, motion = follow(self.links, self.link, self._at, alpha, a)
        made = [Assign(f"qdd[{k}]", e) for k, e in sorted(found.items())]
        return made + self._motion(*motion)

    def transmit(self) -> list[Assign]:
        """The wrench that the joint hands to the link, and the share that reaches the parent."""
        motion = self._triple("own", ALPHA), self._triple("own", A)
        given = Wrench(
            *(_triple([self._var("given", "given", k + j) for j in range(3)]) for k in (0, 3))
        )
        found = resisting(self.links, self.link, self.loads, self.n, motion).plus(given)
        made = self._wrench("here", 0, found)
        if not self.group.is_root:
            made += self._wrench("handed", 0, self.link.passage.wrench_out(found))
        return made

    def energise(self) -> list[Assign]:
        """Kinetic energy, added to that of other links."""
        axes = [
            _triple([self._var("here", "here", AXES + 3 * i + j) for j in range(3)])
            for i in range(3)
        ]
        rate = [self._var("here", "here", RATE + i) for i in range(3)]
        v: Vector = ZERO
        for way, part in zip(axes, rate, strict=True):
            v = plus(v, (part * way[0], part * way[1], part * way[2]))
        so_far = self.graph.var("so far")
        self.bind[so_far] = "w->kinetic[0]"
        return [Assign("w->kinetic[0]", self.graph.total([(1.0, so_far), *moving(self.link, v)]))]

    def _move(self) -> list[Assign]:
        link, links = self.link, self.links
        numbers = self.group.values
        moved = links.moved(link, numbers)
        links.add(link, numbers, moved)
        links.move(link)
        made: list[Assign] = []
        kept = self._kept(moved, made)
        made += [Assign(f"own[{OMEGA + k}]", self.graph.lift(e)) for k, e in enumerate(link.omega)]
        link.bias_alpha = _triple(self._kept(link.bias_alpha, made))
        link.bias_a = _triple(self._kept(link.bias_a, made))
        link.omega = self._triple("own", OMEGA)
        link.passage = passage(link.kind, numbers, kept)
        return made

    def _inwards(self) -> list[Assign]:
        given = [self._var("given", "given", k) for k in range(HAND)]
        assert self.link.inertia is not None
        hanging = Inertia(
            _symmetric(given[:6]),
            [list[Value](given[k : k + 3]) for k in (6, 9, 12)],
            _symmetric(given[15:21]),
        )
        inertia = self.link.inertia.plus(hanging)
        pull = bias_of(self.links, self.link, self.loads, self.n).plus(
            Wrench(_triple(given[21:]), _triple(given[24:]))
        )
        at = Open()
        left, pull = open_joint(self.links, self.link, inertia, pull, self.loads, at)
        made: list[Assign] = []
        self._at = self._stored(at, made)
        if not self.group.is_root:
            out, wrench = self.link.passage.inertia_out(left), self.link.passage.wrench_out(pull)
            entries = [
                *(out.turning[i][j] for i, j in SYMMETRIC),
                *(e for row in out.coupling for e in row),
                *(out.moving[i][j] for i, j in SYMMETRIC),
                *wrench.moment,
                *wrench.force,
            ]
            made += [Assign(f"handed[{k}]", self.graph.lift(e)) for k, e in enumerate(entries)]
        return made

    def _stored(self, at: Open, made: list[Assign]) -> Open:
        """Keep the results of the inward sweep as variables of the record."""

        def matrix(m: Matrix, *, is_symmetric: bool = False) -> Matrix:
            if not is_symmetric:
                return [self._kept(row, made) for row in m]
            return _symmetric(self._kept([m[i][j] for i, j in SYMMETRIC], made))

        kept = Open()
        if self.link.is_guided:
            return kept
        if self.link.kind in SINGLE:
            kept.gain = self._kept_wrench(at.gain, made)
            (kept.drive,) = self._kept([at.drive], made)
            return kept
        assert at.inertia is not None
        if at.factor is not None:  # of a ball
            lower, inverse = at.factor
            kept.factor = ([self._kept(row, made) for row in lower], self._kept(inverse, made))
            kept.inertia = Inertia(
                at.inertia.turning, matrix(at.inertia.coupling), at.inertia.moving
            )
            kept.bias = Wrench(_triple(self._kept(at.bias.moment, made)), ZERO)
            return kept
        kept.inertia = Inertia(
            matrix(at.inertia.turning, is_symmetric=True),
            matrix(at.inertia.coupling),
            matrix(at.inertia.moving, is_symmetric=True),
        )
        kept.bias = self._kept_wrench(at.bias, made)
        return kept

    def _places(self) -> Places:
        places = Places(self.links)
        if not self.group.is_root:
            there = [self._var("there", "there", k) for k in range(PLACE)]
            places.begin(
                0,
                (_triple(there[0:]), _triple(there[3:]), _triple(there[6:])),
                (_triple(there[ORIGIN:]), _triple(there[RATE:]), ZERO),
            )
        return places

    def _motions(self) -> list[tuple[Vector, Vector]]:
        return [] if self.group.is_root else [(self._triple("up", ALPHA), self._triple("up", A))]

    def _motion(self, alpha: Vector, a: Vector) -> list[Assign]:
        return [
            Assign(f"own[{first + k}]", self.graph.lift(e))
            for first, part in ((ALPHA, alpha), (A, a))
            for k, e in enumerate(part)
        ]

    def _wrench(self, array: str, first: int, of: Wrench) -> list[Assign]:
        return [
            Assign(f"{array}[{first + k}]", self.graph.lift(e))
            for k, e in enumerate((*of.moment, *of.force))
        ]

    def _kept(self, values: Iterable[Value], made: list[Assign]) -> list[Value]:
        """Values as variables of the record; numbers, and what has a place already, as they are."""
        found: list[Value] = []
        for value in values:
            e = self.graph.lift(value)
            stays = self.bind.get(e, "given[").partition("[")[0] not in PASSING
            if e.is_const or stays:
                found.append(e)
                continue
            made.append(Assign(f"own[{self.size}]", e))
            found.append(self._var("own", "own", self.size))
            self.size += 1
        return found

    def _kept_wrench(self, of: Wrench, made: list[Assign]) -> Wrench:
        return Wrench(_triple(self._kept(of.moment, made)), _triple(self._kept(of.force, made)))

    def _triple(self, array: str, first: int) -> Vector:
        x, y, z = (self._var(array, array, first + k) for k in range(3))
        return (x, y, z)

    def _var(self, name: str, array: str, number: int) -> Expr:
        var = self.graph.var(f"{name} {number}")
        self.bind[var] = f"{array}[{number}]"
        return var


def _symmetric(entries: Sequence[Value]) -> Matrix:
    made: Matrix = [[0.0] * 3 for _ in range(3)]
    for (i, j), e in zip(SYMMETRIC, entries, strict=True):
        made[i][j] = made[j][i] = e
    return made


def _triple(values: Sequence[Value]) -> Vector:
    return (values[0], values[1], values[2])
