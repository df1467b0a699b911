"""Options of a generated kernel: integrator, penalties, iterations, reaction, compiler."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Literal


@dataclass(frozen=True)
class KernelOptions:
    """How a kernel integrates and is compiled.

    Attributes
    ----------
    step_s : float
        Time step, constant.
    rho_inf : float or "trapezoidal"
        Spectral radius at infinite frequency of generalised-alpha (0 most damping, 1 none), or
        plain Newmark with the trapezoidal rule.
    kappa : float, optional
        Dimensionless penalty alpha beta h^2 / effective mass, one alpha a row. Default 1e6.
    alpha : float, optional
        One penalty for all rows instead of `kappa`; force per (scaled) constraint.
    iterations : int
        Newton iterations: the fixed number, or the cap when `tolerance` is given.
    tolerance : float, optional
        Stop when the Euclidean norm of the Newton correction falls below; None: always
        `iterations`.
    reaction : {"F1", "paper"}
        Guide reaction: index-1 consistent at t_{k+1}, or the weighted sum over the
        generalised-alpha interval.
    projection : {"A"}
        Mass-orthogonal projection of velocities and accelerations with a factor of its own. Its
        weight is 1 for a given `alpha` and (1-df) beta h^2 for `kappa`, whose alpha would spoil the
        conditioning.
    presolve : bool
        Solve linear constraints when generating, see `codegen.presolve`: fewer coordinates, the
        same motion.
    residual_limit : float
        A step that ends with a larger constraint violation (m or rad) is refused.
    march : str
        "auto" (x86-64-v3 where the processor has it), "none", or any value for -march.
    cflags : tuple of str
        Further compiler flags. -ffast-math is refused: replay promises the bits of the live run.
    """

    step_s: float = 1e-3
    rho_inf: float | Literal["trapezoidal"] = 0.8
    kappa: float | None = None
    alpha: float | None = None
    iterations: int = 2
    tolerance: float | None = None
    reaction: Literal["F1", "paper"] = "F1"
    projection: Literal["A"] = "A"
    formulation: str = "ali3p"
    presolve: bool = True
    residual_limit: float = 1e-4
    march: str = "auto"
    cflags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wrong = []
        if not (math.isfinite(self.step_s) and self.step_s > 0.0):
            wrong.append(f"step_s = {self.step_s}: must be above zero")
        if self.rho_inf != "trapezoidal" and not 0.0 <= float(self.rho_inf) <= 1.0:
            wrong.append(f"rho_inf = {self.rho_inf}: must be 0 to 1, or 'trapezoidal'")
        if self.kappa is not None and self.alpha is not None:
            wrong.append("kappa and alpha: give one of them")
        for name in ("kappa", "alpha", "tolerance", "residual_limit"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0.0):
                wrong.append(f"{name} = {value}: must be above zero")
        if not 1 <= self.iterations <= 100:
            wrong.append(f"iterations = {self.iterations}: must be 1 to 100")
        if self.reaction not in ("F1", "paper"):
            wrong.append(f"reaction = {self.reaction!r}: must be 'F1' or 'paper'")
        if self.projection != "A":
            wrong.append(f"projection = {self.projection!r}: must be 'A'")
        fast = [
            f for f in self.cflags if f in ("-ffast-math", "-Ofast", "-funsafe-math-optimizations")
        ]
        if fast:
            wrong.append(f"cflags = {fast}: would break bit-equal replay, remove")
        if wrong:
            raise ValueError("\n".join(wrong))

    @property
    def newmark(self) -> tuple[float, float, float, float]:
        """delta_m, delta_f, beta, gamma (Chung and Hulbert 1993)."""
        if self.rho_inf == "trapezoidal":
            return 0.0, 0.0, 0.25, 0.5
        rho = float(self.rho_inf)
        dm, df = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        return dm, df, (1.0 - dm + df) ** 2 / 4.0, 0.5 - dm + df

    def text(self) -> str:
        """All options on one line, in a fixed order."""
        return ", ".join(f"{key}={value!r}" for key, value in asdict(self).items())
