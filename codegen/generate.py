"""Mechanism and options to source texts."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from codegen.mechanism import load
from codegen.options import KernelOptions
from codegen.program import Program
from codegen.targets import cython_kernel, numpy_module


@dataclass(frozen=True)
class Sources:
    """Texts of a kernel: `files` by name (C99 and its Cython face), and its NumPy twin."""

    files: dict[str, str]
    reference: str


def program(mechanism: Path | str, options: KernelOptions) -> Program:
    """Mechanism file to discretised program.

    Raises
    ------
    MechanismError
        With every mistake of the file.
    """
    formulation = import_module(f"codegen.formulations.{options.formulation}")
    return formulation.build(load(mechanism), options)


def generate(mechanism: Path | str, options: KernelOptions) -> Sources:
    """Mechanism file to source texts; the same input gives the same bytes."""
    made = program(mechanism, options)
    return Sources(cython_kernel.texts(made), numpy_module.text(made))
