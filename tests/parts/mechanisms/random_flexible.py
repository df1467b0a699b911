"""Random trees of bodies that bend: children on different nodes, Timoshenko beams, tip masses, stiffening or not."""

import numpy as np

from codegen.description.builder import MechanismBuilder


def random_flexible(seed):
    """A beam on a pin, on a ball or free, with a rigid body on its middle and another beam on its tip."""
    rng = np.random.default_rng(seed)
    made = MechanismBuilder(f"flexible_{seed}", gravity_m_s2=(0.2, -0.3, -9.81))
    start = rng.uniform(-0.2, 0.2, 3)
    first = _beam(made, rng, "a", start)
    root = rng.integers(3)
    if root == 0:
        _pin(made, rng, "root", "a", "ground", first[0])
    elif root == 1:
        made.spherical("root", bodies=["a", "ground"], point_m=_floats(first[0]))
    _rigid(made, rng, "r", _middle(first))
    if rng.random() < 0.5:
        _pin(made, rng, "on_mid", "r", "a_mid", _middle(first))
    else:
        made.spherical("on_mid", bodies=["r", "a_mid"], point_m=_floats(_middle(first)))
    second = _beam(made, rng, "b", first[-1])
    if rng.random() < 0.5:
        _pin(made, rng, "on_tip", "b", "a_tip", second[0])
    else:
        made.spherical("on_tip", bodies=["b", "a_tip"], point_m=_floats(second[0]))
    return made


def _beam(made, rng, name, start):
    """A beam from a place, of one or two pieces with sections of their own; its frame is at its root."""
    pieces = int(rng.integers(1, 3))
    line = [np.array(start)]
    for _ in range(pieces):
        line.append(line[-1] + rng.uniform(0.3, 0.5) * _unit(rng.normal(size=3)))
    made.point(f"{name}_p", position_m=_floats(start))
    ways = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for letter, way in zip("uvw", ways, strict=True):
        made.unit_vector(f"{name}_{letter}", direction=_floats(way))
    area = rng.uniform(1e-4, 4e-4)
    beam = {
        "line_m": [_floats(at) for at in line],
        "density_kg_m3": 7850.0,
        "youngs_pa": 2.1e11,
        "shear_pa": 8e10,
        "area_m2": area,
        "second_moment_m4": area**2 / 12.0,
        "second_moment_2_m4": area**2 / 7.0,
        "torsion_m4": area**2 / 7.0,
        "elements": 4,
        "nodes": {"root": 0.0, "mid": _share(line), "tip": 1.0},
    }
    if rng.random() < 0.5:
        beam["shear_area_m2"] = 0.8 * area  # Timoshenko
    if rng.random() < 0.5:
        inertia = (1e-3, 1.2e-3, 0.9e-3)
        beam["masses"] = {
            "tip": {"mass_kg": float(rng.uniform(0.1, 0.5)), "inertia_kg_m2": inertia}
        }
    made.flexible_body(
        name, points=[f"{name}_p"], vectors=[f"{name}_{k}" for k in "uvw"], frame="root",
        modes=int(rng.integers(1, 4)), stiffening=bool(rng.random() < 0.5), beam=beam,
    )  # fmt: skip
    return line


def _share(line):
    """The end of the first piece as a fraction of the length, or the middle of the only one."""
    lengths = np.linalg.norm(np.diff(line, axis=0), axis=1)
    return float(lengths[0] / lengths.sum()) if len(lengths) > 1 else 0.5


def _middle(line):
    return line[1] if len(line) > 2 else (line[0] + line[1]) / 2.0


def _rigid(made, rng, name, at):
    made.point(f"{name}_p", position_m=_floats(at))
    for letter, way in zip("uvw", np.eye(3), strict=True):
        made.unit_vector(f"{name}_{letter}", direction=_floats(way))
    made.rigid_body(
        name, points=[f"{name}_p"], vectors=[f"{name}_{k}" for k in "uvw"], mass_kg=float(rng.uniform(0.3, 1.0)),
        centre_m=_floats(at + rng.uniform(-0.1, 0.1, 3)), inertia_kg_m2=(0.02, 0.025, 0.03),
    )  # fmt: skip


def _pin(made, rng, name, inner, outer, at):
    made.revolute(
        name, bodies=[inner, outer], point_m=_floats(at), axis=_floats(_unit(rng.normal(size=3)))
    )


def _unit(v):
    return v / np.linalg.norm(v)


def _floats(values):
    return tuple(float(v) for v in values)
