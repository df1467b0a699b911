"""The energy that steps add by themselves: the gain of stiff stops when a step is too long for them.

A mechanism whose outputs show `energy.gain` weighs after each step the change of kinetic energy against the
work of all applied forces along the step's path and the work of the guides. Nothing of it is in the kernel of a
mechanism that does not ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from string import Template

from codegen.equations.equations import Equations
from codegen.equations.program import Routine
from codegen.expressions.emit import Assign

TEXT = Path(__file__).with_name("gain.h.in")


@dataclass(frozen=True)
class Gain:
    """Routines and C text that weigh the gain; all empty where nobody asks.

    Attributes
    ----------
    text : str
        C of `weigh_gain(w, s0, s)`, before a formulation's own.
    line : str
        The call at the end of a step from s0 to s.
    """

    routines: list[Routine]
    text: str = ""
    line: str = ""


def gain(eq: Equations) -> Gain:
    """Return the additions of a formulation for `energy.gain`, and bind its arrays."""
    if not any(output.kind == "gain" for output in eq.mechanism.outputs):
        return Gain([])
    n_q = len(eq.q)
    eq.arrays |= {"applied": n_q, "momentum": n_q, "guided": 1, "gain": 1}
    applied = [
        Assign(f"w->applied[Q_{eq.names[i]}]", eq.unit * e, f"on {eq.names[i]}")
        for i, e in eq.exact_force.items()
    ]
    momenta = eq.each(lambda i: [(eq.unit, eq.mass[key] * eq.qd[j]) for key, j in eq.in_mass[i]])
    h = repr(eq.options.inner_step_s)
    text = Template(TEXT.read_text()).substitute(
        h=h,
        since_lines="".join(f"        {line}\n" for line in eq.since(f"u * {h}")),
        since_end_lines="".join(f"    {line}\n" for line in eq.since(h)),
    )
    return Gain(
        [
            Routine("apply", "applied forces at q, qd", applied),
            Routine("momenta", "mass qd", eq.per_coordinate("w->momentum", momenta)),
        ],
        text,
        "    weigh_gain(w, s0, s);\n",
    )
