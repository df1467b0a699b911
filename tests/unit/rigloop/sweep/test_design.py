"""Points of a sweep: lists, ranges, combinations and samples."""

import sys

import pytest

from rig_configs.mistakes import ConfigError
from rigloop.sweep.design import points_of, read_axis


@pytest.mark.parametrize(
    ("text", "key", "values"),
    [
        ("a.b=1,2,5", "a.b", (1, 2, 5)),
        ("a.b=0.1:1:10", "a.b", (*(0.1 + 0.9 * k / 9 for k in range(9)), 1)),
        ("a.b=1:9:3", "a.b", (1, 5, 9)),
        ("a.b=five_bar,steering_26", "a.b", ("five_bar", "steering_26")),
        ('a.b="x,y",true', "a.b", ("x,y", True)),
        ("a.b=7", "a.b", (7,)),
    ],
)
def test_values_are_lists_or_ranges(text, key, values):
    axis = read_axis(text)
    assert (axis.key, axis.values) == (key, values)


@pytest.mark.parametrize(
    "text", ["a.b", "a=1", "a.b=1:2:0.5", "a.b=x:y:3", "a.b=1:2:1", "a.b=50:50:300"]
)
def test_what_is_neither_is_told(text):
    with pytest.raises(ConfigError, match="write"):
        read_axis(text)


def test_all_combinations_in_their_order():
    points = points_of([read_axis("a.b=1,2"), read_axis("c.d=x,y")])
    assert points == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]
    with pytest.raises(ConfigError, match="set twice"):
        points_of([read_axis("a.b=1"), read_axis("a.b=2")])
    with pytest.raises(ConfigError, match="at most"):
        points_of([read_axis("a.b=0:1:1001"), read_axis("c.d=0:1:1001")])


@pytest.mark.parametrize("method", ["sobol", "latin", "random"])
def test_samples_lie_within_and_come_again(method):
    if method != "random":
        pytest.importorskip("scipy")
    axes = [read_axis("a.b=2.0:3.0:2"), read_axis("c.d=x,y"), read_axis("e.f=1:100:2")]
    points = points_of(axes, 50, method, seed=3)
    assert points == points_of(axes, 50, method, seed=3)
    assert points != points_of(axes, 50, method, seed=4)
    assert len(set(points)) == 50
    assert all(
        2 <= a <= 3 and b in "xy" and 1 <= c <= 100 and isinstance(c, int) for a, b, c in points
    )
    assert {b for _, b, _ in points} == {"x", "y"}


def test_a_range_of_too_many_values_is_told_before_they_are_made():
    with pytest.raises(ConfigError, match="1000000000000 values, at most 1000000"):
        read_axis("a.b=0:1:1000000000000")


def test_samples_without_scipy_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(ConfigError, match=r"scipy.*rigloop\[sweep\]"):
        points_of([read_axis("a.b=1:2:3")], sample=4)
    assert len(points_of([read_axis("a.b=1:2:3")], sample=4, method="random")) == 4
