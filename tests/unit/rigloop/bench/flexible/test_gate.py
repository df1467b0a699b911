"""The gate before a virtual force sensor, on the modes of a body that bends."""

import numpy as np
import pytest

from rigloop.bench.flexible.gate import CASES, cases
from rigloop.bench.flexible.vehicle import vehicle

pytestmark = pytest.mark.slow


def test_the_nine_cases_of_the_gate():
    found = cases()
    assert len(found) == len(CASES) == 9
    assert [case for case in found if not case.held] == []
    refused = [case.refusal for case in found if not case.observable]
    assert all("wrench/front/force_y_n cannot be observed" in words for words in refused)
    assert (
        "5 sensors for 6 unknown inputs and 15 freedoms: add a sensor that responds to it"
        in refused[0]
    )


def test_the_body_is_near_the_published_one():
    body = vehicle(is_reference=False).build().system.flexible["body"].modes
    assert body.count == 12
    assert body.frequency_hz[:3] == pytest.approx([3.42, 4.66, 5.75], rel=0.03)
    assert body.total_mass == pytest.approx(1000.0, rel=0.02)
    middle = body.gram[1:3, 0] / body.total_mass
    inertia = np.trace(body.gram[1:3, 1:3]) - body.total_mass * middle @ middle
    assert inertia == pytest.approx(1261.0, rel=0.01)
