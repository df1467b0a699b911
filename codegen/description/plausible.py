"""Values that are numbers, and most likely in another unit than their key says.

Nothing is refused: a mechanism may be as large or as heavy as it is. Each warning names key, value, the
range that is usual, and the mistake that would explain it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from codegen.description.contact import STEPS, contacts_s
from codegen.description.entries import Written, entries
from codegen.description.fast_modes import FOLLOWED
from codegen.description.mechanism import Mechanism
from codegen.expressions.dag import Expr
from codegen.flexible.reduced import Reduced
from codegen.options.options import KernelOptions
from codegen.system.arithmetic import ArithmeticMistake, evaluate
from codegen.system.body import Body

# usual values by key, with room on both sides, and the likely explanation of one beyond
USUAL: dict[str, tuple[float, float, str]] = {
    "mass_kg": (1e-6, 2e4, "grams are kg/1000"),
    "initial_rad": (0.0, 6.0 * math.pi, "degrees are written deg(...)"),
    "initial_m": (0.0, 100.0, "millimetres are written mm(...)"),
    "length_m": (1e-5, 100.0, "millimetres are written mm(...)"),
    "radius_m": (1e-5, 100.0, "millimetres are written mm(...)"),
    "initial_rate_rad_s": (0.0, 2e4, "turns a minute are written rpm(...)"),
    "initial_rate_m_s": (0.0, 500.0, "millimetres are written mm(...)"),
    "first_radius_m": (1e-4, 10.0, "millimetres are written mm(...)"),
    "second_radius_m": (1e-4, 10.0, "millimetres are written mm(...)"),
    "lead_m": (1e-5, 1.0, "millimetres are written mm(...)"),
    "stiffness_n_per_m": (0.1, 1e9, "N/mm are N/m / 1000"),
    "stiffness_nm_per_rad": (1e-4, 1e6, "a value for a degree is one for a rad / 57.3"),
    "damping_ns_per_m": (1e-3, 1e6, "Ns/mm are Ns/m / 1000"),
    "damping_nms_per_rad": (1e-7, 1e4, "mNms are Nms/1000"),
    "torque_constant_nm_per_a": (1e-4, 20.0, "mNm/A are Nm/A / 1000"),
    "rotor_inertia_kg_m2": (1e-9, 10.0, "kg cm² are kg m²/1e4, g cm² are kg m²/1e7"),
    "gear_ratio": (1e-3, 1e3, "it is turns of the motor for one of the angle"),
    "current_a": (1e-4, 2e3, "mA are A/1000"),
    "torque_nm": (1e-5, 1e4, "mNm are Nm/1000"),
    "force_n": (1e-3, 1e6, "kN are N/1000"),
    "coulomb": (1e-5, 1e4, "mNm are Nm/1000, kN are N/1000"),
    "static": (1e-5, 1e4, "mNm are Nm/1000, kN are N/1000"),
    "stribeck_speed": (1e-5, 10.0, "millimetres are written mm(...)"),
    "transition_speed": (1e-6, 10.0, "millimetres are written mm(...)"),
    "bristle_stiffness": (1.0, 1e9, "N/mm are N/m / 1000"),
    "bore_radius_m": (2e-3, 1.0, "millimetres are written mm(...)"),
    "rolling_radius_m": (0.01, 3.0, "millimetres are written mm(...)"),
    "maximum_force_n": (20.0, 1e5, "kN are N/1000"),
    "initial_slope_n": (200.0, 2e6, "kN are N/1000"),
    "slip_at_maximum": (5e-3, 2.0, "it is a ratio, not percent"),
    "spin_rad_s": (0.0, 2e3, "turns a minute are written rpm(...)"),
    "regularising_speed_m_s": (1e-6, 5.0, "millimetres are written mm(...)"),
    "position_m": (0.0, 100.0, "millimetres are written mm(...)"),
    "point_m": (0.0, 100.0, "millimetres are written mm(...)"),
    "centre_m": (0.0, 100.0, "millimetres are written mm(...)"),
}
GRAVITY_M_S2 = 30.0
FIRST_HZ = (0.02, 1e5)  # of a body that bends
FASTEST_M_S = 2e4  # a mode's frequency times the size of the body; sound in diamond
# radius of gyration of a body / the largest distance of the mechanism
WIDEST = 10.0
# of an inertia that turns without a body of its own mass
INERTIA_KG_M2 = (1e-9, 200.0)


def doubts(mechanism: Mechanism, path: Path | str) -> list[str]:
    """Return the values of a valid mechanism file that look like a mistaken unit, a line each."""
    found = []
    g = math.hypot(*mechanism.system.gravity)
    if g > GRAVITY_M_S2:
        found.append(
            f"gravity_m_s2: {g:g} m/s², usual are 0 to {GRAVITY_M_S2:g}: millimetres are metres/1000"
        )
    for key, lasts_s in contacts_s(mechanism).items():
        if lasts_s < STEPS * KernelOptions().step_s:
            found.append(
                f"{key}: a contact lasts {lasts_s * 1e3:.3g} ms, and gains energy with fewer than {STEPS} steps:"
                f" step_s {lasts_s / STEPS:.2g} or less, or substeps"
            )
    written = entries(path)
    found += _of_lonely(mechanism)
    found += _of_modes(mechanism)
    size = _size(mechanism, written)
    for item in written:
        found += _of_keys(item, mechanism)
        found += _of_gyration(item, mechanism, size)
        found += _of_beam(item, mechanism)
    return found


def _of_lonely(mechanism: Mechanism) -> Iterator[str]:
    """Bodies beside others that nothing joins, shares or pushes."""
    system = mechanism.system
    if len(system.bodies) < 2:
        return
    uses = {
        name: {
            v
            for generator in body.generators
            for e in generator
            if isinstance(e, Expr)
            for v in system.graph.variables(e)
        }
        for name, body in system.bodies.items()
    }
    pushed = {system.coordinates[i].q for i in system.pushes}
    for name, own in uses.items():
        others = set().union(*(used for other, used in uses.items() if other != name))
        joined = any(
            not {"unit_vector", f"rigid_body/{name}"}
            & {row.label.partition(" ")[0], row.label.partition("/")[0]}
            and own & set(system.graph.variables(row.phi))
            for row in system.rows
        )
        if own and not (joined or own & (others | pushed) or _is_held(system.bodies[name])):
            yield f"rigid_body.{name}: hangs on nothing and floats beside the others: join it, if that is not meant"


def _is_held(body: Body) -> bool:
    """Decide if a point of a body does not move."""
    return any(
        kind == 1.0 and all(not isinstance(e, Expr) or e.is_const for e in generator)
        for kind, generator in zip(body.built[0], body.generators, strict=True)
    )


def _of_beam(item: Written, mechanism: Mechanism) -> Iterator[str]:
    """Beams in which sound would be faster than in any solid: in mm, t and N frequencies are those of SI."""
    beam = getattr(item.entry, "beam", None)
    youngs = _largest(getattr(beam, "youngs_pa", None), mechanism)
    density = _largest(getattr(beam, "density_kg_m3", None), mechanism)
    if youngs and density and math.sqrt(youngs / density) > FASTEST_M_S:
        speed = math.sqrt(youngs / density)
        yield (
            f"{item.title}.beam: sound would have {speed:.3g} m/s by youngs_pa and density_kg_m3, and has no more than "
            f"{FASTEST_M_S:g} in any solid: N/mm² are Pa / 1e6, t/mm³ are kg/m³ / 1e12, and lengths are in m"
        )


def faster_than_sound(modes: Reduced) -> str:
    """Words for a first mode that no solid of this size has; none where one may.

    In mm, t and N frequencies are those of SI, and so nothing but the size tells them apart.
    """
    named = np.array([node.position for node in modes.nodes.values()])
    places = modes.places if len(modes.places) else named
    if not len(places):
        return ""
    first, size = float(modes.frequency_hz[0]), float(np.max(np.ptp(places, axis=0)))
    if first * size <= FASTEST_M_S:
        return ""
    return (
        f"its first mode is at {first:.3g} Hz over {size:.3g} m, {first * size:.3g} m/s, and sound is slower in any "
        "solid: "
        "lengths in mm are m times 1000, masses in t are kg / 1000"
    )


def _of_modes(mechanism: Mechanism) -> Iterator[str]:
    """Flexible bodies whose first frequency no body has, and modes that a step cannot follow."""
    low, high = FIRST_HZ
    for name, body in mechanism.system.flexible.items():
        first, last = body.modes.frequency_hz[0], body.modes.frequency_hz[-1]
        if not low <= first <= high:
            yield (
                f"flexible_body.{name}: its first mode is at {first:.3g} Hz, usual are {low:g} to {high:g}: "
                "lengths in mm are m times 1000, masses in t are kg / 1000, N/mm² are Pa / 1e6"
            )
        if problem := faster_than_sound(body.modes):
            yield f"flexible_body.{name}: {problem}"
        step_s = KernelOptions().step_s
        if last * step_s * FOLLOWED > 1.0:
            yield (
                f"flexible_body.{name}: its last mode is at {last:.4g} Hz, {1.0 / (last * step_s):.2g} steps of "
                f"{step_s * 1e3:g} ms a period: fewer modes, or step_s = {1.0 / (FOLLOWED * last):.2g}, follow it"
            )


def _of_keys(item: Written, mechanism: Mechanism) -> Iterator[str]:
    for key, (low, high, likely) in USUAL.items():
        value = _largest(getattr(item.entry, key, None), mechanism)
        if value is not None and value != 0.0 and not low <= value <= high:
            yield f"{item.title}.{key}: {value:g}, usual are {low:g} to {high:g}: {likely}"


def _of_gyration(item: Written, mechanism: Mechanism, size: float) -> Iterator[str]:
    mass = _largest(getattr(item.entry, "mass_kg", None), mechanism)
    inertia = _largest(getattr(item.entry, "inertia_kg_m2", None), mechanism)
    low, high = INERTIA_KG_M2
    if inertia and not mass and not low <= inertia <= high:
        yield (
            f"{item.title}.inertia_kg_m2: {inertia:g}, usual are {low:g} to {high:g}: "
            "kg mm² are kg m²/1e6, kg cm² kg m²/1e4"
        )
    if not mass or not inertia or size <= 0.0:
        return
    radius = math.sqrt(inertia / mass)
    if radius > WIDEST * size:
        yield (
            f"{item.title}.inertia_kg_m2: {inertia:g} with {mass:g} kg is a radius of gyration of "
            f"{radius:.3g} m in a mechanism of {size:.3g} m: kg mm² are kg m²/1e6"
        )


def _size(mechanism: Mechanism, written: list[Written]) -> float:
    """Return the largest extent of the mechanism: of points, and of fixed places."""
    places = []
    for point in mechanism.system.points.values():
        places.append([mechanism.system.initial(x) for x in point])
    for item in written:
        for key in ("point_m", "position_m", "centre_m", "points"):
            places += _vectors(getattr(item.entry, key, None), mechanism)
    if not places:
        return 0.0
    return max(math.dist(a, places[0]) for a in places)


def _vectors(value: Any, mechanism: Mechanism) -> list[list[float]]:
    """Fixed places in a value: a vector, arithmetic of one, or several of them."""
    if isinstance(value, str):
        number = _evaluated(value, mechanism)
        return [list(number)] if isinstance(number, tuple) else []
    if isinstance(value, tuple | list):
        parts = [_evaluated(v, mechanism) for v in value]
        if len(parts) == 3 and all(isinstance(p, float) for p in parts):
            return [[float(p) for p in parts]]  # type: ignore[arg-type]
        return [
            place for v in value for place in _vectors(v, mechanism) if not isinstance(v, float)
        ]
    return []


def _largest(value: Any, mechanism: Mechanism) -> float | None:
    """The largest number in a value, by size."""
    value = getattr(value, "input", value)
    if isinstance(value, tuple | list):
        parts = [p for p in (_largest(v, mechanism) for v in value) if p is not None]
        return max(parts, default=None)
    found = _evaluated(value, mechanism)
    if isinstance(found, tuple):
        return max(abs(x) for x in found)
    return None if found is None else abs(found)


def _evaluated(value: Any, mechanism: Mechanism) -> float | tuple | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    try:
        return evaluate(value, mechanism.system.names)
    except ArithmeticMistake:
        return None  # the name of a point or coordinate
