"""What an observer is asked to estimate, resolved on a mechanism."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from codegen.description.mechanism import Mechanism, MechanismError, ports
from codegen.formulations.independent import independent_coordinates
from codegen.pose.assembly import assemble
from codegen.sensors import Sensor, read
from rig_configs.mistakes import Mistake, near

MOST_COORDINATES = 64  # from here on kernels are loops, which observers are not printed as


@dataclass(frozen=True)
class ObserverSpec:
    """An observer of a mechanism.

    Attributes
    ----------
    sensors : mapping of str to mapping
        A table each: `kind`, one of `codegen.sensors`, and its keys.
    independent : tuple of str
        Coordinates `z` whose values and rates are the state, as many as the mechanism has freedoms;
        none: those that move most in the pose of the file.
    unknown : tuple of str
        Input signals that are estimated as random walks, such as "force/load/torque_nm".
    """

    sensors: Mapping[str, Mapping[str, Any]]
    independent: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def text(self) -> str:
        """All of it on one line, in a fixed order of keys."""
        tables = {name: dict(table) for name, table in self.sensors.items()}
        return json.dumps([tables, self.independent, self.unknown], sort_keys=False)


@dataclass(frozen=True)
class Resolved:
    """Numbers of the independent coordinates and of the unknown input signals, and the sensors."""

    z: list[int]
    unknown: list[int]
    sensors: list[Sensor]
    names: list[str] = field(default_factory=list)  # of the state


def resolve(mechanism: Mechanism, spec: ObserverSpec) -> Resolved:
    """Look everything up.

    Raises
    ------
    MechanismError
        With every mistake: unknown names, coordinates that do not describe the motion, forces that
        keep internal states.
    """
    system, file = mechanism.system, f"{mechanism.name}.toml"
    mistakes: list[Mistake] = []
    places = {c.name: c.index for c in system.coordinates}
    inputs = [port.removeprefix("input/") for port in ports(mechanism)[0]][3 * len(system.guides) :]
    dof = assemble(system).dof
    for key, given, known in (
        ("independent", spec.independent, list(places)),
        ("unknown", spec.unknown, inputs),
    ):
        for name in given:
            if name not in known:
                mistakes.append(Mistake(file, key, "unknown name", near(name, known), name))
    if spec.independent and len(spec.independent) != dof:
        problem = f"{len(spec.independent)} coordinates for {dof} freedoms"
        mistakes.append(Mistake(file, "independent", problem, f"name {dof}"))
    if dof == 0:
        mistakes.append(Mistake(file, "(file)", "nothing in it can move freely", "remove a guide"))
    if system.internals or system.held:
        paths = ", ".join([q.path for q in system.internals] + [h.path for h in system.held])
        problem = f"forces with a memory cannot be observed: {paths}"
        mistakes.append(
            Mistake(file, "(file)", problem, "use memoryless friction or tyre elements")
        )
    if len(system.coordinates) > MOST_COORDINATES:
        problem = f"{len(system.coordinates)} coordinates"
        mistakes.append(Mistake(file, "(file)", problem, f"observers take {MOST_COORDINATES}"))
    sensors: list[Sensor] = []
    try:
        sensors = read(mechanism, spec.sensors, spec.unknown)
    except MechanismError as error:
        mistakes += error.mistakes
    if not spec.sensors:
        mistakes.append(Mistake(file, "sensors", "there are none", "an observer needs one or more"))
    if mistakes:
        raise MechanismError(mistakes)
    z = [places[name] for name in spec.independent] or independent_coordinates(system)
    coordinates = [system.coordinates[i] for i in z]
    names = [c.name for c in coordinates] + [f"{c.name}.rate" for c in coordinates]
    return Resolved(z, [inputs.index(u) for u in spec.unknown], sensors, [*names, *spec.unknown])
