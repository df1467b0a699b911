"""A soak is good only where it was looked at."""

import pytest

from rigloop.soak.judge import watched


def test_a_soak_watched_to_its_end_is_good():
    row = watched(598.9, 600.0)
    assert row.good
    assert row.found == "599 of 600 s"


def test_a_short_soak_may_end_between_two_samples():
    assert watched(4.0, 5.0).good


def test_a_sampler_that_stopped_early_is_told():
    row = watched(172.0, 600.0)
    assert not row.good
    assert row.found == "172 of 600 s"


@pytest.mark.parametrize("end_s", [0.0, 600.0])
def test_what_ended_the_sampling_is_told(end_s):
    row = watched(end_s, 600.0, "no such table")
    assert not row.good
    assert row.found.endswith("no such table")
