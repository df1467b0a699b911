"""Program to a kernel: all that runs in the cycle in C99, and a thin Cython face over it."""

from __future__ import annotations

import hashlib

from codegen.program import Program
from codegen.statuses import NAMES as STATUS_NAMES
from codegen.targets.describe import VERSION, literal, model_info
from codegen.targets.kernel_text import KernelText

__all__ = ["VERSION", "literal", "model_info", "texts"]

FACES = {"class": "class.pyx.in", "procedural": "procedural.pyx.in"}


def texts(program: Program) -> dict[str, str]:
    """Sources by file name, kernel.h, kernel.c and face.pyx: reproducible, without dates or
    paths.
    """
    kernel = KernelText(program, has_block=True)
    system, full = program.presolved.system, program.mechanism.system
    info = model_info(program, kernel.step, kernel.costs)
    kernel.fill |= {
        "read_ports": literal(info["reads"]),
        "write_ports": literal(info["writes"]),
        "parameters": literal([(p.path, p.default) for p in system.parameters]),
        "bounds": literal([(p.least, p.above) for p in system.parameters]),
        "signal_bounds": literal([(p.least, p.above) for p in system.signals]),
        "statuses": literal(["good", *STATUS_NAMES]),
        "signals_0": literal([p.default for p in system.signals]),
        "internal_0": literal([p.default for p in system.internals]),
        "q_0": literal([c.initial for c in full.coordinates]),
        "qd_0": literal([c.initial_rate for c in full.coordinates]),
        "model_info": _parsed(literal(info)) if program.is_large else literal(info),
    }
    kernel.fill["mark"] = hashlib.sha256(literal(info).encode()).hexdigest()[:15]
    kernel.fill["face"] = kernel.filled(FACES[program.options.wrapper])
    head = kernel.filled("head.c.in", includes='#include "kernel.h"')
    body, block = kernel.filled("kernel.c.in"), kernel.filled("block.c.in")
    files = {"kernel.h": kernel.filled("kernel.h.in"), "kernel.c": f"{head}\n{body}{block}"}
    # the hash of a text cannot be in that text: it is taken with its own place left empty
    face = kernel.filled("face.pyx.in", source_sha256="")
    digest = hashlib.sha256("".join([*files.values(), face]).encode()).hexdigest()
    return files | {"face.pyx": kernel.filled("face.pyx.in", source_sha256=digest)}


def _parsed(text: str) -> str:
    """A literal that Python reads when the module is loaded: compilers take seconds for thousands of
    names, one object each.
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'__import__("ast").literal_eval("""{escaped}""")'
