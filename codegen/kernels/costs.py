"""The cost of one step of a kernel, found without compiling it."""

from __future__ import annotations

from pathlib import Path

from codegen.description.mechanism import Mechanism
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.targets.describe import model_info
from codegen.targets.kernel_text import KernelText


def operations(
    mechanism: Path | str | Mechanism, options: KernelOptions | None = None
) -> dict[str, int]:
    """Operation counts of a step, as the generated text states them.

    Returns
    -------
    dict
        ``mul``, ``add``, ``fma``, ``div``; ``slots``, floating-point operations of straight lines;
        ``sweep``, of loops over whole arrays; ``path_cycles``, the critical path.

    Raises
    ------
    MechanismError
        The file has mistakes.
    """
    return counted(written(mechanism, options or KernelOptions()))


def written(mechanism: Path | str | Mechanism, options: KernelOptions) -> KernelText:
    """The text of a kernel, which is not compiled.

    Raises
    ------
    MechanismError
        The file has mistakes.
    """
    return KernelText(program(mechanism, options), has_block=True)


def counted(text: KernelText) -> dict[str, int]:
    """Operation counts of a step, as `operations` returns them."""
    return dict(model_info(text.program, text.step)["operations"])
