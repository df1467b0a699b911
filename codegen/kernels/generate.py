"""Mechanism and options to source texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Literal

from codegen.description.fast_modes import too_fast
from codegen.description.mechanism import Mechanism, MechanismError, load
from codegen.equations.program import Program
from codegen.kernels.frozen import frozen
from codegen.options.options import LONG_ROWS, KernelOptions
from codegen.targets import c99, cython_kernel, numpy_module
from rig_configs.mistakes import Mistake

Target = Literal["cython", "c99", "numpy"]
PLACES_ALONE = ("hamiltonian", "independent")


@dataclass(frozen=True)
class Sources:
    """Texts of a kernel: `files` by name (C99 and its Cython face), and its NumPy twin."""

    files: dict[str, str]
    reference: str


def program(mechanism: Path | str | Mechanism, options: KernelOptions) -> Program:
    """Mechanism to discretised program.

    Raises
    ------
    MechanismError
        With every mistake of the file, or with modes that the integrator cannot step.
    """
    return _built(_loaded(mechanism, options), options)


def proved_program(mechanism: Path | str | Mechanism, options: KernelOptions) -> Program | None:
    """The program in whose place a mechanism with long rows is proved: the same text over the ends of these rows,
    which a dense twin can follow. None where the mechanism itself is proved.
    """
    model = _loaded(mechanism, options)
    if not model.system.longer:
        return None
    ends = [replace(row, count=len(row.bodies)) for row in model.system.longer]
    return _built(replace(model, system=replace(model.system, longer=ends)), options)


def _loaded(mechanism: Path | str | Mechanism, options: KernelOptions) -> Mechanism:
    return load(mechanism, long_rows=options.formulation in LONG_ROWS)


def _built(model: Mechanism, options: KernelOptions) -> Program:
    formulation = import_module(f"codegen.formulations.{options.formulation}")
    mistakes = [
        Mistake(model.system.file, key, problem, remedy)
        for key, problem, remedy in too_fast(model, options)
    ]
    if options.formulation in PLACES_ALONE:
        problem = f"is a row of rates; '{options.formulation}' takes rows of places alone"
        remedy = "take formulation = 'ali3p', 'index1' or 'semi_recursive'"
        mistakes += [
            Mistake(model.system.file, name, problem, remedy) for name in model.system.sliding
        ]
    if mistakes:
        raise MechanismError(mistakes)
    return formulation.build(frozen(model) if options.frozen else model, options)


def generate(mechanism: Path | str | Mechanism, options: KernelOptions) -> Sources:
    """Mechanism to source texts; the same input gives the same bytes."""
    model = _loaded(mechanism, options)
    made = _built(model, options)
    proved = proved_program(model, options) or made
    return Sources(cython_kernel.texts(made), numpy_module.text(proved))


def write(
    mechanism: Path | str | Mechanism,
    target: Target,
    output: Path,
    options: KernelOptions | None = None,
) -> list[Path]:
    """Write the sources of a mechanism's kernel into a folder.

    Parameters
    ----------
    target : {"cython", "c99", "numpy"}
        "c99": `<name>.h`, `<name>.c` and an example program, for other hosts. "cython": kernel.h,
        kernel.c, access.h, access.c and face.pyx, as `codegen.kernels.build` compiles them. "numpy": `<name>.py`.
    output : Path
        Made if it is not there; files of the same names are replaced.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    MechanismError
        With every mistake of the file.
    """
    made = program(mechanism, options or KernelOptions())
    if target == "numpy":
        made = proved_program(mechanism, options or KernelOptions()) or made
    if target == "c99":
        files = c99.texts(made)
    elif target == "cython":
        files = cython_kernel.texts(made)
    else:
        files = {f"{made.mechanism.name}.py": numpy_module.text(made)}
    output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (output / name).write_text(text)
    return [output / name for name in files]
