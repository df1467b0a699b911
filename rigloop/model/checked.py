"""Everything that can be said of a mechanism file without compiling it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.closed_trees.closed import left_closed
from codegen.description.mechanism import Mechanism, MechanismError, find, load
from codegen.description.plausible import doubts
from codegen.kernels.frozen import frozen
from codegen.pose.assembly import assemble
from codegen.topology.motion import topology
from codegen.tree.long_rows import lengthened
from codegen.tree.mechanism import in_joint_coordinates


@dataclass(frozen=True)
class Checked:
    """A mechanism file that is good.

    Attributes
    ----------
    dof : int
        Freedoms that the guides leave, of all repetitions of its rows.
    redundant : list of str
        Each redundant row, with those that it follows from.
    doubts : list of str
        Values that seem to have another unit, and rates that the constraints do not allow.
    """

    path: Path
    mechanism: Mechanism
    dof: int
    is_singular: bool
    redundant: list[str]
    doubts: list[str]


def checked(mechanism: Path | str) -> Checked:
    """Check a mechanism file: names, keys, assembly, cuts, and rows of repetitions, however long.

    Raises
    ------
    MechanismError
        With every mistake.
    """
    path = find(mechanism)
    found = load(path, long_rows=True)
    if found.system.cuts:
        left = list(left_closed(topology(found.system)))
        if left:
            raise MechanismError(left)
    assembled = assemble(found.system)
    return Checked(
        path,
        found,
        assembled.dof + _freedoms_of_copies(found),
        assembled.is_singular,
        [str(row) for row in assembled.redundant],
        [*doubts(found, path), *_contradicted(found)],
    )


def _contradicted(mechanism: Mechanism) -> list[str]:
    return [
        f"the rate of {name} is {given:g} in the file, and {made:.6g} at the start: the constraints and the other "
        "rates of the file do not allow it; give one rate for each freedom"
        for name, (given, made) in mechanism.system.contradicted.items()
    ]


def _freedoms_of_copies(mechanism: Mechanism) -> int:
    """Freedoms of those repetitions of long rows that are not written out, which are copies of one that is."""
    if not mechanism.system.longer:
        return 0
    tree = in_joint_coordinates(frozen(mechanism), -1)
    written = sum(_freedoms(link.kind, link.coordinates) for link in tree.chain.links)
    every = sum(_freedoms(link.kind, link.coordinates) for link in lengthened(tree).links)
    return every - written


def _freedoms(kind: str, coordinates: Sequence[int]) -> int:
    """Freedoms of a link on its parent; a quaternion has one coordinate more."""
    return len(coordinates) - (kind in ("ball", "free"))
