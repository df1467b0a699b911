"""Triggers as text: a condition on signals with its edge, or a word such as `fault`. No text is evaluated as code.

`wheel/angle_rad > 0.1 rising` is the first cycle in which the condition holds; without an edge it is each cycle in
which it does. A condition has comparisons, `and`, `or`, `not`, arithmetic, and the functions of the `expression`
block; `-0.1 < wheel/angle_rad < 0.1 falling` is a window that is left. Operators stand between spaces, for a path
has slashes and may have dashes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from codegen.system.syntax import SyntaxMistake, parsed
from rig_configs.mistakes import near
from rigloop.scope.arithmetic import ArithmeticMistake, checked_tree, values_of

Edge = Literal["level", "rising", "falling", "either", "grows"]
NOW, FAULT, LATE = WORDS = ("now", "fault", "late")
PATH_IN_TEXT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)+")
EDGES: Mapping[str, Edge] = {"rising": "rising", "falling": "falling", "either": "either"}
EDGE = re.compile(rf"\s({'|'.join(EDGES)})\s*$")
NEW_FAULT = re.compile(r"loop/[^/]+/fault|(?P<guard>.+)/trip")
NEW_OVERRUN = re.compile(r"loop/[^/]+/overruns")

Bools = NDArray[np.bool_]


class TriggerError(ValueError):
    """A text that is no trigger; the message says what is at fault, and what is one."""


@dataclass(frozen=True)
class Term:
    """One way in which a trigger comes: an expression over signals, and what of it is waited for.

    Attributes
    ----------
    paths : tuple of str
        Signals of the expression; `s0`, `s1`, … in it.
    tree : ast.expr
        Checked: nothing but comparisons and arithmetic of these.
    edge : str
        "grows" is a number that is larger than in the cycle before; the others are about a condition.
    """

    paths: tuple[str, ...]
    tree: ast.expr
    edge: Edge

    def looked_at(self, columns: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the expression in each cycle: 1 where a condition holds, 0 where not; else the number."""
        names = {f"s{i}": columns[path] for i, path in enumerate(self.paths)}
        n = len(columns[self.paths[0]])
        return np.broadcast_to(np.asarray(values_of(self.tree, names), np.float64), (n,))


@dataclass(frozen=True)
class Trigger:
    """A text, and the ways in which what it says comes about; without any, it is there at once."""

    text: str
    terms: tuple[Term, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Signals that it looks at, each once."""
        return tuple(dict.fromkeys(path for term in self.terms for path in term.paths))


def read_trigger(text: str, signals: Iterable[str]) -> Trigger:
    """Read a trigger.

    Parameters
    ----------
    text : str
        A condition, perhaps with `rising`, `falling` or `either` behind it; or `now`, `fault` (a block fails, or a
        guard trips), `late` (a cycle ends after its period).
    signals : iterable of str
        Signals that there are.

    Raises
    ------
    TriggerError
    """
    known = tuple(signals)
    text = text.strip()
    if text == NOW:
        return Trigger(text, ())
    if text in (FAULT, LATE):
        return Trigger(text, _terms_of_word(text, known))
    found = EDGE.search(text)
    edge = EDGES[found[1]] if found else "level"
    condition = text[: found.start()] if found else text
    return Trigger(text, (_term(text, condition, edge, known),))


def fired(seen: NDArray[np.float64], before: float | None, edge: Edge) -> Bools:
    """Return in which cycles a term fires.

    Parameters
    ----------
    seen : ndarray of float64, shape (n,)
        As `Term.looked_at` returns it, over consecutive cycles.
    before : float or None
        The one before the first; None: there is none, and an edge needs two cycles.
    edge : str
    """
    if edge == "level":
        return seen != 0.0
    earlier = np.concatenate([[np.nan if before is None else before], seen[:-1]])
    match edge:
        case "rising":
            return (seen != 0.0) & (earlier == 0.0)
        case "falling":
            return (seen == 0.0) & (earlier == 1.0)
        case "either":
            return (seen != earlier) & ~np.isnan(earlier)
        case "grows":
            return seen > earlier


def _terms_of_word(word: str, known: tuple[str, ...]) -> tuple[Term, ...]:
    if word == LATE:
        paths = [path for path in known if NEW_OVERRUN.fullmatch(path)]
    else:
        matches = ((path, NEW_FAULT.fullmatch(path)) for path in known)
        # a guard has a cycle beside its trip; a block of a user may call anything `trip`
        paths = [
            path
            for path, found in matches
            if found and (found["guard"] is None or f"{found['guard']}/trip_cycle" in known)
        ]
    if not paths:
        raise TriggerError(f"trigger {word!r}: this run has no signal that says so")
    if word == LATE:
        return tuple(Term((path,), parsed("s0"), "grows") for path in paths)
    return tuple(Term((path,), parsed("s0 != 0"), "rising") for path in paths)


def _term(text: str, condition: str, edge: Edge, known: tuple[str, ...]) -> Term:
    places: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        path = match[0]
        if path not in known:
            raise TriggerError(
                f"trigger {text!r}: no signal {path!r}: {near(path, known)}; operators stand between spaces"
            )
        return places.setdefault(path, f"s{len(places)}")

    if re.search(r"\bs[0-9]+\b", PATH_IN_TEXT.sub("", condition)):
        raise TriggerError(f"trigger {text!r}: a signal has a path, with a slash in it")
    replaced = PATH_IN_TEXT.sub(named, condition)
    try:
        tree = parsed(replaced)
        checked_tree(tree, tuple(places.values()))
    except (SyntaxMistake, ArithmeticMistake) as error:
        words = re.sub(r"\bs([0-9]+)\b", lambda m: [*places][int(m[1])], str(error))
        raise TriggerError(
            f"trigger {text!r}: {words}; write `wheel/angle_rad > 0.1 rising`, or one of {', '.join(WORDS)}"
        ) from None
    if not places:
        raise TriggerError(f"trigger {text!r}: names no signal")
    return Term(tuple(places), tree, edge)
