"""The places in a table file: none overlaps another, and the C side agrees on the constants."""

import re
from itertools import pairwise
from pathlib import Path

from rt_core.injection.load import BusyBlock
from rt_core.lateness.histogram import HISTOGRAM_WORDS
from rt_core.lateness.trace import TRACE_SIZE
from rt_core.plan import LOOP_SIGNALS, Task, plan_table
from rt_core.signals import layout
from rt_core.task import MOST_POINTS

SOURCE = Path(__file__).parents[4] / "rt_core"


def test_areas_do_not_overlap_and_lie_in_the_file():
    plan = plan_table(
        [
            Task("a", [BusyBlock("x", 0), BusyBlock("y", 0)], 1_000_000, ring_slots=64),
            Task("b", [BusyBlock("z", 0)], 5_000_000, ring_slots=2),
        ],
        ["supervisor/arm"],
    )
    placed = layout.lay_out(plan.producers)
    spans = []
    for area in placed.areas.values():
        spans.append((area.latest, layout.LINE_WORDS + 2 * area.stride))
        slots = area.producer.ring_slots
        if slots:
            spans.append((area.ring, layout.RING_HEAD_WORDS + slots * (1 + area.cells)))
            spans.append((area.trace, TRACE_SIZE))
        spans += [(word, HISTOGRAM_WORDS) for word in area.histograms.values()]
    spans.sort()
    assert spans[0][0] * 8 >= layout.HEADER.size + len(placed.description)
    for (begin, words), (following, _) in pairwise(spans):
        assert begin % layout.LINE_WORDS == 0
        assert begin + words <= following
    assert sum(spans[-1]) * 8 <= placed.total_bytes


def test_the_c_side_has_the_same_constants():
    shared = (SOURCE / "shared.pxd").read_text()
    for name in ("LINE_WORDS", "RING_HEAD_WORDS"):
        assert int(re.search(rf"{name} = (\d+)", shared)[1]) == getattr(layout, name)
    policy = (SOURCE / "lateness" / "policy.pxd").read_text()
    assert int(re.search(r"MOST_POINTS = (\d+)", policy)[1]) == MOST_POINTS
    cells = re.findall(
        r"^    ([A-Z_]+) = (\d+)$", (SOURCE / "loop" / "cycle.pxd").read_text(), re.M
    )
    assert [(name.lower(), int(i)) for name, i in cells] == [
        (name, i) for i, name in enumerate(LOOP_SIGNALS)
    ]
