"""Responses over time: what is within its band passes, and what is not is named with its worst cycle."""

import numpy as np
import pytest

from rigloop.api.columns import Columns
from rigloop.testing.failure_plot import draw
from rigloop.testing.response import BandError, assert_follows, assert_settles, assert_within

T_S = np.arange(0.0, 1.0, 0.001)
ASKED = np.where(T_S > 0.3, 2.0, 0.0)
GIVEN = np.where(T_S > 0.305, 2.0, 0.0)
SEEN = Columns(T_S, {"asked/torque_nm": ASKED, "given/torque_nm": GIVEN})


def test_a_band_is_constant_or_an_array():
    assert_within(SEEN, "asked/torque_nm", -0.1, 2.1)
    assert_within(SEEN, "given/torque_nm", upper=ASKED + 0.01)
    words = r"^given/torque_nm: 5 of 1000 cycles outside .* first at 0\.301.*worst 0 Nm .*allowed 1\.5 to inf$"
    with pytest.raises(BandError, match=words):
        assert_within(SEEN, "given/torque_nm", ASKED - 0.5)
    assert_within(SEEN, "given/torque_nm", ASKED - 0.5, share=0.995)
    with pytest.raises(BandError, match=r"99\.6% have to be"):
        assert_within(SEEN, "given/torque_nm", ASKED - 0.5, share=0.996)


def test_a_delayed_response_follows_its_stimulus():
    pair = ("given/torque_nm", "asked/torque_nm")
    assert_follows(SEEN, *pair, within=0.1, delay_s=0.005)
    assert_follows(SEEN, *pair, within=0.1, delay_s=0.003, jitter_s=0.003)
    assert_follows(SEEN, *pair, within=0.1, jitter_s=0.006)
    for wrong in ({"delay_s": 0.01}, {"jitter_s": 0.003}, {}):
        with pytest.raises(BandError, match="cycles outside"):
            assert_follows(SEEN, *pair, within=0.1, **wrong)


def test_nothing_is_asked_where_the_stimulus_is_not_known():
    early = Columns(T_S, {"a": np.where(T_S < 0.1, 9.0, 1.0), "b": np.ones(1000)})
    assert_follows(early, "a", "b", within=0.1, delay_s=0.1)


def test_a_settled_response_stays():
    assert_settles(SEEN, "given/torque_nm", 2.0, within=0.1, since_s=0.3, by_s=0.01)
    with pytest.raises(BandError):
        assert_settles(SEEN, "given/torque_nm", 2.0, within=0.1, since_s=0.3, by_s=0.002)
    with pytest.raises(ValueError, match="capture for longer"):
        assert_settles(SEEN, "given/torque_nm", 2.0, within=0.1, by_s=2.0)


def test_what_is_not_a_number_is_outside():
    with pytest.raises(BandError, match="1 of 2"):
        assert_within(Columns(np.arange(2.0), {"x": np.array([1.0, np.nan])}), "x")


def test_an_empty_capture_or_a_wrong_share_is_no_success():
    with pytest.raises(ValueError, match="nothing was captured"):
        assert_within(Columns(np.empty(0), {"x": np.empty(0)}), "x", 0.0)
    with pytest.raises(ValueError, match="must be 0 to 1"):
        assert_within(SEEN, "given/torque_nm", share=99)


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (lambda a, b: assert_within(SEEN, a, 1.0, -1.0), "lower = 1 is above upper = -1"),
        (lambda a, b: assert_within(SEEN, a, np.nan), "lower = nan: give a number"),
        (lambda a, b: assert_within(SEEN, a, 0.0, [1.0, 2.0]), r"upper: .* \(2,\) for 1000 cycles"),
        (lambda a, b: assert_follows(SEEN, a, b, within=-1.0), "within = -1: must be 0 or more"),
        (lambda a, b: assert_follows(SEEN, a, b, within=1.0, jitter_s=-0.1), "jitter_s = -0.1"),
        (lambda a, b: assert_follows(SEEN, a, b, within=1.0, delay_s=9.0), "nothing of asked/torq"),
        (lambda a, b: assert_settles(SEEN, a, 2.0, within=np.nan, by_s=0.1), "within = nan"),
    ],
)
def test_a_band_that_asks_nothing_or_the_impossible_is_refused(check, words):
    with pytest.raises(ValueError, match=words):
        check("given/torque_nm", "asked/torque_nm")


def test_the_plot_of_a_failure_is_a_picture(tmp_path):
    with pytest.raises(BandError) as caught:
        assert_within(SEEN, "given/torque_nm", ASKED - 0.5, share=1.0)
    draw(caught.value, tmp_path / "failed.png")
    assert (tmp_path / "failed.png").read_bytes().startswith(b"\x89PNG")
