"""Bits of a count that are stuck, and those that a coarse encoder has no use for."""

import numpy as np
import pytest

from rigloop.commission.bits import SeenBits, stuck_bits

TURN = np.linspace(0.0, 1 << 20, 6000) - 300_000  # below zero the counter has all bits set


def seen(counts, valid=None):
    bits = SeenBits()
    bits.see(np.floor(counts), np.ones(len(counts)) if valid is None else valid)
    return bits.take()


def with_ones(counts, mask):
    return (np.floor(counts).astype(np.int64) & 0xFFFFFFFF | mask).astype(float)


def test_a_turn_changes_every_bit_of_a_turn():
    assert stuck_bits(seen(TURN), 1 << 20) == []


@pytest.mark.parametrize("bit", [1, 7, 13, 18])
def test_a_bit_that_is_stuck_is_named(bit):
    assert stuck_bits(seen(with_ones(TURN, 1 << bit)), 1 << 20) == [bit]


def test_a_count_that_is_finer_than_its_encoder_is_good():
    assert stuck_bits(seen(np.floor(TURN / 64) * 64), 1 << 20) == []
    assert stuck_bits(seen(np.floor(TURN / 1000) * 1000), 1 << 20) == []


def test_a_short_way_says_nothing_of_high_bits():
    short = np.arange(0.0, 700.0)
    assert stuck_bits(seen(with_ones(short, 1 << 12)), 700) == []
    assert stuck_bits(seen(with_ones(short, 1 << 8)), 700) == [8]
    assert stuck_bits(seen(np.zeros(100)), 700) == []


def test_cycles_without_a_frame_or_a_number_are_not_looked_at():
    counts = np.array([4.0, 5.0, 0.0, np.nan, 1e300])
    assert seen(counts, np.array([1.0, 1.0, 0.0, 1.0, 1.0])) == 1
    bits = SeenBits()
    bits.see(np.zeros(0), np.zeros(0))
    assert bits.take() == 0
