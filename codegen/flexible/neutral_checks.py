"""The rules that a finite-element model in a neutral file keeps: everything that can be checked is, and told at once.

Shapes and kinds come first; a rule about an array needs no more than this array and those that number its entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from codegen.flexible.structure import NO_FREEDOM, rigid_motions
from rig_configs.names import REMEDY_NAME, name_problem

MOST_FREEDOMS = 4000  # whole matrices
SMALL = 1e-6  # of a matrix beside its largest entries
NEEDED = ("M", "K", "nodes", "freedoms", "names", "named")
OPTIONAL = ("strain", "strain_names", "K_geo")

Wrong = tuple[str, str, str]


def wrong(arrays: dict[str, Any]) -> Iterator[Wrong]:
    """Find everything that is wrong with the arrays of a model: key, problem and remedy."""
    bad: set[str] = set()
    for found in _misshapen(arrays):
        bad.add(found[0])
        yield found
    if bad & {"freedoms", "nodes", *(key for key in NEEDED if key not in arrays)}:
        return
    for found in _of_freedoms(arrays):
        bad.add(found[0])
        yield found
    if not bad & {"names", "named", "freedoms"}:
        yield from _of_names(arrays)
    if "freedoms" not in bad:
        yield from _unphysical(arrays, bad)


def _misshapen(arrays: dict[str, Any]) -> Iterator[Wrong]:
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
    for key, shape in shapes.items():
        array, is_text = arrays[key], key.endswith("names")
        if array.shape != shape:
            words = " x ".join(map(str, shape))
            yield key, f"is {' x '.join(map(str, array.shape))}", f"give {words}: a row a freedom"
        elif array.dtype.kind not in ("U" if is_text else "iuf"):
            yield key, "is of another kind", "give text" if is_text else "give numbers"
        elif not is_text and not np.all(np.isfinite(array)):
            yield key, "is not finite", "look for a node without stiffness"


def _of_freedoms(arrays: dict[str, Any]) -> Iterator[Wrong]:
    """Numbers of nodes and directions, and what a model in a plane may have."""
    freedoms, count = arrays["freedoms"], len(arrays["nodes"])
    if np.any(freedoms[:, 0] < 0) or np.any(freedoms[:, 0] >= count) or np.any(freedoms[:, 1] > 5):
        yield (
            "freedoms",
            "names a node or direction that is not there",
            "node from 0, direction 0 to 5",
        )
    released = moving(freedoms)
    if len(released) == 2:
        across = 3 - sum(released)
        off = float(np.max(np.abs(arrays["nodes"][:, across])))
        if off > 0.0:
            told = f"lie up to {off:.3g} m off the plane in which they move"
            yield "nodes", told, f"give 0 along {'xyz'[across]}, or release the nodes there"
        if bad := [int(d) for d in np.unique(freedoms[:, 1]) if d > 2 and d != 3 + across]:
            told = f"turn about {', '.join('xyz'[d - 3] for d in bad)} and move in a plane"
            yield "freedoms", told, f"keep rotation {3 + across}, or release all displacements"
    if len(np.unique(freedoms, axis=0)) < len(freedoms):
        yield "freedoms", "has the same freedom twice", "give each once"


def _of_names(arrays: dict[str, Any]) -> Iterator[Wrong]:
    """Names of nodes and gauges, and what a named node needs."""
    freedoms, count = arrays["freedoms"], len(arrays["nodes"])
    released = moving(freedoms)
    for name, node in zip(arrays["names"], arrays["named"], strict=True):
        problem = name_problem(str(name))
        if problem:
            yield "names", f"{str(name)!r}: {problem}", REMEDY_NAME
        if not 0 <= node < count:
            yield "named", f"{name} is node {node}, which is not there", f"give 0 to {count - 1}"
        elif missing_here := [
            d for d in released if not np.any(np.all(freedoms == (node, d), axis=1))
        ]:
            words = ", ".join("xyz"[d] for d in missing_here)
            told = f"{name}, node {int(node)}, has no displacement along {words}"
            yield "named", told, "release it, or take another node"
    for key in ("names", "strain_names"):
        values = [str(name) for name in arrays.get(key, ())]
        for name in dict.fromkeys(name for name in values if values.count(name) > 1):
            yield key, f"{name!r} is there {values.count(name)} times", "give each its own name"


def _unphysical(arrays: dict[str, Any], bad: set[str]) -> Iterator[Wrong]:
    """Matrices and rows that belong to no elastic body; those that are `bad` already are left alone."""
    for key in ("M", "K"):
        if key not in bad:
            yield from _asymmetric(key, arrays[key])
    if "M" not in bad:
        least = _least(arrays["M"])
        if least < -SMALL:
            problem = f"is not positive: an eigenvalue is {least:.3g} of the diagonal"
            yield "M", problem, "correct the densities"
    rigid = rigid_of(arrays)
    if "K" not in bad:
        yield from _unelastic(arrays, rigid)
    if not bad & {"strain", "strain_names"}:
        rows = zip(arrays.get("strain_names", ()), arrays.get("strain", ()), strict=True)
        for name, row in rows:
            if np.max(np.abs(row @ rigid)) > 1e-5 * float(
                np.abs(row) @ np.max(np.abs(rigid), axis=1)
            ):
                remedy = "its row is of other freedoms than K"
                yield "strain", f"{name} shows a rigid motion", remedy
    if "K_geo" in arrays and "K_geo" not in bad:
        loads = arrays["K_geo"].reshape(-1, *arrays["K_geo"].shape[2:])
        size = float(np.max(np.abs(loads)))
        yield from _asymmetric("K_geo", loads)
        held = float(np.max(np.abs(loads @ rigid[:, :3])))
        if held > 1e-5 * size * len(rigid):
            problem = f"pushes by {held:.3g} N where all is moved by 1 m along one axis"
            yield "K_geo", problem, "its rows are of other freedoms than K, or it has supports"


def _asymmetric(key: str, matrix: np.ndarray) -> Iterator[Wrong]:
    gap = float(np.max(np.abs(matrix - np.swapaxes(matrix, -1, -2)), initial=0.0))
    if gap > 1e-8 * float(np.max(np.abs(matrix), initial=0.0)):
        yield (
            key,
            f"is not symmetric: entries differ by {gap:.3g}",
            "export it whole, not a half",
        )


def _least(matrix: np.ndarray) -> float:
    """The least eigenvalue of the symmetric part, with a diagonal of ones."""
    at = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    scale = np.where(at > 0.0, at, 1.0)
    even = (matrix + matrix.T) / 2.0 / np.outer(scale, scale)
    return float(np.linalg.eigvalsh(even)[0])


def _unelastic(arrays: dict[str, Any], rigid: np.ndarray) -> Iterator[Wrong]:
    """Stiffnesses that are not positive, or not free as a body is."""
    stiffness = arrays["K"]
    at = np.sqrt(np.maximum(np.diag(stiffness), 0.0))
    if np.any(at == 0.0):
        f = int(np.argmin(at))
        where = f"freedom {f} (node {int(arrays['freedoms'][f, 0])})"
        yield "K", f"has nothing that holds {where}", "leave the freedom out, or connect it"
        return
    if any(True for _ in _asymmetric("K", stiffness)):
        return  # of a half of a matrix, nothing below would be true
    values = np.linalg.eigvalsh(stiffness / np.outer(at, at))
    if values[0] < -SMALL:
        problem = f"is not positive: an eigenvalue is {values[0]:.3g} of the diagonal"
        yield "K", problem, "correct it"
    held = stiffness @ rigid
    force = np.max(np.abs(stiffness), axis=1) @ np.abs(rigid)
    loose = int(np.sum(np.abs(values) < 1e-11))
    is_plane = len(moving(arrays["freedoms"])) == 2
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


def moving(freedoms: np.ndarray) -> list[int]:
    """Directions in which nodes are displaced: three, or two of a model in a plane."""
    found = sorted({int(d) for d in freedoms[:, 1] if d < 3})
    return found if len(found) == 2 else [0, 1, 2]


def numbers(arrays: dict[str, Any]) -> np.ndarray:
    """Numbers of the six freedoms of each node."""
    found = np.full((len(arrays["nodes"]), 6), NO_FREEDOM)
    for f, (node, direction) in enumerate(arrays["freedoms"].astype(int)):
        found[node, direction] = f
    return found


def rigid_of(arrays: dict[str, Any]) -> np.ndarray:
    """Displacements of all freedoms by the six unit motions."""
    return rigid_motions(arrays["nodes"], numbers(arrays), len(arrays["freedoms"]))
