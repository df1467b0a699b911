"""Cells for a block under test, a bus that is stepped, and a master on an emulated segment."""

import pytest
from block_cells import Cells

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.segment import Segment
from io_bridge.emulator.segment_link import SegmentLink
from io_bridge.master.bringup import Master

MS = 1_000_000


@pytest.fixture
def cells():
    return Cells


class Rig:
    """A simulated bus in OP with cells, stepped at 1 ms."""

    def __init__(self, cells, plants=None, drives=None, **options):
        self.bus = SimulatedBus(plants, drives, **options)
        self.block = self.bus.block()
        self.cells = cells(self.block)
        self.bus.to_op()
        self.cycle = 0

    def step(self, n=1):
        for _ in range(n):
            code = self.block.step(self.cycle * MS)
            self.cycle += 1
        return code

    def enable(self, name="drive"):
        self.cells[f"{name}/enable"] = 1
        self.step(6)
        assert self.cells[f"{name}/operational"] == 1


@pytest.fixture
def rig(cells):
    return lambda *args, **options: Rig(cells, *args, **options)


@pytest.fixture
def segment_master():
    def connect(*devices):
        return Master(SegmentLink(Segment(devices)).transact)

    return connect
