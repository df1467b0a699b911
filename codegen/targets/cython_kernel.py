"""Program to the text of a lean Cython kernel: straight-line `nogil` routines, fixed-size C arrays,
one block class.
"""

from __future__ import annotations

import hashlib
import pprint
from pathlib import Path
from string import Template
from typing import Any

from codegen import trig
from codegen.emit import CYTHON, Cost, Emitter
from codegen.mechanism import ports
from codegen.outputs import Output
from codegen.program import Program, Routine

VERSION = "1"
BLOCK_ABI = 1
HERE = Path(__file__).parent
FORMULATIONS = HERE.parent / "formulations"
# of each continuation part when assembling: 5 degrees, 20 mm
STRIDE = {"rad": 0.0873, "m": 0.02}
SIGNATURES = {
    "hold": "Work *w, State *s, State *after",
    "factorise": "Work *w, const double *weight",
    "solve": "Work *w",
    "solve_guides": "Work *w",
}


def text(program: Program) -> str:
    """The .pyx source: reproducible, without dates or paths."""
    system, options = program.mechanism.system, program.options
    printed, costs = [], {}
    for routine in program.routines:
        lines, costs[routine.name] = _routine(program, routine)
        printed.append(lines)
    step_cost = Cost()
    for name, times in program.calls:
        step_cost = step_cost.plus(costs[name], times)
    guides = system.guides
    info = model_info(program, step_cost)
    fill = {
        "version": VERSION,
        "abi": BLOCK_ABI,
        "name": program.mechanism.name,
        "sha256": program.mechanism.sha256,
        "options": options.text(),
        "slots": step_cost.slots,
        "cost": str(step_cost),
        "n_q": len(system.coordinates),
        "n_phi": len(system.rows),
        "n_guides": len(guides),
        "n_guides_or_1": max(1, len(guides)),
        "n_par": len(system.parameters),
        "n_signals": len(system.signals),
        "n_internal": len(system.internals),
        "n_internal_or_1": max(1, len(system.internals)),
        "n_outputs": len(program.mechanism.outputs),
        "iterations": options.iterations,
        "tolerance": repr(options.tolerance or 0.0),
        "residual_limit": repr(options.residual_limit),
        "coordinate_enum": "\n".join(f"    Q_{c.name} = {c.index}" for c in system.coordinates),
        "constant_tables": _constant_tables(program),
        "work_fields": "\n".join(
            f"    double {array}[{max(1, size)}]" for array, size in program.arrays.items()
        ),
        "routines": "\n\n".join(printed),
        "formulation": _formulation(program),
        "output_lines": "\n".join(
            f"    d.outputs[{n}] = {_output(program, o)}  # {o.port}"
            for n, o in enumerate(program.mechanism.outputs)
        )
        or "    pass",
        "read_ports": literal(info["reads"]),
        "write_ports": literal(info["writes"]),
        "parameters": literal([(p.path, p.default) for p in system.parameters]),
        "signals_0": literal([p.default for p in system.signals]),
        "internal_0": literal([p.default for p in system.internals]),
        "q_0": literal([c.initial for c in system.coordinates]),
        "qd_0": literal([c.initial_rate for c in system.coordinates]),
        "model_info": literal(info),
    }
    fill |= _sincos()
    template = Template((HERE / "kernel.pyx.in").read_text())
    # the hash of a text cannot be in that text: it is taken with its own place left empty
    digest = hashlib.sha256(template.substitute(fill, source_sha256="").encode()).hexdigest()
    return template.substitute(fill, source_sha256=digest)


def model_info(program: Program, cost: Cost) -> dict[str, Any]:
    """Self-description that every kernel carries."""
    system = program.mechanism.system
    reads, writes = ports(program.mechanism)
    return {
        "name": program.mechanism.name,
        "mechanism_sha256": program.mechanism.sha256,
        "block_abi": BLOCK_ABI,
        "options": program.options.text(),
        "step_s": program.options.step_s,
        "coordinates": [(c.name, c.unit) for c in system.coordinates],
        "constraints": [row.label for row in system.rows],
        "guides": [guide.name for guide in system.guides],
        "internals": [internal.path for internal in system.internals],
        "parameters": [p.path for p in system.parameters],
        "reads": list(reads),
        "writes": list(writes),
        "n_q": len(system.coordinates),
        "n_phi": len(system.rows),
        "force_unit": program.unit,
        "operations": {
            "mul": cost.mul,
            "add": cost.add,
            "fma": cost.fma,
            "div": cost.div,
            "slots": cost.slots,
            "path_cycles": round(cost.path),
        },
    }


def _routine(program: Program, routine: Routine) -> tuple[str, Cost]:
    # who stores a value computes it
    own = {"evaluate": "w.trig", "prepare": "w.derived"}.get(routine.name, "-")
    known = {e: where for e, where in program.known.items() if not where.startswith(own)}
    lines, cost = Emitter(CYTHON, program.bind, known).run(routine.assigns)
    signature = SIGNATURES.get(routine.name, "Work *w, State *s")
    head = [
        f"cdef void {routine.name}({signature}) noexcept nogil:",
        f"    # {routine.title}; {cost}",
    ]
    return "\n".join(
        head + [f"    {line}" for line in lines] + ([] if lines else ["    pass"])
    ), cost


def _formulation(program: Program) -> str:
    options = program.options
    dm, df, beta, gamma = options.newmark
    h = options.step_s
    paper, consistent, first = [], ["reaction_rhs(w, s)", "solve_guides(w)"], []
    weight = program.projection_scale / (1.0 - dm)
    for number, guide in enumerate(program.mechanism.system.guides):
        r, q = guide.row, f"Q_{guide.coordinate.name}"
        unit = program.unit * program.scale[r]
        error = f"s.qdd[{q}] - w.guide[{3 * number + 2}]"
        factor = program.projection_scale * program.scale[r] * unit
        first.append(f"w.reaction[{number}] = -{unit!r} * s.lam[{r}]")
        paper.append(
            f"w.reaction[{number}] = -({(1 - df) * unit!r} * s.lam[{r}]"
            f" + {df * unit!r} * s0.lam[{r}] + {factor!r} * ({error}))"
        )
        consistent.append(
            f"w.reaction[{number}] = -{unit!r} * (s.lam[{r}]"
            f" + {weight * program.scale[r]!r} * ({error} + w.x[{q}]))"
        )
    if not program.mechanism.system.guides:
        consistent = []
    chosen = consistent if options.reaction == "F1" else paper
    template = Template((FORMULATIONS / f"{options.formulation}.pyx.in").read_text())
    return template.substitute(
        dm=dm,
        df=df,
        beta=beta,
        gamma=gamma,
        reaction=options.reaction,
        h=repr(h),
        half_h2=repr(h * h / 2.0),
        dqd=repr(gamma / (beta * h)),
        dqdd=repr(1.0 / (beta * h * h)),
        reaction_lines="\n".join(f"    {line}" for line in chosen),
        start_reaction_lines="\n".join(f"    {line}" for line in first),
    )


def _output(program: Program, output: Output) -> str:
    array = {"value": "q", "rate": "qd", "acceleration": "qdd"}
    if output.kind == "reaction":
        return f"w.reaction[{output.index}]"
    if output.kind == "path":
        system = program.mechanism.system
        return program.bind[system.values[output.path]]
    return f"s.{array[output.kind]}[Q_{program.mechanism.system.coordinates[output.index].name}]"


def _constant_tables(program: Program) -> str:
    system = program.mechanism.system
    lam_unit = [program.unit * w for w in program.scale]
    tables = {
        "ROW_UNSCALE": [1.0 / w for w in program.scale],
        "LAM_UNIT": lam_unit,
        "GUIDE_STRIDE": [STRIDE[g.coordinate.unit] for g in system.guides] or [1.0],
    }
    lines = []
    for name, values in tables.items():
        lines.append(f"cdef double[{len(values)}] {name} = {_wrapped(values)}")
    guided = [guide.coordinate.index for guide in system.guides] or [0]
    lines.append(f"cdef int[{len(guided)}] GUIDED = {guided!r}")
    return "\n".join(lines)


def _wrapped(values: list[float]) -> str:
    rows = [", ".join(map(repr, values[k : k + 5])) for k in range(0, len(values), 5)]
    return "[\n    " + ",\n    ".join(rows) + ",\n]"


def literal(value: Any) -> str:
    return pprint.pformat(value, width=110, sort_dicts=False)


def _sincos() -> dict[str, str]:
    sine, cosine = trig.coefficients()
    first, second, third = trig.half_pi_parts()

    def horner(coefs: tuple[float, ...]) -> str:
        nested = repr(coefs[-1])
        for coef in reversed(coefs[:-1]):
            nested = f"({nested}) * z + {coef!r}" if " " in nested else f"{nested} * z + {coef!r}"
        return nested

    return {
        "half_pi_0": repr(first),
        "half_pi_1": repr(second),
        "half_pi_2": repr(third),
        "sine_poly": horner(sine),
        "cosine_poly": horner(cosine),
    }
