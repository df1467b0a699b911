"""Arithmetic of mechanism files."""

import math

import pytest

from codegen.system.arithmetic import ArithmeticMistake, evaluate

NAMES = {"a": 2.0, "p": (1.0, 2.0, 2.0), "q": (0.0, 0.0, 1.0)}


@pytest.mark.parametrize(("text", "value"), [
    ("a + 3 * 4", 14.0),
    ("-(a - 1)**2", -1.0),
    ("norm(p)", 3.0),
    ("unit(p)", (1 / 3, 2 / 3, 2 / 3)),
    ("cross((1, 0, 0), (0, 1, 0)) - q", (0.0, 0.0, 0.0)),
    ("dot(p, 2 * q) / 4", 1.0),
    ("deg(180)", math.pi),
    ("z(p) + pi", 2.0 + math.pi),
    ("mirror_y(p)", (1.0, -2.0, 2.0)),
])  # fmt: skip
def test_has_the_value(text, value):
    assert evaluate(text, NAMES) == pytest.approx(value)


@pytest.mark.parametrize("text", [
    "", "1 +", "b", "p + 1", "p * p", "1 / p", "1 / 0", "unit((0, 0, 0))", "norm(1)", "(-1)**0.5",
    "2**1e9", "sqrt(-1)", "__import__('os')", "a.real", "[x for x in p]", "lambda: 1",
    "a if a else a", "'text'", "True", "open('f')", "norm(*p)", "a < 1", "(1, 2)",
    "((1, 2, 3), 1, 1)", "9" * 400,
])  # fmt: skip
def test_refuses(text):
    with pytest.raises(ArithmeticMistake):
        evaluate(text, NAMES)
