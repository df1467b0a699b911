"""Response times against an independent simulation of the scheduler, and against cases that can be done by hand."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_cores import run

from rt_core.timing.response import Load, duties, fits, responses


def response(loads: list[Load], name: str, cores: int = 2) -> int | None:
    return responses(loads, cores)[name].response_ns


def test_a_task_alone_takes_its_own_time():
    assert response([Load("one", 1000, 400, core=0)], "one") == 400


def test_a_core_that_is_full_to_the_last_moment_is_too_full():
    loads = [
        Load("a", 80, 40, 1, core=0),
        Load("b", 40, 10, 2, core=0),
        Load("c", 20, 5, 3, core=0),
    ]
    # 40 + 2 * 10 + 4 * 5 = 80: the fixed point is the period itself
    assert [r.response_ns for r in responses(loads, 2).values()] == [None, 15, 5]
    loads[0] = Load("a", 80, 39, 1, core=0)
    assert response(loads, "a") == 79


def test_a_lower_task_waits_for_a_higher_one_and_for_its_next_spin():
    high = Load("high", 1000, 200, 90, core=0, spin_ns=300)
    assert response([high, Load("low", 2000, 400, 80, core=0)], "low") == 600
    # the next spin begins at 700
    assert response([high, Load("low", 2000, 600, 80, core=0)], "low") == 600 + 200 + 500


def test_a_task_of_another_core_takes_nothing():
    loads = [Load("high", 1000, 900, 90, core=0), Load("low", 1000, 900, 80, core=1)]
    assert fits(loads, 2)


def test_a_task_without_a_core_counts_where_cores_are_scarce():
    loads = [Load("high", 1000, 600, 90), Load("low", 1000, 600, 80, core=1)]
    assert fits(loads, 2)
    assert not fits(loads, 1)


def test_a_cycle_that_ends_on_its_next_deadline_is_too_late():
    assert response([Load("one", 1000, 1000, core=0)], "one") is None
    assert run([Load("one", 1000, 1000, core=0)], 10_000)["one"].late > 0


def test_the_share_of_a_core_counts_the_spin_that_the_work_leaves():
    load = Load("one", 1000, 400, core=3, spin_ns=800, usual_ns=300)
    assert duties([load]) == {3: pytest.approx(0.3 + 0.55)}


@st.composite
def task_sets(draw):
    base = draw(st.integers(50, 400))
    loads = []
    for number in range(draw(st.integers(1, 4))):
        period = base * draw(st.sampled_from((1, 2, 3, 4, 5, 6)))
        cost = draw(st.integers(1, period // 2))
        spin = draw(st.integers(0, period // 3))
        priority = draw(st.integers(1, 3))
        loads.append(
            Load(f"t{number}", period, cost, priority, core=0, spin_ns=spin, usual_ns=cost)
        )
    return loads


@settings(max_examples=150, deadline=None)
@given(task_sets(), st.data())
def test_no_cycle_of_a_task_with_a_response_is_later_than_it(loads, data):
    found = responses(loads, 1)
    until = 2 * math.lcm(*(load.period_ns for load in loads))
    seed = data.draw(st.randoms(use_true_random=False))
    # a cycle that is shorter than its longest time must not make another one later
    part = data.draw(st.sampled_from((0.0, 0.5, 1.0)))

    def cost(load: Load) -> int:
        return seed.randint(max(1, int(part * load.cost_ns)), load.cost_ns)

    if any(r.response_ns is None for r in found.values()):
        return
    for name, thread in run(loads, until, cost).items():
        assert thread.late == 0
        assert thread.longest_ns <= found[name].response_ns
