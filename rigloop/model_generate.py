"""`rigloop model generate`: the sources of a mechanism's kernel, for another build or another host."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from codegen.generate import Target, write
from codegen.option_text import from_words
from rig_configs.mistakes import ConfigError

WRONG_INPUT = 2  # as rigloop.cli.Exit


def generate(
    mechanism: Annotated[
        str, typer.Argument(help="Name of a mechanism that ships, or the path of a file.")
    ],
    target: Annotated[
        str,
        typer.Option(
            help="`c99`: standalone source, header and example; `cython`: kernel.c and its Python"
            " face; `numpy`: the same mechanism as a plain module."
        ),
    ] = "c99",
    output: Annotated[Path, typer.Option(help="Folder that gets the files.")] = Path("generated"),
    option: Annotated[
        list[str] | None,
        typer.Option(help="`key=value` of the kernel options, such as `step_s=5e-4`; repeatable."),
    ] = None,
) -> None:
    """Write the source of a mechanism's kernel: C99 for other hosts, Cython, or NumPy."""
    try:
        chosen: dict[str, Target] = {"c99": "c99", "cython": "cython", "numpy": "numpy"}
        if target not in chosen:
            raise ValueError(f"--target {target}: one of {', '.join(chosen)}")
        written = write(mechanism, chosen[target], output, from_words(option or []))
    except ConfigError as error:
        for mistake in error.mistakes:
            Console(stderr=True).print(str(mistake), markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(WRONG_INPUT) from None
    except (OSError, ValueError) as error:
        Console(stderr=True).print(str(error), markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(WRONG_INPUT) from None
    for path in written:
        Console().print(str(path), markup=False, highlight=False, soft_wrap=True)
