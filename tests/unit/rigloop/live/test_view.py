import io

import pytest
from rich.console import Console

from rigloop.live.view import LiveView, Picture

CAUSES = (
    "overruns_late_wake",
    "overruns_stolen",
    "overruns_own",
    "overruns_bus",
    "overruns_untold",
)
KEYS = ("late_p50", "late_p99", "step_p50", "step_max", "cycles", "overruns", *CAUSES)
TASK = dict.fromkeys(KEYS, 1.0)
BANNER = "degraded: fifo priority [a], memory lock"


def shown(banner, is_terminal, **more):
    file = io.StringIO()
    console = Console(file=file, width=100, force_terminal=is_terminal)
    values = {"angle": 0.1, "rate": 0.0, "torque": 1.0, "command": -1.0, **more}
    with LiveView(console, "Steering") as view:
        view.show(Picture(1.0, 10.0, "RUNNING", "OP", False, values, {"fast": TASK}, banner))
    return file.getvalue()


@pytest.mark.parametrize("is_terminal", [True, False], ids=["table", "lines"])
def test_a_degraded_run_shows_its_banner(is_terminal):
    assert BANNER in shown(BANNER, is_terminal)
    assert "degraded" not in shown("", is_terminal)


@pytest.mark.parametrize("is_terminal", [True, False], ids=["table", "lines"])
def test_a_picture_is_due_only_when_it_would_be_shown(monkeypatch, is_terminal):
    now = [0.0]
    monkeypatch.setattr("rigloop.live.view.time.monotonic", lambda: now[0])
    view = LiveView(Console(file=io.StringIO(), force_terminal=is_terminal), "Steering")
    picture = Picture(1.0, 10.0, "RUNNING", "OP", False, {}, {})
    due = []
    for now[0] in (100.0, 100.01, 100.1, 100.2, 100.99, 101.01):
        due.append(view.is_due)
        view.show(picture)
    table, lines = [True, False, False, True, True, False], [True, False, False, False, False, True]
    assert due == (table if is_terminal else lines)


def test_a_virtual_torque_stands_beside_the_measured_one():
    table = shown("", True, virtual_torque=2.345, measured_torque=2.5)
    assert "virtual torque" in table
    assert "2.345 Nm" in table
    assert "2.500 Nm" in table
    assert "measured torque" not in shown("", True, virtual_torque=2.345)
    assert "virtual torque" not in shown("", True)
