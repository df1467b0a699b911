"""A force at a point of a body and a torque on it, in global axes; each component constant or
an input signal.

The torque t acts as forces t x e_i / 2 on the body's three axes e_i, whose power is t . omega.
"""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Tunable, VectorValue
from codegen.system.system import System
from codegen.system.vectors import cross, times


class Entry(fields.Entry):
    body: Name
    point_m: VectorValue
    force_n: tuple[Tunable, Tunable, Tunable] = (0.0, 0.0, 0.0)
    torque_nm: tuple[Tunable, Tunable, Tunable] = (0.0, 0.0, 0.0)


def add(entry: Entry, name: str, system: System) -> None:
    at = system.on_body("point_m", entry.body, entry.point_m, is_point=True)
    body = system.body("body", entry.body)
    for axis, given, component in zip("xyz", entry.force_n, at, strict=True):
        if given != 0.0:
            system.add_power(system.tunable(f"force_{axis}_n", given), component)
    if all(given == 0.0 for given in entry.torque_nm):
        return
    torque = tuple(
        system.tunable(f"torque_{axis}_nm", given) if given != 0.0 else 0.0
        for axis, given in zip("xyz", entry.torque_nm, strict=True)
    )
    for unit in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)):
        try:
            e = body.direction(system.graph, unit)
        except ValueError as error:
            system.mistake("torque_nm", None, f"the body {error}", "add a vector to the body")
            return
        for push, component in zip(times(0.5, cross(torque, e)), e, strict=True):  # type: ignore[arg-type]
            system.add_power(push, component)
