"""Units of ports follow from the rules of the library and what is wired."""

from collections import Counter

import pytest

from rigloop.blocks.compiled.unit_solve import solve_units


class Unit:
    """Exponents of names, enough to see products and powers."""

    def __init__(self, text="", exponents=()):
        self.n = Counter(dict(exponents)) if exponents else Counter({text: 1} if text else {})

    def __mul__(self, other):
        return Unit(exponents={k: self.n[k] + other.n[k] for k in {*self.n, *other.n}})

    def __pow__(self, power):
        return Unit(exponents={k: power * n for k, n in self.n.items()})

    def __eq__(self, other):
        return {k: n for k, n in self.n.items() if n} == {k: n for k, n in other.n.items() if n}

    __hash__ = None


def parse(text):
    return Unit("" if text == "1" else text)


RAD, S, NM, ONE = (parse(text) for text in ("rad", "s", "Nm", "1"))


def solve(shipped, kind, key=None, **wired):
    return solve_units(shipped[kind].declared.units, wired, parse, key)


def test_an_integral_has_the_unit_times_seconds(shipped):
    units = solve(shipped, "integrator", u=RAD * S**-1)
    assert units["y"] == RAD


def test_a_product_has_the_product_of_its_units_and_what_is_not_wired_none(shipped):
    units = solve(shipped, "product", u1=NM, u2=RAD * S**-1)
    assert units["y"] == NM * RAD * S**-1


def test_what_nobody_knows_is_not_known_behind(shipped):
    units = solve(shipped, "product", u1=NM, u2=None)
    assert units["y"] is None


def test_terms_of_a_sum_have_the_unit_that_the_rig_says(shipped):
    units = solve(shipped, "sum", key=NM, u1=NM, u2=RAD, u3=None)
    assert units["y"] == NM
    assert units["u2"] == NM


@pytest.mark.parametrize(
    "kind", ["limiter", "low_pass", "second_order", "notch", "delay", "rate_limiter"]
)
def test_a_filter_keeps_the_unit(shipped, kind):
    units = solve(shipped, kind, u=RAD)
    assert units["y"] == RAD


def test_a_controller_compares_like_with_like(shipped):
    units = solve(shipped, "pid", key=NM, setpoint=RAD, measured=RAD * S**-1, feedforward=NM)
    assert units["measured"] == RAD


def test_a_flag_has_the_unit_one(shipped):
    units = solve(shipped, "counter", u=RAD, reset=S)
    assert units["count"] == ONE
    assert units["reset"] == ONE
