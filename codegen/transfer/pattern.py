"""Constants that all links of a tree share in their records, and in what they hand on.

In a plane most components of axes, rates and inertias are the same number in every link. They are found by supposing
that each is what it is of the ground, or nothing in what a tip hands on, until no text of a link says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from codegen.expressions.dag import Expr
from codegen.spatial.algebra import Value

Constants = list[float | None]


@dataclass
class Pattern:
    """Numbers that are known of all links.

    Attributes
    ----------
    record : list of float or None
        Components of a link's record: the number that they are in all links, or None.
    hand : list of float or None
        The same of S and e.
    wanted : set of int
        Components of S and e that a link makes use of; the others are not handed on.
    """

    record: Constants
    hand: Constants
    wanted: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.place = _numbered(k for k, value in enumerate(self.record) if value is None)
        self.handed = _numbered(sorted(self.wanted))


def settled(
    begin: Pattern, found: Callable[[Pattern], Sequence[tuple[Sequence[Expr], Sequence[Expr]]]]
) -> Pattern:
    """The pattern that texts of links confirm.

    Parameters
    ----------
    found : callable
        Gives the components of record and hand of each text that is written with a pattern.
    """
    now = begin
    while True:
        texts = found(now)
        record = _confirmed(now.record, [text[0] for text in texts])
        hand = _confirmed(now.hand, [text[1] for text in texts])
        if record == now.record and hand == now.hand:
            return now
        now = Pattern(record, hand, now.wanted)


def ground_pattern(values: Iterable[Value], hand: int) -> Pattern:
    """The pattern that is to be confirmed first."""
    return Pattern(
        [(v.value if isinstance(v, Expr) else float(v)) + 0.0 for v in values], [0.0] * hand
    )


def _confirmed(pattern: Constants, texts: Sequence[Sequence[Expr]]) -> Constants:
    return [
        value
        if value is None or all(t[k].is_const and t[k].value == value for t in texts if t)
        else None
        for k, value in enumerate(pattern)
    ]


def _numbered(which: Iterable[int]) -> dict[int, int]:
    return {k: place for place, k in enumerate(which)}
