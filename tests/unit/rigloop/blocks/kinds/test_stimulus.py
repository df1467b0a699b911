"""A stimulus in the cycle: begun by a count or a condition, its own time, zero before and after."""

import numpy as np
import pytest

from rig_configs.condition import parse
from rigloop.blocks.compiled.kind import library
from rigloop.blocks.kinds.stimulus_step import Stimulus
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table

MS = 1_000_000
SIGNALS = library(("ramp", "sine", "noise", "step"))


def stepped(n, signal="ramp", table=None, cycles=None, given=None, **settings):
    """Step a stimulus on a value of 10; `given` has the inputs, of which `number` is one."""
    table = table or {"unit": "1", "duration_s": 0.01, "after": 1.0}
    made = SIGNALS[signal].make("s", table, {}, period_s=1e-3)
    given = {"in/number": np.ones(n), "in/before": np.full(n, 10.0)} | (given or {})
    reads = {"number": "in/number", "before": "in/before"}
    for key in ("when", "until"):
        condition = parse(settings[key]) if key in settings else ()
        settings[key] = condition
        for i, one in enumerate(one for group in condition for one in group):
            reads[f"{key}/{i}"] = one.path
    block = Stimulus("s", made, reads, **{"limit": 5.0, **settings})
    offline = Offline(plan_table([Task("t", [block], MS, inputs=tuple(given))]))
    cycles = np.arange(n) if cycles is None else np.array(cycles)
    images = offline.run("t", cycles * MS, forced=given)["t"]
    columns = offline.paths("t")
    return {
        port: images[:, columns.index(f"s/{port}")] for port in ("value", "added", "state", "begun")
    }


def test_its_time_begins_with_it_and_it_is_zero_before_and_after():
    number = np.array([0, 0, 0, 1, 1, 1, 1, -1, -1, -1.0])
    out = stepped(10, given={"in/number": number})
    assert out["added"] == pytest.approx([0, 0, 0, 0, 0.1, 0.2, 0.3, 0, 0, 0])
    assert np.array_equal(out["value"], 10.0 + out["added"])
    assert out["state"].tolist() == [0, 0, 0, 2, 2, 2, 2, 0, 0, 0]


def test_a_new_count_begins_it_again_and_what_is_no_count_is_no_command():
    number = np.array([1, 1, 1, 2, 2, np.nan, np.inf, 2, -2, 3.0])
    out = stepped(10, given={"in/number": number})
    assert out["added"] == pytest.approx([0, 0.1, 0.2, 0, 0.1, 0.2, 0.3, 0.4, 0, 0])
    assert out["begun"].tolist() == [1, 1, 1, 2, 2, 2, 2, 2, 2, 3]


def test_it_ends_after_its_time_whatever_cycles_were_skipped():
    out = stepped(5, cycles=[0, 1, 4, 9, 10], duration_s=0.005)
    assert out["state"].tolist() == [2, 2, 2, 0, 0]


def test_it_waits_for_its_condition_in_the_cycle_and_ends_by_the_other():
    x = np.array([0.0, 1, -3, -3, 2, 6, 6, 6])
    out = stepped(8, given={"in/x": x}, when="abs(in/x) > 2.5", until="in/x >= 6")
    assert out["state"].tolist() == [1, 1, 2, 2, 2, 0, 0, 0]
    assert out["added"] == pytest.approx([0, 0, 0, 0.1, 0.2, 0, 0, 0])


def test_it_may_wait_from_the_start_without_a_command():
    given = {"in/number": np.zeros(4), "in/x": np.arange(4.0)}
    out = stepped(4, given=given, when="in/x == 2", waits=True)
    assert out["state"].tolist() == [1, 1, 2, 2]


def test_and_binds_closer_than_or_in_the_cycle_too():
    x = np.array([0.0, 0, 1, 1, 2])
    y = np.array([0.0, 1, 0, 1, 0])
    given = {"in/number": np.arange(1.0, 6.0), "in/x": x, "in/y": y}
    text = "in/x == 1 and in/y == 1 or in/x > 1.5"
    signals = [{"in/x": a, "in/y": b} for a, b in zip(x, y, strict=True)]
    from rig_configs.condition import holds

    wanted = [2.0 if holds(parse(text), one) else 1.0 for one in signals]
    assert stepped(5, given=given, when=text)["state"].tolist() == wanted == [1, 1, 1, 2, 2]


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "==", "!="])
def test_a_condition_means_in_the_cycle_what_it_means_in_python(operator):
    from rig_configs.condition import holds

    x = np.array([-1.0, 0.0, 0.5, 1.0, np.nan])
    given = {"in/number": np.arange(1.0, 6.0), "in/x": x}
    text = f"in/x {operator} 0.5"
    states = stepped(5, given=given, when=text)["state"]
    assert [s == 2 for s in states] == [holds(parse(text), {"in/x": v}) for v in x]


def test_it_stays_within_its_limit():
    table = {"unit": "1", "std": 100.0}
    out = stepped(200, "noise", table, limit=0.25)
    assert np.abs(out["added"]).max() == 0.25
    assert out["added"].min() == -0.25


def test_it_is_the_signal_of_the_library_to_the_bit():
    table = {"unit": "1", "frequency_hz": 7.0, "amplitude": 0.5}
    out = stepped(50, "sine", table, given={"in/number": np.repeat([0.0, 1.0], 25)})
    alone = SIGNALS["sine"].make("b", table, {}, period_s=1e-3)
    offline = Offline(plan_table([Task("t", [alone], MS)]))
    wanted = offline.run("t", np.arange(25) * MS)["t"][:, offline.paths("t").index("b/y")]
    assert np.array_equal(out["added"][25:], wanted)


def test_everything_that_is_wrong_is_said():
    made = SIGNALS["sine"].make("s", {"unit": "1", "frequency_hz": 1.0}, {}, period_s=1e-3)
    with pytest.raises(ValueError, match=r"needs the port 'number'; needs|reads needs") as caught:
        Stimulus("s", made, {"what": "x/y"}, {"y": "a/b"}, limit=0.0)
    for words in (
        "no port 'what'",
        "needs the port 'number'",
        "a stimulus has value",
        "limit = 0.0",
    ):
        assert words in str(caught.value)
