"""Program to standalone C99 for other hosts: one source and one header, every public name prefixed
with the mechanism's, and a small program that shows how to call it.
"""

from __future__ import annotations

import hashlib
import json
import re

from codegen.description.mechanism import ports
from codegen.program import Program
from codegen.targets.kernel_text import HERE, KernelText, table


def texts(program: Program) -> dict[str, str]:
    """Sources by file name: `<name>.h`, `<name>.c`, `<name>_example.c`."""
    mechanism = program.mechanism
    name, system = identifier(mechanism.name), mechanism.system
    face = (HERE / "c99.c.in").read_text()
    kernel = KernelText(program, has_block=False, calls=face)
    kernel.fill |= {
        "name": name,
        "NAME": name.upper(),
        "bytes": str(_bytes(program)),
        "guide_0": ", ".join(f"{g.coordinate.initial!r}, 0.0, 0.0" for g in system.guides) or "0.0",
    }
    includes = (
        f'#include "{name}.h"\n\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n'
    )
    source = "\n".join([
        kernel.filled("head.c.in", includes=includes),
        kernel.fill["types"],
        *built(program),
        kernel.filled("kernel.c.in"),
        *_names(program, name),
        kernel.filled("c99.c.in"),
    ])  # fmt: skip
    digest = hashlib.sha256(source.encode()).hexdigest()
    return {
        f"{name}.h": kernel.filled("c99.h.in", source_sha256=digest),
        f"{name}.c": source,
        f"{name}_example.c": kernel.filled("c99_example.c.in"),
    }


def identifier(name: str) -> str:
    """A mechanism's name as the beginning of names in C."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"m_{word}" if not word[:1].isalpha() else word


def built(program: Program) -> list[str]:
    """What a kernel begins with."""
    system = program.presolved.system
    values = {
        "PARAMETERS_0": [p.default for p in system.parameters],
        "SIGNALS_0": [p.default for p in system.signals],
        "INTERNAL_0": [p.default for p in system.internals],
        "BUILT_Q": [c.initial for c in system.coordinates],
        "BUILT_QD": [c.initial_rate for c in system.coordinates],
    }
    return [table("static const real", key, found or [0.0]) for key, found in values.items()]


def _names(program: Program, name: str) -> list[str]:
    mechanism = program.mechanism
    system = mechanism.system
    reads, _ = ports(mechanism)
    lists = {
        "guide": [guide.name for guide in system.guides],
        "signal": list(reads[3 * len(system.guides) :]),
        "output": [output.port for output in mechanism.outputs],
        "parameter": [p.path for p in system.parameters],
        "coordinate": [c.name for c in system.coordinates],
        "constraint": [row.label for row in system.rows],
    }
    texts = {f"{key}_names": values for key, values in lists.items()}
    texts["coordinate_units"] = [c.unit for c in system.coordinates]
    return [
        f"const char *const {name}_{key}[] = {{\n"
        + "".join(f"    {json.dumps(value)},\n" for value in values)
        + "    NULL\n};"
        for key, values in texts.items()
    ]


def _bytes(program: Program) -> int:
    """Room for a kernel, generous: the source checks that it fits."""
    system, options = program.presolved.system, program.options
    n_q, n_phi, n_internal = len(system.coordinates), len(system.rows), len(system.internals)
    extra = sum(max(1, size) for size, _ in program.state.values())
    state = 3 * n_q + n_phi + n_internal + extra + 4
    states = 4 + 2 * (options.substeps > 1)
    work = sum(max(1, size) for size in program.arrays.values()) + len(system.guides)
    cells = states * state + work + 3 * len(system.guides)
    return 8 * (cells + len(program.mechanism.outputs) + 32)
