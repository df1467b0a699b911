"""The coordinates of an observer: those of the mechanism's file, or those of its joints, as its kernel has them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from codegen.closed_trees.closed import ClosedTree, closed_tree
from codegen.description.mechanism import Mechanism, MechanismError
from codegen.observers.spec import FORMULATIONS, OF_JOINTS
from codegen.options.options import WITHOUT_ROWS
from codegen.sensors import Sensor
from codegen.topology.motion import topology
from codegen.tree.mechanism import no_tree
from rig_configs.mistakes import Mistake


@dataclass(frozen=True)
class Observed:
    """A mechanism in the coordinates of an observer.

    Attributes
    ----------
    made : Mechanism
        In these coordinates.
    source : Mechanism
        In those of its file.
    tree : ClosedTree, optional
        Of joint coordinates.
    """

    made: Mechanism
    source: Mechanism
    tree: ClosedTree | None = None

    def over(self, sensor: Sensor, path: str | None) -> Sensor:
        """A sensor of the file over these coordinates; `path` is that of the value that it reads as it is.

        Raises
        ------
        MechanismError
            It shows what joint coordinates do not have.
        """
        if self.tree is None:
            return sensor
        shown, key = self.tree.shown, f"sensors.{sensor.name}"
        reading = shown.shown(path, key) if path else shown.over(sensor.reading, key)
        if shown.mistakes:
            mistakes = list(shown.mistakes)
            shown.mistakes.clear()
            raise MechanismError(mistakes)
        return replace(sensor, reading=reading)


def observed(mechanism: Mechanism, formulation: str) -> Observed:
    """A mechanism in the coordinates of a formulation's kernel.

    Raises
    ------
    MechanismError
        Observers have no such kernel, or joint coordinates do not carry something of the mechanism: each by name.
    """
    system, key = mechanism.system, "options.formulation"
    if formulation not in FORMULATIONS:
        problem = "is no kernel of an observer"
        joints = " or ".join(map(repr, OF_JOINTS))
        remedy = f"take 'ali3p', or {joints}, in joint coordinates"
        raise MechanismError([Mistake("", key, problem, remedy, formulation)])
    if formulation not in OF_JOINTS:
        return Observed(mechanism, mechanism)
    if system.flexible:
        problem, remedy = "bends: observers know it by the file's coordinates", "take 'ali3p'"
        raise MechanismError(
            Mistake("", key, f"flexible_body.{name} {problem}", remedy, formulation)
            for name in system.flexible
        )
    try:
        if formulation in WITHOUT_ROWS:
            mistakes = no_tree(topology(system), formulation)
            if mistakes:
                raise MechanismError(mistakes)
        tree = closed_tree(mechanism, formulation)
    except MechanismError as error:
        raise MechanismError(
            Mistake("", key, f"{m.key} {m.problem}", m.remedy, formulation) for m in error.mistakes
        ) from None
    return Observed(tree.made, mechanism, tree)
