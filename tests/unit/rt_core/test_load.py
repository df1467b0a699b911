"""The busy block burns when it should, and only then."""

import numpy as np
import pytest

from rt_core.load import BusyBlock
from rt_core.offline import Offline
from rt_core.plan import Task, plan_table


def test_it_burns_in_the_chosen_steps():
    busy = BusyBlock("busy", 2_000_000, every=4, first=2)
    offline = Offline(plan_table([Task("t", [busy], 1000)]))
    image = offline.run("t", np.arange(11) * 1000)["t"]
    burned_ns = image[:, offline.paths("t").index("busy/burned_ns")]
    assert np.all(burned_ns[[2, 6, 10]] >= 2_000_000)
    # the others take two clock reads; half of the burn leaves room for a stolen moment
    assert np.median(np.delete(burned_ns, [2, 6, 10])) < 1_000_000


@pytest.mark.parametrize("bad", [{"burn_ns": -1}, {"every": 0}, {"first": -1}])
def test_bad_figures_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        BusyBlock("busy", **{"burn_ns": 1} | bad)
