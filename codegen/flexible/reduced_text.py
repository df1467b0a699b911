"""The modes of a finite-element model as a table of a mechanism file: written after a reduction, and read again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from codegen.flexible.reduced import AXES, Reduced, ReducedNode
from codegen.system import fields
from codegen.system.fields import Name, Number, VectorValue
from codegen.system.system import System
from rig_configs.plain import toml_key

Values = tuple[float, ...]
SYMMETRIC = 1e-9


class NodeEntry(fields.Entry):
    """A node: its position along the axes of the model, and six rows of displacement and rotation by each mode."""

    position_m: tuple[float, float, float]
    shape: tuple[Values, Values, Values, Values, Values, Values]
    has_rotations: bool = True


class ReducedEntry(fields.Entry):
    """The reduction of a finite-element model, and where its axes are in the file's pose."""

    origin_m: VectorValue = (0.0, 0.0, 0.0)
    x_axis: VectorValue = (1.0, 0.0, 0.0)
    y_axis: VectorValue = (0.0, 1.0, 0.0)
    freedoms: int
    stiffness_n_per_m: tuple[Number, ...]
    mass_kg: tuple[Number, ...]
    gram: tuple[Values, ...]
    load: tuple[tuple[tuple[Values, ...], ...], ...] | None = None
    nodes: dict[Name, NodeEntry]
    gauges: dict[Name, Values] = {}  # noqa: RUF012
    effective: tuple[Values, ...]
    rigid: Values
    dropped_hz: Values = ()


def described_reduction(
    entry: ReducedEntry, system: System
) -> tuple[np.ndarray, np.ndarray, Reduced] | None:
    """Origin, axes (columns) and modes, in the file's pose; None after a mistake, which is noted in the system."""
    before = len(system.mistakes)
    stiffness = np.array(
        [system.number("reduced.stiffness_n_per_m", k) for k in entry.stiffness_n_per_m]
    )
    mass = np.array([system.number("reduced.mass_kg", m) for m in entry.mass_kg])
    count = len(stiffness)
    for key, values in (("stiffness_n_per_m", stiffness), ("mass_kg", mass)):
        if not count or np.min(values, initial=1.0) <= 0.0:
            least = float(np.min(values, initial=0.0))
            system.mistake(f"reduced.{key}", least, "is not above 0", "reduce the model again")
    for key, value, shape in _shapes(entry, count):
        try:
            found = np.array(value, dtype=float)
            is_good = found.shape == shape and bool(np.all(np.isfinite(found)))
        except ValueError:
            is_good = False
        if not is_good:
            words = " x ".join(map(str, shape))
            system.mistake(
                f"reduced.{key}", None, f"has not {words} numbers", "reduce the model again"
            )
    origin = np.array(system.vector("reduced.origin_m", entry.origin_m))
    x, y = (np.array(system.unit(f"reduced.{k}", getattr(entry, k))) for k in ("x_axis", "y_axis"))
    if abs(x @ y) > SYMMETRIC:
        system.mistake(
            "reduced.y_axis", list(y), "is not perpendicular to x_axis", "use unit(), cross()"
        )
    if len(system.mistakes) > before:
        return None
    gram = np.array(entry.gram)
    size = np.sqrt(np.maximum(np.diag(gram), 0.0))
    is_symmetric = np.all(np.abs(gram - gram.T) <= SYMMETRIC * np.outer(size, size))
    if not is_symmetric or np.linalg.eigvalsh(gram)[0] < -SYMMETRIC * np.max(np.diag(gram)):
        problem = "is not symmetric and positive: belongs to no mass"
        system.mistake("reduced.gram", None, problem, "reduce the model again")
        return None
    nodes = {
        name: ReducedNode(np.array(n.position_m), np.array(n.shape), n.has_rotations)
        for name, n in entry.nodes.items()
    }
    none = np.zeros((0, 3))
    made = Reduced(
        frequency_hz=np.sqrt(stiffness / mass) / (2.0 * np.pi),
        stiffness=stiffness,
        mass=mass,
        gram=gram,
        nodes=nodes,
        gauges={name: np.array(row) for name, row in entry.gauges.items()},
        load=None if entry.load is None else np.array(entry.load),
        effective=np.array(entry.effective),
        rigid=np.array(entry.rigid),
        dropped_hz=list(entry.dropped_hz),
        freedoms=entry.freedoms,
        places=none,
        moved=np.zeros((0, 3, count)),
    )
    return origin, np.array([x, y, np.cross(x, y)]).T, made


def _shapes(entry: ReducedEntry, count: int) -> Iterator[tuple[str, Any, tuple[int, ...]]]:
    size = AXES + 3 * count
    yield "mass_kg", entry.mass_kg, (count,)
    yield "gram", entry.gram, (size, size)
    yield "effective", entry.effective, (count, 6)
    yield "rigid", entry.rigid, (6,)
    if entry.load is not None:
        yield "load", entry.load, (4, 3, count, count)
    for name, node in entry.nodes.items():
        yield f"nodes.{name}.shape", node.shape, (6, count)
    for name, row in entry.gauges.items():
        yield f"gauges.{name}", row, (count,)


def text(name: str, made: Reduced) -> str:
    """The table `flexible_body.<name>.reduced` of a mechanism file."""
    rows: list[tuple[str, Any]] = [
        ("freedoms", made.freedoms),
        ("stiffness_n_per_m", made.stiffness),
        ("mass_kg", made.mass),
        ("gram", made.gram),
        *([] if made.load is None else [("load", made.load)]),
        ("effective", made.effective),
        ("rigid", made.rigid),
        ("dropped_hz", np.array(made.dropped_hz[:10])),
    ]
    head = f"flexible_body.{toml_key(name)}.reduced"
    lines = [f"[{head}]", *(f"{key} = {_toml(value)}" for key, value in rows)]
    for label, node in made.nodes.items():
        lines += ["", f"[{head}.nodes.{toml_key(label)}]", f"position_m = {_toml(node.position)}"]
        lines += [
            f"shape = {_toml(node.shape)}",
            f"has_rotations = {str(node.has_rotations).lower()}",
        ]
    if made.gauges:
        lines += ["", f"[{head}.gauges]"]
        lines += [f"{toml_key(label)} = {_toml(row)}" for label, row in made.gauges.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return repr(float(f"{value:.14g}")) if not isinstance(value, int) else str(value)
