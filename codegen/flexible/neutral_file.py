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
from pathlib import Path
from typing import Any

import numpy as np

from codegen.flexible.neutral_checks import (
    NEEDED,
    OPTIONAL,
    SMALL,
    moving,
    numbers,
    rigid_of,
    wrong,
)
from codegen.flexible.structure import NO_FREEDOM, Node, Structure
from rig_configs.bounded import UnreadableError, parse_toml, read_bytes, read_text
from rig_configs.mistakes import Mistake

MOST_BYTES = 1 << 30


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
    mistakes = [Mistake(path.name, *found) for found in wrong(arrays)]
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


def _structure(arrays: dict[str, Any]) -> tuple[Structure, list[str]]:
    of_nodes, remarks = numbers(arrays), []
    n, nodes, mass = len(arrays["freedoms"]), arrays["nodes"].astype(float), arrays["M"]
    released = moving(arrays["freedoms"])
    heavy = np.flatnonzero(np.all(of_nodes[:, released] != NO_FREEDOM, axis=1))
    blocks = [mass[np.ix_(of_nodes[heavy, a], of_nodes[heavy, a])] for a in released]
    mean = sum(blocks) / len(released)
    size = float(np.max(np.abs(mean)))
    rigid = rigid_of(arrays)
    total = float(np.trace(rigid[:, released].T @ mass @ rigid[:, released])) / len(released)
    cross = mass[np.ix_(of_nodes[heavy, released[0]], of_nodes[heavy, released[1]])]
    is_scalar = max(float(np.max(np.abs(b - mean))) for b in blocks) < SMALL * size
    weights = (mean + mean.T) / 2.0
    if not is_scalar or np.max(np.abs(cross)) > SMALL * size:
        # beams and shells: mass by direction and rotation; each node takes its share of a translation
        shares = sum(np.sum(b, axis=1) for b in blocks) / len(released)
        weights = np.maximum(shares, 0.0)
        weights *= total / np.sum(weights)
        remarks.append(
            "mass differs by direction, as of beams: shape integrals are of lumped masses"
        )
    displacement = np.zeros((len(heavy), 3, n))
    for p, node in enumerate(heavy):
        displacement[p, released, of_nodes[node, released]] = 1.0
    named = {
        str(name): Node(nodes[k], tuple(int(f) for f in of_nodes[k]))
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
