"""Inertias seen from other axes."""

import pytest

from codegen.spatial.algebra import Turn


@pytest.mark.parametrize(("cosine", "sine"), [(0.0, 1.0), (0.0, -1.0), (-1.0, 0.0)])
def test_quarter_and_half_turns_exchange_moments_without_any_arithmetic(cosine, sine):
    # 1e3 + 1e-3 - 1e3 would not be 1e-3 any more
    small, large, about = 1e-3, 1e3, 2.0
    made = Turn(2, cosine, sine).symmetric(
        [[small, 0.5, 0.0], [0.5, large, 0.0], [0.0, 0.0, about]]
    )
    there = (large, small, about) if cosine == 0.0 else (small, large, about)
    assert tuple(made[i][i] for i in range(3)) == there
    assert made[0][1] == made[1][0] == (-0.5 if cosine == 0.0 else 0.5)
