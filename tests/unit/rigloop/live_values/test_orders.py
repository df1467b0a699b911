"""Changes that a program asks its supervisor for: each line is answered, and nothing of a line harms."""

import json
import os
import sys
import time

import msgspec
import pytest

from rigloop.api.supervisor import _plain
from rigloop.live_values.journal import Journal
from rigloop.live_values.orders import LiveAnswer, LiveOrder, LiveOrders, follow_stdin
from rigloop.live_values.refused import LiveOwnedError, LiveRefusedError


@pytest.fixture
def ask(bench_table, tmp_path):
    """Ask for something, as a program does; give the result."""
    rig, table = bench_table
    orders = LiveOrders()
    with orders.serving(table, rig, tmp_path):

        def send(**order):
            line = msgspec.json.encode(LiveOrder(7, "anna", **order))
            return msgspec.json.decode(orders.take(line), type=LiveAnswer).result()

        yield send


def test_values_and_stimuli_are_numbered(ask):
    assert ask(values={"assistance": 0.5}) == 1
    assert ask(values={"stiffness": [1.0, "Nm/rad"], "preload": 0}) == 2
    assert ask(begin=("shake",)) == 3
    assert ask(end=("shake",)) == 4


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 10**400, None, True, "1", [1.0, "m"], {}]
)
def test_each_mistake_reaches_the_program_with_its_parts(ask, value):
    with pytest.raises(LiveRefusedError) as caught:
        ask(values={"assistance": _plain(value)})
    (mistake,) = caught.value.mistakes
    assert mistake.name == "assistance"
    assert "limits 0 to 2" in mistake.remedy
    assert str(mistake).startswith(
        f"assistance = {_plain(value)!r}: " if value is not None else "assistance"
    )
    assert ask(values={"assistance": 1.0}) == 1


def test_another_writer_is_told_to_the_program(ask, tmp_path):
    with Journal(tmp_path), pytest.raises(LiveOwnedError, match="another process"):
        ask(values={"assistance": 1.0})
    assert ask(values={"assistance": 1.0}) == 1


def test_nothing_is_changed_before_the_rig_runs():
    answer = json.loads(LiveOrders().take(b'{"number":1,"author":"x"}'))
    assert "does not run yet" in answer["error"]


@pytest.mark.parametrize(
    "line", [b"", b"\xff\xfe", b"{", b"[]", b"[" * 60_000, b'{"number":"x"}', b'{"numbers":1}', b"null"]
)  # fmt: skip
def test_what_is_no_order_is_answered(line):
    answer = json.loads(LiveOrders().take(line))
    assert answer["number"] == 0
    assert answer["error"].startswith("no order: ")


def test_an_order_that_nobody_waits_for_any_more_is_not_carried_out(ask):
    past_ns = time.monotonic_ns() - 1
    with pytest.raises(LiveOwnedError, match="too late"):
        ask(values={"assistance": 0.5}, until_ns=past_ns)
    assert ask(values={"assistance": 0.5}, until_ns=past_ns + 60_000_000_000) == 1


@pytest.mark.parametrize(
    ("line", "arms"),
    [
        (b"arm", True),
        (b"arm %d" % (1 << 62), True),  # long after any boot
        (b"arm 1", False),
        (b"arm soon", False),
        (b"armed", False),
    ],
)
def test_an_order_to_arm_that_comes_too_late_is_void(monkeypatch, line, arms):
    here, there = os.pipe()
    os.write(there, line + b"\n")
    os.close(there)
    monkeypatch.setattr("rigloop.live_values.orders.STDIN", here)
    monkeypatch.setattr(sys, "setswitchinterval", lambda seconds: None)
    orders = LiveOrders()
    follow_stdin(orders)
    os.close(here)
    assert orders.may_arm is arms
