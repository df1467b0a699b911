"""Inverse dynamics of a serial chain as text: constants once, then basis products alone.

`constants` turns mu into the coefficients k that the torques use, `torques` does the rest; both as
plain NumPy and as C99 without dependencies but libm's sine and cosine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from codegen.expressions.dag import Expr, Graph
from codegen.expressions.emit import NUMPY, Assign, Cost, Emitter, Syntax
from codegen.expressions.standalone import C99, Function, Numbers, c_files, numpy_file
from codegen.serial_chain.basis import COS, COS2, ONE, QQ, SIN, SIN2, Key, Q
from codegen.serial_chain.chain import Dynamics


def cost(made: Dynamics) -> Cost:
    """Count the operations of one call of `torques`, as both texts have them."""
    equations = _equations(made)
    return _lines(equations.torques, "tau", C99, equations)[1]


@dataclass(frozen=True)
class _Equations:
    graph: Graph
    constants: list[Expr]
    torques: list[Expr]
    variables: list[Expr]


def numpy_text(made: Dynamics, name: str) -> str:
    """Source of a module with `constants(mu)` and `torques(q, qd, qdd, k)`."""
    equations = _equations(made)
    first, _ = _lines(equations.constants, "k", NUMPY, equations)
    second, cost = _lines(equations.torques, "tau", NUMPY, equations)
    n, n_k, n_mu = len(made.joints), len(equations.constants), len(made.C)
    about = f"Coefficients of the torques, shape ({n_k},)."
    told = f"Torques and forces of the joints, shape ({n},): {cost}."
    return numpy_file(
        f"Inverse dynamics of the serial chain {name}: {n} joints, {n_mu} parameters mu = C p.",
        f"C = np.array({[float(v) for v in made.C.ravel()]!r}).reshape({n_mu}, {10 * n})",
        [
            Function("constants(mu)", about, "k", n_k, first),
            Function("torques(q, qd, qdd, k)", told, "tau", n, second),
        ],
    )


def c_text(made: Dynamics, name: str) -> dict[str, str]:
    """Sources `<name>.h` and `<name>.c`: C99, no state, no allocation.

    Raises
    ------
    ValueError
        The name is not a C identifier.
    """
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(f"name = {name!r}: is not a C identifier; use letters, digits and _")
    equations = _equations(made)
    first, _ = _lines(equations.constants, "k", C99, equations)
    second, cost = _lines(equations.torques, "tau", C99, equations)
    n, n_k, n_mu = len(made.joints), len(equations.constants), len(made.C)
    one = f"void {name}_constants(const double *mu, double *k)"
    two = (
        f"void {name}_torques(const double *q, const double *qd, const double *qdd, "
        "const double *k, double *tau)"
    )
    told = f"torques and forces of the joints: {cost}; no allocation, no branch"
    moments = f"mu = C p, C by rows; p has ten moments of mass a link: {10 * n} in all"
    return c_files(
        name,
        f"inverse dynamics of the serial chain {name}: {n} joints",
        {"N": n, "N_MU": n_mu, "N_K": n_k},
        Numbers("C", moments, made.C.tolist()),
        [
            Function(
                one,
                "coefficients of the torques: once, and when parameters change",
                "k",
                n_k,
                first,
            ),
            Function(two, told, "tau", n, second),
        ],
    )


def _lines(
    values: list[Expr], out: str, syntax: Syntax, equations: _Equations
) -> tuple[list[str], Cost]:
    bind = {var: re.sub(r"_(\d+)$", r"[\1]", var.name) for var in equations.variables}
    assigns = [Assign(f"{out}[{n}]", e) for n, e in enumerate(values)]
    return Emitter(syntax, bind).run(assigns)


def _equations(made: Dynamics) -> _Equations:
    graph, n = Graph(), len(made.joints)
    mu = [graph.var(f"mu_{j}") for j in range(len(made.C))]
    q, qd, qdd = ([graph.var(f"{name}_{i}") for i in range(n)] for name in ("q", "qd", "qdd"))
    factor = [dict(_factors(graph, q[i])) for i in range(n)]
    # coefficients that differ by a factor are one
    constants: list[Expr] = []
    places: dict[bytes, int] = {}

    def coefficient(row: int) -> tuple[float, Expr]:
        share = made.share[row]
        size = float(share[np.flatnonzero(share)[0]])
        tidy = np.array([float(f"{v:.12g}") for v in share / size]) + 0.0
        place = places.setdefault(tidy.tobytes(), len(constants))
        if place == len(constants):
            constants.append(
                graph.total((float(v), mu[j]) for j, v in enumerate(share / size) if v)
            )
        return size, graph.var(f"k_{place}")

    torques = []
    for terms in made.torques:
        by_key: dict[Key, list[tuple[float, Expr]]] = {}
        for term in terms:
            size, k = coefficient(term.row)
            if term.is_acceleration:
                k = k * qdd[term.rates[0]]
            elif term.rates:
                i, j = term.rates
                k = k * (qd[i] * qd[j])
            by_key.setdefault(term.key, []).append((term.factor * size, k))
        parts = []
        for key, sums in sorted(by_key.items()):
            product = graph.one
            for i, kind in enumerate(key):
                product = product * factor[i][kind]
            parts.append((1.0, product * graph.total(sums)))
        torques.append(graph.total(parts))
    n_k = len(constants)
    return _Equations(
        graph, constants, torques, [*mu, *q, *qd, *qdd, *(graph.var(f"k_{i}") for i in range(n_k))]
    )


def _factors(graph: Graph, q: Expr) -> Iterator[tuple[int, Expr]]:
    sine, cosine = graph.call("sin", q), graph.call("cos", q)
    yield ONE, graph.one
    yield COS, cosine
    yield SIN, sine
    yield COS2, 1.0 - 2.0 * (sine * sine)
    yield SIN2, 2.0 * (sine * cosine)
    yield Q, q
    yield QQ, q * q
