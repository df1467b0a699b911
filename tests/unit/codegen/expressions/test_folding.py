"""Folding changes the form of an expression, not its value or its gradient, and never its price
for the worse where it knows a better form.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.expressions.dag import Graph, evaluate
from codegen.expressions.folding import folded, slots
from codegen.expressions.sums import ADD, joined

NUMBERS = st.floats(-3.0, 3.0).map(lambda x: round(x, 2))


@st.composite
def expressions(draw, graph):
    """Sums, products, squares and sines of three coordinates."""
    x = [graph.var(f"q{i}") for i in range(3)]
    pool = [*x, graph.const(draw(NUMBERS))]
    for _ in range(draw(st.integers(1, 8))):
        a, b = (pool[draw(st.integers(0, len(pool) - 1))] for _ in range(2))
        pool.append(draw(st.sampled_from([a + b, a - b, a * b, draw(NUMBERS) * a, a * a])))
    return graph.call("sin", x[0]) * pool[-1] + pool[-2]


@settings(max_examples=60, deadline=None)
@given(data=st.data(), factor=NUMBERS, is_row=st.booleans())
def test_value_and_gradient_stay(data, factor, is_row):
    graph = Graph()
    e = data.draw(expressions(graph))
    at = {"q0": 0.3, "q1": -0.7, "q2": 1.1}
    made = folded(e, factor, with_gradient=is_row)
    size = 1.0 + abs(evaluate(e, at))
    assert evaluate(made, at) == pytest.approx(factor * evaluate(e, at), abs=1e-9 * size)
    for name in at:
        slope, wanted = (evaluate(graph.diff(f, graph.var(name)), at) for f in (made, e))
        assert slope == pytest.approx(factor * wanted, abs=1e-9 * (1.0 + abs(wanted)))


def test_a_distance_shares_its_differences_with_its_gradient():
    graph = Graph()
    x, y = graph.var("x"), graph.var("y")
    row = 0.7 * ((x - 0.3) * (x - 0.3) + (y - 1.1) * (y - 1.1)) - 0.2
    made = folded(row, 1.3, with_gradient=True)
    slopes = [folded(graph.diff(made, v)) for v in (x, y)]
    # one multiply-add a side, two squares, one scaling with the constant
    assert slots([made, *slopes]) == 5


def test_a_difference_and_its_opposite_are_one_node():
    graph = Graph()
    x, y = graph.var("x"), graph.var("y")
    assert folded(2.0 * x - 3.0 * y) is -folded(3.0 * y - 2.0 * x)


@given(
    terms=st.lists(st.tuples(st.integers(0, 60).map(float), st.booleans()), min_size=1, max_size=12)
)
def test_sums_wait_no_longer_than_one_addition_more_than_the_fastest_pairing(terms):
    joins, ready, spent = joined(terms)
    assert len(joins) == len(terms) - 1
    used = [k for pair in joins for k in pair]
    assert sorted(used) == list(range(2 * len(terms) - 2))
    products = sum(is_product for _, is_product in terms)
    least = len(terms) - 1 + (products == len(terms))
    assert least <= spent <= len(terms) - 1 + (products + 1) // 2
    # nothing can be ready before its last term and one operation
    latest = max(ready for ready, _ in terms)
    assert ready >= latest
    if len(terms) == 1:
        assert ready == terms[0][0] + ADD * terms[0][1]
