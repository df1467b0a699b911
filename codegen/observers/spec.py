"""The request of an observer; `resolve.py` looks its names up in a mechanism."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codegen.options.options import Formulation

# options of the kernel inside that are not for anyone to give. Linear constraints stay: the kernel's coordinates are
# those of the model, one for one; and parameters stay tunable in both
FIXED: dict[str, Any] = {
    "presolve": False,
    "wrapper": "class",
    "precision": "float64",
    "frozen": False,
}
# of the kernel inside, whose coordinates are those of the model: of the file, or of its joints
OF_JOINTS: tuple[Formulation, ...] = ("semi_recursive", "composite", "articulated", "riccati")
FORMULATIONS: tuple[Formulation, ...] = ("ali3p", *OF_JOINTS)


@dataclass(frozen=True)
class ObserverSpec:
    """An observer of a mechanism.

    Attributes
    ----------
    sensors : mapping of str to mapping
        A table each: `kind`, one of `codegen.sensors`, and its keys.
    independent : tuple of str
        Coordinates `z` whose values and rates are the state, as many as the mechanism has freedoms;
        none: those that move most in the pose of the file.
    unknown : tuple of str
        Input signals that are estimated as random walks, such as "force/load/torque_nm".
    """

    sensors: Mapping[str, Mapping[str, Any]]
    independent: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def text(self) -> str:
        """All of it on one line, in a fixed order of keys."""
        tables = {name: dict(table) for name, table in self.sensors.items()}
        return json.dumps([tables, self.independent, self.unknown], sort_keys=False)

    @classmethod
    def of_text(cls, text: str) -> ObserverSpec:
        """The one that `text` was made of."""
        sensors, independent, unknown = json.loads(text)
        return cls(sensors, tuple(independent), tuple(unknown))
