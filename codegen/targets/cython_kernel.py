"""Program to a kernel: all that runs in the cycle in C99, and a thin Cython face over it."""

from __future__ import annotations

import hashlib
import pprint
from pathlib import Path
from string import Template
from typing import Any

from codegen import trig
from codegen.emit import LATENCY, Assign, C, Cost, Emitter, Flow
from codegen.mechanism import ports
from codegen.program import Program, Routine, Sweep
from codegen.roll import rolled

VERSION = "1"
BLOCK_ABI = 1
HERE = Path(__file__).parent
# of each continuation part when assembling: 5 degrees, 20 mm
STRIDE = {"rad": 0.0873, "m": 0.02}
PUBLIC = ("prepare", "evaluate", "factorise", "solve", "unfold")
SIGNATURES = {
    "hold": "Work *restrict w, State *restrict s, State *restrict after",
    "factorise": "Work *restrict w, const double *weight",
    "solve": "Work *restrict w",
    "solve_guides": "Work *restrict w",
    "carry": "Work *restrict w",
}


def texts(program: Program) -> dict[str, str]:
    """Sources by file name, kernel.h, kernel.c and face.pyx: reproducible, without dates or
    paths.
    """
    mechanism, options = program.mechanism, program.options
    system, full = program.presolved.system, mechanism.system
    printed, tables, costs, flows = [], [], {}, {}
    for routine in program.routines:
        more, lines, costs[routine.name], flows[routine.name] = _routine(program, routine)
        tables += more
        printed.append(lines)
    step_cost = _step_cost(program, costs, flows)
    info = model_info(program, step_cost)
    reduced = len(program.presolved.removed)
    fill = {
        "version": VERSION,
        "abi": BLOCK_ABI,
        "name": mechanism.name,
        "sha256": mechanism.sha256,
        "options": options.text(),
        "slots": step_cost.slots,
        "cost": str(step_cost),
        "reduced": f", after {reduced} linear ones were solved" if reduced else "",
        "n_q": len(system.coordinates),
        "n_phi": len(system.rows),
        "n_all_q": len(full.coordinates),
        "n_all_phi": len(full.rows),
        "n_guides": len(system.guides),
        "n_par": len(system.parameters),
        "n_signals": len(system.signals),
        "n_internal": len(system.internals),
        "n_outputs": len(mechanism.outputs),
        "iterations": options.iterations,
        "tolerance": repr(options.tolerance or 0.0),
        "residual_limit": repr(options.residual_limit),
        "coordinate_enum": "\n".join(f"    Q_{c.name} = {c.index}," for c in system.coordinates),
        "constant_tables": "\n".join([_constant_tables(program), *tables]),
        "work_fields": "\n".join(
            f"    double {array}[{max(1, size)}];" for array, size in program.arrays.items()
        ),
        "routines": "\n\n".join(printed),
        "formulation": program.text,
        "output_lines": "\n".join(_output_lines(program)),
        "read_ports": literal(info["reads"]),
        "write_ports": literal(info["writes"]),
        "parameters": literal([(p.path, p.default) for p in system.parameters]),
        "signals_0": literal([p.default for p in system.signals]),
        "internal_0": literal([p.default for p in system.internals]),
        "q_0": literal([c.initial for c in full.coordinates]),
        "qd_0": literal([c.initial_rate for c in full.coordinates]),
        "model_info": literal(info),
    }
    fill |= _sincos()
    parts = {
        name: Template((HERE / f"{name}.in").read_text())
        for name in ("kernel.h", "kernel.c", "face.pyx")
    }
    # the hash of a text cannot be in that text: it is taken with its own place left empty
    whole = "".join(part.substitute(fill, source_sha256="") for part in parts.values())
    digest = hashlib.sha256(whole.encode()).hexdigest()
    return {name: part.substitute(fill, source_sha256=digest) for name, part in parts.items()}


def _step_cost(program: Program, costs: dict[str, Cost], flows: dict[str, Flow]) -> Cost:
    """Work of one step; the critical path follows the data through all routines."""
    total = Cost()
    ready: dict[str, float] = {}
    system = program.presolved.system
    sizes = {"q": len(system.coordinates), "phi": len(system.rows)}
    counting = [Sweep("q", ["w->inverse"], [], 1)] if program.pivot_limit else []
    for call in [*program.calls * program.options.substeps, *counting]:
        if isinstance(call, Sweep):
            total.sweep += call.slots * sizes[call.size]
            for k in range(sizes[call.size]):
                at = max(ready.get(f"{array}[{k}]", 0.0) for array in call.reads)
                for array in call.writes:
                    ready[f"{array}[{k}]"] = at + LATENCY["fma"]
            continue
        name, _, variant = call.partition(" ")
        total = total.plus(costs[name])
        flows[name].advance(ready, {"weight": f"w->weight_{variant}"})
    total.path = max(ready.values(), default=0.0)
    return total


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
            "sweep": cost.sweep,
            "path_cycles": round(cost.path),
        },
    }


def _routine(program: Program, routine: Routine) -> tuple[list[str], str, Cost, Flow]:
    # who stores a value computes it
    own = {"evaluate": "w->trig", "prepare": "w->derived"}.get(routine.name, "-")
    known = {e: where for e, where in program.known.items() if not where.startswith(own)}
    tables: list[str] = []
    emitter = Emitter(C, program.bind, known)
    lines, cost = emitter.run(routine.assigns)
    if program.is_large:
        places = {f"Q_{c.name}": c.index for c in program.presolved.system.coordinates}
        tables, lines, cost = rolled(
            routine.name, routine.assigns, program.bind, known, places,
            is_ordered=routine.is_ordered, is_split=routine.is_split,
        )  # fmt: skip
    signature = SIGNATURES.get(routine.name, "Work *restrict w, State *restrict s")
    unused = [name for name in ("w", "s", "after") if f"*restrict {name}" in signature]
    body = [
        f"{'' if routine.name in PUBLIC else 'static '}void {routine.name}({signature})",
        "{",
        f"    // {routine.title}; {cost}",
        f"    {', '.join(f'(void){name}' for name in unused)};",
        *(f"    {line}" for line in lines),
        "}",
    ]
    return tables, "\n".join(body), cost, _renamed(program, emitter.flow)


def _renamed(program: Program, flow: Flow) -> Flow:
    """Coordinates by number, as sweeps name them."""
    places = {f"Q_{c.name}]": f"{c.index}]" for c in program.presolved.system.coordinates}

    def plain(text: str) -> str:
        array, bracket, index = text.partition("[")
        return array + bracket + places.get(index, index)

    flow.cells = {plain(text): number for text, number in flow.cells.items()}
    flow.results = {plain(text): number for text, number in flow.results.items()}
    return flow


def _output_lines(program: Program) -> list[str]:
    system, full = program.presolved.system, program.mechanism.system
    graph = full.graph
    qdd = [graph.var(f"qdd {c.index}") for c in system.coordinates]
    shown = {
        "value": program.presolved.q,
        "rate": program.presolved.qd,
        "acceleration": program.presolved.spread(qdd),
    }
    bind = dict(program.bind)
    assigns = []
    for n, output in enumerate(program.mechanism.outputs):
        if output.kind == "reaction":
            e = graph.var(f"reaction {output.index}")
            bind[e] = f"w->reaction[{output.index}]"
        elif output.kind == "path":
            e = system.values[output.path]
        else:
            e = shown[output.kind][output.index]
        assigns.append(Assign(f"d->outputs[{n}]", graph.folded(e), output.port))
    lines, _ = Emitter(C, bind, program.observed).run(assigns)
    return [f"    {line}" for line in lines]


def _constant_tables(program: Program) -> str:
    system, full = program.presolved.system, program.mechanism.system
    by_name = {c.name: c.index for c in full.coordinates}
    guided = [guide.coordinate.index for guide in system.guides]
    tables: list[tuple[str, str, list]] = [
        ("double", "ROW_UNSCALE", [1.0 / w for w in program.scale] or [1.0]),
        ("double", "GUIDE_STRIDE", [STRIDE[g.coordinate.unit] for g in system.guides] or [1.0]),
        ("int", "GUIDED", guided or [0]),
        ("int", "KEPT", [by_name[c.name] for c in system.coordinates]),
    ]
    return "\n".join(
        f"{'' if name == 'KEPT' else 'static '}const {kind} {name}[{len(values)}] = {_wrapped(values)};"
        for kind, name, values in tables
    )


def _wrapped(values: list) -> str:
    rows = [", ".join(map(repr, values[k : k + 8])) for k in range(0, len(values), 8)]
    return "{\n    " + ",\n    ".join(rows) + "\n}"


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
