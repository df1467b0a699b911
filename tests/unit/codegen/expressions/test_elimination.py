"""Static L D L^T against dense linear algebra, and the price of an order against what is written."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.expressions.dag import Graph, evaluate
from codegen.expressions.elimination import factorise, substitute
from codegen.expressions.elimination_cost import Entry, work
from codegen.expressions.ordering import bordered, order_pattern


def spd(n, share, seed):
    """A sparse symmetric definite matrix as numbers and as expressions, and its values by name."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, n)) * (rng.random((n, n)) < share)
    matrix = rows.T @ rows + np.eye(n)
    graph, values, entries = Graph(), {}, {}
    for i in range(n):
        for j in range(i, n):
            if matrix[i, j] != 0.0:
                values[f"a {i} {j}"] = float(matrix[i, j])
                entries[i, j] = graph.var(f"a {i} {j}")
    return graph, matrix, entries, values


def solved(graph, entries, order, names, values, right):
    factor = factorise(graph, entries, order, names)
    rhs = [graph.var(f"b {i}") for i in range(len(right))]
    at = values | {f"b {i}": float(v) for i, v in enumerate(right)}
    _, x = substitute(graph, factor, factor.lower, factor.inverse, rhs)
    return np.array([evaluate(e, at) for e in x])


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 9), share=st.floats(0.1, 0.6), seed=st.integers(0, 10**6))
def test_solution_is_the_dense_one_for_any_pattern(n, share, seed):
    graph, matrix, entries, values = spd(n, share, seed)
    right = np.arange(1.0, n + 1.0)
    order = order_pattern(n, set(entries), [])
    found = solved(graph, entries, order, [f"q{i}" for i in range(n)], values, right)
    # condition numbers are below 1e3
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-10, atol=1e-10)


def test_last_indices_stay_last_and_all_are_there():
    _, _, entries, _ = spd(12, 0.3, 3)
    order = order_pattern(12, set(entries), [4, 7])
    assert order[-2:] == [4, 7]
    assert sorted(order) == list(range(12))


def test_constants_cost_nothing():
    given = {
        (0, 0): Entry((), True),
        (0, 1): Entry((), True),
        (1, 1): Entry(((0.0, False),), False),
    }
    found = work(given, [0, 1])
    # one addition of the constant that column 0 leaves, one division
    assert found.factor_slots == 2
    varying = {key: Entry(((0.0, False),), False) for key in given}
    assert work(varying, [0, 1]).factor_slots > 2


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_their_own_leave_the_solution_as_it_is(seed):
    # a chain of masses: coordinates 0..5 carry mass, 6 does not; rows tie neighbours
    rng = np.random.default_rng(seed)
    n = 7
    graph, values = Graph(), {}
    weights = [(i, i) for i in range(6)]
    mass = np.diag([*rng.uniform(1e-6, 1e-4, 6), 0.0])
    rows, jac = [], np.zeros((7, n))
    for r in range(7):
        inside = (
            {r % n: 0.0, (r + 1) % n: 0.0, 6: 0.0} if r == 5 else {r % n: 0.0, (r + 1) % n: 0.0}
        )
        for i in inside:
            jac[r, i] = rng.normal()
            values[f"g {r} {i}"] = float(jac[r, i])
        rows.append({i: graph.var(f"g {r} {i}") for i in inside})
    values |= {f"w {i}": float(mass[i, i]) for i in range(6)}
    pattern = {(i, j) for row in rows for i in row for j in row if i <= j} | {
        (i, i) for i in range(n)
    }
    start = order_pattern(n, pattern, [6])
    plan = bordered(n, weights, rows, set(range(6)), start, [6])
    assert sorted(k for k in plan.order if k < n) == list(range(n))
    entries = {(i, i): graph.var(f"w {i}") if i < 6 else graph.zero for i in range(n)}
    for r, row in enumerate(rows):
        if r in plan.kept:
            entries[n + r, n + r] = graph.const(-1.0)
            entries |= {(i, n + r): e for i, e in row.items()}
            continue
        inside = sorted(row)
        for a, i in enumerate(inside):
            for j in inside[a:]:
                entries[i, j] = entries.get((i, j), graph.zero) + row[i] * row[j]
    right = rng.normal(size=n)
    padded = [*right, *np.zeros(7)]
    names = [f"k{k}" for k in range(n + 7)]
    found = solved(graph, entries, plan.order, names, values, padded)[:n]
    wanted = np.linalg.solve(mass + jac.T @ jac, right)
    # weights are 1e-6 of the rows, as in a kernel
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())
