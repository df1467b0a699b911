"""Cells for a block under test, and a master on an emulated segment."""

import ctypes

import pytest

from io_bridge.bringup import Master
from io_bridge.segment import Segment
from io_bridge.segment_link import SegmentLink


class Cells:
    """A signal table for one block: read an output, write an input, by port."""

    def __init__(self, block):
        self.reads = {port: ctypes.c_double() for port in block.reads}
        self.writes = {port: ctypes.c_double() for port in block.writes}
        block.bind(
            *([ctypes.addressof(c) for c in group.values()] for group in (self.reads, self.writes))
        )

    def __getitem__(self, port):
        return self.writes[port].value

    def __setitem__(self, port, value):
        self.reads[port].value = value


@pytest.fixture
def cells():
    return Cells


@pytest.fixture
def segment_master():
    def connect(*devices):
        return Master(SegmentLink(Segment(devices)).transact)

    return connect
