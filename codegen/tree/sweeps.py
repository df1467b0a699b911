"""Sweeps over the links of a tree as loops in C: from the ground outwards, and from the tips inwards.

A loop goes through tables that say of each link where its parent, coordinates and numbers are and which group's text
is its own. On the way inwards a link leaves what it hands on to the next one of the loop, which mostly is its parent;
where it is not, in a place that the parent looks up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from codegen.equations.program import LoopText, Routine
from codegen.expressions.emit import LATENCY, Assign, C, Cost, Emitter, Flow
from codegen.expressions.index_tables import even_index, static_table
from codegen.tree.groups import LOAD, Grouped
from codegen.tree.link_text import HAND, PLACE
from codegen.tree.stored import HANDED

FRESH, JOINS, BESIDE = (
    1,
    2,
    4,
)  # of a link: none hands on to it in passing; others do by its place; it does
INDENT = " " * 4


class Sweeps:
    """The loops over one tree.

    Parameters
    ----------
    texts : sequence of LinkText
        One of each group of links.

    Attributes
    ----------
    size : int
        Of a link's record.
    hand : int
        Numbers that a link hands to its parent.
    arrays : dict of str to int
        Of the work space.
    """

    hand = HAND

    def __init__(self, links: Grouped, texts: Sequence[Any]) -> None:
        self.links = links
        self.texts = list(texts)
        self.size = max(text.size for text in self.texts)
        self.count = len(links.links)
        self.parents = [link.parent for link in links.links]
        self._find_joins()
        self.loaded = [k for k, link in enumerate(links.links) if link.is_loaded]
        self.tables: list[str] = []
        self._columns = self._tabled()
        self.arrays = {
            "link": self.size * self.count,
            "join": self.hand * len(self.joins),
            "load": LOAD * len(self.loaded),
            "number": len(links.numbers),
        }

    def routines(self) -> list[Routine]:
        """Every sweep by itself; `articulate` has the way inwards and the one back."""
        inwards = self._inwards(HAND, lambda text: text.hands, "join")
        outwards = self._outwards(lambda text: text.follow())
        return [
            self._routine("move", "what joints do, and rates of the links", [self._outwards(lambda t: t.moves)]),
            self._routine("place", "where the links are", [self._outwards(lambda t: t.place())]),
            self._routine("bend", "accelerations of the links", [self._outwards(lambda t: t.bend())]),
            self._routine(
                "transmit", "what joints hand on",
                [self._inwards(HANDED, lambda t: t.transmit(), "handed")],
            ),
            self._routine(
                "energise", "kinetic energy",
                [(["w->kinetic[0] = 0.0;", *(made := self._outwards(lambda t: t.energise()))[0]], *made[1:])],
            ),
            self._routine("articulate", "qdd at q and qd, by articulated inertias", [inwards, outwards]),
        ]  # fmt: skip

    def numbers(self) -> tuple[str, list[Assign]]:
        """The table of the links' numbers without parameters, and the numbers that follow from parameters."""
        numbers = self.links.numbers
        fixed = [repr(e.value if e.is_const else 0.0) for e in numbers]
        follow = [
            Assign(f"w->number[{k}]", e, "of links")
            for k, e in enumerate(numbers)
            if not e.is_const
        ]
        return static_table("double", "NUMBERS", fixed or ["0.0"]), follow

    def _find_joins(self) -> None:
        """Links that others than the next one hand on to."""
        beside = {p for k, p in enumerate(self.parents) if p >= 0 and p != k - 1}
        self.joins = {p: place for place, p in enumerate(sorted(beside))}
        self.flags = [0] * self.count
        for k, p in enumerate(self.parents):
            has_next = k + 1 < self.count and self.parents[k + 1] == k
            self.flags[k] |= 0 if has_next else FRESH
            self.flags[k] |= JOINS if k in self.joins else 0
            self.flags[k] |= BESIDE if 0 <= p != k - 1 else 0

    def _tabled(self) -> dict[str, str]:
        """Text of each number of a link in a loop over n."""
        links = self.links
        joins = [self.joins.get(k, 0) for k in range(self.count)]
        loads = {k: place for place, k in enumerate(self.loaded)}
        return {
            "GROUP": self._column("GROUP", links.group),
            "ROW": self._column("ROW", links.row),
            "AT": self._column("AT", [link.coordinates[0] for link in links.links]),
            "PARENT": self._parent(),
            "FLAGS": self._column("FLAGS", self.flags),
            "JOIN": self._column("JOIN", joins),
            "LOAD": self._column("LOAD", [loads.get(k, 0) for k in range(self.count)]),
        }

    def _parent(self) -> str:
        if all(p == k - 1 for k, p in enumerate(self.parents)):
            return "n - (n > 0)"
        return self._column("PARENT", [max(0, p) for p in self.parents])

    def _column(self, name: str, values: Sequence[int]) -> str:
        even = even_index(list(values), "n")
        if even is not None:
            return even
        largest = max(values)
        kind = "unsigned char" if largest < 256 else "unsigned short" if largest < 65536 else "int"
        self.tables.append(static_table(kind, f"LINK_{name}", [str(v) for v in values]))
        return f"LINK_{name}[n]"

    def _routine(self, name: str, title: str, parts: list[tuple[list[str], Cost]]) -> Routine:
        cost = Cost()
        for _, work in parts:
            cost = cost.plus(work)
        flow = Flow()
        start = flow.cell("s->q[0]")
        link = round(cost.path / LATENCY["fma"])
        flow.results["s->qdd[0]"] = flow.repeated(float(LATENCY["fma"]), start, link)
        return Routine(name, title, [], loop=LoopText([lines for lines, _ in parts], cost, flow))

    def _outwards(self, assigns: Callable[[Any], list[Assign]]) -> tuple[list[str], Cost]:
        inner, cost = self._cases(assigns)
        head = f"for (int n = 0; n < {self.count}; n++) {{"
        return [head, *_indented([*self._pointers(inner), *inner]), "}"], cost

    def _inwards(
        self, size: int, assigns: Callable[[Any], list[Assign]], place: str
    ) -> tuple[list[str], Cost]:
        inner, cost = self._cases(assigns)
        each = f"for (int k = 0; k < {size}; k++)"
        lines = [f"double hand[2][{size}];"]
        inner = [
            "const double *const given = hand[n & 1];",
            "double *const handed = hand[1 - (n & 1)];",
            *inner,
        ]
        flags = self._columns["FLAGS"]
        before = [f"if ({flags} & {FRESH})", f"    {each}", "        hand[n & 1][k] = 0.0;"]
        after: list[str] = []
        if self.joins:
            at = f"w->join + {self.hand} * "
            join = f"{at}({self._columns['JOIN']})"
            parent = self._columns["JOIN"].replace("[n]", f"[{self._columns['PARENT']}]")
            lines.append(
                f"for (int k = 0; k < {self.hand * len(self.joins)}; k++)\n        w->join[k] = 0.0;"
            )
            before += [
                f"if ({flags} & {JOINS})",
                f"    {each}",
                f"        hand[n & 1][k] += ({join})[k];",
            ]
            after = [
                f"if ({flags} & {BESIDE})",
                f"    {each}",
                f"        ({at}({parent}))[k] += handed[k];",
            ]
        head = f"for (int n = {self.count - 1}; n >= 0; n--) {{"
        pointers = self._pointers(inner, here="handed" if place == "handed" else "place")
        return [*lines, head, *_indented([*before, *pointers, *inner, *after]), "}"], cost

    def _pointers(self, inner: list[str], here: str = "place") -> Iterator[str]:
        text = "\n".join(inner)
        for name, kind, where in self._arrays(here):
            if re.search(rf"(?<![\w>]){name}\[", text):
                yield f"{kind} *const {name} = {where};"

    def _arrays(self, here: str) -> list[tuple[str, str, str]]:
        """Arrays of a link: name, kind and place."""
        at, size = self._columns, self.size
        wide = PLACE if here == "place" else HANDED
        return [
            ("number", "const double", f"w->number + {_times(1, at['ROW'])}"),
            ("q", "const double", f"s->q + {_times(1, at['AT'])}"),
            ("qd", "const double", f"s->qd + {_times(1, at['AT'])}"),
            ("qdd", "double", f"s->qdd + {_times(1, at['AT'])}"),
            ("own", "double", f"w->link + {_times(size, 'n')}"),
            ("up", "const double", f"w->link + {_times(size, at['PARENT'])}"),
            ("load", "const double", f"w->load + {_times(LOAD, at['LOAD'])}"),
            ("here", "double", f"w->{here} + {_times(wide, 'n')}"),
            ("there", "const double", f"w->{here} + {_times(wide, at['PARENT'])}"),
        ]

    def _cases(self, assigns: Callable[[Any], list[Assign]]) -> tuple[list[str], Cost]:
        total, bodies = Cost(), []
        for text in self.texts:
            lines, cost = Emitter(C, text.bind).run(assigns(text))
            total = total.plus(cost, len(text.group.members))
            bodies.append(lines)
        if len(bodies) == 1:
            return ["{", *_indented(bodies[0]), "}"], total
        found = [f"switch ({self._columns['GROUP']}) {{"]
        for number, (lines, text) in enumerate(zip(bodies, self.texts, strict=True)):
            like = text.group.like
            about = f"// {like.kind}s, {len(text.group.members)} of them"
            last = number + 1 == len(bodies)
            found += [f"{'default' if last else f'case {number}'}: {{", f"{INDENT}{about}"]
            found += [*_indented(lines), f"{INDENT}break;", "}"]
        return [*found, "}"], total


def _indented(lines: Sequence[str]) -> list[str]:
    return [INDENT + line for line in lines]


def _times(size: int, index: str) -> str:
    return f"({index})" if size == 1 else f"{size} * ({index})"
