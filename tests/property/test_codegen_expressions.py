"""Random checks of expressions, derivatives, factorisation and the inline sine."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.expressions.dag import Graph, evaluate
from codegen.expressions.elimination import factorise, order_pattern, substitute
from codegen.kernels.build import build_kernel, load_reference
from codegen.kernels.verify import jacobian_error
from codegen.options.options import KernelOptions

NAMES = ("a", "b", "c")
numbers = st.floats(0.2, 3.0)


OPERATIONS = {
    1: {
        "sin": lambda graph, e: graph.call("sin", e),
        "cos": lambda graph, e: graph.call("cos", e),
        "reciprocal": lambda graph, e: graph.reciprocal(1.5 + e * e),
        "root": lambda graph, e: graph.call("sqrt", 1.0 + e * e),
    },
    2: {
        "sum": lambda graph, a, b: a + 2.0 * b,
        "difference": lambda graph, a, b: a - b,
        "product": lambda graph, a, b: a * b,
    },
}


def grow(inner):
    return st.one_of(
        *(st.tuples(st.sampled_from(sorted(OPERATIONS[n])), *[inner] * n) for n in OPERATIONS)
    )


# made once: hypothesis takes longer to put such a strategy together than to draw from it
trees = st.recursive(st.sampled_from(NAMES) | numbers, grow, max_leaves=12)


def expression(graph, tree):
    if isinstance(tree, str):
        return graph.var(tree)
    if isinstance(tree, float):
        return graph.const(tree)
    name, *parts = tree
    return OPERATIONS[len(parts)][name](graph, *(expression(graph, part) for part in parts))


@given(trees, st.lists(numbers, min_size=3, max_size=3))
@settings(max_examples=150, deadline=None)
@pytest.mark.slow
def test_derivatives_agree_with_central_differences(tree, values):
    graph = Graph()
    expr = expression(graph, tree)
    at = dict(zip(NAMES, values, strict=True))
    slope = evaluate(graph.diff(expr, graph.var("a")), at)
    step = 1e-5
    ahead, behind = (evaluate(expr, at | {"a": at["a"] + s}) for s in (step, -step))
    size = max(1.0, abs(ahead), abs(slope))
    # truncation h^2 f'''/6 of nested products stays below 1e-4 of the size
    assert slope == pytest.approx((ahead - behind) / (2.0 * step), abs=1e-4 * size * 10)


def test_equal_expressions_are_one_node():
    graph = Graph()
    a, b = graph.var("a"), graph.var("b")
    assert a * b + 1.0 is 1.0 + b * a
    assert a - a is graph.zero
    assert (2.0 * a) * (0.5 * b) is a * b
    assert graph.total([(1.0, a), (2.0, a)]) is 3.0 * a


@pytest.mark.slow
@given(st.integers(2, 9), st.floats(0.0, 1.0), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_sparse_ldl_solves_what_numpy_solves(n, density, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n + 2, n)) * (rng.random((n + 2, n)) < density)
    dense = rows.T @ rows + np.diag(rng.uniform(0.5, 2.0, n))
    right = rng.normal(size=n)
    graph = Graph()
    pattern = {(i, j) for i in range(n) for j in range(i, n) if dense[i, j] != 0.0}
    matrix = {key: graph.var(f"m {key[0]} {key[1]}") for key in pattern}
    order = order_pattern(n, pattern, [n - 1])
    assert order[-1] == n - 1
    factor = factorise(graph, matrix, order, [str(i) for i in range(n)])
    rhs = [graph.var(f"r {i}") for i in range(n)]
    _, solution = substitute(graph, factor, factor.lower, factor.inverse, rhs)
    at = {f"m {i} {j}": dense[i, j] for i, j in pattern} | {f"r {i}": right[i] for i in range(n)}
    got = [evaluate(solution[i], at) for i in range(n)]
    np.testing.assert_allclose(got, np.linalg.solve(dense, right), rtol=1e-9, atol=1e-9)


@pytest.fixture(scope="module")
def steering():
    # all coordinates, to compare factorisations with dense ones
    return build_kernel("steering_26", KernelOptions(presolve=False))


@pytest.mark.slow
@given(st.floats(-3e4, 3e4))
@settings(max_examples=400, deadline=None)
def test_inline_sine_and_cosine_are_good_to_an_ulp(steering, x):
    sine, cosine = steering.module.sine_cosine(x)
    assert sine == pytest.approx(math.sin(x), rel=2.5e-16, abs=2.3e-16)
    assert cosine == pytest.approx(math.cos(x), rel=2.5e-16, abs=2.3e-16)


@pytest.mark.slow
@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_jacobian_is_the_complex_step_derivative_anywhere(steering, seed):
    assert jacobian_error(load_reference(steering.path), seed) < 1e-14


@pytest.mark.slow
@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_compiled_factorisation_solves_what_numpy_solves(steering, seed):
    twin = load_reference(steering.path)
    rng = np.random.default_rng(seed)
    q = np.array(twin.Q_0) + rng.uniform(-0.3, 0.3, len(twin.Q_0))
    right = rng.normal(size=len(q))
    jac, mass = twin.phi_q(q), twin.mass(np.array([value for _, value in twin.PARAMETERS]))
    unit = steering.module.model_info()["force_unit"]
    dense = ((1.0 - twin.DELTA_M) / twin.PROJECTION_SCALE * mass + jac.T * twin.ALPHA @ jac) / unit
    got = np.array(steering.module.solve_projection(q, right))
    # backward error: the matrix is conditioned like kappa, the solution is not comparable digit by digit; rows that
    # are kept as unknowns make it indefinite, and without pivoting its factors may be larger by kappa
    scale = np.abs(dense) @ np.abs(got) + np.abs(right)
    limit = len(q) * np.finfo(float).eps * KernelOptions().row_kappa
    assert np.max(np.abs(dense @ got - right) / scale) < limit
