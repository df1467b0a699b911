"""Masses of a link that bends: moments that follow its amplitudes, and the couplings of these.

With u = X + sum eta_i Phi_i, where a point of the body is in the link's axes, and Omega = omega omega^T - omega^2:

    first moment  f = int u dm,   second moment  G = int u u^T dm,   A_i = int u Phi_i^T dm
    wrench of eta_i''   ( axial(A_i), int Phi_i dm )
    its force           A_i : Omega + 2 omega . sum_j eta_j' int Phi_j x Phi_i dm

The vectors of foreshortening w_c (`codegen.flexible.motion`) enter as f += w_0, G_kl += w_k[l] + w_l[k] and
A_i[k, l] += dw_k[l] / d eta_i, with what their second derivatives along eta' add to wrenches.

Linearised ruthlessly, all of these are what they are where nothing bends and nothing moves beside the frame: constants
of the body. What is left out is of the first order in eta and eta' beside the rates of the frame, the stiffening by its
spin among it (Padilla and von Flotow 1992; Jain and Rodriguez 1992, appendix B).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from codegen.expressions.dag import Expr, Graph
from codegen.flexible.reduced import AXES
from codegen.spatial.algebra import Matrix, Value, Wrench, apply, transposed
from codegen.system.vectors import Vector, cross, dot, minus, plus, times
from codegen.topology.bending import BentFrame


class Modes:
    """The modes of a link.

    Parameters
    ----------
    amplitudes, rates, accelerations : sequence of Expr
    indices : sequence of int
        Their numbers among the coordinates of the tree.
    is_ruthless : bool
        Masses, couplings and what the rates ask for are those of the body that is not bent.

    Attributes
    ----------
    first, second : Vector and Matrix
        First and second moments of mass about the link's origin.
    pushes : list of Wrench
        What one unit of each acceleration takes.
    mass : list of list of float
    """

    def __init__(
        self,
        graph: Graph,
        of: BentFrame,
        indices: Sequence[int],
        states: tuple[list[Expr], list[Expr], list[Expr]],
        *,
        is_ruthless: bool = False,
    ) -> None:
        self.graph, self.of, self.indices = graph, of, tuple(indices)
        self.q, self.qd, self.qdd = states
        # by which masses follow the deformation
        self._shape, self._rates = self.q, self.qd
        if is_ruthless:
            self.of = of = replace(of, load=None)
            self._shape = self._rates = [graph.zero] * len(self.q)
        n = range(len(self.q))
        gram = of.gram
        self.total = float(gram[0, 0])
        mass = np.array([[sum(of.integral(k, i, k, j) for k in range(3)) for j in n] for i in n])
        size = np.sqrt(np.diag(mass))
        self.mass = np.where(np.abs(mass) > 1e-10 * np.outer(size, size), mass, 0.0).tolist()
        moved = [[float(gram[0, AXES + k * of.count + i]) for k in range(3)] for i in n]
        self._across = [self._across_of(i) for i in n]  # A_i
        # vectors of foreshortening and their slopes: [c][l], [c][l][i]
        self._slopes = [[self._short_slopes(c, k) for k in range(3)] for c in range(AXES)]
        self._short = [[self._halved(self._slopes[c][k]) for k in range(3)] for c in range(AXES)]
        for i in n:
            self._across[i] = [
                [self._across[i][k][j] + self._slopes[k + 1][j][i] for j in range(3)]
                for k in range(3)
            ]
        self._moved: list[Vector] = [
            tuple(moved[i][k] + self._slopes[0][k][i] for k in range(3))  # type: ignore[misc]
            for i in n
        ]
        self.first: Vector = tuple(  # type: ignore[assignment]
            graph.total(
                [(1.0, float(gram[0, 1 + k])), (1.0, self._short[0][k]), *self._sum(moved, k)]
            )
            for k in range(3)
        )
        self.second = self._second()
        self.pushes = [Wrench(_axial(self._across[i]), self._moved[i]) for i in n]

    def turning(self) -> Matrix:
        """Moments of inertia about the link's origin."""
        g = self.second
        made: Matrix = [[0.0] * 3 for _ in range(3)]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            made[i][i] = g[j][j] + g[k][k]
            made[j][k] = made[k][j] = -g[j][k]
        return made

    def resistance(self, omega: Vector) -> Wrench:
        """The share of the rates of the amplitudes in the wrench that keeps the rates of a link."""
        graph, n = self.graph, range(len(self.q))
        moving: Matrix = [
            [
                graph.total((1.0, self._across[i][a][b] * self._rates[i]) for i in n)
                for b in range(3)
            ]
            for a in range(3)
        ]
        trace = moving[0][0] + moving[1][1] + moving[2][2]
        moment = times(2.0, minus(times(trace, omega), apply(transposed(moving), omega)))
        slide: Vector = tuple(  # type: ignore[assignment]
            graph.total((1.0, self._moved[i][k] * self._rates[i]) for i in n) for k in range(3)
        )
        force = times(2.0, cross(omega, slide))
        bent = [[self._bent(c, k) for k in range(3)] for c in range(AXES)]
        return Wrench(plus(moment, _axial(bent[1:])), plus(force, tuple(bent[0])))  # type: ignore[arg-type]

    def resisting(self, omega: Vector) -> list[Value]:
        """Forces on the amplitudes that keep all rates."""
        x, y, z = omega
        xx, yy, zz = x * x, y * y, z * z
        spin = [[-(yy + zz), x * y, x * z], [x * y, -(xx + zz), y * z], [x * z, y * z, -(xx + yy)]]
        graph, n = self.graph, range(len(self.q))
        found: list[Value] = []
        for i in n:
            a = self._across[i]
            terms = [(1.0, a[k][k] * spin[k][k]) for k in range(3)]
            terms += [(1.0, (a[k][j] + a[j][k]) * spin[k][j]) for k, j in ((0, 1), (0, 2), (1, 2))]
            turning: Vector = tuple(  # type: ignore[assignment]
                graph.total((2.0 * self._swept(j, i)[k], self._rates[j]) for j in n)
                for k in range(3)
            )
            found.append(graph.total([*terms, (1.0, dot(omega, turning))]))
        return found

    def needed(self, omega: Vector, alpha: Vector, a: Vector) -> list[Value]:
        """Forces on the amplitudes for these accelerations of the link, and none of their own."""
        return [
            held + (dot(alpha, push.moment) + dot(a, push.force))
            for held, push in zip(self.resisting(omega), self.pushes, strict=True)
        ]

    def still(self) -> Modes:
        """The same without accelerations of the amplitudes."""
        made = copy.copy(self)
        made.qdd = [self.graph.zero] * len(self.qdd)
        return made

    def kinetic(self, omega: Vector, v: Vector) -> list[tuple[float, Value]]:
        """Terms of the kinetic energy beside those of a rigid body with these moments."""
        terms: list[tuple[float, Value]] = []
        for i, rate in enumerate(self.qd):
            push = self.pushes[i]
            terms.append((1.0, rate * (dot(omega, push.moment) + dot(v, push.force))))
            terms += [
                (0.5 * m, rate * other) for m, other in zip(self.mass[i], self.qd, strict=True) if m
            ]
        return terms

    def _across_of(self, i: int) -> Matrix:
        of, gram = self.of, self.of.gram
        return [
            [
                self.graph.total(
                    [
                        (1.0, float(gram[1 + a, AXES + b * of.count + i])),
                        *((of.integral(a, j, b, i), q) for j, q in enumerate(self._shape)),
                    ]
                )
                for b in range(3)
            ]
            for a in range(3)
        ]

    def _swept(self, j: int, i: int) -> Vector:
        """Integral of Phi_j x Phi_i."""
        return _axial([[self.of.integral(a, j, b, i) for b in range(3)] for a in range(3)])

    def _second(self) -> Matrix:
        of, gram, graph = self.of, self.of.gram, self.graph
        made: Matrix = [[0.0] * 3 for _ in range(3)]
        n = range(len(self._shape))
        for a in range(3):
            for b in range(a, 3):
                # of u u^T: X X^T + sum eta_i (X Phi_i^T + Phi_i u^T)
                rows: list[tuple[float, Value]] = [(1.0, float(gram[1 + a, 1 + b]))]
                for i in n:
                    inner: list[tuple[float, Value]] = [
                        (1.0, float(gram[1 + a, AXES + b * of.count + i])),
                        (1.0, float(gram[1 + b, AXES + a * of.count + i])),
                    ]
                    inner += [(of.integral(a, i, b, j), self._shape[j]) for j in n]
                    rows.append((1.0, self._shape[i] * graph.total(inner)))
                rows += [(1.0, self._short[1 + a][b]), (1.0, self._short[1 + b][a])]
                made[a][b] = made[b][a] = graph.total(rows)
        return made

    def _short_slopes(self, c: int, k: int) -> list[Value]:
        """Return the slopes of component k of the vector w_c, which is - K eta."""
        load = self.of.load
        if load is None:
            return [0.0] * len(self._shape)
        return [
            self.graph.total((-float(v), q) for v, q in zip(row, self._shape, strict=True))
            for row in load[c, k]
        ]

    def _halved(self, slopes: list[Value]) -> Value:
        """- eta^T K eta / 2, from the slopes."""
        return self.graph.total((0.5, s * q) for s, q in zip(slopes, self._shape, strict=True))

    def _bent(self, c: int, k: int) -> Value:
        """- eta'^T K eta', what the rates add to the second derivative of w_c."""
        load = self.of.load
        if load is None:
            return 0.0
        return self.graph.total(
            (
                -1.0,
                rate
                * self.graph.total((float(v), x) for v, x in zip(row, self._rates, strict=True)),
            )
            for row, rate in zip(load[c, k], self._rates, strict=True)
        )

    def _sum(self, moved: list[list[float]], k: int) -> list[tuple[float, Value]]:
        return [(row[k], q) for row, q in zip(moved, self._shape, strict=True)]


def _axial(m: Matrix) -> Vector:
    """Return the axial vector of a matrix: the sum of a x b, if the matrix is a sum of a b^T."""
    return (m[1][2] - m[2][1], m[2][0] - m[0][2], m[0][1] - m[1][0])
