"""The exact step of a linear motion, against closed forms."""

import math

import numpy as np
import pytest

from estimators.numerics.van_loan import discretised

H = 1e-3


def test_a_mass_pushed_by_a_walking_force():
    a = [[0.0, 1.0, 0.0], [0.0, 0.0, 4.0], [0.0, 0.0, 0.0]]  # 1/m = 4
    f, flow, q = discretised(a, [0.0, 0.3, 7.0], H)
    assert f == pytest.approx(np.array([[1, H, 2 * H**2], [0, 1, 4 * H], [0, 0, 1]]), rel=1e-14)
    walk = 7.0 * np.array(
        [
            [16 * H**5 / 20, 16 * H**4 / 8, 4 * H**3 / 6],
            [16 * H**4 / 8, 16 * H**3 / 3, 4 * H**2 / 2],
            [4 * H**3 / 6, 4 * H**2 / 2, H],
        ]
    )
    push = 0.3 * np.array([[H**3 / 3, H**2 / 2, 0], [H**2 / 2, H, 0], [0, 0, 0]])
    assert q == pytest.approx(walk + push, rel=1e-13)
    # a constant rate b moves x by the integral of the transition
    assert flow @ [0.0, 0.0, 1.0] == pytest.approx([4 * H**3 / 6, 4 * H**2 / 2, H], rel=1e-14)


@pytest.mark.parametrize("hz", [0.5, 40.0, 579.0, 20000.0])
def test_a_mode_however_fast(hz):
    w, noise = 2 * math.pi * hz, 0.2
    f, flow, q = discretised([[0.0, 1.0], [-w * w, 0.0]], [0.0, noise], H)
    c, s, twice = math.cos(w * H), math.sin(w * H), math.sin(2 * w * H)
    # the phase w h has a rounding of its own, and each doubling adds one
    size = np.array([[1.0, 1.0 / w], [w, 1.0]])
    assert np.max(np.abs(f - [[c, s / w], [-w * s, c]]) / size) < 1e-12
    assert np.max(np.abs(flow - [[s / w, (1 - c) / w**2], [c - 1, s / w]]) / (H * size)) < 1e-12
    right = noise * np.array(
        [
            [(H - twice / (2 * w)) / (2 * w * w), s * s / (2 * w * w)],
            [s * s / (2 * w * w), (H + twice / (2 * w)) / 2],
        ]
    )
    scale = noise * H * np.array([[1 / w**2, 1 / w], [1 / w, 1.0]])
    assert np.max(np.abs(q - right) / scale) < 1e-11
    assert np.array_equal(q, q.T)


def test_units_of_the_state_do_not_matter():
    a = np.array([[0.0, 1.0, 0.0], [-4e4, -2.0, 1e3], [0.0, 0.0, 0.0]])
    unit = np.array([1e6, 1.0, 1e-5])  # micrometres, and a force in units of 100 kN
    other = unit[:, None] * a / unit
    f, flow, q = discretised(a, [0.0, 1.0, 2.0], H)
    g, gone, r = discretised(other, np.array([0.0, 1.0, 2.0]) * unit**2, H)
    assert g == pytest.approx(unit[:, None] * f / unit, rel=1e-12)
    assert gone == pytest.approx(unit[:, None] * flow / unit, rel=1e-12)
    assert r == pytest.approx(unit[:, None] * q * unit, rel=1e-12)


def test_shapes_are_asked_for():
    with pytest.raises(ValueError, match="square"):
        discretised([[1.0, 2.0]], [1.0], H)
    with pytest.raises(ValueError, match="density"):
        discretised([[1.0]], [1.0, 2.0], H)
