"""Own work or a hole that nobody told of: what explains a surplus, and when it comes too often for a hole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rt_core.lateness.untold import explained_ns, is_recurrent, probability

MS = 1_000_000


@pytest.mark.parametrize(
    ("facts", "share"),
    [
        ({}, 0),
        # the witness stands where it always does
        ({"work": 10, "usual_work": 10.0, "usual_ns": 20_000.0}, 0),
        # a hundred times the work, in a hundred times the time
        ({"work": 1000, "usual_work": 10.0, "usual_ns": 20_000.0}, 1),
        # one iteration more is no reason for a hundred times the time
        ({"work": 11, "usual_work": 10.0, "usual_ns": 20_000.0}, 0.004),
        # work where there is none usually
        ({"work": 3, "usual_work": 0.0, "usual_ns": 100.0}, 1),
        ({"work": 0, "usual_work": 0.0, "usual_ns": 100.0}, 0),
        ({"minor_faults": 500}, 1),
        ({"minor_faults": 1}, 0.0125),
        ({"major_faults": 1}, 1),
        ({"denormal": True}, 1),
        # a block that meets denormal numbers every time is not late for them today
        ({"denormal": True, "usual_denormal": 0.5}, 0),
    ],
)
def test_what_explains_two_milliseconds(facts, share):
    assert explained_ns(ns=2 * MS, **facts) == pytest.approx(share * 2 * MS, abs=1)


@given(
    st.integers(0, 10**12),
    st.floats(0, 1e12),
    st.integers(-1, 2**62),
    st.floats(0, 1e15),
    st.integers(0, 2**40),
)
def test_no_more_is_explained_than_there_is(ns, usual_ns, work, usual_work, faults):
    found = explained_ns(
        ns=ns, usual_ns=usual_ns, work=work, usual_work=usual_work, minor_faults=faults
    )
    assert 0 <= found <= ns


@given(
    st.integers(0, 60), st.floats(0.001, 1e4), st.integers(0, 60), st.floats(0.001, 1e4),
    st.floats(0.1, 1e3),
)  # fmt: skip
def test_the_probability_is_that_of_a_rate_known_from_elsewhere(here, here_s, n, n_s, prior):
    # a Poisson number whose rate has the gamma distribution that n holes, and half a hole before, leave
    time = n_s + 0.5 / prior
    exact = stats.nbinom.sf(here - 1, n + 0.5, time / (time + here_s))
    assert probability(here, here_s, n, n_s, prior) == pytest.approx(exact, rel=1e-6, abs=1e-12)


def test_a_block_that_has_them_all_is_their_cause():
    none, four = [0] * 12, [0] * 6 + [4] + [0] * 5
    ns = 3 * MS
    # four of 2 to 4 ms within half a second of a block, in ten seconds of everything: none elsewhere
    assert is_recurrent(ns, four, 0.5, four, 10.0, 40.0)
    # the same four where all the time is spent
    assert not is_recurrent(ns, four, 9.5, four, 10.0, 40.0)
    # four there, and forty elsewhere in twenty times the time
    many = [0] * 6 + [44] + [0] * 5
    assert not is_recurrent(ns, four, 0.5, many, 10.0, 40.0)
    # small ones elsewhere are no reason for large ones here
    small = [400, *four[1:]]
    assert is_recurrent(ns, four, 0.5, small, 10.0, 40.0)
    assert not is_recurrent(ns, none, 0.5, none, 10.0, 40.0)


def test_a_first_hole_is_judged_by_what_such_a_host_is_known_for():
    one = [1] + [0] * 11
    assert not is_recurrent(40_000, one, 1.0, one, 1.0, 40.0)
    assert is_recurrent(40_000, one, 0.0001, one, 0.0001, 4e-4)


def test_wrong_figures_are_refused():
    with pytest.raises(ValueError, match="below 0"):
        probability(-1, 1.0, 1, 1.0, 1.0)
    with pytest.raises(ValueError, match="prior"):
        probability(1, 1.0, 1, 1.0, 0.0)
    with pytest.raises(ValueError, match="12 counts"):
        is_recurrent(1, [0], 1.0, [0], 1.0, 1.0)
