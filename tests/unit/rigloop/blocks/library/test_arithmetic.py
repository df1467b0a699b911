"""Gain, offset, sum, product, convert, expression: what the text says, bit for bit."""

import math

import numpy as np
import pytest

from rig_configs.mistakes import ConfigError

SOME = [0.0, -0.0, 1.0, -2.5, 1e-300, 1e300, 0.1]
STRANGE = [math.nan, math.inf, -math.inf]


def same(a, b):
    return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


def test_gain(run):
    assert same(run("gain", u=SOME + STRANGE, gain=-0.3)["y"], -0.3 * np.array(SOME + STRANGE))


def test_offset(run):
    assert same(run("offset", u=SOME + STRANGE, offset=0.7)["y"], np.array(SOME + STRANGE) + 0.7)


def test_sum_of_two_needs_no_weights(run):
    assert same(run("sum", u1=SOME, u2=SOME[::-1])["y"], np.array(SOME) + SOME[::-1])


def test_sum_has_a_weight_for_each_port_by_its_number(run):
    a, b, c = np.random.default_rng(0).normal(size=(3, 50))
    # u5 without u4: what is not wired is 0
    got = run("sum", u1=a, u2=b, u5=c, weights=[1.0, -1.0, 1.0, 1.0, 0.25])["y"]
    assert same(got, a - b + 0.25 * c)
    # weights that are not given are 1
    assert same(run("sum", u1=a, u2=b, u3=c, weights=[-1.0])["y"], -a + b + c)


def test_product_of_three(run):
    a, b, c = np.random.default_rng(1).normal(size=(3, 50))
    assert same(run("product", u1=a, u2=b, u3=c)["y"], a * b * c)


@pytest.mark.parametrize("kind", ["sum", "product"])
@pytest.mark.parametrize("port", ["u1", "u2", "u8"])
def test_one_that_is_no_number_makes_the_whole_none(run, kind, port):
    given = {"u1": [1.0, 1.0], "u2": [1.0, 1.0], port: [1.0, math.nan]}
    got = run(kind, **given)["y"]
    assert np.isfinite(got[0])
    assert np.isnan(got[1])


@pytest.mark.parametrize(
    ("conversion", "value", "wanted"),
    [
        ("deg_to_rad", 180.0, math.pi), ("rad_to_deg", math.pi, 180.0),
        ("rpm_to_rad_s", 30.0, math.pi), ("rad_s_to_rpm", math.pi, 30.0),
        ("turns_to_rad", 1.0, 2 * math.pi), ("rad_to_turns", math.pi, 0.5),
        ("mm_to_m", 5.0, 0.005), ("m_to_mm", 0.005, 5.0), ("ms_to_s", 3.0, 0.003),
        ("s_to_ms", 0.003, 3.0), ("ns_to_s", 1.0, 1e-9), ("percent_to_one", 50.0, 0.5),
        ("one_to_percent", 0.5, 50.0), ("km_h_to_m_s", 36.0, 10.0), ("m_s_to_km_h", 10.0, 36.0),
    ],
)  # fmt: skip
def test_conversions(run, conversion, value, wanted):
    (got,) = run("convert", u=[value], conversion=conversion)["y"]
    assert got == pytest.approx(wanted, rel=4e-16)  # a factor and a product, rounded


def test_every_conversion_has_been_tried(shipped):
    choices = shipped["convert"].declared.declaration.parameters["conversion"].choices
    tried = {mark.args[1][i][0] for mark in test_conversions.pytestmark for i in range(15)}
    assert set(choices) == tried | {"by_factor"}


def test_conversion_by_a_factor(run):
    assert same(
        run("convert", u=SOME, conversion="by_factor", factor=7.0)["y"], 7.0 * np.array(SOME)
    )


FORMULAS = [
    "2.5 * sin(u1) + max(u2, 0)",
    "u1 - u1",
    "(u1 + 1e15) - 1e15",
    "u1**3 / (1 + u2**2)",
    "-u1 * -u2 + (+u1)",
    "atan2(u1, u2) + sqrt(abs(u2)) - exp(-abs(u1)) * tanh(u2) + log(1 + u1 * u1) + cos(u2) + tan(u1)",
    "min(u1, u2) + sign(u1) + pi",
    "1e-3 * u1 + 7",
    "0.1 + 0.2 + u1",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_an_expression_gives_the_bits_of_the_same_arithmetic_in_python(run, formula):
    names = {
        name: getattr(math, name)
        for name in ("sin", "cos", "tan", "atan2", "sqrt", "exp", "log", "tanh")
    } | {"pi": math.pi, "abs": abs, "min": min, "max": max, "sign": lambda a: float(np.sign(a))}
    pairs = np.random.default_rng(2).normal(scale=3.0, size=(200, 2))
    power = formula.replace("u1**3", "(u1 * u1 * u1)").replace("u2**2", "(u2 * u2)")
    wanted = [eval(power, names | {"u1": float(a), "u2": float(b)}) for a, b in pairs]
    got = run("expression", u1=pairs[:, 0], u2=pairs[:, 1], formula=formula)["y"]
    assert same(got, wanted)


@pytest.mark.parametrize(
    "formula", ["u1 - u1", "u1 * 0", "min(u1, 1)", "max(1, u1)", "sign(u1)", "u1**2"]
)
def test_an_expression_keeps_what_is_no_number(run, formula):
    assert np.isnan(run("expression", u1=[math.nan], formula=formula)["y"][0])


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("u9", "unknown name 'u9'"),
        ("__import__('os').system('true')", "not arithmetic"),
        ("system(u1)", "unknown function 'system'"),
        ("u1.real", "not arithmetic"),
        ("u1 if u2 else u3", "not arithmetic"),
        ("u1; }", "not an expression"),
        ('u1 + "*/ }"', "not arithmetic"),
        ("u1 ** u2", "not arithmetic"),
        ("u1 ** 13", "a power must be 1 to 12"),
        ("1e400 * u1", "is not a finite number"),
        ("9" * 400 + " * u1", "beyond the limit"),
        ("True + u1", "not arithmetic"),
        ("sin(u1, u2)", "takes 1 argument"),
        ("(" * 150 + "u1" + ")" * 150 + "+u1" * 300, "operations deep"),
        ("u1[0]", "not arithmetic"),
        ("u1 // 2", "not arithmetic"),
        ("", "not an expression"),
    ],
)
def test_what_is_no_arithmetic_is_refused_before_it_is_compiled(run, formula, words):
    with pytest.raises(ConfigError, match=r"formula") as caught:
        run("expression", u1=[1.0], formula=formula)
    assert words in str(caught.value)
