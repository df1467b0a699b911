"""The bound of a step: parts that follow the counts, and costs that each raise it."""

import functools
from dataclasses import replace
from itertools import pairwise

import pytest

from codegen.bounds import step_bound as step_bound_module
from codegen.bounds.machine import WORKS, MachineCosts
from codegen.bounds.step_bound import CLOCK, SHARED, bound_of, step_bound
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.targets.kernel_text import KernelText

# one ns a cycle of the generator's own latencies, one slot a ns, and nothing else
PLAIN = MachineCosts(
    add=4, mul=4, fma=4, div=14, sqrt=18, sincos=60, memory=0,
    side_div=1, side_sqrt=0, picked=1, branch=0, slot=1, clock=0,
)  # fmt: skip


@functools.cache
def made(mechanism, **options):
    found = program(mechanism, KernelOptions(**options))
    return found, KernelText(found, has_block=True)


def bound(mechanism="gas_pedal", costs=PLAIN, **options):
    return bound_of(*made(mechanism, **options), costs)


@pytest.mark.parametrize("mechanism", ["gas_pedal", "governor"])
def test_with_plain_costs_its_parts_are_the_counts_of_the_generator(mechanism):
    counts, found = made(mechanism)[1].step, bound(mechanism)
    assert found.work_ns == SHARED * counts.slots
    # absolute values and choices, one cycle in the counts, cost an addition here
    assert 1.0 <= found.path_ns / (CLOCK * (counts.path - 1)) < 1.05
    assert found.bound_ns == found.work_ns + found.path_ns + found.around_ns
    assert found.slots > counts.slots


def test_iterations_count_up_to_their_cap():
    times = [bound(iterations=n, tolerance=1e-9).bound_ns for n in (1, 2, 3, 4)]
    steps = [after - before for before, after in pairwise(times)]
    assert steps[0] > 0
    assert steps[1] == pytest.approx(steps[2])


def test_substeps_count_each():
    one, three = bound().work_ns, bound(substeps=3).work_ns
    assert three == pytest.approx(3 * one, rel=0.02)


@pytest.mark.parametrize("name", [name for name in WORKS if name != "picked"])
def test_no_cost_lowers_it(name):
    dearer = replace(PLAIN, **{name: getattr(PLAIN, name) + 100.0})
    mechanism = "governor"  # turns: it has sines
    assert bound(mechanism, dearer).bound_ns >= bound(mechanism).bound_ns


def test_tables_cost_what_picked_operands_do():
    small, text = made("gas_pedal")
    dear = replace(PLAIN, picked=3.0)
    assert bound_of(small, text, dear).work_ns == bound().work_ns
    assert bound_of(replace(small, is_large=True), text, dear).work_ns > bound().work_ns


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"substeps": 3},
        {"projection": "none", "iterations": 4, "tolerance": 1e-8},
        {"formulation": "index1", "integrator": "rk4"},
        {"formulation": "penalty"},
        {"formulation": "hamiltonian"},
        {"formulation": "independent"},
    ],
    ids=lambda options: "-".join(map(str, options.values())) or "default",
)
def test_the_rare_ways_are_longer_than_the_usual_one(options):
    found = bound(costs=replace(PLAIN, memory=3, branch=9, clock=30), **options)
    assert found.reassembled_ns > found.singular_ns
    assert found.reassembled_ns > found.bound_ns


def test_a_mechanism_is_bounded_by_its_name():
    assert step_bound("gas_pedal", costs=PLAIN) == bound()


@pytest.fixture
def generated(tmp_path, monkeypatch):
    """Count the programs that are generated for a bound, in a cache of one's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calls = []

    def count(*given):
        calls.append(given)
        return program(*given)

    monkeypatch.setattr(step_bound_module, "program", count)
    return calls


def test_a_bound_is_computed_once_for_its_mechanism_options_and_costs(generated):
    first = step_bound("gas_pedal", costs=PLAIN)
    assert step_bound("gas_pedal", costs=PLAIN) == first
    assert len(generated) == 1
    slow = step_bound("gas_pedal", costs=replace(PLAIN, slot=2.0 * PLAIN.slot))
    assert slow.bound_ns > first.bound_ns
    assert step_bound("gas_pedal", KernelOptions(substeps=2), PLAIN).bound_ns > first.bound_ns
    assert len(generated) == 3


@pytest.mark.parametrize("text", ["", "[]", '{"bound_ns": 1.0}', None])
def test_a_kept_bound_that_is_not_whole_is_computed_again(generated, tmp_path, text):
    first = step_bound("gas_pedal", costs=PLAIN)
    (kept,) = (tmp_path / "rigloop" / "bounds").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    kept.write_text(
        kept.read_text().replace('"work_ns": ', '"work_ns": -') if text is None else text
    )
    assert step_bound("gas_pedal", costs=PLAIN) == first
    assert len(generated) == 2


def test_a_bound_that_others_can_write_is_computed_again(generated, tmp_path):
    first = step_bound("gas_pedal", costs=PLAIN)
    (kept,) = (tmp_path / "rigloop" / "bounds").iterdir()
    kept.chmod(0o666)
    assert step_bound("gas_pedal", costs=PLAIN) == first
    assert len(generated) == 2
