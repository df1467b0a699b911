"""Conditions on signals as text: those that hold, and those that are none."""

import pytest

from rig_configs.condition import ConditionError, holds, parse

SIGNALS = {"wheel/angle_rad": -0.6, "guard/state": 3.0, "a-b/or.and": 1.0}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wheel/angle_rad > 0.5", False),
        ("abs(wheel/angle_rad) > 0.5", True),
        ("abs( wheel/angle_rad )>=6e-1", True),
        ("guard/state==3 and wheel/angle_rad<-0.5", True),
        ("guard/state != 3 and wheel/angle_rad < 0 or a-b/or.and == 1", True),
        ("guard/state != 3 or guard/state > 3", False),
        ("guard/state <= 3", True),
    ],
)
def test_a_condition_is_decided(text, expected):
    assert holds(parse(text), SIGNALS) is expected


@pytest.mark.parametrize(
    "text",
    [
        "", "wheel/angle_rad", "0.5 < wheel/angle_rad", "wheel/angle_rad > high", "a > 1 and", "a = 1",
        "a > 1..2", "a > 1e400",
        "__import__('os').system('true') > 1", "a > 1" * 1000,
    ],
)  # fmt: skip
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(ConditionError):
        parse(text)


def test_an_unknown_signal_is_a_key_error():
    with pytest.raises(KeyError, match="b"):
        holds(parse("b > 1"), SIGNALS)
