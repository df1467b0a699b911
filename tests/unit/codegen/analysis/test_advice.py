"""Advice on formulation, integrator and step: the search, the reference, and what is measured, with real kernels."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.analysis import advice
from codegen.analysis.advice import CANDIDATES, LADDER, ORDER, Bench, Measured, Task
from codegen.description.mechanism import load
from codegen.kernels.trial import Motion, Swing, Trial
from codegen.options.options import KernelOptions

REFERENCES = Path(__file__).parents[3] / "data" / "references"
STILL = {"guide/length/position_m": Swing(0.0, 1.0)}


class Law:
    """A bench whose candidates obey power laws with a limit of stability; what it was asked is counted."""

    def __init__(self, error, laws):
        self.task = Task(None, None, error, 0.01)
        self.laws, self.asked = laws, {}

    @property
    def measured(self):
        return tuple(self.asked.values())

    def __call__(self, candidate, parts):
        step_ns, at_longest, limit = self.laws[candidate]
        step_s = 0.01 / parts
        error = math.inf
        if step_s <= limit:
            error = at_longest * (step_s / 0.01) ** ORDER[candidate.integrator]
        found = Measured(candidate, parts, step_s, error, step_ns, 1e-3 * step_ns / step_s, "", "")
        self.asked[candidate, parts] = found
        return found

    def time_again(self, found):
        pass


laws = st.fixed_dictionaries(
    {
        c: st.tuples(
            st.floats(50.0, 5000.0),
            st.floats(-8.0, 4.0).map(lambda e: 10.0**e),
            st.floats(-5.0, 0.0).map(lambda e: 10.0**e),
        )
        for c in CANDIDATES
    }
)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    laws, st.floats(-8.0, -2.0).map(lambda e: 10.0**e), st.floats(1.0, 1e4), st.floats(0.1, 300.0)
)
def test_the_search_finds_nearly_the_cheapest_with_few_kernels(laws, wanted, pole, speed):
    bench = Law(wanted, laws)
    every = [Law(wanted, laws)(c, n) for c in CANDIDATES for n in LADDER]
    good = [m for m in every if m.error <= wanted]
    found = advice.search(bench, pole, speed)
    if not good:
        assert found is None
        return
    assert found is not None
    assert found.error <= wanted
    assert found.us_per_s <= 1.3 * min(m.us_per_s for m in good)
    assert len(bench.asked) < 0.6 * len(every)


@pytest.mark.slow
def test_a_pendulum_meets_the_error_beside_its_exact_motion():
    mechanism = load(REFERENCES / "pendulum.toml")
    task = Task(mechanism, Motion(STILL, 0.02, 50), 1e-5, 0.02)
    reference = advice.find_reference(task, advice.stiffness(mechanism))
    assert reference.known_to < 1e-6
    bench = Bench(task, reference)
    some = [c for c in CANDIDATES if str(c) in ("index1, rk4", "ali3p, generalized_alpha")]
    best = advice.search(bench, 1.0, advice.speed_of(reference, 0.02), some)
    assert best.error <= 1e-5
    rows = Trial(mechanism, task.options(best.candidate, best.parts)).run(task.motion).rows
    with (REFERENCES / "pendulum.csv").open() as file:
        exact = [row for row in csv.DictReader(file) if 0.0 < float(row["t"]) <= 1.0]
    names = advice.shown_signals(mechanism)[0]
    for row in exact:
        found = rows[round(float(row["t"]) / 0.02) - 1]
        assert found[names.index("P_x")] == pytest.approx(float(row["x"]), abs=1e-5)
        assert found[names.index("rod/force_n")] == pytest.approx(-float(row["tension"]), abs=3e-4)


@pytest.mark.slow
def test_a_trial_is_the_kernel(kernel):
    mechanism = load("guided_rod")
    motion = Motion({"guide/rod/position_rad": Swing(0.4, 1.5)}, 0.01, 20)
    tried = Trial(mechanism, KernelOptions(step_s=1e-3)).run(motion)
    own = kernel("guided_rod", step_s=1e-3).Kernel()
    own.reset(*motion.inputs(mechanism, np.zeros(1))[0][0])
    for row in motion.inputs(mechanism, 1e-3 * np.arange(1, 201))[0]:
        own.step(*row)
    assert tried.rows[-1].tolist() == [*own.q, *own.outputs.values()][: tried.rows.shape[1]]
    assert tried.call_ns > 0.0


@pytest.mark.slow
def test_a_run_that_stops_says_when_and_why():
    tried = Trial(load("double_four_bar"), KernelOptions(step_s=0.01, formulation="index1")).run(
        Motion({}, 0.01, 100)
    )
    assert tried.problem.startswith("stops after 0.")
    assert "constraint is still violated" in tried.problem
    assert len(tried.rows) < 100
    assert advice.gap(tried.rows, np.zeros((100, 1)), np.ones(1))[0] == math.inf


def test_signals_are_measured_by_their_size():
    rows = np.array([[1.0, 0.0, 10.0], [-4.0, 1e-9, math.nan]])
    assert advice.scales(rows, ["m", "m", "nm"]).tolist() == [4.0, 4e-3, 10.0]
    moved = np.array([[1.0, 0.0, 11.0], [-3.2, 1e-9, 7.0]])
    assert advice.gap(moved, rows, np.array([4.0, 1.0, 10.0])) == pytest.approx((0.2, 0))
    lost = np.array([[1.0, math.nan, 10.0], [-4.0, 0.0, 0.0]])
    assert advice.gap(lost, rows, np.ones(3)) == (math.inf, 1)
