"""Trees in joint coordinates: accelerations by articulated inertias, at a cost that grows with the number of bodies.

The mechanism file is the same as for natural coordinates; its tree, the recursion and the forces over joint
coordinates come from `codegen.topology` and `codegen.tree`. There are no rows: nothing is iterated, and nothing drifts
but the length of quaternions, which is set right at the end of each step.

Source: Featherstone 1983; Rodriguez, Jain and Kreutz-Delgado 1991.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.description.mechanism import Mechanism, MechanismError
from codegen.equations.equations import Equations, equations
from codegen.equations.program import Program, Routine
from codegen.equations.unfold import unfold_routine
from codegen.expressions.emit import Assign
from codegen.formulations.order import Call, Step, lines
from codegen.formulations.stepping import (
    Derivative,
    StepParts,
    calls_of,
    inputs_of,
    integrator_text,
    settle_routines,
    step_text,
)
from codegen.kernels.frozen import frozen
from codegen.options.options import KernelOptions
from codegen.system.system import System
from codegen.tree.chain import ChainLink
from codegen.tree.groups import LoopLink
from codegen.tree.long_rows import lengthened
from codegen.tree.loops import TreeLoops
from codegen.tree.mechanism import TreeMechanism, in_joint_coordinates
from codegen.tree.reactions import of_joint
from codegen.tree.recursion import accelerations
from codegen.tree.transmission import given_force
from codegen.tree.twin_data import twin_data, uncompared
from rig_configs.mistakes import Mistake

MOST_UNROLLED = 64  # coordinates; the sweeps of longer trees are loops


def build(mechanism: Mechanism, options: KernelOptions) -> Program:
    """Discretise `mechanism`: the routines of one step as expressions.

    Raises
    ------
    MechanismError
        It is no tree, or has something that joint coordinates do not carry: each by name.
    """
    return over_tree(mechanism, options, MOST_UNROLLED, TreeLoops)


def over_tree(
    mechanism: Mechanism, options: KernelOptions, most_unrolled: int, sweeps: type[TreeLoops]
) -> Program:
    """The program of a tree: up to some coordinates in lines, beyond by sweeps in loops.

    Raises
    ------
    MechanismError
        As `build`.
    """
    if mechanism.system.longer:
        mechanism = frozen(mechanism)
    tree = in_joint_coordinates(
        mechanism,
        -1 if mechanism.system.longer else most_unrolled,
        formulation=options.formulation,
        places=sweeps.places,
        is_ruthless=options.bending == "ruthless",
    )
    _refuse(tree)
    long = lengthened(tree) if tree.is_looped else None
    eq = equations(long.made if long else tree.made, options)
    own = [eq.hold_routine(), *nothing(), observe(eq), *_guide_forces(eq, tree)]
    own += settle_routines(eq)
    loops = sweeps(eq, tree, long, own) if long else None
    routines = loops.routines() if loops else [*_unrolled(eq, tree), *own]
    routines.append(loops.unfold() if loops else unfold_routine(eq))
    eq.store_derived(routines)
    eq.arrays |= {
        "rhs": len(eq.q),
        "x": len(eq.q),
        "inverse": len(eq.q),
        "inverse_row": 0,
        "weight_project": 0,
    }
    upright = _upright(long.links if long else tree.chain.links)
    derivative = Derivative(
        routines=[],
        derive=[*_guided(eq), Call(sweeps.main)],
        conclude=upright,
        set_out=upright,
        twin=(),
    )
    integrator = integrator_text(eq, derivative)
    reacts = bool(eq.system.guides)
    return eq.program(
        routines,
        projection_scale=1.0,
        weight_keys=[],
        calls=[*calls_of(eq, derivative), *(["guide_forces"] if reacts else [])],
        text=step_text(
            eq,
            derivative,
            integrator,
            StepParts(reactions=["guide_forces(w, (State *)s);"] if reacts else []),
        ),
        state=inputs_of(eq),
        twin=(
            "tree/joint_coordinates.py.in",
            "topology/file_coordinates.py.in",
            "spatial/bent_masses.py.in",
            "tree/articulated.py.in",
            f"integrators/{options.integrator}.py.in",
            "formulations/stepping.py.in",
        ),
        twin_fill=_twin(tree, options) | {"substeps": str(options.substeps)},
        natural=tree.source,
        tables=loops.tables() if loops else [],
    )


def _refuse(tree: TreeMechanism) -> None:
    """Outputs that joint coordinates do not have."""
    system, mistakes = tree.made.system, []
    for output in tree.made.outputs:
        problem = None
        if output.kind == "gain":
            problem = "the gain of a step is weighed in natural coordinates only"
        elif output.path and shows_rows(system, output.path):
            problem = "shows the reaction of a row, which joint coordinates do not have"
        if problem:
            remedy = "leave it out, or take formulation = 'ali3p'"
            mistakes.append(Mistake(system.file, f"outputs.{output.port}", problem, remedy))
    if mistakes:
        raise MechanismError(mistakes)


def shows_rows(system: System, path: str) -> bool:
    """Return whether a value contains multipliers of rows."""
    inside = system.graph.variables(system.values[path])
    return any(var.name.startswith("row_lam ") for var in inside)


def _unrolled(eq: Equations, tree: TreeMechanism) -> list[Routine]:
    found = accelerations(tree.chain, tree.loads)
    guided = {i for link in tree.chain.links if link.is_guided for i in link.coordinates}
    return [
        Routine("prepare", "what depends on parameters only", [], is_split=True),
        Routine(
            "articulate",
            "qdd at q and qd, by articulated inertias",
            [
                Assign(f"s->qdd[Q_{eq.names[i]}]", e, eq.names[i])
                for i, e in sorted(found.items())
                if i not in guided
            ],
        ),
    ]


def nothing() -> list[Routine]:
    """Routines of constraints, which trees do not have."""
    return [
        Routine(name, "nothing is to be solved in joint coordinates", [])
        for name in ("evaluate", "factorise", "solve", "position_rhs", "velocity_rhs")
    ]


def observe(eq: Equations) -> Routine:
    """The routine of outputs that are expressions."""
    return Routine(
        "observe",
        "outputs that are expressions",
        [
            Assign(f"w->observed[{n}]", eq.system.values[path], path)
            for n, path in enumerate(eq.shown)
        ],
    )


def _guide_forces(eq: Equations, tree: TreeMechanism) -> list[Routine]:
    if not eq.system.guides:
        return []
    chain, loads, handed = tree.chain, tree.loads, tree.handed()
    places = {c.name: n for n, link in enumerate(chain.links) for c in _coordinates(eq, link)}
    forces = [
        Assign(
            f"w->reaction[{n}]",
            given_force(chain, loads, handed, places[guide.coordinate.name]),
            f"of {guide.name}",
        )
        for n, guide in enumerate(eq.system.guides)
    ]
    return [Routine("guide_forces", "what the guides push with", forces)]


def _coordinates(eq: Equations, link) -> list:
    return [eq.system.coordinates[i] for i in link.coordinates]


def _guided(eq: Equations) -> list[Step]:
    """Coordinates that guides give."""
    found = []
    for n, guide in enumerate(eq.system.guides):
        name = guide.coordinate.name
        found += [
            f"s->{array}[Q_{name}] = w->guide[{3 * n + part}];"
            for part, array in enumerate(("q", "qd", "qdd"))
        ]
    return [lines(*found)] if found else []


def _upright(links: Sequence[ChainLink | LoopLink]) -> list[Step]:
    """Quaternions of length 1, and rates across them."""
    balls = [link.coordinates[-4] for link in links if link.kind in ("ball", "free")]
    if not balls:
        return [lines("// nothing is left to do at the end of a step")]
    places = ", ".join(map(str, balls))
    return [
        lines(
            "(void)w;",
            f"static const int quaternions[] = {{{places}}};",
            f"for (int k = 0; k < {len(balls)}; k++) {{",
            "    real *const e = s->q + quaternions[k], *const rate = s->qd + quaternions[k];",
            "    const real size = (real)sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);",
            "    for (int i = 0; i < 4; i++)",
            "        e[i] /= size;",
            "    const real along = e[0] * rate[0] + e[1] * rate[1] + e[2] * rate[2] + e[3] * rate[3];",
            "    for (int i = 0; i < 4; i++)",
            "        rate[i] -= along * e[i];",
            "}",
        )
    ]


def _twin(tree: TreeMechanism, options: KernelOptions) -> dict[str, str]:
    """The tree as data of the NumPy twin."""
    source = tree.source.system
    return twin_data(tree.motion, tree.made.system, source, options) | {
        "n_rows": str(len(source.rows)),
        "reactions": repr(
            [
                o.port
                for o in tree.source.outputs
                if o.path and (shows_rows(source, o.path) or of_joint(source, o.path))
            ]
            + uncompared(tree.source, options)
        ),
    }
