"""Triggers as text: conditions compute what Python computes, and nothing else is one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigloop.scope.trigger import TriggerError, read_trigger

SIGNALS = ("wheel/angle_rad", "guard/torque_nm", "a/b-c")
NUMBERS = st.one_of(st.floats(-10.0, 10.0), st.just(math.nan))
CONDITIONS = st.sampled_from(
    [
        "wheel/angle_rad > 0.5",
        "-0.1 < wheel/angle_rad < guard/torque_nm",
        "abs(guard/torque_nm - wheel/angle_rad) >= 2 and not wheel/angle_rad == 1 / 2",
        "max(wheel/angle_rad, guard/torque_nm) ** 2 != 4 or sign(guard/torque_nm) < 0",
        "sqrt(abs(wheel/angle_rad)) + 2 * pi * guard/torque_nm <= 1e-3",
        "1 < 2",
    ]
)


@given(CONDITIONS, st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5))
def test_a_condition_holds_where_python_says_so(text, rows):
    text += " and guard/torque_nm < 9"
    wheel, guard = np.array(rows).T
    (term,) = read_trigger(text, SIGNALS).terms
    found = term.looked_at({"wheel/angle_rad": wheel, "guard/torque_nm": guard})
    python = text.replace("wheel/angle_rad", "w").replace("guard/torque_nm", "g")

    def larger(a, b):
        return math.nan if math.isnan(a + b) else max(a, b)

    names = {"abs": abs, "max": larger, "sqrt": math.sqrt, "sign": np.sign, "pi": math.pi}
    wanted = [bool(eval(python, names, {"w": w, "g": g})) for w, g in rows]
    assert found.astype(bool).tolist() == wanted


def test_a_path_may_have_a_dash_and_an_edge_stands_behind_the_condition():
    (term,) = read_trigger("a/b-c > 1 rising ", SIGNALS).terms
    assert (term.paths, term.edge) == (("a/b-c",), "rising")
    (term,) = read_trigger("a/b-c > 1", SIGNALS).terms
    assert term.edge == "level"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not an expression"),
        ("wheel/angle_rad", "'wheel/angle_rad' is not a comparison"),
        ("wheel/angle > 1", "no signal 'wheel/angle'.*wheel/angle_rad"),
        ("wheel/angle_rad-guard/torque_nm > 1", "operators stand between spaces"),
        ("1 < 2", "names no signal"),
        ("wheel/angle_rad > 1 sideways", "not an expression"),
        ("__import__('os').system('true') > wheel/angle_rad", "is not arithmetic"),
        ("[wheel/angle_rad for _ in 'ab'] > 1", "is not arithmetic"),
        ("wheel/angle_rad is not 1", "not a comparison of numbers"),
        ("wheel/angle_rad ** 999 > 1", "a power"),
        ("open(wheel/angle_rad) > 1", "unknown function 'open'"),
        ("abs(wheel/angle_rad, 1) > 1", "takes 1 argument"),
        ("wheel/angle_rad > s0", "with a slash in it"),
        ("wheel/angle_rad > 1" + " + 1" * 5000, "longer than"),
        ("(" * 3000 + "wheel/angle_rad" + ")" * 3000 + " > 1", "."),
        ("late", "no signal that says so"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(text, words):
    with pytest.raises(TriggerError, match=words) as refused:
        read_trigger(text, SIGNALS)
    assert str(refused.value).startswith("trigger ")
