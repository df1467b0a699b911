"""Program to a kernel: all that runs in the cycle in C99, and a thin Cython face over it, which is the
same for every mechanism."""

from __future__ import annotations

import hashlib
from typing import Any

from codegen.equations.program import Program
from codegen.options.statuses import NAMES as STATUS_NAMES
from codegen.targets.describe import VERSION, literal, model_info
from codegen.targets.kernel_text import KernelText
from rig_configs.plain import c_string

__all__ = ["VERSION", "c_text", "literal", "model_info", "texts"]

FACES = {"class": "class.pyx.in", "procedural": "procedural.pyx.in"}


def texts(program: Program) -> dict[str, str]:
    """Sources by file name: reproducible, without dates or paths.

    kernel.h and kernel.c run in the cycle; access.c describes this kernel, and access.h and face.pyx
    are the same for every mechanism.
    """
    kernel = KernelText(program, has_block=True)
    system, full = program.presolved.system, program.mechanism.system
    info = model_info(program, kernel.step, kernel.costs)
    facts = {
        "parameters": [(p.path, p.default) for p in system.parameters],
        "bounds": [(p.least, p.above) for p in system.parameters],
        "signals": [p.default for p in system.signals],
        "signal_bounds": [(p.least, p.above) for p in system.signals],
        "internal": [p.default for p in system.internals],
        "q": [c.initial for c in full.coordinates],
        "qd": [c.initial_rate for c in full.coordinates],
    }
    kernel.fill["statuses"] = literal(["good", *STATUS_NAMES])
    kernel.fill["mark"] = hashlib.sha256(literal(info).encode()).hexdigest()[:15]
    kernel.fill["face"] = kernel.filled(FACES[program.options.wrapper])
    head = kernel.filled("head.c.in", includes='#include "kernel.h"')
    body, block = kernel.filled("kernel.c.in"), kernel.filled("block.c.in")
    files = {
        "kernel.h": kernel.filled("kernel.h.in"),
        "kernel.c": f"{head}\n{body}{block}",
        "access.h": kernel.filled("access.h.in"),
        "face.pyx": kernel.filled("face.pyx.in"),
    }
    # the hash of a text cannot be in that text: it is taken with its own place left empty
    unsigned = kernel.filled("access.c.in", facts=c_text(facts | {"info": info}))
    digest = hashlib.sha256("".join([*files.values(), unsigned]).encode()).hexdigest()
    signed = facts | {"info": info | {"source_sha256": digest}}
    return files | {"access.c": kernel.filled("access.c.in", facts=c_text(signed))}


def c_text(value: Any) -> str:
    """A literal of Python as a string of C, a line each."""
    return "\n".join(c_string(line) for line in literal(value).splitlines(keepends=True))
