"""The rule by which a declaration states the unit of a port or parameter, as data.

Four forms: `rad/s` (that unit), `any` (whatever the wired signal has), `key unit` (what the rig's block says
under the key `unit`), and `as y / u * s` (products of the units of ports; a name that is no port is a unit).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from rt_core.settings import Refusal

LONGEST = 64
NAME = re.compile(r"[A-Za-z%][A-Za-z0-9_]*|1")
_FACTOR = re.compile(rf"\s*(?P<name>{NAME.pattern})(?:\s*\^\s*(?P<power>-?[0-9]))?\s*")
REMEDY = "write it as rad/s^2, any, key unit, or as y / u"


@dataclass(frozen=True)
class Factor:
    """A unit, or the unit of a port, to a power."""

    name: str
    power: int
    is_port: bool


@dataclass(frozen=True)
class UnitRule:
    """The origin of a unit.

    Attributes
    ----------
    kind : {"fixed", "any", "key", "derived"}
    text : str
        As declared.
    factors : tuple of Factor
        Of a fixed or derived unit; their product is the unit.
    """

    kind: Literal["fixed", "any", "key", "derived"]
    text: str
    factors: tuple[Factor, ...] = ()

    @property
    def ports(self) -> tuple[str, ...]:
        """Ports from whose units a derived one follows."""
        return tuple(factor.name for factor in self.factors if factor.is_port)


def unit_rule(text: str, ports: Collection[str] = ()) -> UnitRule:
    """Read how a unit is declared.

    Raises
    ------
    Refusal
        It is none of the four forms.
    """
    words = " ".join(text.split())
    if len(text) > LONGEST:
        raise Refusal(f"is longer than {LONGEST} characters")
    if words == "any":
        return UnitRule("any", words)
    if words == "key unit":
        return UnitRule("key", words)
    if words.partition(" ")[0] == "as":
        return UnitRule("derived", words, _product(words[3:], ports))
    return UnitRule("fixed", words, _product(words, ()))


def _product(text: str, ports: Collection[str]) -> tuple[Factor, ...]:
    factors = []
    sign, at = 1, 0
    while True:
        found = _FACTOR.match(text, at)
        if found is None:
            raise Refusal("is not a unit", REMEDY)
        power = sign * int(found["power"] or 1)
        if found["name"] != "1":
            factors.append(Factor(found["name"], power, found["name"] in ports))
        at = found.end()
        if at == len(text):
            return tuple(factors)
        if text[at] not in "*/":
            raise Refusal("is not a unit", REMEDY)
        sign, at = (1 if text[at] == "*" else -1), at + 1
