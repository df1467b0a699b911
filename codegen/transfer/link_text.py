"""The assignments of one link in each sweep of the transfer matrix method, over its record and that of its parent.

The algebra is that of `riccati.py`, on a link whose parent is a row of variables. What a sweep leaves for a later one
is in the link's record: the first places are those that children read, then what is the link's own affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codegen.expressions.dag import Expr, Graph
from codegen.expressions.emit import Assign
from codegen.spatial.algebra import NO_WRENCH, ZERO, Inertia, Matrix, Value, Wrench, apply
from codegen.system.vectors import Vector, cross, dot, minus, plus, times
from codegen.topology.joints import SINGLE
from codegen.transfer import riccati
from codegen.transfer.pattern import Pattern
from codegen.transfer.riccati import Opened
from codegen.transfer.variables import (
    ALPHA,
    HAND,
    OMEGA,
    RECORD,
    SYMMETRIC,
    A,
    Variables,
    full,
    rows_of,
    triple,
)
from codegen.tree.chain import Links
from codegen.tree.groups import Group, text_link
from codegen.tree.passages import passage
from codegen.tree.recursion import Open, let_go, open_joint
from codegen.tree.transmission import Loads

ORIGIN, RATE, PLACE = 0, 3, 6  # in the record of where a link is
NOTHING = "nothing hangs on it"


class TransferText(Variables):
    """One group's link beside its parent.

    Parameters
    ----------
    pattern : Pattern
        What is the same in all links.
    shown : frozenset of int
        Components of the joint's moment and force that outputs ask for.

    Attributes
    ----------
    bind : dict of Expr to str
        The element of an array that each variable stands for, as in `codegen.tree.link_text`.
    size : int
        Of the record.
    """

    def __init__(
        self,
        graph: Graph,
        group: Group,
        gravity: Vector,
        pattern: Pattern,
        shown: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(graph, pattern)
        self.group, self.shown = group, shown
        self.links = Links(graph)
        self.up = (
            riccati.ground(gravity)
            if group.is_root
            else [self.component("up", k) for k in range(RECORD)]
        )
        self.link, self.acting, self.load = text_link(graph, group, -1, self.bind)
        self.record: list[Expr] = []
        self.hands: list[Expr] = []
        self.axis = riccati.Axis(ZERO, ZERO)
        self.opened, self.ball = Opened(), Open()
        self._move()
        moved = len(self.kept)
        self._inwards()
        carried = len(self.kept)
        self._follow()
        self._store(moved, carried)

    @property
    def is_single(self) -> bool:
        return self.link.kind in SINGLE

    def _move(self) -> None:
        link, up = self.link, self.up
        numbers = self.group.values
        way = passage(link.kind, numbers, self.links.moved(link, numbers))
        before = rows_of(up)
        omega = triple(up[OMEGA:])
        rows = [way.into(row) for row in before]
        self.record += [self.graph.lift(e) for row in rows for e in row]
        r = riccati.out(before, way.origin)
        rate = riccati.out(rows, self.links.rate_of(link))
        self.record += [self.graph.lift(e) for e in plus(omega, rate)]
        bias = cross(omega, cross(omega, r))
        if link.kind in ("slide", "screw"):
            travel = riccati.out(rows, link.way(link.qd[0])[1])
            bias = plus(bias, cross(times(2.0, omega), travel))
        self.r = self.keep_vector(r)
        self.bias = self.keep_vector(cross(omega, rate)), self.keep_vector(bias)
        self.own = [self.component("own", k) for k in range(RECORD)]
        self.rows = rows_of(self.own)
        if self.is_single:
            turning, travel = link.way(1.0)
            self.axis = riccati.Axis(
                riccati.out(self.rows, turning), riccati.out(self.rows, travel)
            )

    def _inwards(self) -> None:
        link, graph = self.link, self.graph
        assert link.inertia is not None
        axes = self.rows
        own = riccati.inertia_of(link.mass, link.first, link.inertia.turning, axes)
        given = [self.given(k) for k in range(HAND)]
        hanging = Inertia(
            full(given[:6]),
            [list[Value](given[k : k + 3]) for k in (6, 9, 12)],
            full(given[15:21]),
        )
        inertia = own.plus(hanging)
        if graph.lift(inertia.moving[0][0]).is_zero:
            inertia = inertia.plus(self._unknown())
        pull = riccati.resistance(own, triple(self.own[OMEGA:]))
        if self.load is not NO_WRENCH:
            push = Wrench(*(riccati.out(axes, v) for v in self.load))
            pull = riccati.unloaded(pull, push)
        pull = pull.plus(Wrench(triple(given[21:]), triple(given[24:])))
        self.state = (
            Inertia(
                full([self.keep(inertia.turning[i][j]) for i, j in SYMMETRIC]),
                [[self.keep(e) for e in row] for row in inertia.coupling],
                full([self.keep(inertia.moving[i][j]) for i, j in SYMMETRIC]),
            ),
            Wrench(self.keep_vector(pull.moment), self.keep_vector(pull.force)),
        )
        state = self._open(inertia, pull)
        if self.group.is_root:
            return
        rest, wrench = riccati.handed(state, self.r)
        entries = [
            *(rest.turning[i][j] for i, j in SYMMETRIC),
            *(e for row in rest.coupling for e in row),
            *(rest.moving[i][j] for i, j in SYMMETRIC),
            *wrench.moment,
            *wrench.force,
        ]
        self.hands = [graph.lift(e) for e in entries]

    def _unknown(self) -> Inertia:
        """An inertia in place of that of a link without mass, as long as nothing is known to hang on it."""
        e, zero = self.graph.var(NOTHING), 0.0
        some: Matrix = [[e if i == j else zero for j in range(3)] for i in range(3)]
        return Inertia(some, [[zero] * 3 for _ in range(3)], some)

    @property
    def is_light(self) -> bool:
        """Return whether neither the link nor anything on it has mass."""
        found = [*self.qdd, *(e for _, e in self._stored)]
        return any(v.name == NOTHING for e in found for v in self.graph.variables(e))

    def _open(self, inertia: Inertia, pull: Wrench) -> tuple[Inertia, Wrench]:
        """S and e on the inner side of the joint; keeps what the way back needs."""
        link, graph = self.link, self.graph
        if link.is_guided:
            bias = riccati.moved(self.axis, link.qdd[0], *self.bias)
            return inertia, pull.plus(inertia.times(*bias))
        if self.is_single:
            state = riccati.opened(
                graph, (inertia, pull), self.axis, acting=self.acting, rotor=link.rotor,
                bias=self.bias, at=self.opened,
            )  # fmt: skip
            gain, drive = self.opened.gain, self.opened.drive
            kept = Wrench(self.keep_vector(gain.moment), self.keep_vector(gain.force))
            self.opened = Opened(kept, self.keep(drive))
            return state
        link.bias_alpha, link.bias_a = self.bias
        state = open_joint(self.links, link, inertia, pull, Loads(), self.ball)
        self.ball.inertia, self.ball.bias = self.state
        if self.ball.factor is not None:
            lower, inverse = self.ball.factor
            self.ball.factor = (
                [[self.keep(e) for e in row] for row in lower],
                [self.keep(e) for e in inverse],
            )
        return state

    def _follow(self) -> None:
        link, graph = self.link, self.graph
        self.qdd: list[Expr] = []
        inner = riccati.carried(triple(self.up[ALPHA:]), triple(self.up[A:]), self.r, self.bias)
        if link.is_guided:
            motion = riccati.moved(self.axis, link.qdd[0], *inner)
        elif self.is_single:
            qdd = graph.lift(riccati.followed(self.opened, *inner))
            self.qdd = [qdd]
            motion = riccati.moved(self.axis, qdd, *inner)
        else:
            motion = let_go(self.ball, link, inner[1])
            turning = riccati.into(self.rows, minus(motion[0], inner[0]))
            travel = minus(motion[1], inner[1]) if link.kind == "free" else ()
            turned = self.links.rates_of_quaternion(link, turning)
            self.qdd = [graph.lift(e) for e in (*travel, *turned)]
        self.record += [graph.lift(e) for part in motion for e in part]
        found = riccati.weighed(self.state, *motion)
        self.shows = {
            k: graph.lift(e) for k, e in enumerate((*found.moment, *found.force)) if k in self.shown
        }

    def place(self) -> list[Assign]:
        """Origin of the link and its rate."""
        value, rate = (
            (ZERO, ZERO)
            if self.group.is_root
            else (
                triple([self.var("there", "there", first + k) for k in range(3)])
                for first in (ORIGIN, RATE)
            )
        )
        swung = cross(triple(self.up[OMEGA:]), self.r)
        if self.link.kind in ("slide", "screw"):
            swung = plus(swung, times(self.link.qd[0], self.axis.travel))
        elif self.link.kind == "free":
            swung = plus(swung, riccati.out(rows_of(self.up), triple(self.link.qd)))
        found = (*plus(value, self.r), *plus(rate, swung))
        return [Assign(f"here[{k}]", self.graph.lift(e)) for k, e in enumerate(found)]

    def energise(self) -> list[Assign]:
        """Kinetic energy, added to that of other links."""
        link, graph = self.link, self.graph
        assert link.inertia is not None
        v = triple([self.var("here", "here", RATE + i) for i in range(3)])
        omega = triple(self.own[OMEGA:])
        spin = riccati.into(self.rows, omega)
        so_far = graph.var("so far")
        self.bind[so_far] = "w->kinetic[0]"
        terms = [
            (1.0, so_far),
            (0.5, graph.lift(dot(spin, apply(link.inertia.turning, spin)))),
            (0.5, link.mass * graph.lift(dot(v, v))),
            (1.0, graph.lift(dot(v, cross(omega, riccati.out(self.rows, link.first))))),
            (0.5, link.rotor * (link.qd[0] * link.qd[0])),
        ]
        return [Assign("w->kinetic[0]", graph.total(terms))]

    def reads(self, hands: Iterable[int]) -> set[int]:
        """Components of S and e that a link needs to be given, to find its own and to hand on some."""
        asked = [e for _, e in self._stored] + [self.hands[k] for k in hands if self.hands]
        names = [v.name.split() for e in asked for v in self.graph.variables(e)]
        return {int(name[1]) for name in names if name[0] == "given"}

    def moves(self) -> list[Assign]:
        """Axes and rates of the link, and what the joint does."""
        return self._components(0, ALPHA) + self._of(self._first)

    def inwards(self) -> list[Assign]:
        """Numbers that the way back needs; S and e for the parent."""
        found = self._of(self._second)
        if self.hands:
            found += [
                Assign(f"handed[{place}]", self.hands[k])
                for k, place in self.pattern.handed.items()
            ]
        return found

    def follow(self) -> list[Assign]:
        """Accelerations of joint and link, and the joint's moment and force."""
        found = [Assign(f"qdd[{k}]", e) for k, e in enumerate(self.qdd)]
        found += self._components(ALPHA, RECORD)
        places = {k: place for place, k in enumerate(sorted(self.shown))}
        return found + [Assign(f"shows[{places[k]}]", e) for k, e in self.shows.items()]

    def _components(self, first: int, last: int) -> list[Assign]:
        return [
            Assign(f"own[{self.pattern.place[k]}]", self.record[k])
            for k in range(first, last)
            if k in self.pattern.place
        ]

    def _of(self, kept: Sequence[tuple[Expr, Expr]]) -> list[Assign]:
        return [Assign(self.bind[var], e) for var, e in kept]

    def _store(self, moved: int, carried: int) -> None:
        """Places in the record for all that a later sweep reads; nothing else is kept."""
        graph = self.graph
        late = [*self.qdd, *self.record[ALPHA:], *self.shows.values()]
        read = {v for e in late for v in graph.variables(e)}
        second = [pair for pair in self.kept[moved:carried] if pair[0] in read]
        # what no link makes use of is handed on by none
        hands = self.hands and [self.hands[k] for k in sorted(self.pattern.wanted)]
        later = [e for _, e in second] + list(hands) + [a.expr for a in self.place()]
        read |= {v for e in later for v in graph.variables(e)}
        first = [pair for pair in self.kept[:moved] if pair[0] in read]
        self._first, self._second = first, second
        self._stored = [*first, *second]
        self.size = len(self.pattern.place)
        for var, _ in self._stored:
            self.bind[var] = f"own[{self.size}]"
            self.size += 1
