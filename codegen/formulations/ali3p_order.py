"""ALI3-P: the order of one step, and the parts of its text that the options need."""

from __future__ import annotations

from pathlib import Path
from string import Template

from codegen.equations.equations import Equations
from codegen.equations.program import Sweep
from codegen.equations.singular import FOUND_AGAIN, LOST, Limits
from codegen.formulations.order import (
    Call,
    Each,
    Lines,
    Repeat,
    Rounds,
    Step,
    Update,
    factorise,
    lines,
    moved,
    solved,
    spelled,
)

TEXT = Path(__file__).with_name("ali3p.h.in")
NEAR = Path(__file__).with_name("near.h.in")
BREAK = (
    "if (TOLERANCE > 0.0) {",
    "    real square = 0.0;",
    "    for (int i = 0; i < N_Q; i++)",
    "        square += w->x[i] * w->x[i];",
    "    if (square < (real)(TOLERANCE * TOLERANCE))",
    "        break;",
    "}",
)


def needs_reactions(eq: Equations) -> bool:
    """Return whether a step ends with F1: multipliers of guides or of rows are outputs."""
    has_guides = bool(eq.system.guides) and eq.options.reaction == "F1"
    return has_guides or eq.has_late


def steps(eq: Equations) -> list[Step]:
    """One step in order, from the state s0 at t_k to s at t_{k+1}."""
    options = eq.options
    _, _, beta, gamma = options.newmark
    h = options.inner_step_s
    dqd, dqdd = repr(gamma / (beta * h)), repr(1.0 / (beta * h * h))
    once: Rounds = "first" if options.reuse == "step" else "all"
    square = Sweep("q", ["w->x"], [], 1)
    return [
        Call("hold", "w, s0, s"),
        Call("history", "w, s0"),
        lines(*eq.since(repr(h)), "// predictor with the acceleration of t_k"),
        Each("phi", (Update("s->lam", (("", "s0->lam"),), adds=False),)),
        Each(
            "q",
            (
                Update(
                    "s->q",
                    (("", "s0->q"), (repr(h), "s0->qd"), (repr(h * h / 2.0), "s0->qdd")),
                    adds=False,
                ),
                Update("s->qd", (("", "s0->qd"), (repr(h), "s0->qdd")), adds=False),
                Update("s->qdd", (("", "s0->qdd"),), adds=False),
            ),
        ),
        lines(
            "// bounded newton; after a correction the multipliers take what the linear step makes of phi: the",
            "// square of a large step, times the penalty, would throw them off",
        ),
        Repeat(
            "iteration",
            options.iterations,
            "ITERATIONS",
            [
                Call("evaluate"),
                Call("forces"),
                Call("residual"),
                factorise("newton", once),
                Call("solve", "w"),
                Each(
                    "q",
                    (
                        Update("s->q", (("", "w->x"),)),
                        Update("s->qd", ((dqd, "w->x"),)),
                        Update("s->qdd", ((dqdd, "w->x"),)),
                    ),
                ),
                Call("lift"),
                lines("w->iterations = iteration + 1;"),
                Lines(BREAK, () if options.tolerance is None else (square,)),
                Call("carry", "w", rounds="between"),
            ],
        ),
        Call("evaluate"),
        *_project(eq),
        *_reactions(eq),
    ]


def text(eq: Equations, limits: Limits, n_weight: int, gain_line: str) -> str:
    """The order in C: the parts of `ali3p.h.in` that the options need."""
    start_reactions = _indented(_start_reactions(eq), 4)
    options = eq.options
    dm, df, beta, gamma = options.newmark
    h = options.inner_step_s
    return Template(TEXT.read_text()).substitute(
        dm=dm,
        df=df,
        beta=beta,
        gamma=gamma,
        projection=options.projection,
        reuse=options.reuse,
        reaction=options.reaction,
        step_lines="\n".join(f"    {line}" for line in spelled(steps(eq))),
        since_start_lines=_lines(eq.since("0.0")),
        start_reaction_lines=start_reactions,
        gain_line=gain_line,
        lost_share=repr(limits.lost_share),
        singular_share=repr(limits.singular_share),
        near_lines=Template(NEAR.read_text()).substitute(
            less=repr(limits.less),
            near=repr(1.0 / limits.less),
            nearer=repr(limits.nearer),
            found_again=repr(limits.nearer / FOUND_AGAIN),
            lost_near=repr(1.0 / LOST),
            lost_again=repr(1.0 / (LOST * FOUND_AGAIN)),
            open=repr(limits.open),
            noise=repr(limits.noise),
            bear_lines=_lines(_bear(eq, limits.noise)),
            n_weight=n_weight,
            h=repr(h),
            half_h2=repr(h * h / 2.0),
            over_share=repr(options.projection_scale / (1.0 - dm)),
            start_reaction_lines=start_reactions,
        ),
    )


def _project(eq: Equations) -> list[Step]:
    """Mass-orthogonal projections, as increments, and the multipliers' right side."""
    options = eq.options
    if options.projection == "none" and not needs_reactions(eq):
        return [Call("finish")]
    # of B, Newton's last factor serves, where each iteration has its own
    factor: list[Step] = []
    if options.projection != "B":
        factor = [factorise("project")]
    elif options.reuse == "none":
        factor = [factorise("newton")]
    if options.projection == "none":
        return [
            lines("// no projection: what one would add to qdd only enters the reactions"),
            *factor,
            Call("acceleration_rhs"),
            Call("solve", "w"),
            lines("real unprojected[N_Q];"),
            Each("q", (Update("unprojected", (("", "w->x"),), adds=False),)),
            Call("finish"),
        ]
    return [
        lines("// mass-orthogonal projections, as increments"),
        *factor,
        Call("velocity_rhs"),
        *solved("s->qd"),
        Call("acceleration_rhs"),
        Call("solve", "w"),
        Call("finish"),
        moved("s->qdd"),
    ]


def _reactions(eq: Equations) -> list[Step]:
    """Multipliers that belong to the end of the step, F1, and what outputs show of them."""
    options = eq.options
    found: list[Step] = []
    if needs_reactions(eq):
        found.append(Call("solve" if eq.has_late else "solve_guides", "w"))
        if options.projection == "none":
            found.append(Each("q", (Update("w->x", (("", "unprojected"),)),)))
    found.append(lines(*(_guide_reaction(eq, number) for number in range(len(eq.system.guides)))))
    return [*found, Call("react")] if eq.has_late else found


def _guide_reaction(eq: Equations, number: int) -> str:
    options, unit, guide = eq.options, eq.unit, eq.system.guides[number]
    dm, df, _, _ = options.newmark
    s, r, q = options.projection_scale, guide.row, f"Q_{guide.coordinate.name}"
    error = f"s->qdd[{q}] - w->guide[{3 * number + 2}]"
    to_newton = unit * eq.scale[r]
    if options.reaction == "F1":
        correction = f"{s / (1.0 - dm) * eq.scale[r]!r} * ({error} + w->x[{q}])"
        return f"w->reaction[{number}] = -{to_newton!r} * (s->lam[{r}] + {correction});"
    # the weighted sum of the paper; there is a projection term only where there is a projection
    projected = f" + {s * eq.scale[r] * to_newton!r} * ({error})"
    return (
        f"w->reaction[{number}] = -({(1 - df) * to_newton!r} * s->lam[{r}]"
        f" + {df * to_newton!r} * s0->lam[{r}]{projected * (options.projection != 'none')});"
    )


def _start_reactions(eq: Equations) -> list[str]:
    """After `start` the multipliers are consistent as they are."""
    lines = [
        f"w->reaction[{number}] = -{eq.unit * eq.scale[guide.row]!r} * s->lam[{guide.row}];"
        for number, guide in enumerate(eq.system.guides)
    ]
    if eq.has_late:
        lines += ["for (int i = 0; i < N_Q; i++)", "    w->x[i] = 0.0;", "react(w, s);"]
    return lines


def _bear(eq: Equations, noise: float) -> list[str]:
    """At a singular pose, with multipliers of the least size in s: reactions, and which outputs change when
    multipliers of the lost direction are added.
    """
    lines = [line for line in _start_reactions(eq) if line.startswith("w->reaction")]
    cells = eq.reaction_cells()
    if not cells:
        return lines
    return [
        *lines,
        "// outputs of rows are marked alike: by what the lost direction, or those forces, change of them",
        "real kept[AT_LEAST_1(N_PHI)], shown[N_REACTIONS], moved[N_REACTIONS];",
        "bear(w, s);",
        "for (int k = N_GUIDES; k < N_REACTIONS; k++)",
        "    shown[k] = *reaction_cell(w, k);",
        "for (int i = 0; i < N_PHI; i++) {",
        "    kept[i] = s->lam[i];",
        "    most = fabs(kept[i]) > most ? (real)fabs(kept[i]) : most;",
        "}",
        "for (int i = 0; i < N_PHI; i++)",
        "    s->lam[i] += most * scattered(i);",
        "bear(w, s);",
        "for (int k = N_GUIDES; k < N_REACTIONS; k++)",
        "    moved[k] = (real)fabs(*reaction_cell(w, k) - shown[k]);",
        "lost(w, v, 0.0);",
        "for (int i = 0; i < N_PHI; i++)",
        "    s->lam[i] = kept[i] + most * v->lam[i];",
        "bear(w, s);",
        "for (int k = N_GUIDES; k < N_REACTIONS; k++)",
        "    w->is_open[k] = fabs(*reaction_cell(w, k) - shown[k]) > (real)1e-3 * moved[k];",
        "for (int i = 0; i < N_PHI; i++)",
        "    s->lam[i] = kept[i] + extra[i];",
        "bear(w, s);",
        "for (int k = N_GUIDES; k < N_REACTIONS; k++)",
        f"    if (fabs(*reaction_cell(w, k) - shown[k]) > (real)1e-3 * fabs(shown[k]) + (real){noise!r} * moved[k])",
        "        w->is_open[k] = 1;",
        "for (int i = 0; i < N_PHI; i++)",
        "    s->lam[i] = kept[i];",
        "bear(w, s);",
    ]


def _lines(lines: list[str]) -> str:
    """Whole lines of a function's body, or nothing at all."""
    return "".join(f"    {line}\n" for line in lines)


def _indented(lines: list[str], by: int) -> str:
    return "\n".join(" " * by + line for line in lines)
