"""An observer program to source texts: the model, the mechanism's own kernel, a face, and a twin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

from codegen.closed_trees.over_joints import is_determined
from codegen.description.mechanism import Mechanism, load
from codegen.equations.program import Program
from codegen.expressions.emit import NUMPY, Assign, Emitter
from codegen.kernels import generate
from codegen.observers.model import ObserverProgram, build
from codegen.observers.resolve import FEELS, describe
from codegen.observers.spec import FIXED, OF_JOINTS, ObserverSpec
from codegen.options.options import KernelOptions
from codegen.targets import c99, cython_kernel, numpy_module
from codegen.targets.describe import VERSION, literal
from codegen.targets.kernel_text import KernelText, table

HERE = Path(__file__).parent
C_PARTS = ("model.c.in", "balance.c.in", "contract.c.in")
# their step begins with the acceleration that the last one ended with
STEPPED = ("composite", "articulated", "riccati")
DERIVED = """
void rederive(Work *w, State *s);

void rederive(Work *w, State *s)
{
    derive(w, s);
}
"""
REDERIVE = """
    // the next step begins with the accelerations of this state, under the inputs as they are now
    feed(d, u);
    for (int i = 0; i < N_SIGNALS; i++)
        s->signal[i] = d->work.signal[i];
    rederive(&d->work, s);
"""
INCLUDES = """\
#include "observer.h"
#include "kernel_side.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
"""


def texts(
    mechanism: Path | str | Mechanism, spec: ObserverSpec, options: KernelOptions
) -> dict[str, str]:
    """Sources by file name; the same input gives the same bytes.

    Raises
    ------
    MechanismError
        With every mistake of the mechanism or of the specification.
    """
    options = replace(options, **FIXED)
    kernel_program = generate.program(load(mechanism), options)
    made = build(load(mechanism), spec, options)
    kernel = cython_kernel.texts(kernel_program)
    return {
        "kernel.h": kernel["kernel.h"],
        "kernel.c": kernel["kernel.c"] + (DERIVED if options.formulation in STEPPED else ""),
        "kernel_side.h": _filled("kernel_side.h.in", {}),
        "kernel_side.c": _filled("kernel_side.c.in", _side(made.program, kernel_program)),
        **_model(made),
        "reference.py": _twin(made),
    }


def _side(model: Program, kernel: Program) -> dict[str, str]:
    """In the coordinates of the file both store the same rows in the same order, each in its own scale."""
    share: list[float] = []
    slopes: list[float] = []
    is_shared = kernel.options.formulation not in OF_JOINTS
    if is_shared:
        share = [a / b for a, b in zip(model.scale, kernel.scale, strict=True)]
        row_of = {model.bind[e]: r for (r, _), e in model.phi_q.items() if e in model.bind}
        slopes = [share[row_of[f"w->phi_q[{n}]"]] for n in range(model.arrays["phi_q"])]
    return {
        "version": VERSION,
        "rederive": REDERIVE if kernel.options.formulation in STEPPED else "",
        "constants": "\n".join(c99.built(kernel)),
        "shares": "\n".join([
            table("static const double", "PHI_SHARE", share or [1.0]),
            table("static const double", "PHI_Q_SHARE", slopes or [1.0]),
        ]),
        "n_trig": str(model.arrays["trig"] if is_shared else 0),
        "n_phi": str(len(share)),
        "n_phi_q": str(len(slopes)),
    }  # fmt: skip


def _filled(name: str, fill: dict[str, str]) -> str:
    return Template((HERE / name).read_text()).substitute(fill)


def _model(made: ObserverProgram) -> dict[str, str]:
    program, resolved = made.program, made.resolved
    calls = "".join((HERE / name).read_text() for name in C_PARTS)
    kernel = KernelText(program, has_block=False, calls=calls)
    fill = kernel.fill | {
        "n_z": str(len(resolved.z)),
        "n_unknown": str(len(resolved.unknown)),
        "n_sensors": str(len(resolved.sensors)),
        "z": ", ".join(map(str, resolved.z)),
        "unknown": ", ".join(map(str, resolved.unknown)) or "0",
        "reads_rates": str(int(resolved.reads_rates)),
        "reads_acceleration": str(int(resolved.reads_acceleration)),
        "reads_multipliers": str(int(resolved.reads_multipliers)),
        "shares_rows": str(int(resolved.observed.tree is None)),
        "force_unit": repr(float(program.unit)),
    }
    kernel.fill = fill
    source = "\n".join([
        kernel.filled("head.c.in", includes=INCLUDES),
        fill["types"],
        *c99.built(program),
        kernel.filled("kernel.c.in"),
        Template(calls).substitute(fill),
        f"const char OBSERVER_FACTS[] =\n{cython_kernel.c_text(_facts(made))};\n",
    ])  # fmt: skip
    return {
        "observer.h": _filled("observer.h.in", fill),
        "observer.c": source,
        "face.pyx": _filled("face.pyx.in", fill),
    }


def _facts(made: ObserverProgram) -> dict[str, Any]:
    program, resolved = made.program, made.resolved
    info = describe(resolved) | {
        "mechanism_sha256": program.mechanism.sha256,
        "generator": VERSION,
        "step_s": program.options.step_s,
    }
    parameters = [(p.path, p.default) for p in program.mechanism.system.parameters]
    return {"parameters": parameters, "info": info}


def _twin(made: ObserverProgram) -> str:
    """The mechanism's NumPy twin, and the observer model in plain NumPy over it."""
    program, resolved = made.program, made.resolved
    over = resolved.observed
    # by the file's own coordinates and rows, where these determine what is read
    feels = FEELS[-1] in resolved.feels
    by_file = over.tree is not None and (not feels or is_determined(over.source.system))
    sensors = resolved.of_file if by_file else resolved.sensors
    system = over.source.system if by_file else over.made.system
    readings = [Assign(f"out[{n}]", s.reading, s.name) for n, s in enumerate(sensors)]
    lines = Emitter(NUMPY, numpy_module.bound(system)).run(readings)[0]
    info = _facts(made)["info"]
    fill = {
        "states": literal(resolved.names),
        "start": literal(info["start"]),
        "model_info": literal(info),
        "n_sensors": str(len(sensors)),
        "readings": "\n".join(f"    {line}" for line in lines),
        "sense": "file_sense" if by_file else "sense",
        "lam_type": "row_lam" if feels or not by_file else "float",
        "feels": repr(feels),
        "bends": repr(feels or resolved.reads_acceleration),
        "z": repr(resolved.z),
        "unknown_signals": repr(resolved.unknown),
        # without rows the first correction is all
        "closings": "30" if over.made.system.rows else "1",
    }
    parts = ["twin_joints.py.in"] if over.tree else []
    parts += ["twin_sense.py.in", *(["twin_file.py.in"] if by_file else []), "twin.py.in"]
    whole = [numpy_module.text(program), *(_filled(name, fill) for name in parts)]
    return "\n\n".join(whole)
