"""An observer's specification looked up on a mechanism: coordinates, inputs and sensors by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from codegen.description.mechanism import Mechanism, MechanismError, ports
from codegen.expressions.dag import Expr
from codegen.formulations.independent import independent_coordinates
from codegen.observers.coordinates import Observed, observed
from codegen.observers.spec import ObserverSpec
from codegen.pose.assembly import assemble
from codegen.sensors import Sensor, read
from codegen.system.system import System
from rig_configs.mistakes import Mistake, near

FEELS = ("position", "rate", "acceleration", "force")
MOST_COORDINATES = 64  # from here on kernels are loops, which observers are not printed as


@dataclass(frozen=True)
class Resolved:
    """Numbers of the independent coordinates and of the unknown input signals, and the sensors."""

    observed: Observed  # coordinates, inputs and sensors are over what is made there
    z: list[int]
    unknown: list[int]
    sensors: list[Sensor]
    of_file: list[Sensor]  # the same over the coordinates of the file
    names: list[str]  # of the state
    reads_rates: bool  # or values that follow from rates
    reads_acceleration: bool
    reads_multipliers: bool
    places: list[int | None]  # of each sensor, the independent coordinate that it reads as it is
    feels: list[str]  # of each sensor, the last of FEELS that its reading has in it
    nonlinear: list[str]  # unknown inputs that the forces are not linear in


def resolve(mechanism: Mechanism, spec: ObserverSpec, formulation: str = "ali3p") -> Resolved:
    """Look everything up, over the coordinates that the kernel of this formulation has.

    Raises
    ------
    MechanismError
        With every mistake: unknown names, coordinates that do not describe the motion, forces that
        keep internal states.
    """
    file = f"{mechanism.name}.toml"
    mistakes = list(_uncarried(mechanism, file))
    sensors: list[Sensor] = []
    try:
        sensors = read(mechanism, spec.sensors, spec.unknown)
    except MechanismError as error:
        mistakes += error.mistakes
    inputs = _input_names(mechanism)
    mistakes += _unknown(file, "unknown", spec.unknown, inputs)
    try:
        over = observed(mechanism, formulation)
        mistakes += _of_motion(over, spec, file)
        of_file, sensors = sensors, [over.over(s, _value_of(spec, s)) for s in sensors]
    except MechanismError as error:
        mistakes += error.mistakes
    if mistakes:
        raise MechanismError(mistakes)
    system = over.made.system
    places = {c.name: c.index for c in system.coordinates}
    z = [places[name] for name in spec.independent] or independent_coordinates(system)
    coordinates = [system.coordinates[i] for i in z]
    names = [c.name for c in coordinates] + [f"{c.name}.rate" for c in coordinates]
    graph = system.graph
    read_by = [set(graph.variables(sensor.reading)) for sensor in sensors]
    read_of: set[Expr] = set().union(*read_by)
    turning = {graph.var(f"qdd {c.index}") for c in system.coordinates}
    loads = {graph.var(f"row_lam {r}") for r in range(len(system.rows))}
    rates = {c.qd for c in system.coordinates}
    applied = loads | {signal.var for signal in system.signals}
    levels = (rates, turning, applied)
    # what joints of a tree hand on are accelerations there, and forces all the same
    rows = {graph.var(f"row_lam {r}") for r in range(len(mechanism.system.rows))}
    felt = [not rows.isdisjoint(graph.variables(sensor.reading)) for sensor in of_file]
    feels = [
        FEELS[-1 if is_felt else max((n for n, of in enumerate(levels, 1) if read & of), default=0)]
        for read, is_felt in zip(read_by, felt, strict=True)
    ]
    order = {c.q: j for j, c in enumerate(coordinates)}
    places_read = [order.get(sensor.reading) for sensor in sensors]
    unknown = [inputs.index(u) for u in spec.unknown]
    return Resolved(
        over, z, unknown, sensors, of_file, [*names, *spec.unknown],
        bool(read_of & (rates | turning | loads)), bool(read_of & (turning | loads)), bool(read_of & loads),
        places_read, feels, _nonlinear(system, unknown),
    )  # fmt: skip


def _input_names(mechanism: Mechanism) -> list[str]:
    reads = ports(mechanism)[0][3 * len(mechanism.system.guides) :]
    return [port.removeprefix("input/") for port in reads]


def _value_of(spec: ObserverSpec, sensor: Sensor) -> str | None:
    """The path of the value that a sensor reads as an element names it."""
    if sensor.kind != "force_cell":
        return None
    return str(spec.sensors[sensor.name]["of"]).replace(".", "/")


def _uncarried(mechanism: Mechanism, file: str) -> Iterator[Mistake]:
    """Name the parts that no observer takes, whatever its coordinates are."""
    system = mechanism.system
    if system.internals or system.held:
        paths = ", ".join([q.path for q in system.internals] + [h.path for h in system.held])
        problem = f"forces with a memory cannot be observed: {paths}"
        yield Mistake(file, "(file)", problem, "use memoryless friction or tyre elements")
    for name in system.sliding:
        problem = "is a row of rates: observers take rows of places"
        yield Mistake(file, name, problem, "leave it out of the observer's mechanism")


def _of_motion(over: Observed, spec: ObserverSpec, file: str) -> Iterator[Mistake]:
    """Coordinates that do not describe the motion, or are too many."""
    system = over.made.system
    yield from _unknown(file, "independent", spec.independent, [c.name for c in system.coordinates])
    dof = assemble(system).dof
    if spec.independent and len(spec.independent) != dof:
        problem = f"{len(spec.independent)} coordinates for {dof} freedoms"
        yield Mistake(file, "independent", problem, f"name {dof}")
    if dof == 0:
        yield Mistake(file, "(file)", "nothing in it can move freely", "remove a guide")
    if len(system.coordinates) > MOST_COORDINATES:
        problem = f"{len(system.coordinates)} coordinates"
        remedy = f"observers take {MOST_COORDINATES}"
        if over.tree is None:
            remedy += ": try options.formulation = 'semi_recursive', in joint coordinates"
        yield Mistake(file, "(file)", problem, remedy)


def _unknown(file: str, key: str, given: Sequence[str], known: list[str]) -> Iterator[Mistake]:
    for name in given:
        if name not in known:
            yield Mistake(file, key, "unknown name", near(name, known), name)


def _nonlinear(system: System, unknown: list[int]) -> list[str]:
    graph = system.graph
    cells = {system.signals[n].var for n in unknown}
    return [
        system.signals[n].path
        for n in unknown
        if any(
            cells & set(graph.variables(graph.diff(force, system.signals[n].var)))
            for force in system.force.values()
        )
    ]


def describe(resolved: Resolved) -> dict[str, Any]:
    """Names of states, sensors and inputs, their units, and the state in the pose of the file."""
    mechanism = resolved.observed.made
    system = mechanism.system
    coordinates = [system.coordinates[i] for i in resolved.z]
    signals = [system.signals[n] for n in resolved.unknown]
    start = [c.initial for c in coordinates] + [c.initial_rate for c in coordinates]
    units = [c.unit for c in coordinates] + [f"{c.unit}_s" for c in coordinates]
    return {
        "name": mechanism.name,
        "state_names": resolved.names,
        "state_units": units + [signal.path.rsplit("_", 1)[-1] for signal in signals],
        "start": [*start, *(s.default for s in signals)],
        "sensor_names": [s.name for s in resolved.sensors],
        "sensor_kinds": [s.kind for s in resolved.sensors],
        "sensor_units": [s.unit for s in resolved.sensors],
        "sensor_places": resolved.places,
        "sensor_feels": resolved.feels,
        "nonlinear": resolved.nonlinear,
        "reads_acceleration": resolved.reads_acceleration,
        "inputs": list(ports(mechanism)[0]),
        "unknown": [s.path for s in signals],
        "coordinates": [(c.name, c.unit) for c in system.coordinates],
    }
