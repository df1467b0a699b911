"""The order of a step: its C text and its cost are read off one list, and agree."""

import re

from codegen.equations.program import Sweep
from codegen.formulations.order import (
    Call,
    Each,
    Lines,
    Repeat,
    Update,
    counted,
    factorise,
    function,
    lines,
    solved,
    spelled,
)
from codegen.kernels.generate import generate
from codegen.options.options import KernelOptions

STEPS = [
    lines("// a comment costs nothing"),
    Call("forces"),
    Repeat(
        "round",
        3,
        "ROUNDS",
        [
            factorise("newton", "first"),
            *solved("s->q"),
            Call("carry", "w", rounds="between"),
        ],
    ),
    Each(
        "phi",
        (
            Update("s->lam", (("", "s0->lam"), ("2.0", "s0->sigma")), adds=False),
            Update("s->sigma", (("", "s0->sigma"),), adds=False),
        ),
    ),
    Lines(("w->sum = 0.0;",), (Sweep("q", ["w->x"], [], 1),)),
    Call("accelerate", "w, s, 2", body=[Call("force_rhs"), Call("refresh_lam")]),
]


def test_each_call_and_sweep_is_counted_as_often_as_it_is_run():
    moved = Sweep("q", ["s->q", "w->x"], ["s->q"], 1)
    assert counted(STEPS) == [
        "forces",
        *["factorise newton", "solve", moved, "carry"],
        *["solve", moved, "carry"],
        *["solve", moved],
        Sweep("phi", ["s->lam", "s->sigma"], ["s->lam"], 1),
        Sweep("q", ["w->x"], [], 1),
        *["force_rhs", "refresh_lam"],
    ]


def test_the_text_has_the_same_order_in_c():
    assert spelled(STEPS) == [
        "// a comment costs nothing",
        "forces(w, s);",
        "for (int round = 0; round < ROUNDS; round++) {",
        "    if (round == 0)",
        "        factorise(w, w->weight_newton);",
        "    solve(w);",
        "    for (int i = 0; i < N_Q; i++)",
        "        s->q[i] += w->x[i];",
        "    if (round + 1 < ROUNDS)",
        "        carry(w);",
        "}",
        "for (int i = 0; i < N_PHI; i++) {",
        "    s->lam[i] = s0->lam[i] + 2.0 * s0->sigma[i];",
        "    s->sigma[i] = s0->sigma[i];",
        "}",
        "w->sum = 0.0;",
        "accelerate(w, s, 2);",
    ]


def test_a_function_without_a_statement_uses_its_arguments_for_the_compiler():
    text = function("conclude(Work *w, State *s)", [lines("// nothing is left to do")])
    assert text.splitlines()[2:4] == ["    // nothing is left to do", "    (void)w, (void)s;"]


def test_the_cost_of_a_canonical_step_is_that_of_all_it_calls():
    """Momenta and their rates are made once more at the end of a step: they count too."""
    options = KernelOptions(formulation="hamiltonian", integrator="forward_euler", iterations=1)
    files = generate("four_bar", options).files
    step = int(re.search(r"one step: .*?(\d+) fma", files["kernel.h"]).group(1))
    made = re.findall(r"void (\w+)\([^)]*\)\n\{\n    // [^\n]*?(\d+) fma", files["kernel.c"])
    fma = {name: int(count) for name, count in made}
    derive = "evaluate factorise momentum_rhs solve refresh_sigma forces momentum_rate"
    conclude = "forces stabilise force_rhs solve refresh_lam momentum momentum_rate observe"
    assert step == sum(fma[name] for name in f"{derive} {conclude}".split())
