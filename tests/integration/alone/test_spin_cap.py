"""A spin leaves the thread its sleep, whatever was asked for and however long the work takes."""

import numpy as np
import pytest

from rt_core.host.spin import MOST_SHARE
from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import RingReader, SignalTable

US = 1000
CYCLES = 300


def spins(path, period_us, spin_us, work_us, explains=True, cycles=CYCLES):
    task = Task("t", [BusyBlock("work", work_us * US)], period_us * US, spin_ns=spin_us * US)
    plan = plan_table([task])
    with SignalTable.create(path, plan) as table:
        reader = RingReader(table, "t")
        with Loop(plan, table, explains=explains) as loop:
            # cycles, not time: the host may take any part of a time
            while table.value("loop/t/cycle") < cycles:
                assert not loop.wait(0.005)
        rows = reader.drain()
        reader.close()
    return rows["loop/t/spin_ns"]


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "table")


@pytest.mark.parametrize("explains", [True, False])
def test_work_and_spin_stay_within_the_share_that_the_kernel_gives(path, explains):
    # 850 of 1000 µs for the work: nothing is left to spin
    found = spins(path, 1000, 200, 850, explains)
    assert found[0] == 200 * US  # nobody knows the work yet
    # until the first cycle that kept its period
    assert np.all(found[np.argmin(found) :] == 0)
    assert found[-1] == 0


def test_what_the_work_leaves_is_spun(path):
    found = spins(path, 1000, 800, 300)
    assert found[0] == 800 * US
    known = found[np.argmin(found == found[0]) :]
    assert np.all(known <= MOST_SHARE * 1000 * US - 300 * US)
    assert np.median(known) > 0


def test_a_spin_that_fits_is_left_as_it_is(path):
    assert np.all(spins(path, 10_000, 500, 100, cycles=30) == 500 * US)


def test_a_spin_at_its_limit_stays_within_the_share(path):
    assert np.all(spins(path, 200, 170, 0) <= MOST_SHARE * 200 * US)
