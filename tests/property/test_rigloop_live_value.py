"""Limits and rate of a live value hold for whatever is written, whatever is added, whenever cycles come."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rigloop.blocks.compiled.kind import library
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table

KIND = library(("live_value",))["live_value"]
PATHS = {"wanted": "in/w", "changes": "in/c", "added": "in/a"}
anything = st.floats(allow_nan=True, allow_infinity=True)
near = st.floats(-20.0, 20.0).map(lambda number: round(number, 6))
rows = st.lists(
    st.tuples(anything | near, anything | st.integers(0, 5), anything | near, st.integers(1, 9)),
    min_size=1,
    max_size=30,
)


@settings(max_examples=80, deadline=None)
@given(
    near,
    st.floats(1e-3, 20.0).map(lambda number: round(number, 6)),
    st.floats(0.0, 1.0),
    st.floats(1e-6, 1e6),
    rows,
)
def test_limits_and_rate_hold_for_whatever_is_written(lower, span, share, rate, given_rows):
    upper = lower + span
    start = min(max(round(lower + share * span, 6), lower), upper)
    table = {"unit": "1", "lower": lower, "upper": upper, "rate": rate, "start": start}
    block = KIND.make("b", table, PATHS, period_s=1e-3)
    offline = Offline(plan_table([Task("t", [block], 1_000_000, inputs=tuple(PATHS.values()))]))
    wanted, changes, added, steps = (
        np.array(column, float) for column in zip(*given_rows, strict=True)
    )
    cycles = np.cumsum(steps.astype(int)) - int(steps[0])
    forced = {"in/w": wanted, "in/c": changes, "in/a": added}
    images = offline.run("t", cycles * 1_000_000, forced=forced)["t"]
    value = images[:, offline.paths("t").index("b/value")]
    assert np.all((value >= lower) & (value <= upper))
    elapsed = np.diff(cycles, prepend=cycles[0] - 1)
    moved = np.abs(np.diff(value, prepend=start))
    # a sum is rounded to half a unit in the last place of what is added up
    assert np.all(moved <= rate * 1e-3 * elapsed * (1 + 1e-12) + np.spacing(np.abs(value) + moved))
    good = np.isfinite(wanted) & (wanted >= lower) & (wanted <= upper)
    written = changes >= 1.0
    refused = images[:, offline.paths("t").index("b/refused")]
    assert refused[-1] == np.sum((written & ~good) | ~np.isfinite(added))
