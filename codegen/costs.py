"""What one step of a kernel costs, without compiling it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from codegen.generate import generate
from codegen.options import KernelOptions


def operations(mechanism: Path | str, options: KernelOptions | None = None) -> dict[str, int]:
    """Operation counts of a step, as the generated text says them of itself.

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
    face = generate(mechanism, options or KernelOptions()).files["face.pyx"]
    told = re.search(r"^MODEL_INFO = (\{.*?\})\n\n", face, re.MULTILINE | re.DOTALL)
    assert told is not None
    return dict(ast.literal_eval(told[1])["operations"])
