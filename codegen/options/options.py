"""Options of a generated kernel: formulation, integrator, penalties, iterations, reaction, compiler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Literal

from pydantic import Field

from codegen.options.compiler_flags import AtMost, Flag, March
from rt_core.settings import Wrong, check

AboveZero = Annotated[float, Field(gt=0.0)]
Formulation = Literal[
    "ali3p",
    "index1",
    "penalty",
    "hamiltonian",
    "independent",
    "articulated",
    "riccati",
    "composite",
    "semi_recursive",
    "particles",
]
Integrator = Literal[
    "generalized_alpha", "newmark", "trapezoidal", "forward_euler", "semi_implicit_euler", "rk4"
]
IMPLICIT: tuple[Integrator, ...] = ("generalized_alpha", "newmark", "trapezoidal")
EXPLICIT: tuple[Integrator, ...] = ("forward_euler", "semi_implicit_euler", "rk4", "trapezoidal")
# those whose rows are closed by multipliers of positions
INDEX_3: tuple[Formulation, ...] = ("ali3p", "semi_recursive")
# those that take rows of more than 1000 repetitions
LONG_ROWS: tuple[Formulation, ...] = ("articulated", "riccati")
# those whose rows are held on accelerations or rates
STABILISED: tuple[Formulation, ...] = ("index1", "penalty", "hamiltonian", "composite")
# options that kernels did not have once: the text of such a kernel stays
LATER = ("bending",)
WITHOUT_ROWS: tuple[Formulation, ...] = ("articulated", "riccati", "particles")
# trees whose bodies may bend
BENDING_TREES: tuple[Formulation, ...] = ("articulated", "composite", "semi_recursive")
WITH_ROWS: tuple[Formulation, ...] = (*INDEX_3, *STABILISED, "independent")
# integrators of each formulation; the first is its default
INTEGRATORS: dict[Formulation, tuple[Integrator, ...]] = {
    "ali3p": IMPLICIT,
    "index1": ("semi_implicit_euler", *(i for i in EXPLICIT if i != "semi_implicit_euler")),
    "penalty": ("semi_implicit_euler", *(i for i in EXPLICIT if i != "semi_implicit_euler")),
    "hamiltonian": ("trapezoidal", "forward_euler", "rk4"),
    "independent": ("rk4", *(i for i in EXPLICIT if i != "rk4")),
    "articulated": ("rk4", *(i for i in EXPLICIT if i != "rk4")),
    "riccati": ("rk4", *(i for i in EXPLICIT if i != "rk4")),
    "composite": ("rk4", *(i for i in EXPLICIT if i != "rk4")),
    "semi_recursive": ("trapezoidal", "newmark"),
    "particles": ("rk4", *(i for i in EXPLICIT if i != "rk4")),
}


@dataclass(frozen=True)
class KernelOptions:
    """Options of integration and compilation of a kernel. `docs/models/options.md` says how to choose.

    Attributes
    ----------
    step_s : float
        Constant time step: the advance of one call.
    formulation : str
        "ali3p": index-3 augmented Lagrangian with projections, the default. "index1", "penalty":
        augmented Lagrangian and penalty on accelerations. "hamiltonian": canonical, with momenta.
        "independent": velocity transformation to independent coordinates. "articulated": trees in joint
        coordinates, at a cost that grows with the number of bodies. "riccati": the same by transfer matrices, in
        the axes of the ground, with the forces of all joints on the way. "composite", "semi_recursive": trees with
        loops in joint coordinates; rows close them on accelerations, as in "index1", or on positions with
        projections, as in "ali3p". "particles": small trees by the momenta of four particles a body.
    integrator : str, optional
        One of `INTEGRATORS[formulation]`; default its first. For "ali3p" the Newmark family, for
        the others explicit rules and the trapezoidal rule by bounded fixed-point iteration.
    rho_inf : float
        Of "generalized_alpha": spectral radius at infinite frequency, 0 most damping, 1 none.
    newmark_beta, newmark_gamma : float
        Of "newmark".
    kappa : float, optional
        Dimensionless penalty, one alpha a row: alpha beta h^2 / effective mass for "ali3p", alpha /
        effective mass for the others. Default 1e6, for "penalty" 1e8; 1e3 with float32.
    alpha : float, optional
        One penalty for all rows instead of `kappa`; force per (scaled) constraint. Where it is so hard that its
        share beside phi_q^2 is below 1e-10, round-off shows in guide torques beside singular poses.
    xi, omega_rad_s : float, optional
        Stabilisation of "index1", "penalty" and "hamiltonian": rows obey phi_ddot + 2 xi omega
        phi_dot + omega^2 phi = 0. Default 1 and 20 rad/s; of "hamiltonian" 1000 and 0.1 rad/s, with
        "semi_implicit_euler" 1/2 and 1/step_s.
    iterations : int
        Newton or fixed-point iterations: the fixed number, or the cap when `tolerance` is given. With
        an explicit integrator: how often an evaluation corrects its multipliers ("index1",
        "hamiltonian") or its position ("independent").
    tolerance : float, optional
        Stop when the Euclidean norm of the correction falls below; None: always `iterations`.
    projection : {"A", "B", "none"}
        Projection of velocities and accelerations: "A" mass-orthogonal with a factor of its own,
        "B" in the metric of Newton's tangent, "none". Weight (1-df) beta h^2, but 1 for "A" with a
        given `alpha`. Without a projection F1 takes a factor of its own.
    reuse : {"none", "projection", "step"}
        Which factorisations are saved, with projection "B" or "none": none; the projections take
        Newton's last factor; one factor serves all iterations of a step too, for kappa <= 1e4.
    substeps : int
        Steps of step_s / substeps inside one call. Guides move between the last inputs and the new
        ones: position and rate by cubic Hermite polynomials over their own derivatives,
        acceleration linear; exact at the end.
    bending : {"full", "ruthless"}
        Of bodies that bend in "articulated", "composite" and "semi_recursive": "ruthless" gives them the masses and
        couplings of the body that is not bent, as constants. For spins far below their first frequencies only.
    reaction : {"F1", "paper"}
        Guide reaction: index-1 consistent at t_{k+1}, or the weighted sum over the
        generalised-alpha interval.
    presolve : bool
        Solve linear constraints when generating, see `codegen.equations.presolve`: fewer coordinates, the
        same motion.
    frozen : bool
        Parameters become constants of the text at their values in the mechanism file: a little
        faster, no longer tunable.
    precision : {"float64", "float32"}
        Of all arithmetic but sines; inputs and outputs stay double. float32 is not fit for
        reactions.
    wrapper : {"class", "procedural"}
        The Python interface: a `Kernel` that owns its state, or functions on a state that the caller
        holds.
    residual_limit : float
        A step that ends with a larger constraint violation (m or rad) is refused.
    compiler : str, optional
        Default: CC of the environment, else gcc or cc.
    march : str
        "auto" (x86-64-v3 where the processor has it), "none", or any value for -march.
    cflags : tuple of str
        Further compiler flags of code generation, see `codegen.options.compiler_flags`. -ffast-math is refused:
        replay promises the bits of the live run.
    """

    step_s: AboveZero = 1e-3
    formulation: Formulation = "ali3p"
    integrator: Integrator | None = None
    rho_inf: Annotated[float, Field(ge=0.0, le=1.0)] = 0.8
    newmark_beta: AboveZero = 0.25
    newmark_gamma: float = 0.5
    kappa: AboveZero | None = None
    alpha: AboveZero | None = None
    xi: AboveZero | None = None
    omega_rad_s: AboveZero | None = None
    iterations: Annotated[int, Field(ge=1, le=100)] = 2
    tolerance: AboveZero | None = None
    projection: Literal["A", "B", "none"] = "A"
    reuse: Literal["none", "projection", "step"] = "none"
    substeps: Annotated[int, Field(ge=1, le=1000)] = 1
    bending: Literal["full", "ruthless"] = "full"
    reaction: Literal["F1", "paper"] = "F1"
    presolve: bool = True
    frozen: bool = False
    precision: Literal["float64", "float32"] = "float64"
    wrapper: Literal["class", "procedural"] = "class"
    residual_limit: AboveZero = 1e-4
    compiler: str | None = None
    march: March = "auto"
    cflags: Annotated[tuple[Flag, ...], AtMost] = ()

    def __post_init__(self) -> None:
        check("kernel options", self, self._contradictions())
        if self.integrator is None:
            object.__setattr__(self, "integrator", INTEGRATORS[self.formulation][0])

    def _contradictions(self) -> Iterator[Wrong]:
        allowed = INTEGRATORS[self.formulation]
        if self.integrator not in (None, *allowed):
            known = ", ".join(map(repr, allowed))
            yield Wrong("integrator", self.integrator, f"{self.formulation} goes with {known}")
        if not 0.5 <= self.newmark_gamma <= 2.0 * self.newmark_beta:
            problem = "must be 0.5 to 2 newmark_beta, else the step is not stable"
            yield Wrong("newmark_gamma", self.newmark_gamma, problem)
        if self.kappa is not None and self.alpha is not None:
            yield Wrong("alpha", self.alpha, "kappa is given, too", "give one of them")
        if self.reuse != "none" and self.projection == "A":
            problem = "projection = 'A' factors anew"
            yield Wrong("reuse", self.reuse, problem, "give projection = 'B' or 'none'")
        integrator = self.integrator or allowed[0]
        for names, chosen, owners in (
            (("projection", "reuse", "reaction"), self.formulation, INDEX_3),
            (("xi", "omega_rad_s"), self.formulation, STABILISED),
            (("kappa", "alpha"), self.formulation, WITH_ROWS),
            (("residual_limit",), self.formulation, (*WITH_ROWS, "particles")),
            (("bending",), self.formulation, BENDING_TREES),
            (("rho_inf",), integrator, ("generalized_alpha",)),
            (("newmark_beta", "newmark_gamma"), integrator, ("newmark",)),
        ):
            for name in names:
                value = getattr(self, name)
                if chosen not in owners and value != KernelOptions.__dict__[name]:
                    known = ", ".join(map(repr, owners))
                    yield Wrong(name, value, f"means something to {known} only", "leave it out")
        if self.formulation not in WITH_ROWS and integrator != "trapezoidal":
            for name in ("iterations", "tolerance"):
                value = getattr(self, name)
                if value != KernelOptions.__dict__[name]:
                    problem = f"'{self.formulation}' by '{integrator}' iterates nothing"
                    yield Wrong(name, value, problem, "leave it out")

    @property
    def inner_step_s(self) -> float:
        """Time that the integrator advances in one substep."""
        return self.step_s / self.substeps

    @property
    def newmark(self) -> tuple[float, float, float, float]:
        """delta_m, delta_f, beta, gamma (Chung and Hulbert 1993; plain Newmark has no deltas)."""
        if self.integrator == "newmark":
            return 0.0, 0.0, self.newmark_beta, self.newmark_gamma
        if self.integrator != "generalized_alpha":
            return 0.0, 0.0, 0.25, 0.5
        rho = self.rho_inf
        dm, df = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        return dm, df, (1.0 - dm + df) ** 2 / 4.0, 0.5 - dm + df

    @property
    def row_kappa(self) -> float:
        """`kappa` or its default: single precision allows less; without
        multipliers, which make up for a soft penalty, it takes more.
        """
        default = 1e8 if self.formulation == "penalty" else 1e6
        if self.precision == "float32":
            default = 1e3
        return default if self.kappa is None else self.kappa

    @property
    def projection_scale(self) -> float:
        """Weight of the penalty in the projections, and in F1."""
        dm, df, beta, _ = self.newmark
        if self.alpha is not None and self.projection != "B":
            return 1.0 - dm
        return (1.0 - df) * beta * self.inner_step_s**2

    def short(self) -> str:
        """Step, formulation and integrator, and all other values that differ from the default."""
        wanted = ("step_s", "formulation", "integrator")
        parts = [str(getattr(self, key)) for key in wanted[1:]]
        return ", ".join([*parts, f"step_s={self.step_s!r}", *(
            f"{f.name}={getattr(self, f.name)!r}"
            for f in fields(self)
            if f.name not in wanted and getattr(self, f.name) != f.default
        )])  # fmt: skip

    def text(self) -> str:
        """All options on one line, in a fixed order; those of `LATER` where they are not as before."""
        plain = {
            f.name for f in fields(self) if f.name in LATER and getattr(self, f.name) == f.default
        }
        values = asdict(self).items()
        return ", ".join(f"{key}={value!r}" for key, value in values if key not in plain)
