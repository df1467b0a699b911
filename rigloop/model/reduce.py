"""`rigloop model reduce`: a finite-element model to the table of a body that bends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codegen.description.mechanism import MechanismError
from codegen.description.plausible import FIRST_HZ, faster_than_sound
from codegen.flexible.neutral_file import NeutralFileError, read
from codegen.flexible.reduced import Reduced, reduced
from codegen.flexible.reduced_text import text
from codegen.flexible.reduction import Wanted, reduce
from codegen.flexible.structure import StructureError
from rig_configs.mistakes import Mistake
from rig_configs.names import REMEDY_NAME, name_problem


@dataclass(frozen=True)
class Reduction:
    """The table that was written, and what is to be said of it."""

    name: str
    output: str
    mass_kg: float
    centre_m: tuple[float, float, float]
    frequency_hz: tuple[float, ...]
    dropped: int
    modal_mass_error: float
    remarks: tuple[str, ...]


def reduce_model(path: Path, name: str, wanted: Wanted, output: Path) -> Reduction:
    """Reduce a model and write `[flexible_body.<name>.reduced]`, to be put into a mechanism file.

    Raises
    ------
    MechanismError
        With every mistake of the model and of the options.
    """
    if problem := name_problem(name):
        raise MechanismError([Mistake("command line", "--name", problem, REMEDY_NAME, name)])
    try:
        structure, remarks = read(path)
        made = reduced(structure, reduce(structure, wanted))
    except NeutralFileError as error:
        raise MechanismError(error.mistakes) from None
    except StructureError as error:
        mistake = Mistake(path.name, error.key, error.problem, error.remedy, error.value)
        raise MechanismError([mistake]) from None
    first = float(made.frequency_hz[0])
    if not FIRST_HZ[0] <= first <= FIRST_HZ[1]:
        remarks.append(
            f"its first mode is at {first:.3g} Hz, usual are {FIRST_HZ[0]:g} to {FIRST_HZ[1]:g}: is it in m, kg and N?"
            " of mm, t and N the positions times 1e-3, M times 1e3 and K times 1e3 are SI"
        )
    if problem := faster_than_sound(made):
        remarks.append(problem)
    try:
        output.write_text(text(name, made), encoding="utf-8")
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise MechanismError([Mistake(str(output), "--output", problem, "give another")]) from None
    x, y, z = (float(v) for v in made.gram[0, 1:4] / made.gram[0, 0])
    return Reduction(
        name=name,
        output=str(output),
        mass_kg=made.total_mass,
        centre_m=(x, y, z),
        frequency_hz=tuple(float(hz) for hz in made.frequency_hz),
        dropped=len(made.dropped_hz),
        modal_mass_error=_modal_mass_error(made),
        remarks=tuple(remarks),
    )


def _modal_mass_error(made: Reduced) -> float:
    """Largest share of a modal mass by which the shape integrals miss it: rotary inertia, and lumping."""
    count = made.count
    of_shapes = np.diag(made.gram)[4:].reshape(3, count).sum(axis=0)
    return float(np.max(np.abs(of_shapes / made.mass - 1.0)))
