"""The description that a kernel gives of itself."""

from __future__ import annotations

import pprint
from typing import Any

from codegen.description.mechanism import ports
from codegen.equations.program import Program
from codegen.expressions.emit import Cost

VERSION = "1"
BLOCK_ABI = 2
# of the work arrays
NOTES = {
    "guide": "position, rate, acceleration of each guide at the step's end",
    "signal": "input signals",
    "par": "run-time parameters, in the units of their names",
    "held": "what forces hold for the step",
    "since": "time since that, s",
    "since_part": "step of the call that it is counted from",
    "force": "applied forces, / a0; of coordinates that have any",
    "observed": "outputs that are expressions",
    "row_lam": "multipliers of rows that outputs show, in the rows' units",
    "trig": "sines and cosines in phi and phi_q",
    "phi": "constraint residuals, * w",
    "phi_q": "entries of the Jacobian that vary, * w, by rows",
    "upper": "L D, by columns; only where loops need it",
    "lower": "L of L D L^T, by columns",
    "inverse": "1 / D",
    "rhs": "right-hand side of solve",
    "y": "forward substitution; only where loops need it",
    "x": "solution of solve",
    "inverse_row": "1 / pivot of the rows that are unknowns of the factorisation",
    "x_row": "phi_q x of those rows",
    "push": "lam + phi",
    "phi_dot": "time derivative of phi; only where loops need it",
    "phi_ddot": "second time derivative of phi; only where loops need it",
    "all_q": "of all coordinates, by unfold",
    "all_qd": "their rates",
    "all_qdd": "their accelerations",
    "all_lam": "multipliers of all rows, in the rows' units",
    "derived": "parts that depend on parameters alone",
    "mass_hist": "mass' / (1 - df), nonzeros",
    "inertia": "(1 - dm) / ((1 - df) beta h^2) mass', nonzeros",
    "weight_newton": "weight of the tangent beside phi_q^T phi_q, nonzeros",
    "weight_project": "weight of the projection beside phi_q^T phi_q, nonzeros",
    "applied": "applied forces along a step's path",
    "momentum": "mass qd",
    "guided": "power of the guides at the last step's end",
    "gain": "energy that the steps of this call have added by themselves",
    "hist": "residual without its constraint and applied forces",
}
WIDTH, MANY = 110, 5000  # columns of a literal; members of a list from which on each has a line
FORCE_UNITS = {"rad": "Nm", "m": "N", "1": "N"}


def model_info(
    program: Program, cost: Cost, routines: dict[str, Cost] | None = None
) -> dict[str, Any]:
    """Self-description that every kernel carries."""
    system, options = program.mechanism.system, program.options
    reads, writes = ports(program.mechanism)
    n_q, n_phi = len(system.coordinates), len(system.rows)
    return {
        "name": program.mechanism.name,
        "mechanism_sha256": program.mechanism.sha256,
        "generator": VERSION,
        "block_abi": BLOCK_ABI,
        "options": options.text(),
        "step_s": options.step_s,
        "substeps": options.substeps,
        "precision": options.precision,
        "coordinates": [(c.name, c.unit) for c in system.coordinates],
        "stepped": [c.name for c in program.presolved.system.coordinates],
        "constraints": [row.label for row in system.rows],
        "guides": [guide.name for guide in system.guides],
        "reaction_units": [FORCE_UNITS[g.coordinate.unit] for g in system.guides],
        "internals": [internal.path for internal in system.internals],
        "parameters": [p.path for p in system.parameters],
        "reads": list(reads),
        "writes": list(writes),
        "n_q": n_q,
        "n_phi": n_phi,
        "shapes": {
            "q": (n_q,),
            "qd": (n_q,),
            "qdd": (n_q,),
            "lam": (n_phi,),
            "guide": (len(system.guides), 3),
            "reaction": (len(system.guides),),
            "internal": (len(system.internals),),
            "signals": (len(system.signals),),
            "parameters": (len(system.parameters),),
            "outputs": (len(program.mechanism.outputs),),
        },
        "force_unit": program.unit,
        "operations": _counts(cost),
        "routines": {name: _counts(c) for name, c in (routines or {}).items()},
    }


def _counts(cost: Cost) -> dict[str, int]:
    return {
        "mul": cost.mul,
        "add": cost.add,
        "fma": cost.fma,
        "div": cost.div,
        "slots": cost.slots,
        "sweep": cost.sweep,
        "path_cycles": round(cost.path),
    }


def literal(value: Any) -> str:
    """A Python value as source text, the same everywhere."""
    if not _is_long(value):
        return pprint.pformat(value, width=WIDTH, sort_dicts=False)
    # the printer tries every width, for minutes
    if isinstance(value, dict):
        return "{" + ",\n ".join(f"{key!r}: {literal(e)}" for key, e in value.items()) + "}"
    lines = (value[k : k + 8] for k in range(0, len(value), 8))
    return "[" + ",\n ".join(", ".join(map(repr, line)) for line in lines) + "]"


def _is_long(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_is_long, value.values()))
    return isinstance(value, list) and len(value) > MANY
