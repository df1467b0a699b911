"""A beam as a mechanism file describes it."""

from __future__ import annotations

import math

import numpy as np

from codegen.flexible.beam import Gauge, Lump, Section, beam, mesh
from codegen.flexible.structure import Structure
from codegen.system import fields
from codegen.system.fields import Name, Number, VectorValue
from codegen.system.system import System
from rig_configs.mistakes import near

MOST_ELEMENTS = 200
Numbers = Number | tuple[Number, ...]  # one for the whole line, or one for each piece of it


class LumpEntry(fields.Entry):
    """A rigid mass on a node; its inertia about the node, along the global axes of the file's pose."""

    mass_kg: Number
    inertia_kg_m2: tuple[Number, Number, Number] = (0.0, 0.0, 0.0)


class GaugeEntry(fields.Entry):
    """A strain gauge at a fraction of the length, at an offset from the line: along it, or in shear by twist."""

    at: Number
    offset_m: VectorValue
    measures: Name = "stretch"


class BeamEntry(fields.Entry):
    """The line in the file's pose, sections of its pieces, and named nodes by their fraction of the length."""

    line_m: tuple[VectorValue, ...]
    density_kg_m3: Numbers
    youngs_pa: Numbers
    shear_pa: Numbers | None = None
    diameter_m: Numbers | None = None
    bore_m: Numbers | None = None
    area_m2: Numbers | None = None
    second_moment_m4: Numbers | None = None  # of bending in the direction `across`, or in the plane
    second_moment_2_m4: Numbers | None = None  # of bending across both
    torsion_m4: Numbers | None = None
    shear_area_m2: Numbers | None = None  # given: Timoshenko
    across: VectorValue | None = None
    elements: int = 24
    nodes: dict[Name, Number]
    masses: dict[Name, LumpEntry] = {}  # noqa: RUF012
    gauges: dict[Name, GaugeEntry] = {}  # noqa: RUF012


def described_beam(
    entry: BeamEntry,
    axis: tuple[float, float, float] | None,
    frame: tuple[str, ...],
    system: System,
) -> tuple[np.ndarray, np.ndarray, Structure]:
    """Origin and axes (columns) of the beam in the file's pose, and the beam as a structure along these.

    A body that turns about an axis across its line bends in its plane alone. Mistakes are noted in the system.
    """
    before = len(system.mistakes)
    vertices = np.array([system.vector("beam.line_m", v) for v in entry.line_m])
    if len(vertices) < 2 or np.min(np.linalg.norm(np.diff(vertices, axis=0), axis=1)) < 1e-9:
        remedy = "give two or more different places"
        system.mistake("beam.line_m", len(vertices), "is not a line", remedy)
    names = {name: system.number(f"beam.nodes.{name}", at) for name, at in entry.nodes.items()}
    for name, at in names.items():
        if not 0.0 <= at <= 1.0:
            system.mistake(
                f"beam.nodes.{name}", at, "is not on the line", "give a fraction, 0 to 1"
            )
    for name in entry.masses:
        if name not in names:
            system.mistake(f"beam.masses.{name}", None, "is not a node", near(name, names))
    for name in frame:
        if name not in names:
            remedy = near(name, [*names, "mean"])
            system.mistake("frame", name, "is not a node", remedy)
    if not 1 <= entry.elements <= MOST_ELEMENTS:
        remedy = "24 are plenty for ten modes"
        system.mistake("beam.elements", entry.elements, f"is not 1 to {MOST_ELEMENTS}", remedy)
    if len(system.mistakes) > before:
        return _nothing()
    origin = vertices[0]
    directions = np.diff(vertices, axis=0)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    plane = axis is not None and bool(np.all(np.abs(directions @ np.array(axis)) < 1e-9))
    pieces = _across(entry, directions, axis if plane else None, system)
    turn = np.array([directions[0], pieces[0], np.cross(directions[0], pieces[0])]).T
    if plane and axis is not None:  # bending is in the plane of the first two axes
        turn[:, 2] = axis
    sections = _sections(entry, len(directions), plane, system)
    gauges = {
        name: Gauge(
            system.number(f"beam.gauges.{name}.at", gauge.at),
            turn.T @ np.array(system.vector(f"beam.gauges.{name}.offset_m", gauge.offset_m)),
            _is_shear(gauge, name, system),
        )
        for name, gauge in entry.gauges.items()
    }
    for name, gauge in gauges.items():
        if not 0.0 <= gauge.at <= 1.0:
            key = f"beam.gauges.{name}.at"
            system.mistake(key, gauge.at, "is not on the line", "give a fraction, 0 to 1")
    lumps = [_lump(name, mass, turn, system) for name, mass in entry.masses.items()]
    if len(system.mistakes) > before:
        return _nothing()
    structure = beam(
        mesh((vertices - origin) @ turn, list(names.values()), entry.elements),
        sections,
        [turn.T @ across for across in pieces],
        names=names,
        lumps=lumps,
        gauges=gauges,
        reference=frame[0] if frame else None,
        plane=plane,
    )
    return origin, turn, structure


def _nothing() -> tuple[np.ndarray, np.ndarray, Structure]:
    """A place for a beam that has mistakes: nothing reads it."""
    none = np.zeros((0, 0))
    return np.zeros(3), np.eye(3), Structure(none, none, none, {}, none, none, none)


def _is_shear(gauge: GaugeEntry, name: str, system: System) -> bool:
    if gauge.measures not in ("stretch", "shear"):
        key = f"beam.gauges.{name}.measures"
        system.mistake(key, gauge.measures, "is unknown", 'write "stretch" or "shear"')
    return gauge.measures == "shear"


def _across(
    entry: BeamEntry,
    directions: np.ndarray,
    axis: tuple[float, float, float] | None,
    system: System,
) -> list[np.ndarray]:
    """Direction of the first bending of each piece."""
    if axis is not None:
        return [np.cross(axis, t) for t in directions]
    given = None if entry.across is None else np.array(system.vector("beam.across", entry.across))
    found = []
    for t in directions:
        guess = np.eye(3)[int(np.argmin(np.abs(t)))] if given is None else given
        flat = guess - (guess @ t) * t
        if np.linalg.norm(flat) < 1e-6:
            system.mistake("beam.across", given, "is along the line", "give a direction across it")
            flat = np.linalg.svd(t[None, :])[2][1]
        found.append(flat / np.linalg.norm(flat))
    return found


def _lump(name: str, mass: LumpEntry, turn: np.ndarray, system: System) -> Lump:
    key = f"beam.masses.{name}"
    size = system.number(f"{key}.mass_kg", mass.mass_kg)
    if size <= 0.0:
        system.mistake(f"{key}.mass_kg", size, "is not above 0", "give a mass, or leave it out")
    inertia = np.diag([system.number(f"{key}.inertia_kg_m2", x) for x in mass.inertia_kg_m2])
    moments = np.trace(inertia) / 2.0 - np.diag(inertia)
    if np.min(moments) < -1e-9 * max(float(np.max(np.abs(moments))), 1e-12):
        problem = "belongs to no body: one principal moment exceeds the other two"
        system.mistake(f"{key}.inertia_kg_m2", list(mass.inertia_kg_m2), problem, "correct it")
    return Lump(name, size, turn.T @ inertia @ turn)


def _sections(entry: BeamEntry, count: int, plane: bool, system: System) -> list[Section]:
    def read(key: str) -> list[float] | None:
        given = getattr(entry, key)
        if given is None:
            return None
        values = [
            system.number(f"beam.{key}", v)
            for v in (given if isinstance(given, tuple) else (given,) * count)
        ]
        if len(values) != count:
            problem = f"has {len(values)} values"
            system.mistake(f"beam.{key}", values, problem, f"give one, or {count}: one a piece")
        elif min(values) < 0.0 or (key != "bore_m" and min(values) == 0.0):
            system.mistake(f"beam.{key}", min(values), "is not above 0", "give it in SI units")
        else:
            return values
        return [1.0] * count

    known = {key: read(key) for key in BeamEntry.model_fields if key in _BY_PIECE}
    wide = known["diameter_m"]
    if wide is None:
        lacking = [k for k in _NEEDED if known[k] is None]
        if not plane:
            lacking += [k for k in (*_SPATIAL, "shear_pa") if known[k] is None]
        for key in lacking:
            system.mistake(
                f"beam.{key}", None, "is missing", "give it, or `diameter_m` of a round section"
            )
    elif any(known[k] is not None for k in (*_NEEDED, *_SPATIAL)):
        system.mistake(
            "beam.diameter_m", wide[0], "is given beside areas and moments", "keep one of the two"
        )
    needs_shear = known["shear_area_m2"] is not None or not plane
    if needs_shear and known["shear_pa"] is None and wide is not None:
        system.mistake("beam.shear_pa", None, "is missing", "give the shear modulus")
    found = []
    for n in range(count):
        at = {key: math.nan if values is None else values[n] for key, values in known.items()}
        if wide is not None:
            _round(at, system)
        area, bore = at["area_m2"], (at["second_moment_m4"], at["second_moment_2_m4"])
        shear = at["shear_pa"] * at["shear_area_m2"] if known["shear_area_m2"] is not None else 0.0
        gyration = (0.0, 0.0)
        if not plane:
            gyration = (math.sqrt(bore[0] / area), math.sqrt(bore[1] / area))
        elif shear:
            gyration = (math.sqrt(bore[0] / area), 0.0)
        e = at["youngs_pa"]
        found.append(
            Section(
                mass=at["density_kg_m3"] * area,
                axial=e * area,
                bending=(e * bore[0], 0.0 if plane else e * bore[1]),
                torsion=0.0 if plane else at["shear_pa"] * at["torsion_m4"],
                shear=(shear, 0.0 if plane else shear),
                gyration=gyration,
                only_twists=not plane and not shear,
            )
        )
    return found


_NEEDED = ("area_m2", "second_moment_m4")
_SPATIAL = ("second_moment_2_m4", "torsion_m4")
_BY_PIECE = (
    "density_kg_m3",
    "youngs_pa",
    "shear_pa",
    "diameter_m",
    "bore_m",
    *_NEEDED,
    *_SPATIAL,
    "shear_area_m2",
)


def _round(at: dict[str, float], system: System) -> None:
    """Area and moments of a round section, with a bore."""
    outer, inner = at["diameter_m"], 0.0 if math.isnan(at["bore_m"]) else at["bore_m"]
    if inner >= outer:
        system.mistake("beam.bore_m", inner, "is not less than the diameter", "correct one of them")
        inner = 0.0
    at["area_m2"] = math.pi / 4.0 * (outer**2 - inner**2)
    second = math.pi / 64.0 * (outer**4 - inner**4)
    at |= {"second_moment_m4": second, "second_moment_2_m4": second, "torsion_m4": 2.0 * second}
