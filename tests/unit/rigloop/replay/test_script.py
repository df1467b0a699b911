"""A long replay is cut into pieces; no cut falls where a slow cycle is under way."""

import numpy as np
import pytest

from rigloop.replay.script import Script, pieces


def a_script(n, after, visible):
    return Script(
        "fast",
        "slow",
        t_ns=np.arange(n) * 200_000,
        slow_t_ns=np.arange(len(after)) * 1_000_000,
        after=np.asarray(after),
        visible=np.asarray(visible),
        forced={},
    )


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("size", [50, 97, 1000])
def test_pieces_are_all_cycles_in_order_and_cut_no_slow_one(seed, size):
    rng = np.random.default_rng(seed)
    m = 150
    # every slow cycle starts at or after the one before has shown
    lengths, pauses = rng.integers(0, 8, m), rng.integers(1, 6, m)
    after = np.cumsum(pauses) + np.r_[0, np.cumsum(lengths)[:-1]]
    visible = after + lengths
    n = int(visible[-1]) + 3
    script = a_script(n, after, visible)
    end = slow_end = 0
    for a, b, i, j in pieces(script, size):
        assert (a, i) == (end, slow_end)
        assert a < b <= a + size
        assert np.all(after[i:j] >= a)
        assert np.all(after[i:j] <= b)
        # what starts here shows here
        assert np.all(visible[i:j] <= b)
        end, slow_end = b, j
    assert (end, slow_end) == (n, m)


def test_without_slow_cycles_only_the_size_cuts():
    script = a_script(250, np.empty(0, np.int64), np.empty(0, np.int64))
    assert [(a, b) for a, b, _, _ in pieces(script, 100)] == [(0, 100), (100, 200), (200, 250)]
