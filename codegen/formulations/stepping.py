"""A formulation that gives the derivative of a state, an integrator of `codegen.integrators`, and
the step that both make.

The formulation brings C and NumPy text of `derive` (the derivative at a state), `set_out` (what
positions and rates do not say at a start) and `conclude` (what is due once a step), and says which
arrays of the state are integrated. Everything else is here: weights, assembly, inputs within the
step, substeps, outputs. The derivative at the end of a step is the first one of the next step.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from codegen.description.mechanism import Mechanism
from codegen.equations.equations import Equations, equations
from codegen.equations.factor import Factored, factored
from codegen.equations.gain import gain
from codegen.equations.program import Program, Routine, Sweep
from codegen.equations.singular import Limits, pivot_limits
from codegen.equations.unfold import row_multipliers, unfold_routine
from codegen.expressions.elimination import Entries
from codegen.expressions.emit import Assign
from codegen.formulations.acceleration import (
    Stabilisation,
    accelerate,
    acceleration_routines,
    near_routines,
    stabilisation,
)
from codegen.formulations.order import Step, counted, function, lines
from codegen.options.options import KernelOptions
from codegen.pose.assembly import assemble

HERE = Path(__file__).parent
INTEGRATORS = HERE.parent / "integrators"
# derivatives evaluated in a step; of the trapezoidal rule: once an iteration
EVALUATED = {"forward_euler": 1, "semi_implicit_euler": 1, "rk4": 4}
# steps are settled again where the smallest singular value of the scaled jacobian is below some 0.03: the pivots'
# limits, which follow the penalty, are divided by this over its root
BESIDE = 100.0
FIRM = 0.05  # of omega^2 h^2: rows are closed within a few steps
SECOND_ORDER = {"q": ("s->qd", "q"), "qd": ("s->qdd", "q")}


@dataclass
class Derivative:
    """The additions of a formulation to the common ground.

    Attributes
    ----------
    routines : list of Routine
        Beyond those of `Ground`.
    integrated : dict of str to (where, "q" or "phi")
        Integrated arrays of the state, positions first: where their derivatives are, and whether
        they have an element a coordinate or a row.
    derive, conclude, set_out : list of Step
        Their orders.
    text : str
        C of functions that these call.
    twin : tuple of str
        Templates of the NumPy twin's `Dynamics`.
    state : dict of str to (size, meaning)
        See `codegen.equations.program.Program`.
    fill : dict of str to str
        For the twin's templates.
    sees_singular : bool
        Whether the last factor of a step is that of mass' + phi_q'^T phi_q', whose pivots show a singular pose.
    resettled : str
        C of the values that follow from a state settled again beside a singular pose.
    """

    routines: list[Routine]
    derive: list[Step]
    twin: tuple[str, ...]
    conclude: list[Step] = field(
        default_factory=lambda: [lines("// nothing is left to do at the end of a step")]
    )
    set_out: list[Step] = field(default_factory=list)
    text: str = ""
    integrated: dict[str, tuple[str, str]] = field(default_factory=lambda: dict(SECOND_ORDER))
    state: dict[str, tuple[int, str]] = field(default_factory=dict)
    fill: dict[str, str] = field(default_factory=dict)
    sees_singular: bool = True
    resettled: str = ""


@dataclass
class Ground:
    """Equations with the factorisation of mass' + phi_q'^T phi_q', on which all these formulations
    start, and the options' meaning.

    `weigh` has the stored entries of mass', `passes` how often an evaluation corrects itself: the
    trapezoidal rule iterates already.
    """

    eq: Equations
    factor: Factored
    weigh: Entries
    made: Stabilisation
    passes: int


def ground(mechanism: Mechanism, options: KernelOptions, *, diagonal_first: bool = False) -> Ground:
    """Equations and factorisation; with `diagonal_first` the weight begins with its whole diagonal."""
    eq = equations(mechanism, options)
    diagonal = [(i, i) for i in range(len(eq.q))] if diagonal_first else []
    keys = [*diagonal, *sorted(key for key in eq.mass if key not in diagonal)]
    factor = factored(eq, keys, weight_is_mass=not diagonal_first)
    number_of = {key: number for number, key in enumerate(keys)}
    weigh = eq.stored_mass("mass", lambda n, key: f"w->weight_project[{number_of[key]}]")
    passes = 1 if options.integrator == "trapezoidal" else options.iterations
    return Ground(eq, factor, weigh, stabilisation(options), passes)


def settle_routines(eq: Equations) -> list[Routine]:
    """The routine of states that forces follow through the step, with room for its time; none without such states."""
    if not (followed := eq.settle_assigns()):
        return []
    eq.arrays["since_part"] = 1
    return [Routine("settle", "states that forces follow through the step, at its end", followed)]


def stepped(on: Ground, derivative: Derivative, *, augments: bool = True) -> Program:
    """The program of a formulation with the integrator that the options name."""
    eq, options = on.eq, on.eq.options
    weight = [
        Assign(f"w->weight_project[{n}]", eq.mass.get(key, eq.graph.zero), "mass")
        for n, key in enumerate(on.factor.weight_keys)
    ]
    position = eq.each(lambda i: eq.transposed(i, eq.phi_var, -1.0))
    limits = Limits([], [])
    near: list[Routine] = []
    if derivative.sees_singular:
        limits = pivot_limits(eq, 1.0, on.factor.kept)
        if eq.system.guides:
            near = near_routines(eq, on.weigh, on.made, limits.less)
            eq.arrays |= {"was_beside": 1, "closing": 1}
    routines = [
        Routine(
            "prepare", "what depends on parameters only", [] if eq.moves else weight, is_split=True
        ),
        eq.hold_routine(),
        eq.evaluate_routine(weight if eq.moves else []),
        Routine("forces", "force at q, qd", eq.force_assigns()),
        *on.factor.routines,
        Routine("position_rhs", "rhs = -phi_q^T phi", eq.per_coordinate("w->rhs", position)),
        eq.velocity_routine(),
        *acceleration_routines(eq, on.weigh, on.made, augments=augments),
        *near,
        *derivative.routines,
        Routine(
            "observe",
            "multipliers of rows that outputs show; outputs that are expressions",
            [*row_multipliers(eq, eq.lam, eq.qdd), *eq.observe_assigns()],
            is_ordered=True,
        ),
        unfold_routine(eq),
    ]
    routines += settle_routines(eq)
    weighed = gain(eq)
    routines += weighed.routines
    eq.store_derived(routines)
    eq.arrays["weight_project"] = len(on.factor.weight_keys)
    integrator = integrator_text(eq, derivative)
    return eq.program(
        routines,
        projection_scale=1.0,
        weight_keys=on.factor.weight_keys,
        calls=calls_of(eq, derivative),
        text=weighed.text + _text(on, derivative, integrator, limits, bool(weighed.line)),
        state=inputs_of(eq) | derivative.state,
        twin=(
            *derivative.twin,
            f"integrators/{options.integrator}.py.in",
            "formulations/stepping.py.in",
        ),
        twin_fill={
            "substeps": str(options.substeps),
            "passes": str(on.passes),
            "rate_gain": repr(on.made.rate),
            "place_gain": repr(on.made.place),
        }
        | derivative.fill,
        pivot_limit=limits.coordinates,
        row_pivot_limit=limits.rows,
        freedoms=assemble(eq.mechanism.system).dof
        if limits.coordinates and not eq.is_large
        else -1,
    )


def integrator_text(eq: Equations, derivative: Derivative) -> str:
    """C of the integrator that the options name; its arrays are added to those of the equations."""
    text = (INTEGRATORS / f"{eq.options.integrator}.h.in").read_text()
    sizes = {"q": len(eq.q), "phi": len(eq.phi)}
    for part in ("from", "sum", "slope"):
        if f"w->{part}_" in text:
            eq.arrays |= {
                f"{part}_{y}": sizes[kind] for y, (_, kind) in derivative.integrated.items()
            }
    return text


def inputs_of(eq: Equations) -> dict[str, tuple[int, str]]:
    """Arrays of the state that keep the inputs of its time."""
    return {
        "guide": (3 * len(eq.system.guides), "inputs of this time: position, rate, acceleration"),
        "signal": (len(eq.system.signals), "input signals of this time"),
    }


def calls_of(eq: Equations, derivative: Derivative) -> list[str | Sweep]:
    """One call of the kernel in order."""
    options, system = eq.options, eq.system
    times = EVALUATED.get(str(options.integrator), options.iterations)
    sweeps = [
        Sweep(kind, [f"s->{y}", slope], [f"s->{y}"], 1)
        for y, (slope, kind) in derivative.integrated.items()
    ]
    held: list[str | Sweep] = ["hold"] if system.held or system.internals else []
    derive = counted(derivative.derive)
    held += [] if system.holds_only_starts else derive
    settled = ["settle"] if system.followed else []
    once = [*held, *[*sweeps, *derive] * times, *counted(derivative.conclude), *settled]
    return [*once * options.substeps, "observe"]


def _text(on: Ground, derivative: Derivative, integrator: str, limits: Limits, weighs: bool) -> str:
    """C of the step."""
    eq = on.eq
    return step_text(
        eq,
        derivative,
        integrator,
        StepParts(
            reactions=[
                f"w->reaction[{n}] = {-eq.unit * eq.scale[guide.row]!r} * s->lam[{guide.row}];"
                for n, guide in enumerate(eq.system.guides)
            ],
            accelerate=function("accelerate(Work *w, State *s, int passes)", accelerate("passes")),
            start="accelerate(w, s, 8);",
            settle=_watch(on, derivative, limits),
            near=_near(on, derivative, limits),
            weighs=weighs,
        ),
    )


@dataclass(frozen=True)
class StepParts:
    """Lines of the step that formulations differ in.

    Attributes
    ----------
    reactions : list of str
        Of `react`: the guides' reactions, once a step.
    accelerate : str
        A function that `start`, a line of `begin`, calls for accelerations at a start.
    settle, near : str
        At the end of a step, and the functions that these lines call.
    weighs : bool
        Whether the energy that the step gained is weighed.
    """

    reactions: list[str]
    accelerate: str = ""
    start: str = ""
    settle: str = ""
    near: str = ""
    weighs: bool = False


def step_text(eq: Equations, derivative: Derivative, integrator: str, parts: StepParts) -> str:
    """C of the step of a formulation, with what its integrator does."""
    options = eq.options
    h = options.inner_step_s
    integrator = Template(integrator).substitute(h=repr(h), half_h=repr(h / 2.0))
    text = (HERE / "stepping.h.in").read_text()
    return Template(text).substitute(
        title=f"One step: {options.formulation}, {options.integrator}.",
        span=repr(options.step_s),
        substeps=options.substeps,
        holds=int(bool(eq.system.held or eq.system.internals)),
        derives=int(not eq.system.holds_only_starts),
        since_lines="".join(
            f"    {line}\n" for line in eq.since(f"(at - w->since_part[0]) * {h!r}")
        ),
        since_part_lines="        w->since_part[0] = part;\n" if eq.system.followed else "",
        since_start_lines="".join(f"    {line}\n" for line in eq.since("0.0")),
        settle_lines=parts.settle + ("        settle(w, s);\n" if eq.system.followed else ""),
        near_lines=parts.near,
        from_line="        w->scratch = *s;\n" if parts.weighs else "",
        gain_lines=(
            "        react(w, s);\n        weigh_gain(w, &w->scratch, s);\n" if parts.weighs else ""
        ),
        integrator=_looped(integrator, derivative.integrated),
        formulation=_functions(derivative, parts.accelerate),
        start_lines=f"    {parts.start}\n" if parts.start else "",
        reaction_lines="\n".join(
            f"    {line}" for line in parts.reactions or ["(void)w, (void)s;"]
        ),
    )


def _functions(derivative: Derivative, accelerate_text: str) -> str:
    head = "(Work *w, State *s)"
    return "\n".join(
        text
        for text in (
            accelerate_text,
            derivative.text,
            function(f"derive{head}", derivative.derive),
            function(f"conclude{head}", derivative.conclude),
            function(f"set_out{head}", derivative.set_out),
        )
        if text
    )


def _watch(on: Ground, derivative: Derivative, limits: Limits) -> str:
    """Lines at the end of a step that see whether it ended near a singular pose."""
    if not limits.coordinates:
        return ""
    lines = [
        "w->is_near = w->is_singular = small_pivots(w, 1.0) > w->regular;",
        "w->is_undetermined = 0;",
    ]
    options = on.eq.options
    if on.eq.system.guides:
        # further out than the limit of singular poses: rows that are open by a little push with a force that grows
        # towards it; and once more on leaving, multipliers of the other side are not history
        h = options.inner_step_s
        beside = min(1.0, BESIDE / math.sqrt(options.row_kappa))
        settle = f"    settle_near(w, s0, s, (part + 1) * {h!r});"
        lines += [
            "const int was_beside = w->was_beside[0] > 0.0;",
            f"w->was_beside[0] = w->is_telling && small_pivots(w, {beside!r}) > w->regular;",
        ]
        if on.made.place * h**2 > FIRM:
            # rows that are closed within the next steps push on their way there, so their torques are not valid
            lines += [
                "if (w->was_beside[0] > 0.0 || was_beside) {",
                settle,
                "    w->closing[0] = 2.0;",
                "} else if (w->closing[0] > 0.0) {",
                "    w->closing[0] -= 1.0;",
                "    w->is_undetermined = 1;",
                "}",
            ]
        else:
            lines += ["if (w->was_beside[0] > 0.0 || was_beside)", settle]
        # these formulations cannot separate one reaction from another there
        lines += [
            "for (int i = 0; i < N_REACTIONS; i++)",
            "    w->is_open[i] = w->is_undetermined;",
        ]
    return "".join(f"        {line}\n" for line in lines)


def _near(on: Ground, derivative: Derivative, limits: Limits) -> str:
    """The routine that settles a state again."""
    if not (limits.coordinates and on.eq.system.guides):
        return ""
    return Template((HERE / "near_acceleration.h.in").read_text()).substitute(
        n_weight=len(on.factor.weight_keys),
        less=repr(limits.less),
        near=repr(1.0 / limits.less),
        nearer=repr(limits.nearer),
        resettled=derivative.resettled,
    )


def _looped(text: str, integrated: dict[str, tuple[str, str]]) -> str:
    """`each` and `each_back` lines as loops."""

    def loop(found: re.Match[str]) -> str:
        indent, back, body = found.groups()
        arrays = [(y, dy, kind.upper()) for y, (dy, kind) in integrated.items()]
        return "\n".join(
            f"{indent}for (int i = 0; i < N_{kind}; i++)\n{indent}    "
            + body.replace("{y}", y).replace("{dy}", f"{dy}[i]")
            for y, dy, kind in (arrays[::-1] if back else arrays)
        )

    return re.sub(r"^( *)each(_back)? (.*)$", loop, text, flags=re.MULTILINE)
