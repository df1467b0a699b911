"""Units: the laws of their algebra, their spelling, and what is refused."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rig_configs.units import BASES, ONE, Unit, of_name, parse, same

SYMBOLS = (*BASES, "N", "Nm", "W", "Hz", "ms", "us", "ns", "min", "mm", "%", "V", "kN", "g")
EXPONENTS = st.integers(-4, 4)


@st.composite
def units(draw):
    made = ONE
    for symbol, exponent in draw(
        st.lists(st.tuples(st.sampled_from(SYMBOLS), EXPONENTS), max_size=4)
    ):
        made = made * parse(symbol) ** exponent
    return made


@given(units(), units(), units())
def test_units_are_an_abelian_group(a, b, c):
    assert a * b == b * a
    assert (a * b) * c == a * (b * c)
    assert a * ONE == a
    assert a / a == ONE
    assert (a / b) * b == a


@given(units(), EXPONENTS, EXPONENTS)
def test_exponents_add_and_multiply(a, n, m):
    assert a**n * a**m == a ** (n + m)
    assert (a**n) ** m == a ** (n * m)
    assert a**0 == ONE


@given(units())
def test_what_is_printed_is_read_back(a):
    assert parse(str(a)) == a


@given(st.lists(st.tuples(st.sampled_from(BASES), EXPONENTS), max_size=4))
def test_the_root_of_a_square_is_the_unit(factors):
    a = ONE
    for base, exponent in factors:
        a = a * parse(base) ** exponent
    half = a ** Fraction(1, 2)
    assert half**2 == a
    assert parse(str(half)) == half


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("nm", "N m"), ("J", "Nm"), ("W", "Nm/s"), ("Hz", "1/s"), ("rad/s^2", "rad/s/s"),
        ("kg m/s^2 K", "kg m K/s^2"), ("ms", "s/1000"), ("%", "1/100"), ("counts", "count"),
        ("min", "60 s"), ("µs", "us"), ("kg*m^2", "kg m^2"), ("rad s^-1", "rad/s"),
    ],
)  # fmt: skip
def test_spellings_of_one_unit(text, same_as):
    assert parse(text) == parse(same_as)


@pytest.mark.parametrize(
    ("one", "other"),
    [("rad", "deg"), ("rad", "rad/s"), ("s", "ms"), ("count", "rad"), ("Nm", "N"), ("rad", "1")],
)
def test_different_units_are_not_the_same(one, other):
    assert not same(one, other)


def test_an_unknown_unit_agrees_with_all():
    assert same(None, "rad")
    assert same("rad", None)


@pytest.mark.parametrize(
    "text", ["", " ", "/s", "rad//s", "furlong", "rad^", "m^(1/0)", "m^99999", "0 m", "m" * 999]
)
def test_what_is_no_unit_is_refused_with_a_sentence(text):
    with pytest.raises(ValueError, match=r"unit|more than|divided"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("Nm", "Nm"), ("rad/s^2", "rad/s^2"), ("1", "1"), ("kg m^2", "kg m^2"), ("Nm Nm/s", "kg^2 m^4/s^5"),
        ("N m N m", "Nm^2"),
        ("ms", "ms"), ("1/s", "1/s"), ("m/ms", "1000 m/s"),
        ("Nm/rad", "Nm/rad"), ("Nms/rad", "Nm s/rad"),
    ],
)  # fmt: skip
def test_print(text, printed):
    assert str(parse(text)) == printed


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("wheel/angle_rad", "rad"), ("rate_rad_s", "rad/s"), ("guide/wheel/acceleration_rad_s2", "rad/s^2"),
        ("guide/torque_nm", "Nm"), ("loop/a/late_ns", "ns"), ("status", None), ("s", None), ("m", None),
        ("position_count", "count"), ("rad_s", "rad/s"), ("flow_kg_s", None),
        ("pulses_per_s", None), ("counts_per_rev", "count/rev"),
        ("spring_n_m", "N/m"), ("energy_j", "J"), ("status/ok", None),
    ],
)  # fmt: skip
def test_the_end_of_a_name_says_the_unit(name, unit):
    assert of_name(name) == unit


def test_every_suffix_is_a_unit():
    from rig_configs.units import _SUFFIXES

    for text in _SUFFIXES.values():
        assert isinstance(parse(text), Unit)
