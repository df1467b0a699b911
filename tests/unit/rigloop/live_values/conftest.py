"""A table of the rig with live values, as a run has it."""

import pytest

from rigloop.compose.blocks import make_blocks, plan_blocks
from rigloop.compose.kernels import build_kernels
from rigloop.compose.wiring import load
from rt_core.signals.table import SignalTable


@pytest.fixture(scope="session")
def bench_plan():
    """Keep the rig and its plan."""
    loaded = load("live_bench")
    return loaded.rig, plan_blocks(loaded.rig, make_blocks(loaded.rig, build_kernels(loaded)))


@pytest.fixture
def bench_table(bench_plan, tmp_path):
    """Give the rig and a table of it."""
    rig, plan = bench_plan
    with SignalTable.create(tmp_path / "table", plan) as table:
        yield rig, table
