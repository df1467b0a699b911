"""A force at a point of a body and a torque on it, in global axes; each component constant or
an input signal.
"""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Tunable, VectorValue
from codegen.system.joints import AXES
from codegen.system.moments import add_moment
from codegen.system.system import System


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
    x, y, z = (
        system.tunable(f"torque_{axis}_nm", given) if given != 0.0 else 0.0
        for axis, given in zip("xyz", entry.torque_nm, strict=True)
    )
    try:
        axes = [body.direction(system.graph, unit) for unit in AXES.values()]
    except ValueError as error:
        system.mistake("torque_nm", None, f"the body {error}", "add a vector to the body")
        return
    add_moment(system, (x, y, z), axes)
