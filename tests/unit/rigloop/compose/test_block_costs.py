"""Costs of blocks: kernels are counted, others rehearsed, a user's own code left alone."""

import numpy as np

from rigloop.compose import block_costs
from rigloop.compose.block_costs import LOOP, MARGIN, _of_task
from rigloop.compose.wiring import load


def test_the_longest_cycle_that_every_round_has_counts():
    # a hole strikes one round: 900 is not seen again
    rounds = [
        np.array([[10, 2], [40, 2]]),
        np.array([[900, 2], [11, 2]]),
        np.array([[12, 2], [50, 2]]),
    ]
    found = _of_task(["one"], rounds)
    assert found["one"].worst_ns == round(MARGIN * 40)
    assert found["one"].usual_ns == 25
    assert found[LOOP].worst_ns == round(MARGIN * 2)


def test_a_bus_that_cannot_be_emulated_is_left_out(rigs, monkeypatch):
    def refuse(rig, backends):
        if backends:
            raise ValueError("no such drive")
        return made(rig, backends)

    made = block_costs.make_buses
    monkeypatch.setattr(block_costs, "make_buses", refuse)
    monkeypatch.setattr(block_costs, "CYCLES", 50)
    found = block_costs.block_costs(rigs("latency_bench"), {})
    how = {cost.block: cost.how for parts in found.values() for cost in parts}
    assert how["bus"] == "unknown"
    assert how["steering"] == "counted"
    assert how["guard"] == how["relay"] == how[LOOP] == "measured"


def test_a_bound_that_cannot_be_found_is_unknown_with_its_reason(rigs, monkeypatch):
    def fail(*args):
        raise OSError("failed to map segment")

    monkeypatch.setattr(block_costs, "step_bound", fail)
    monkeypatch.setattr(block_costs, "CYCLES", 50)
    found = block_costs.block_costs(rigs("latency_bench"), {})
    (why,) = {c.why for parts in found.values() for c in parts if c.block == "steering"}
    assert why == "failed to map segment"


def test_a_block_that_would_have_to_be_compiled_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(block_costs, "CYCLES", 50)
    rig = tmp_path / "sine.toml"
    rig.write_text(
        'title = "A sine"\ntasks.main = { period_us = 1000, blocks = ["motor"] }\n'
        '[blocks.motor]\nkind = "sine"\nfrequency_hz = 0.5\nunit = "rad"\n'
    )
    found = block_costs.block_costs(load(str(rig)), {})
    assert [(cost.block, cost.how) for cost in found["main"]] == [
        ("motor", "unknown"),
        (LOOP, "measured"),
    ]
    assert not list(tmp_path.rglob("*.so"))
