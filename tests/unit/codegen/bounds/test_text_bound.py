"""The longest way through a text: loops as often as their limits, choices at their dearer side, calls as a whole."""

import pytest

from codegen.bounds.text_bound import TOKEN, _functions, _limits, _Reader

LIMITS = {"N_Q": 5, "N_PHI": 3}


def cost(body: str, **calls: float) -> float:
    """Count the calls that a body makes at most, each at its cost."""
    reader = _Reader(TOKEN.findall(body + "}"), LIMITS, 0.0, 0.0, 0.0, calls)
    found = reader.block()
    assert not reader.lacks, reader.lacks
    return found


@pytest.mark.parametrize(
    ("body", "times"),
    [
        ("step(w, s);", 1),
        ("x = step(w) + step(w);", 2),
        ("for (int i = 0; i < N_Q; i++)\n    step(w);", 5),
        ("for (int i = 0; i < N_Q; i++) {\n    step(w);\n    step(w);\n}", 10),
        ("for (int i = 0; i < N_Q; i++)\n    for (int j = 0; j <= i; j++)\n        step(w);", 30),
        ("for (int part = 1; part <= 3; part++)\n    step(w);", 4),
        ("for (int i = 0; i < N_Q + N_PHI; i++)\n    step(w);", 8),
        ("for (int i = 0; i < 2 * N_Q && x > 0.0; i++)\n    step(w);", 10),
        ("for (int k = N_Q - 1; k >= 0; k--)\n    step(w);", 6),
        ("for (; i + 4 <= N_Q; i += 4)\n    step(w);", 2),
        ("if (a < b)\n    step(w);\nelse {\n    step(w);\n    step(w);\n}", 2),
        ("if (step(w) > 0.0)\n    step(w);", 2),
        ("if (a) step(w); else if (b) { step(w); step(w); step(w); } else step(w);", 3),
        ("const real *const cells[] = {w->a, &w->b};\nstep(w);", 1),
        ("return size(step(w), 3) > 0 ? 1 : 0;", 1),
    ],
)
def test_calls_count_as_often_as_they_can_happen(body, times):
    assert cost(body, step=1.0) == times


def test_a_loop_without_a_limit_is_named():
    reader = _Reader(
        TOKEN.findall("for (int i = 0; i < many; i++)\n    step(w);}"), {}, 0, 0, 0, {}
    )
    reader.block()
    assert reader.lacks == {"i < many"}


def test_limits_are_those_of_the_text():
    types = "enum {\n    N_Q = 4,\n    N_READS = 3 * N_Q + 2, // ports\n    FREEDOMS = -1,\n    MOST = 128 // of\n};"
    assert _limits(types) == {"N_Q": 4, "N_READS": 14, "FREEDOMS": -1, "MOST": 128}


def test_functions_are_found_with_their_bodies():
    text = "static real a(int i)\n{\n    return i;\n}\n\nint b(Data *d)\n{\n    if (d) {\n        a(1);\n    }\n}\n"
    assert {name: body.count("a(") for name, body in _functions(text)} == {"a": 0, "b": 1}
