"""Task sets of rigs: what cannot fit is refused with names, numbers and what would do; what ships is not."""

import functools
import json
import re

import pytest
from swaps import swapped

from codegen.bounds.machine import WORKS, machine_costs
from codegen.bounds.step_bound import step_bound
from rig_configs.load import HERE, shipped_rigs
from rigloop.compose import block_costs
from rigloop.compose.block_costs import LOOP, BlockCost
from rigloop.compose.schedule import (
    WATCHDOG_NS,
    WATCHDOG_PRIORITY,
    examine_schedule,
    in_words,
    judge,
)
from rigloop.compose.wiring import load

bounded = functools.cache(step_bound)  # rigs share their models
SIMULATION = "priority = 80\ncore = 1\nspin_us = 200"
TOGETHER = (SIMULATION, "priority = 80\ncore = 0\nspin_us = 0")


def costs_of(loaded, how="counted", usual=0.3, **us):
    """Costs of all blocks: 1 us, but those given."""
    return {
        name: [
            BlockCost(
                block,
                round(1000 * us.get(block, 1.0)),
                round(1000 * usual * us.get(block, 1.0)),
                how,
            )
            for block in (*task.blocks, LOOP)
        ]
        for name, task in loaded.rig.tasks.items()
    }


@pytest.fixture
def rig(tmp_path):
    def make(*changes):
        text = (HERE / "rigs" / "steering_wheel.toml").read_text()
        path = tmp_path / "own.toml"
        path.write_text(swapped(text, *changes))
        return load(str(path))

    return make


def test_the_watchdog_is_the_one_of_the_loop():
    text = (HERE.parent / "rt_core" / "loop" / "watchdog.pxd").read_text()
    assert f"TICK_NS = {WATCHDOG_NS}\n" in text
    assert f"PRIORITY = {WATCHDOG_PRIORITY}\n" in text


def refused(loaded, **us):
    return [str(mistake) for mistake in judge(loaded, costs_of(loaded, **us)).mistakes]


def test_cheap_blocks_fit_and_say_by_how_much(rig):
    loaded = rig()
    found = judge(loaded, costs_of(loaded))
    assert not found.mistakes
    line = in_words(found.timings)[0]
    assert re.search(
        r"^estimation: a cycle takes up to 4 µs .* on core 0, ends within 4 of 200 µs$", line
    )


def test_a_cycle_longer_than_its_period_is_refused_with_the_period_that_would_do(rig):
    (words,) = refused(rig(), steering=1500.0)
    assert "tasks.simulation.period_us = 1000: a cycle takes up to" in words
    assert "steering 1500 counted" in words
    assert "longer than the period" in words
    assert "would do: period_us = 1600" in words


def test_a_neighbour_on_the_core_is_named_with_the_time_that_it_takes(rig):
    (words,) = refused(rig(TOGETHER), steering=400.0, bus=120.0)
    assert "tasks.simulation.period_us = 1000" in words
    assert "and on core 0 it may wait for estimation 938 µs and the watchdog 1 µs" in words
    assert "a core of its own" in words or "core = 1" in words


@pytest.mark.parametrize(
    ("allowed", "would"),
    [({0, 3}, "core = 3;"), ({0}, "a core of its own, on a machine with more;")],
)
def test_a_core_that_would_do_is_one_that_may_be_used(rig, monkeypatch, allowed, would):
    loaded = rig(TOGETHER)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: allowed)
    (words,) = refused(loaded, steering=400.0, bus=120.0)
    assert f"would do: {would}" in words


def test_rare_ways_through_a_kernel_are_told_and_refuse_nothing(rig):
    loaded = rig()
    costs = costs_of(loaded)
    costs["simulation"][0] = BlockCost(
        "steering", 1000, 300, "counted", rare_ns=(20_000, 1_500_000)
    )
    found = judge(loaded, costs)
    assert not found.mistakes
    (note,) = (note for note in found.notes if "singular" in note)
    assert note == (
        "a step of steering takes up to 20 µs near a singular pose, and up to 1500 µs after lost cycles, which may "
        "cost further cycles: the responses above do not include these"
    )


def test_every_change_that_is_named_has_been_analysed(rig):
    (words,) = refused(rig(TOGETHER), steering=300.0, bus=100.0)
    assert "no spin of estimation" in words
    again = rig(TOGETHER, ("spin_us = 40", "spin_us = 0"))
    assert refused(again, steering=300.0, bus=100.0) == []


def test_the_higher_priority_belongs_to_the_shorter_period(rig):
    wrong = (SIMULATION, "priority = 95\ncore = 0\nspin_us = 0")
    (words,) = refused(rig(wrong, ("spin_us = 40", "spin_us = 0")), steering=400.0)
    assert "tasks.estimation.period_us = 200" in words
    assert "the higher priority for the shorter period" in words


def test_a_core_that_is_never_free_is_refused(rig):
    (words,) = refused(rig(TOGETHER, ("spin_us = 40", "spin_us = 150")), usual=1.0, steering=190.0)
    assert "tasks.estimation.spin_us = 150" in words
    assert "96 % of core 0: at most 95 %" in words
    assert "spin at most 147" in words


def test_code_that_nobody_trusts_counts_as_none_and_is_said(rig):
    loaded = rig()
    costs = costs_of(loaded)
    costs["simulation"][0] = BlockCost("steering", 0, 0, "unknown")
    assert any("steering is not known" in note for note in judge(loaded, costs).notes)


def test_what_is_only_measured_once_is_a_note(rig):
    loaded = rig()
    found = judge(loaded, costs_of(loaded, "measured", steering=1500.0))
    assert found.mistakes == ()
    assert any("steering 1500 measured" in note for note in found.notes)


def test_an_auto_spin_is_no_mistake(rig):
    loaded = rig(("spin_us = 40", 'spin_us = "auto"'))
    found = judge(loaded, costs_of(loaded, bus=120.0))
    assert found.mistakes == ()
    assert any("spin of estimation is chosen" in note for note in found.notes)


def test_costs_that_were_kept_beside_a_loud_neighbour_refuse_no_rig(rig, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(block_costs, "CYCLES", 60)
    machine_costs.cache_clear()
    machine_costs()
    (kept,) = (tmp_path / "rigloop" / "machines").iterdir()
    loud = {
        name: 1000.0 * cost for name, cost in json.loads(kept.read_text()).items() if name in WORKS
    }
    kept.write_text(json.dumps(loud))
    machine_costs.cache_clear()
    loaded = rig()
    assert judge(loaded, block_costs.block_costs(loaded, {})).mistakes
    assert examine_schedule(loaded, {}).mistakes == ()
    machine_costs.cache_clear()


@pytest.mark.parametrize("name", shipped_rigs())
def test_no_rig_that_ships_is_refused(name, monkeypatch):
    # few cycles, and no observers, whose models would have to be compiled
    monkeypatch.setattr(block_costs, "CYCLES", 60)
    monkeypatch.setattr(block_costs, "step_bound", bounded)
    found = examine_schedule(load(name), {})
    assert found.mistakes == ()
    assert all(timing.response_us is not None for timing in found.timings)
    how = {cost.block: cost.how for timing in found.timings for cost in timing.blocks}
    assert how.get("steering", "counted") == "counted"
    assert how[LOOP] == "measured"
