"""A finite-element model in a neutral file: `.npz` without pickle, or a `.toml` that names two Matrix Market files.

| key | shape | |
|---|---|---|
| `M`, `K` | (n, n) | mass and stiffness, free of supports; in the `.toml` names of files beside it |
| `nodes` | (m, 3) | positions in m |
| `freedoms` | (n, 2) | node and direction of each freedom: 0 1 2 displacements, 3 4 5 rotations |
| `names`, `named` | (k,) | names of nodes for joints, forces and sensors, and their numbers |
| `strain_names`, `strain` | (g,), (g, n) | strain is row times displacements; may be left out |
| `K_geo` | (4, 3, n, n) | geometric stiffness by unit fields of acceleration; may be left out |

`K_geo[0, l]` is by a field of 1 m/s^2 along axis l on all of the mass, `K_geo[k, l]` by one that grows by that a metre
along axis k.

Where nodes are displaced in two directions alone, the model is one in a plane.
Everything is SI. M and K alone give neither strain nor stiffening.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from codegen.flexible.structure import NO_FREEDOM, Node, Structure, rigid_motions
from rig_configs.bounded import UnreadableError, parse_toml, read_bytes, read_text
from rig_configs.mistakes import Mistake
from rig_configs.names import REMEDY_NAME, name_problem

MOST_BYTES = 1 << 30
MOST_FREEDOMS = 4000  # whole matrices
SMALL = 1e-6  # of a matrix beside its largest entries
NEEDED = ("M", "K", "nodes", "freedoms", "names", "named")
OPTIONAL = ("strain", "strain_names", "K_geo")


class NeutralFileError(ValueError):
    """A file that is no model; `mistakes` has every reason."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        super().__init__("\n".join(map(str, mistakes)))
        self.mistakes = mistakes


def read(path: Path) -> tuple[Structure, list[str]]:
    """A model as structure, and remarks about it.

    Raises
    ------
    NeutralFileError
        With every mistake of the file.
    """
    try:
        arrays = _from_npz(path) if path.suffix == ".npz" else _from_toml(path)
    except (OSError, ValueError, KeyError, UnreadableError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        remedy = "write it with numpy.savez, or a .toml beside Matrix Market files"
        raise NeutralFileError([Mistake(path.name, "(file)", reason, remedy)]) from None
    mistakes = [Mistake(path.name, *found) for found in _wrong(arrays)]
    if not mistakes:
        mistakes = [Mistake(path.name, *found) for found in _unphysical(arrays)]
    if mistakes:
        raise NeutralFileError(mistakes)
    return _structure(arrays)


def _from_npz(path: Path) -> dict[str, Any]:
    with np.load(io.BytesIO(read_bytes(path, MOST_BYTES)), allow_pickle=False) as kept:
        return {key: kept[key] for key in (*NEEDED, *OPTIONAL) if key in kept}


def _from_toml(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = dict(parse_toml(read_text(path, MOST_BYTES)))
    for key in ("M", "K"):
        name = found.get(key)
        if not isinstance(name, str):
            continue
        if Path(name).name != name:
            raise ValueError(f"{key} is no file beside this one")
        try:
            from scipy.io import mmread  # type: ignore[import-untyped]
        except ImportError:
            raise ValueError('Matrix Market needs SciPy: pip install ".[fe]"') from None
        matrix = mmread(io.BytesIO(read_bytes(path.parent / name, MOST_BYTES)))
        found[key] = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    return {key: np.array(found[key]) for key in (*NEEDED, *OPTIONAL) if key in found}


Wrong = tuple[str, str, str]


def _wrong(arrays: dict[str, Any]) -> Iterator[Wrong]:
    """Keys that are missing, and arrays of another shape or kind."""
    missing = [key for key in NEEDED if key not in arrays]
    for key in missing:
        yield key, "is missing", "the keys are in docs/models/mechanisms.md"
    if missing:
        return
    n = len(arrays["freedoms"])
    if n > MOST_FREEDOMS:
        remedy = "condense it in the program that made it, and keep the nodes that matter"
        yield "freedoms", f"has {n} freedoms, more than {MOST_FREEDOMS}", remedy
        return
    shapes: dict[str, tuple[int, ...]] = {
        "M": (n, n),
        "K": (n, n),
        "nodes": (len(arrays["nodes"]), 3),
        "freedoms": (n, 2),
    }
    shapes["names"] = shapes["named"] = (len(arrays["named"]),)
    if ("strain" in arrays) != ("strain_names" in arrays):
        yield "strain", "stands without strain_names, or these without it", "give both"
    elif "strain" in arrays:
        count = len(arrays["strain_names"])
        shapes["strain"], shapes["strain_names"] = (count, n), (count,)
    if "K_geo" in arrays:
        shapes["K_geo"] = (4, 3, n, n)
    good = True
    for key, shape in shapes.items():
        array, is_text = arrays[key], key.endswith("names")
        if array.shape != shape:
            words = " x ".join(map(str, shape))
            yield key, f"is {' x '.join(map(str, array.shape))}", f"give {words}: a row a freedom"
            good = False
        elif array.dtype.kind not in ("U" if is_text else "iuf"):
            yield key, "is of another kind", "give text" if is_text else "give numbers"
            good = False
        elif not is_text and not np.all(np.isfinite(array)):
            yield key, "is not finite", "look for a node without stiffness"
            good = False
    if not good:
        return
    freedoms, count = arrays["freedoms"], len(arrays["nodes"])
    if np.any(freedoms[:, 0] < 0) or np.any(freedoms[:, 0] >= count) or np.any(freedoms[:, 1] > 5):
        yield (
            "freedoms",
            "names a node or direction that is not there",
            "node from 0, direction 0 to 5",
        )
    moving = _moving(freedoms)
    if len(moving) == 2:
        across = 3 - sum(moving)
        off = float(np.max(np.abs(arrays["nodes"][:, across])))
        if off > 0.0:
            told = f"lie up to {off:.3g} m off the plane in which they move"
            yield "nodes", told, f"give 0 along {'xyz'[across]}, or release the nodes there"
        if bad := [int(d) for d in np.unique(freedoms[:, 1]) if d > 2 and d != 3 + across]:
            told = f"turn about {', '.join('xyz'[d - 3] for d in bad)} and move in a plane"
            yield "freedoms", told, f"keep rotation {3 + across}, or release all displacements"
    if len(np.unique(freedoms, axis=0)) < n:
        yield "freedoms", "has the same freedom twice", "give each once"
    for name, node in zip(arrays["names"], arrays["named"], strict=True):
        problem = name_problem(str(name))
        if problem:
            yield "names", f"{str(name)!r}: {problem}", REMEDY_NAME
        if not 0 <= node < count:
            yield "named", f"{name} is node {node}, which is not there", f"give 0 to {count - 1}"
        elif missing_here := [
            d for d in moving if not np.any(np.all(freedoms == (node, d), axis=1))
        ]:
            words = ", ".join("xyz"[d] for d in missing_here)
            told = f"{name}, node {int(node)}, has no displacement along {words}"
            yield "named", told, "release it, or take another node"


def _unphysical(arrays: dict[str, Any]) -> Iterator[Wrong]:
    """Matrices that belong to no elastic body."""
    stiffness, mass = arrays["K"], arrays["M"]
    is_symmetric = True
    for key, matrix in (("M", mass), ("K", stiffness)):
        gap = float(np.max(np.abs(matrix - matrix.T)))
        if gap > 1e-8 * float(np.max(np.abs(matrix))):
            problem = f"is not symmetric: entries differ by {gap:.3g}"
            yield key, problem, "export it whole, not a half"
            is_symmetric = False
    if not is_symmetric:
        return
    at = np.sqrt(np.maximum(np.diag(mass), 0.0))
    scale = np.where(at > 0.0, at, 1.0)
    least = float(np.linalg.eigvalsh(mass / np.outer(scale, scale))[0])
    if least < -SMALL:
        yield (
            "M",
            f"is not positive: an eigenvalue is {least:.3g} of the diagonal",
            "correct the densities",
        )
    at = np.sqrt(np.maximum(np.diag(stiffness), 0.0))
    if np.any(at == 0.0):
        f = int(np.argmin(at))
        where = f"freedom {f} (node {int(arrays['freedoms'][f, 0])})"
        yield "K", f"has nothing that holds {where}", "leave the freedom out, or connect it"
        return
    values = np.linalg.eigvalsh(stiffness / np.outer(at, at))
    if values[0] < -SMALL:
        yield (
            "K",
            f"is not positive: an eigenvalue is {values[0]:.3g} of the diagonal",
            "correct it",
        )
    rigid = _rigid(arrays)
    held = stiffness @ rigid
    force = np.max(np.abs(stiffness), axis=1) @ np.abs(rigid)
    loose = int(np.sum(np.abs(values) < 1e-11))
    is_plane = len(_moving(arrays["freedoms"])) == 2
    free, where = (3, "in its plane") if is_plane else (6, "in space")
    if loose != free:
        remedy = "remove supports" if loose < free else "connect its parts"
        problem = f"has {loose} rigid-body modes, a free body has {free}"
        yield "K", problem, f"{remedy}; it is to be free {where}"
    elif np.any(np.max(np.abs(held), axis=0) > 1e-5 * np.maximum(force, 1e-300)):
        names = ("x", "y", "z", "a turn about x", "a turn about y", "a turn about z")
        bad = int(np.argmax(np.max(np.abs(held), axis=0) / np.maximum(force, 1e-300)))
        remedy = "nodes in the unit of K, rotations in rad"
        yield "nodes", f"moving all by {names[bad]} strains it: positions do not go with K", remedy
    for name, row in zip(arrays.get("strain_names", ()), arrays.get("strain", ()), strict=True):
        if np.max(np.abs(row @ rigid)) > 1e-5 * float(np.abs(row) @ np.max(np.abs(rigid), axis=1)):
            yield "strain", f"{name} shows a rigid motion", "its row is of other freedoms than K"


def _moving(freedoms: np.ndarray) -> list[int]:
    """Directions in which nodes are displaced: three, or two of a model in a plane."""
    found = sorted({int(d) for d in freedoms[:, 1] if d < 3})
    return found if len(found) == 2 else [0, 1, 2]


def _numbers(arrays: dict[str, Any]) -> np.ndarray:
    found = np.full((len(arrays["nodes"]), 6), NO_FREEDOM)
    for f, (node, direction) in enumerate(arrays["freedoms"].astype(int)):
        found[node, direction] = f
    return found


def _rigid(arrays: dict[str, Any]) -> np.ndarray:
    return rigid_motions(arrays["nodes"], _numbers(arrays), len(arrays["freedoms"]))


def _structure(arrays: dict[str, Any]) -> tuple[Structure, list[str]]:
    numbers, remarks = _numbers(arrays), []
    n, nodes, mass = len(arrays["freedoms"]), arrays["nodes"].astype(float), arrays["M"]
    moving = _moving(arrays["freedoms"])
    heavy = np.flatnonzero(np.all(numbers[:, moving] != NO_FREEDOM, axis=1))
    blocks = [mass[np.ix_(numbers[heavy, a], numbers[heavy, a])] for a in moving]
    mean = sum(blocks) / len(moving)
    size = float(np.max(np.abs(mean)))
    rigid = _rigid(arrays)
    total = float(np.trace(rigid[:, moving].T @ mass @ rigid[:, moving])) / len(moving)
    cross = mass[np.ix_(numbers[heavy, moving[0]], numbers[heavy, moving[1]])]
    is_scalar = max(float(np.max(np.abs(b - mean))) for b in blocks) < SMALL * size
    weights = (mean + mean.T) / 2.0
    if not is_scalar or np.max(np.abs(cross)) > SMALL * size:
        # beams and shells: mass by direction and rotation; each node takes its share of a translation
        shares = sum(np.sum(b, axis=1) for b in blocks) / len(moving)
        weights = np.maximum(shares, 0.0)
        weights *= total / np.sum(weights)
        remarks.append(
            "mass differs by direction, as of beams: shape integrals are of lumped masses"
        )
    displacement = np.zeros((len(heavy), 3, n))
    for p, node in enumerate(heavy):
        displacement[p, moving, numbers[node, moving]] = 1.0
    named = {
        str(name): Node(nodes[k], tuple(int(f) for f in numbers[k]))
        for name, k in zip(arrays["names"], arrays["named"].astype(int), strict=True)
    }
    bare = [name for name, node in named.items() if not node.has_rotations]
    if bare:
        remarks.append(
            f"nodes without rotations: {', '.join(bare)}; they take forces and balls, not hinges: tie rotations to them"
        )
    gauges = zip(arrays.get("strain_names", ()), arrays.get("strain", ()), strict=True)
    if "K_geo" not in arrays:
        remarks.append("no K_geo: spin and weight do not stiffen it")
    made = Structure(
        mass=(mass + mass.T) / 2.0,
        stiffness=(arrays["K"] + arrays["K"].T) / 2.0,
        rigid=rigid,
        nodes=named,
        mass_points=nodes[heavy],
        weights=weights,
        displacement=displacement,
        gauges={str(name): row for name, row in gauges},
        load_stiffness=arrays.get("K_geo"),
    )
    return made, remarks
