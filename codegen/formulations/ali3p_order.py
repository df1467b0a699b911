"""ALI3-P: the order of the routines in one step, as text in C and as calls to count."""

from __future__ import annotations

from pathlib import Path
from string import Template

from codegen.equations.equations import Equations
from codegen.equations.program import Sweep
from codegen.equations.singular import FOUND_AGAIN, LOST, Limits

TEXT = Path(__file__).with_name("ali3p.h.in")
NEAR = Path(__file__).with_name("near.h.in")


def needs_reactions(eq: Equations) -> bool:
    """Return whether a step ends with F1: multipliers of guides or of rows are outputs."""
    has_guides = bool(eq.system.guides) and eq.options.reaction == "F1"
    return has_guides or bool(eq.wanted_rows)


def calls(eq: Equations) -> list[str | Sweep]:
    """One step in order, as `ali3p.h.in` has it: routines and loops over whole arrays."""
    options = eq.options
    found: list[str | Sweep] = [
        "hold", "history",
        Sweep("q", ["s->q", "s->qd", "s->qdd"], ["s->q"], 2),
        Sweep("q", ["s->qd", "s->qdd"], ["s->qd"], 1),
    ]  # fmt: skip
    for iteration in range(options.iterations):
        found += ["evaluate", "forces", "residual"]
        if iteration == 0 or options.reuse != "step":
            found.append("factorise newton")
        found.append("solve")
        for array in ("s->q", "s->qd", "s->qdd"):
            found.append(Sweep("q", [array, "w->x"], [array], 1))
        found.append("lift")
        if options.tolerance is not None:
            found.append(Sweep("q", ["w->x"], [], 1))
        if iteration + 1 < options.iterations:
            found.append("carry")
    found.append("evaluate")
    weight = _projection_weight(eq)
    if weight:
        found.append(f"factorise {weight}")
    projected = Sweep("q", ["s->qdd", "w->x"], ["s->qdd"], 1)
    if options.projection != "none":
        moved = Sweep("q", ["s->qd", "w->x"], ["s->qd"], 1)
        found += ["velocity_rhs", "solve", moved, "acceleration_rhs", "solve", "finish", projected]
    elif needs_reactions(eq):
        found += ["acceleration_rhs", "solve", "finish"]
    else:
        found.append("finish")
    if eq.wanted_rows:
        found += ["solve", "react"]
    elif needs_reactions(eq):
        found.append("solve_guides")
    return found


def _projection_weight(eq: Equations) -> str:
    """Weight of the factor that the end of a step needs, empty where Newton's last one serves."""
    if eq.options.projection == "A":
        return "project"
    if eq.options.projection == "B":
        return "newton" if eq.options.reuse == "none" else ""
    return "project" if needs_reactions(eq) else ""


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
        h=repr(h),
        half_h2=repr(h * h / 2.0),
        dqd=repr(gamma / (beta * h)),
        dqdd=repr(1.0 / (beta * h * h)),
        factorise_newton=_indented(
            ["if (iteration == 0)", "    factorise(w, w->weight_newton);"]
            if options.reuse == "step"
            else ["factorise(w, w->weight_newton);"],
            8,
        ),
        project_lines=_indented(_project(eq), 4),
        reaction_lines=_indented(_reactions(eq), 4),
        since_end_lines=_lines(eq.since(repr(h))),
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


def _project(eq: Equations) -> list[str]:
    weight = _projection_weight(eq)
    factor = [f"factorise(w, w->weight_{weight});"] if weight else []
    if eq.options.projection == "none":
        if not needs_reactions(eq):
            return ["finish(w, s);"]
        return [
            "// no projection: what one would add to qdd only enters the reactions",
            *factor,
            "acceleration_rhs(w, s);",
            "solve(w);",
            "real unprojected[N_Q];",
            "for (int i = 0; i < N_Q; i++)",
            "    unprojected[i] = w->x[i];",
            "finish(w, s);",
        ]
    return [
        "// mass-orthogonal projections, as increments",
        *factor,
        "velocity_rhs(w, s);",
        "solve(w);",
        "for (int i = 0; i < N_Q; i++)",
        "    s->qd[i] += w->x[i];",
        "acceleration_rhs(w, s);",
        "solve(w);",
        "finish(w, s);",
        "for (int i = 0; i < N_Q; i++)",
        "    s->qdd[i] += w->x[i];",
    ]


def _reactions(eq: Equations) -> list[str]:
    options, unit = eq.options, eq.unit
    dm, df, _, _ = options.newmark
    s = options.projection_scale
    lines = []
    if needs_reactions(eq):
        lines.append("solve(w);" if eq.wanted_rows else "solve_guides(w);")
        if options.projection == "none":
            lines += ["for (int i = 0; i < N_Q; i++)", "    w->x[i] += unprojected[i];"]
    for number, guide in enumerate(eq.system.guides):
        r, q = guide.row, f"Q_{guide.coordinate.name}"
        error = f"s->qdd[{q}] - w->guide[{3 * number + 2}]"
        to_newton = unit * eq.scale[r]
        if options.reaction == "F1":
            correction = f"{s / (1.0 - dm) * eq.scale[r]!r} * ({error} + w->x[{q}])"
            lines.append(f"w->reaction[{number}] = -{to_newton!r} * (s->lam[{r}] + {correction});")
            continue
        # the weighted sum of the paper; there is a projection term only where there is a projection
        projected = f" + {s * eq.scale[r] * to_newton!r} * ({error})"
        lines.append(
            f"w->reaction[{number}] = -({(1 - df) * to_newton!r} * s->lam[{r}]"
            f" + {df * to_newton!r} * s0->lam[{r}]{projected * (options.projection != 'none')});"
        )
    return [*lines, "react(w, s);"] if eq.wanted_rows else lines


def _start_reactions(eq: Equations) -> list[str]:
    """After `start` the multipliers are consistent as they are."""
    lines = [
        f"w->reaction[{number}] = -{eq.unit * eq.scale[guide.row]!r} * s->lam[{guide.row}];"
        for number, guide in enumerate(eq.system.guides)
    ]
    if eq.wanted_rows:
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
