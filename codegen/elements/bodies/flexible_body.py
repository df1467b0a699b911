"""A body that bends a little beside a frame that moves freely: modes of a beam.

The frame is built of points and vectors as a `rigid_body` is, and `frame` says where the deflection vanishes: at a node
(`"root"`), along the line of two (`["root", "tip"]`), or in the mean (`"mean"`). Named nodes become points
`<body>_<node>`, directions `<body>_<node>_x` (as built along the global axes), and bodies `<body>_<node>` for joints
and forces. Amplitudes are coordinates `<body>_mode1`, ... in metres: 1 m moves nothing by more than 1 m.

The elastic force on an amplitude is -k eta - c eta'; `codegen.flexible.motion` has the rest of the equations.
"""

from __future__ import annotations

import numpy as np

from codegen.flexible.described import BeamEntry, described_beam
from codegen.flexible.motion import Bending, bend
from codegen.flexible.reduction import Modes, Wanted, reduce
from codegen.flexible.stiffening import stiffen
from codegen.flexible.structure import NO_FREEDOM, StructureError
from codegen.system import fields
from codegen.system.fields import Name, Number, VectorValue
from codegen.system.frame import built
from codegen.system.frame import frame as make_frame
from codegen.system.system import System

STAGE = 1
MOST_MODES = 64
HIGHEST_RATIO = 1.0


class Entry(fields.Entry):
    points: tuple[VectorValue, ...]
    vectors: tuple[VectorValue, ...] = ()
    axis: VectorValue | None = None
    beam: BeamEntry
    frame: Name | tuple[Name, Name]
    interfaces: tuple[Name, ...] = ()
    reduction: Name = "craig_bampton"
    modes: int
    highest_hz: Number | None = None
    damping_ratio: Number | tuple[Number, ...] = 0.0
    stiffening: bool = True
    initial_m: tuple[Number, ...] = ()


def add(entry: Entry, name: str, system: System) -> None:
    before = len(system.mistakes)
    if not entry.points:
        system.mistake("points", [], "has no point", "give at least one, it may be fixed")
        return
    made_frame = make_frame(entry.points, entry.vectors, entry.axis, name, system)
    wanted = _wanted(entry, system)
    try:
        origin, turn, structure = described_beam(entry.beam, made_frame.axis, wanted.frame, system)
        if len(system.mistakes) > before:
            return
        modes = reduce(structure, wanted)
    except StructureError as error:
        system.mistake(error.key, error.value, error.problem, error.remedy)
        return
    count = len(modes.frequency_hz)
    starts = [system.number("initial_m", x) for x in entry.initial_m]
    if len(starts) > count:
        system.mistake(
            "initial_m", starts, f"has more than {count} modes", "give one for each mode"
        )
        return
    starts += [0.0] * (count - len(starts))
    try:
        body = bend(name, system, made_frame, origin, turn, structure, modes, starts=starts)
    except ValueError as error:
        system.mistake(
            "", None, f"an axis of the structure {error}", "give the body another vector"
        )
        return
    _add_elastic(entry, body, system)
    if entry.stiffening:
        stiffen(body)
    _name_nodes(body, system)
    _require_rigid_points(entry, body, system)
    system.flexible[name] = body


def _require_rigid_points(entry: Entry, body: Bending, system: System) -> None:
    """Points of the frame are none of the nodes that move beside it."""
    shapes = body.modes.shapes
    for given in entry.points:
        at = np.array(built(system.point("points", given), system))
        for label, node in body.structure.nodes.items():
            here = body.frame.body.built[1:, 0] + body.turn @ (node.position + body.shift)
            moves = [np.abs(shapes[f]).max() for f in node.freedoms[:3] if f != NO_FREEDOM]
            if np.linalg.norm(here - at) < 1e-6 and max(moves, default=0.0) > 1e-6:
                problem = f"is where the node {label} is, which moves beside the frame"
                remedy = f"the node is the point {body.name}_{label}; build the frame on another"
                system.mistake("points", given, problem, remedy)


def _wanted(entry: Entry, system: System) -> Wanted:
    frame = (entry.frame,) if isinstance(entry.frame, str) else entry.frame
    if not 1 <= entry.modes <= MOST_MODES:
        system.mistake("modes", entry.modes, f"is not 1 to {MOST_MODES}", "take some of the lowest")
    if entry.reduction not in ("craig_bampton", "free_free"):
        system.mistake(
            "reduction", entry.reduction, "is unknown", 'write "craig_bampton" or "free_free"'
        )
    highest = None
    if entry.highest_hz is not None:
        highest = system.number("highest_hz", entry.highest_hz)
    return Wanted(
        frame=() if frame == ("mean",) else tuple(frame),
        interfaces=entry.interfaces,
        modes=max(1, min(entry.modes, MOST_MODES)),
        highest_hz=highest,
        free_free=entry.reduction == "free_free",
    )


def _add_elastic(entry: Entry, body: Bending, system: System) -> None:
    given = entry.damping_ratio
    ratios = [
        system.number("damping_ratio", r) for r in (given if isinstance(given, tuple) else (given,))
    ]
    for ratio in ratios:
        if not 0.0 <= ratio < HIGHEST_RATIO:
            remedy = "it is a share of the critical one: 0.01 is 1 %"
            system.mistake("damping_ratio", ratio, "is not from 0 to 1", remedy)
    if len(ratios) not in (1, len(body.amplitudes)):
        remedy = f"give one number, or {len(body.amplitudes)}"
        system.mistake("damping_ratio", ratios, "has another number of values than modes", remedy)
        return
    graph = system.graph
    modes: Modes = body.modes
    for i, amplitude in enumerate(body.amplitudes):
        k, omega = float(modes.stiffness[i]), 2.0 * np.pi * float(modes.frequency_hz[i])
        c = 2.0 * ratios[min(i, len(ratios) - 1)] * k / omega
        force = -k * amplitude.q - c * amplitude.qd if c else -k * amplitude.q
        system.add_force(amplitude, graph.lift(force))
        system.add_potential((0.5 * k) * (amplitude.q * amplitude.q))


def _name_nodes(body: Bending, system: System) -> None:
    name = body.name
    for node_name, node in body.structure.nodes.items():
        label = f"{name}_{node_name}"
        if label in system.points or label in system.bodies:
            system.mistake("beam", label, "is a name that the file has already", "rename the node")
            continue
        made = body.body_of(node)
        system.bodies[label] = made
        system.points[label] = made.generators[0]
        for letter, direction in zip("xyz", made.generators[1:], strict=False):
            system.vectors[f"{label}_{letter}"] = direction
        for letter, component in zip("xyz", made.generators[0], strict=True):
            system.value(f"{node_name}_{letter}_m", component, "_m")
            system.value(f"{node_name}_v{letter}_m_s", system.rate(component), "_m_s")
        for k in range(3):
            system.value(f"{node_name}_bent{k + 1}_m", body.deflection(node, k), "_m")
    for gauge, row in body.structure.gauges.items():
        system.value(f"strain_{gauge}", body.amount(row @ body.modes.shapes), "")
