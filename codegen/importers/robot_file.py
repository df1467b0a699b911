"""A URDF or MJCF file as a mechanism: what the formats share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import Mechanism, MechanismError
from codegen.importers import closures, compiled, mjcf, natural, urdf
from codegen.importers.document import by_line, family, refuse_strange_shapes
from codegen.importers.drawing import drawing
from codegen.importers.shapes import drop_shapes
from codegen.importers.tree import Item, Names, Tree
from rig_configs.mistakes import Mistake

FORMATS: dict[str, ModuleType] = {module.ROOT: module for module in (mjcf, urdf)}
LABELS = {"mujoco": "MJCF", "robot": "URDF"}
OPEN = 1e-9


@dataclass(frozen=True)
class Imported:
    """A robot file as a mechanism.

    Attributes
    ----------
    builder : MechanismBuilder
        Writes the file: `builder.save(folder)`.
    mechanism : Mechanism
        The same, validated.
    items : tuple of Item
        Features carried over, changed, and left out, by name.
    """

    builder: MechanismBuilder
    mechanism: Mechanism
    items: tuple[Item, ...]

    def count(self, status: str) -> int:
        """Return the number of items that have a status."""
        return sum(item.status == status for item in self.items)


def import_file(path: Path | str, name: str | None = None) -> Imported:
    """Read a URDF or MJCF file as a mechanism.

    Parameters
    ----------
    path : Path or str
    name : str, optional
        Of the mechanism; the file's name if not given.

    Raises
    ------
    MechanismError
        With every mistake: no such file, not XML, neither of the formats, refusals of MuJoCo, loops
        that do not close.
    MissingExtra
        The package mujoco is not installed.
    """
    path = Path(path)
    tree = Tree()
    root = _root(path)
    tell_mistakes = getattr(FORMATS[root], "mistakes", None)
    found = tell_mistakes(path) if tell_mistakes else []
    if found:
        raise MechanismError(sorted(found, key=by_line))
    read_file(path, root, tree)
    FORMATS[root].leave_out_unknown(path, tree)
    wanted = name or Names().new(path.stem)
    title = f"{wanted}: from {path.name} ({LABELS[root]})"
    builder = natural.write(tree, wanted, drawing(tree, title))
    return Imported(builder, builder.build(), tuple(tree.items))


def _root(path: Path) -> str:
    """Tag of the file's root, one of `FORMATS`."""
    file = str(path)
    files = family(path)
    for place, top in files:
        refuse_strange_shapes(place, top)
    root = files[0][1].tag
    if root not in FORMATS:
        known = " or ".join(f"<{tag}> ({LABELS[tag]})" for tag in FORMATS)
        raise MechanismError(
            [Mistake(file, f"<{root}>", "is no robot file", f"it has to start with {known}")]
        )
    return root


def read_file(path: Path, root: str, tree: Tree) -> None:
    """Fill a tree from the model that MuJoCo compiles from a file of the format `root`.

    Raises
    ------
    MechanismError
        MuJoCo refuses the file, or its loops do not close.
    """
    mj = compiled.library()
    file = str(path)
    try:
        spec = FORMATS[root].read(mj, path)
        drop_shapes(mj, spec, tree)
        wanted = closures.carried_equalities(mj, spec.copy().compile())
        found = compiled.Compiled(spec, tree, wanted)
    except (ValueError, mj.FatalError) as error:
        if root == mjcf.ROOT and (every := mjcf.mistakes(path, refused=True)):
            raise MechanismError(sorted(every, key=by_line)) from None
        words = " ".join(str(error).split())
        remedy = "MuJoCo's words; correct the file"
        raise MechanismError([Mistake(file, "(file)", words, remedy)]) from None
    if found.open > OPEN:
        problem = f"its loops stay open by {found.open:.3g} m or rad"
        remedy = "start nearer to a closed pose, or correct lengths"
        raise MechanismError([Mistake(file, "equality", problem, remedy)])
    if not found.moving:
        raise MechanismError([Mistake(file, "(file)", "nothing in it moves", "add a joint")])
    compiled.read_links(found)
    closures.read_closures(found)
    closures.read_tendons(found)
    closures.read_actuators(found)
    closures.read_sites(found)
    closures.leave_out_the_rest(found)
