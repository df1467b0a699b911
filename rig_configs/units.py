"""Units of signals: read from text, multiplied, divided, raised to a power, and printed.

A unit is a scale and the exponents of base units. `rad`, `deg`, `rev` and `count` are base units of their own: a
signal in degrees is not one in radians, and what turns one into the other is a block. The newton metre is both torque
and energy, as in the SI.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rt_core.settings import Refusal

BASES = ("kg", "m", "rad", "deg", "rev", "count", "A", "K", "s")
"""Base units, in the order in which they are printed."""


@dataclass(frozen=True)
class Unit:
    """A scale, above 0, and the exponents of base units that are not 0, in the order of `BASES`."""

    scale: Fraction
    exponents: tuple[tuple[str, Fraction], ...]

    def __mul__(self, other: Unit) -> Unit:
        return _unit(self.scale * other.scale, _sum(self.exponents, other.exponents, 1))

    def __truediv__(self, other: Unit) -> Unit:
        return _unit(self.scale / other.scale, _sum(self.exponents, other.exponents, -1))

    def __pow__(self, exponent: int | Fraction) -> Unit:
        """Raise to a power.

        Raises
        ------
        Refusal
            A root of a scale that is not 1: `ms` has none.
        """
        power = Fraction(exponent)
        if power.denominator != 1 and self.scale != 1:
            raise Refusal(f"{self} has no power {power}", "take it in base units")
        scale = self.scale**power.numerator if power.denominator == 1 else self.scale
        return _unit(Fraction(scale), {base: n * power for base, n in self.exponents})

    def __str__(self) -> str:
        named = _NAMES.get(self)
        if named is not None:
            return named
        above = [str(self.scale.numerator)] if self.scale.numerator != 1 else []
        above += [_factor(base, n) for base, n in self.exponents if n > 0]
        below = [str(self.scale.denominator)] if self.scale.denominator != 1 else []
        below += [_factor(base, -n) for base, n in self.exponents if n < 0]
        return "/".join([" ".join(above) or "1", *below])


def _unit(scale: Fraction, exponents: Mapping[str, Fraction]) -> Unit:
    kept = tuple((base, exponents[base]) for base in BASES if exponents.get(base))
    return Unit(scale, kept)


def _sum(one: Any, other: Any, sign: int) -> dict[str, Fraction]:
    total = dict(one)
    for base, n in other:
        total[base] = total.get(base, Fraction(0)) + sign * n
    return total


def _factor(base: str, exponent: Fraction) -> str:
    if exponent == 1:
        return base
    return f"{base}^{exponent}" if exponent.denominator == 1 else f"{base}^({exponent})"


ONE = Unit(Fraction(1), ())
"""Unit of counts, flags, codes and ratios."""
_BASE_UNITS = {base: Unit(Fraction(1), ((base, Fraction(1)),)) for base in BASES}


def _symbols() -> dict[str, Unit]:
    known = dict(_BASE_UNITS)
    kg, m, s, ampere = (known[base] for base in ("kg", "m", "s", "A"))
    newton = kg * m / s**2
    derived = {
        "N": newton, "Nm": newton * m, "J": newton * m, "W": newton * m / s, "Hz": ONE / s,
        "V": newton * m / s / ampere, "Pa": newton / m**2, "g": _scaled(kg, "1/1000"),
    }  # fmt: skip
    known |= derived
    for prefix, factor in (("k", "1000"), ("m", "1/1000"), ("u", "1/1000000")):
        for name in ("N", "Nm", "J", "W", "Hz", "V", "Pa", "A", "m", "s"):
            known.setdefault(prefix + name, _scaled(known[name], factor))
    # lower case as in names of signals: there is no nanometre beside the newton metre
    known |= {"ns": _scaled(s, "1/1000000000"), "µs": known["us"], "min": _scaled(s, "60")}
    known |= {"h": _scaled(s, "3600"), "%": _scaled(ONE, "1/100")}
    lower = {"nm": "Nm", "n": "N", "j": "J", "w": "W", "hz": "Hz", "v": "V", "a": "A", "pa": "Pa"}
    lower |= {"counts": "count", "nms": "Nms", "k": "K"}
    known["Nms"] = known["Nm"] * s
    return known | {short: known[long] for short, long in lower.items()}


def _scaled(unit: Unit, factor: str) -> Unit:
    return Unit(unit.scale * Fraction(factor), unit.exponents)


_SYMBOLS = _symbols()
# how a unit is printed; the first name of several counts
_PRINTED = (
    "1",
    "N",
    "Nm",
    "W",
    "V",
    "%",
    "ms",
    "us",
    "ns",
    "min",
    "h",
    "g",
    "mm",
    "mA",
    "mNm",
    "kN",
)
_NAMES: dict[Unit, str] = {}
for _name in ("N", "Nm"):
    _NAMES[_SYMBOLS[_name] ** 2] = f"{_name}^2"
for _name in _PRINTED:
    _NAMES.setdefault(ONE if _name == "1" else _SYMBOLS[_name], _name)

# stiffness and damping of what turns
_NAMES |= {
    _SYMBOLS["Nm"] / _SYMBOLS["rad"]: "Nm/rad",
    _SYMBOLS["Nms"] / _SYMBOLS["rad"]: "Nm s/rad",
}

_BETWEEN = re.compile(r"\s*[/*·]\s*|\s+")
_FACTOR = re.compile(
    r"(?:(?P<number>[1-9][0-9]{0,199})|(?P<symbol>[A-Za-zµ%]+))"
    r"(?:\^(?:(?P<whole>-?[0-9]{1,3})|\((?P<part>-?[0-9]{1,3}/[0-9]{1,3})\)))?"
)
LONGEST = 300  # characters


def parse(text: str) -> Unit:
    """Return the unit that a text names: `rad/s^2`, `Nm`, `kg m^2`, `1`.

    What follows a stroke is divided by, up to the next stroke, star or space: `kg m/s^2 K` is `kg m K/s^2`.

    Raises
    ------
    Refusal
        It is no unit; the remedy says what is.
    """
    if len(text) > LONGEST:
        raise Refusal(f"a unit of more than {LONGEST} characters")
    left, made, divides = text.strip(), ONE, False
    if not left:
        raise Refusal("a unit of no characters", "write 1 for a number without a unit")
    while True:
        found = _FACTOR.match(left)
        if found is None:
            break
        factor, left = _one(text, found), left[found.end() :]
        made = made / factor if divides else made * factor
        if not left:
            return made
        between = _BETWEEN.match(left)
        if between is None:
            break
        divides, left = "/" in between[0], left[between.end() :]
    raise Refusal(f"{text!r} is not a unit", "write it like rad/s^2, kg m^2, Nm or 1")


def _one(text: str, found: re.Match[str]) -> Unit:
    if found["number"]:
        factor = Unit(Fraction(int(found["number"])), ())
    elif found["symbol"] in _SYMBOLS:
        factor = _SYMBOLS[found["symbol"]]
    else:
        known = ", ".join(sorted(_SYMBOLS))
        raise Refusal(f"{text!r}: no unit {found['symbol']!r} is known", f"known: {known}")
    if found["part"] and found["part"].endswith("/0"):
        raise Refusal(f"{text!r} is not a unit: an exponent is divided by 0")
    return factor ** Fraction(found["part"] or found["whole"] or 1)


# the end of a signal's name → its unit; the longest one counts
_SUFFIXES = {
    "rad": "rad", "rad_s": "rad/s", "rad_s2": "rad/s^2", "rad_s3": "rad/s^3",
    "m": "m", "m_s": "m/s", "m_s2": "m/s^2", "m_s3": "m/s^3", "mm": "mm",
    "nm": "Nm", "n": "N", "j": "J", "w": "W", "a": "A", "v": "V", "hz": "Hz", "kg": "kg",
    "s": "s", "ms": "ms", "us": "us", "ns": "ns", "deg": "deg", "deg_s": "deg/s",
    "count": "count", "count_s": "count/s", "counts": "count", "counts_s": "count/s", "percent": "%",
    "counts_per_rev": "count/rev", "kg_m2": "kg m^2", "nms": "Nms", "nm_rad": "Nm/rad", "nm_s": "Nm/s", "n_m": "N/m",
}  # fmt: skip


def of_name(name: str) -> str | None:
    """Return the unit that the end of a signal's name says, as `angle_rad` or `m_s2` does; None: it says none."""
    words = name.rpartition("/")[2].lower().split("_")
    for n in range(min(3, len(words)), 0, -1):
        unit = _SUFFIXES.get("_".join(words[-n:]))
        if unit is None:
            continue
        if n == len(words):  # a name that is nothing but one letter (`s`, `m`, `a`) is a name
            return unit if n > 1 or len(words[0]) > 1 else None
        # `flow_kg_s` and `pulses_per_s` are no times: a unit of parts that is not in the table is not known
        of_parts = words[-n - 1] == "per" or (words[-n - 1] in _SUFFIXES and len(words) > n + 1)
        return None if of_parts else unit
    return None


def same(one: str | None, other: str | None) -> bool:
    """Decide if a signal of one unit may be read as one of another; a unit that is not known agrees with all."""
    return one is None or other is None or one == other or parse(one) == parse(other)
