"""Outputs of a mechanism: a signal name, its unit last, and its quantity.

<coordinate>                          value; point_x, vector_y, angle or distance
<coordinate>.rate  .acceleration      its derivatives
guide.<name>.reaction                 force or torque that the guide applies to the mechanism
<table>.<name>.<value>                what an element shows: force of a joint, revolute.<name>.fx_n;
                                      torque of a tyre, bore_torque.left.torque_nm; place of a
                                      body's centre and its turn matrix, rigid_body.<name>.x_m, .r_xy
<reaction>.undetermined               consecutive steps, up to the last, that did not determine this reaction of
                                      a guide or joint; it stands still for two, then it is not a number
energy  energy.kinetic  .potential    of masses, weights and springs, in J
energy.gain                           energy that steps have added by themselves since the start, in J:
                                      of stops that a step is too long for
= <expression>                        arithmetic of coordinates, `rate(...)`, parameters and values of
                                      elements, `= sqrt(revolute.pin.fx_n ** 2 + ...)`
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.expressions.dag import Expr
from codegen.system.symbolic import expression
from codegen.system.system import System
from rig_configs.mistakes import near
from rig_configs.names import REMEDY_PATH, path_problem

UNITS = {
    ("rad", "value"): "_rad",
    ("rad", "rate"): "_rad_s",
    ("rad", "acceleration"): "_rad_s2",
    ("rad", "reaction"): "_nm",
    ("m", "value"): "_m",
    ("m", "rate"): "_m_s",
    ("m", "acceleration"): "_m_s2",
    ("m", "reaction"): "_n",
    ("1", "value"): "",
    ("1", "rate"): "",
    ("1", "acceleration"): "",
}

# ports that every kernel writes beside its outputs
OWN_PORTS = ("iterations", "residual", "status", "reassembled", "singular", "undetermined")
GAIN = "energy.gain"
DETERMINED = ".undetermined"
ENERGIES = ("energy", "energy.kinetic", "energy.potential")


@dataclass(frozen=True)
class Output:
    """One output port; `kind` is value, rate, acceleration, reaction (index: a coordinate or guide),
    path, gain, or undetermined (of a guide by its index, else of a path).
    """

    port: str
    kind: str
    index: int
    path: str = ""


def read(table: dict[str, object], system: System) -> list[Output]:
    """Resolve the `[outputs]` table; mistakes go to `system`."""
    system.at = ("outputs",)
    return [made for port, source in table.items() if (made := _one(port, source, system))]


def _one(port: str, source: object, system: System) -> Output | None:
    problem = path_problem(port) or (
        "is a port that every kernel has" if port in OWN_PORTS else None
    )
    if problem:
        system.mistake(port, None, problem, REMEDY_PATH)
        return None
    by_name = {c.name: c for c in system.coordinates}
    guides = {guide.name: number for number, guide in enumerate(system.guides)}
    known = [*by_name, *(f"guide.{name}.reaction" for name in guides)]
    known += (*ENERGIES, GAIN)
    known += [path.replace("/", ".") for path in system.values]
    if not isinstance(source, str):
        system.mistake(port, source, "is not text", "write what the output shows, in quotes")
        return None
    parts = source.split(".")
    if source.startswith("="):
        path = f"outputs/{port}"
        shown = {place.replace("/", "."): value for place, value in system.values.items()}
        system.values[path] = expression(port, source[1:], system, shown)
        return Output(port, "path", 0, path)
    if source.endswith(DETERMINED):
        return _determined(port, source, guides, system)
    if source == GAIN:
        return _checked(Output(port, "gain", 0), "_j", system)
    if source in ENERGIES:
        path = f"outputs/{source}"
        system.values[path] = _energy(source, system)
        return _checked(Output(port, "path", 0, path), "_j", system)
    if source.replace(".", "/") in system.values:
        path = source.replace(".", "/")
        unit = system.value_units.get(path, "_" + path.rsplit("_", 1)[-1])
        return _checked(Output(port, "path", 0, path), unit, system)
    if len(parts) == 3 and parts[0] == "guide" and parts[1] in guides and parts[2] == "reaction":
        index = guides[parts[1]]
        unit = UNITS[system.guides[index].coordinate.unit, "reaction"]
        return _checked(Output(port, "reaction", index), unit, system)
    kind = parts[1] if len(parts) == 2 else "value"
    if parts[0] in by_name and len(parts) <= 2 and kind in ("value", "rate", "acceleration"):
        coordinate = by_name[parts[0]]
        unit = UNITS[coordinate.unit, kind]
        return _checked(Output(port, kind, coordinate.index), unit, system)
    if not (system.is_excused(parts[0]) or ".".join(parts[:2]) in system.failed):
        system.mistake(port, source, "unknown output", near(source, known))
    return None


def _determined(port: str, source: str, guides: dict[str, int], system: System) -> Output | None:
    shown = source.removesuffix(DETERMINED)
    reactions = {f"guide.{name}.reaction": number for name, number in guides.items()}
    paths = {
        path.replace("/", "."): path
        for path, value in system.values.items()
        if any(var.name.startswith("row_lam ") for var in system.graph.variables(value))
    }
    if shown in reactions:
        return Output(port, "undetermined", reactions[shown])
    if shown in paths:
        return Output(port, "undetermined", -1, paths[shown])
    if not system.is_excused(shown.split(".")[0]):
        known = [name + DETERMINED for name in (*reactions, *paths)]
        system.mistake(
            port, source, "is not about a reaction of a guide or joint", near(source, known)
        )
    return None


def _energy(source: str, system: System) -> Expr:
    graph, c = system.graph, system.coordinates
    kinetic = graph.total(
        ((0.5 if i == j else 1.0), mass * (c[i].qd * c[j].qd))
        for (i, j), mass in sorted(system.mass.items())
    )
    potential = graph.zero if system.potential is None else system.potential
    if source == "energy.kinetic":
        return kinetic
    return potential if source == "energy.potential" else kinetic + potential


def _checked(output: Output, unit: str, system: System) -> Output:
    if not output.port.endswith(unit):
        system.mistake(output.port, None, "its name lacks the unit", f"end the name with {unit}")
    return output
