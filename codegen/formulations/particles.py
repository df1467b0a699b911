"""Small mechanisms over particles: momenta of what hangs on each joint, and lengths between the particles of a link.

    [ momenta   J^T ]  [ r''    ]     [ forces and what rates ask for ]
    [ lengths   0   ]  [ lambda ]  =  [ - what rates ask for          ]
    [ J         0   ]                 [ the same, and phi'' = - 2 w phi' - w^2 phi ]

J closes loops that the tree leaves open, by multipliers. Particles are points, so there are no angles in it and no
rotation matrices. The system is dense and small: a chain of N bodies on balls has 2 N particles that accelerate. It is
another derivation of the motion of a tree, beside `articulated`, which is cheaper; forces within joints are not found.
Lengths are set right at the end of each step; loops are held as in `index1`.

Source: Attia 2004.
"""

from __future__ import annotations

from string import Template

import numpy as np

from codegen.description.mechanism import Mechanism
from codegen.equations.equations import Equations, equations
from codegen.equations.program import Program, Routine, Sweep
from codegen.equations.unfold import unfold_routine
from codegen.expressions.dag import Expr
from codegen.expressions.emit import Assign
from codegen.formulations.articulated import nothing, observe
from codegen.formulations.order import Call, Lines, lines
from codegen.formulations.stepping import (
    HERE,
    Derivative,
    StepParts,
    calls_of,
    inputs_of,
    integrator_text,
    settle_routines,
    step_text,
)
from codegen.options.options import KernelOptions
from codegen.particles.linear import parted
from codegen.particles.mechanism import ParticleMechanism, in_particles
from codegen.particles.momenta import lengths, momenta
from codegen.particles.moving import measured_rate
from codegen.particles.upright import upright

CLOSING = 20.0  # rad/s, by which loops close that have opened


def build(mechanism: Mechanism, options: KernelOptions) -> Program:
    """Discretise `mechanism`: the routines of one step as expressions.

    Raises
    ------
    MechanismError
        It is large, or has something that momenta of particles do not carry: each by name.
    """
    tree = in_particles(mechanism)
    eq = equations(tree.made, options)
    n = 3 * len(tree.spots)
    rows = _rows(eq, tree)
    assert len(rows) == n + len(tree.lams)
    routines = [
        Routine("prepare", "what depends on parameters only", [], is_split=True),
        _momenta(eq, tree, rows, n),
        _measured(eq, tree),
        _lengths(eq, tree),
        eq.hold_routine(),
        *nothing(),
        observe(eq),
    ]
    routines += [*settle_routines(eq), unfold_routine(eq)]
    eq.store_derived(routines)
    eq.arrays |= {
        "rhs": len(eq.q),
        "x": len(eq.q),
        "inverse": len(eq.q),
        "inverse_row": 0,
        "weight_project": 0,
        "momenta": len(rows) ** 2,
        "resisted": len(rows),
        "found": len(rows),
        "open": len(tree.closed),
        "straight": 2 * len(eq.q),
    }
    straight = lines("straighten(w, s);")
    work = Sweep(
        "q",
        ["w->momenta", "w->resisted"],
        ["s->qdd"],
        max(1, 2 * len(rows) ** 3 // (3 * len(eq.q))),
    )
    derivative = Derivative(
        routines=[],
        derive=[
            Call("weigh_momenta"),
            Lines(("solve_momenta(w, s);",), (work,)),
            Call("measure"),
        ],
        conclude=[Call("hold_lengths"), straight],
        set_out=[straight],
        text=Template((HERE.parent / "particles" / "momenta.h.in").read_text()).substitute(
            n=len(rows), own=n, closed=len(tree.closed), limit=repr(options.residual_limit)
        ),
        twin=(),
    )
    return eq.program(
        routines,
        projection_scale=1.0,
        weight_keys=[],
        calls=calls_of(eq, derivative),
        text=step_text(eq, derivative, integrator_text(eq, derivative), StepParts(reactions=[])),
        state=inputs_of(eq),
        twin=(
            "particles/particle_coordinates.py.in",
            "topology/file_coordinates.py.in",
            "spatial/bent_masses.py.in",
            "tree/articulated.py.in",
            "particles/momenta.py.in",
            f"integrators/{options.integrator}.py.in",
            "formulations/stepping.py.in",
        ),
        twin_fill=_twin(tree) | {"substeps": str(options.substeps)},
        natural=tree.source,
    )


def _rows(eq: Equations, tree: ParticleMechanism) -> list[Expr]:
    """Expressions that are zero, linear in accelerations and multipliers."""
    graph, share = eq.graph, 1.0 / tree.total_kg
    moving = dict(zip(eq.q, eq.qd, strict=True))
    found = [share * e for e in momenta(tree.moving, tree.masses, tree.acting)]
    found += lengths(tree.moving)
    for phi in tree.closed:
        rate = graph.tangent(phi, moving)
        bent = graph.tangent(rate, moving | dict(zip(eq.qd, eq.qdd, strict=True)))
        found.append(graph.total([(1.0, bent), (2.0 * CLOSING, rate), (CLOSING**2, phi)]))
    return [graph.lift(e) for e in found]


def _momenta(eq: Equations, tree: ParticleMechanism, rows: list[Expr], n: int) -> Routine:
    """The dense system, by rows."""
    graph = eq.graph
    unknown = [*eq.qdd[:n], *tree.lams]
    # angles and distances that loops close accelerate as the particles do
    turned = {
        graph.var(f"qdd {c.index}"): measured_acceleration(tree, i)
        for i, c in tree.measured.items()
    }
    rows = [graph.substitute(row, turned) if r >= n else row for r, row in enumerate(rows)]
    assigns = []
    for r, (coefficients, rest) in enumerate(parted(graph, rows, unknown)):
        for k, var in enumerate(unknown):
            place = f"w->momenta[{r * len(rows) + k}]"
            assigns.append(Assign(place, coefficients.get(var, graph.zero), f"row {r}"))
        assigns.append(Assign(f"w->resisted[{r}]", -rest, f"row {r}"))
    assigns += [Assign(f"w->open[{k}]", e, "a loop") for k, e in enumerate(tree.closed)]
    return Routine("weigh_momenta", "momenta and lengths over accelerations of particles", assigns)


def _measured(eq: Equations, tree: ParticleMechanism) -> Routine:
    assigns = [
        Assign(f"s->qdd[Q_{c.name}]", measured_acceleration(tree, i), c.name)
        for i, c in tree.measured.items()
    ]
    return Routine("measure", "accelerations of angles and distances", assigns)


def measured_acceleration(tree: ParticleMechanism, index: int) -> Expr:
    """Acceleration of an angle or distance, by those of the particles."""
    links = tree.motion.tree.links
    link = next(k for k, link in enumerate(links) if index in link.coordinates)
    is_slide = links[link].kind == "slide"
    found = tree.moving.travel(link)[2] if is_slide else measured_rate(tree.moving.turn(link))[1]
    return tree.source.system.graph.lift(found)


def _lengths(eq: Equations, tree: ParticleMechanism) -> Routine:
    places, rates = upright(tree)
    size = len(eq.q)
    assigns = [Assign(f"w->straight[{i}]", places[i], eq.names[i]) for i in sorted(places)]
    assigns += [Assign(f"w->straight[{size + i}]", rates[i], eq.names[i]) for i in sorted(rates)]
    return Routine("hold_lengths", "particles at their distances, with rates along", assigns)


def _twin(tree: ParticleMechanism) -> dict[str, str]:
    """The tree as data of the NumPy twin."""
    motion, source = tree.motion, tree.source.system
    number = {c.q: c.index for c in source.coordinates}
    made = tree.made.system.coordinates
    links, frames = [], []
    for n, (link, four) in enumerate(zip(motion.tree.links, tree.fours, strict=True)):
        own = {min(k, 2): tree.spots[n, k] for k in four.own}
        links.append((link.parent, link.kind, own, four.places[[0, 1, 3]].tolist()))
        before = motion.inverse[link.parent] if link.parent >= 0 else np.eye(4)
        frames.append((before @ motion.frames[n]).tolist())
    measured = [
        (
            c.index,
            next(n for n, link in enumerate(motion.tree.links) if i in link.coordinates),
            motion.tree.coordinates[i].initial,
        )
        for i, c in tree.measured.items()
    ]
    places = [
        (number[var], link, place.tolist(), axis)
        for var, (link, place, axis) in motion.on_links.items()
    ]
    sums = [
        (number[var], {tree.measured[i].index: k for i, k in weights.items()}, float(offset))
        for var, (weights, offset) in motion.tree.scalars.items()
    ]
    return {
        "links": repr(links),
        "frames": repr(frames),
        "measured": repr(measured),
        "places": repr(places),
        "sums": repr(sums),
        "loose": "[]",
        "defined": "[]",
        "z_0": repr([c.initial for c in made]),
        "zd_0": repr([c.initial_rate for c in made]),
        "guided": "[]",
        "bent": "[]",
        "ruthless": "False",
        "gravity": repr(list(source.gravity)),
        "n_natural": str(len(source.coordinates)),
        "n_rows": str(len(source.rows)),
        "reactions": "[]",
        "kept": repr(tree.closes.rows),
        "closing": repr(CLOSING),
        "parted": repr(
            [
                (
                    {number[var]: k for var, k in part.weights.items()},
                    part.offset,
                    part.link,
                    part.place.tolist(),
                    part.axis,
                )
                for part in tree.closes.parted
            ]
        ),
    }
