"""A coupler with one terminal behind it, brought to OP by EEPROM and registers alone."""

import struct

import pytest
from al_states import await_now

from io_bridge.emulator.catalogue.device_file import find_device, load_device
from io_bridge.emulator.segment import Segment
from io_bridge.master.bringup import Master

OUTPUTS_AT, INPUTS_AT = 0x10000, 0x10100


class Rack:
    """The terminal in OP; `exchange` writes its outputs and returns its inputs."""

    def __init__(self, name, *others):
        self.terminal = load_device(find_device(name))
        self.others = [load_device(find_device(other)) for other in others]
        self.segment = Segment(
            [load_device(find_device("ek_coupler")), self.terminal, *self.others]
        )
        self.master = Master(self.transact)
        self.station = self.master.address(0), self.master.address(1)
        sizes = {}
        managers = self.terminal.description.managers
        for number, manager in enumerate(managers):
            size = manager.size or self._mapped(manager.use)
            sizes[manager.use] = size
            row = struct.pack("<HHBBBB", manager.start, size, manager.control, 0, 1, 0)
            self.master.write(self.station[1], 0x0800 + 8 * number, row)
            if manager.use in (3, 4):
                logical = OUTPUTS_AT if manager.use == 3 else INPUTS_AT
                kind = 2 if manager.use == 3 else 1
                row = struct.pack("<IHBBHBBBxxx", logical, size, 0, 7, manager.start, 0, kind, 1)
                self.master.write(self.station[1], 0x0600 + 16 * (manager.use - 3), row)
        self.n_outputs, self.n_inputs = sizes.get(3, 0), sizes.get(4, 0)
        for state in (2, 4):
            self.to(state)
        self.exchange(bytes(self.n_outputs))
        self.to(8)

    def _mapped(self, use):
        pdos = self.terminal.description.rx_pdos if use == 3 else self.terminal.description.tx_pdos
        return (sum(bits for pdo in pdos for *_, bits in pdo.entries) + 7) // 8

    def transact(self, frame, step_ns=1_000_000):
        return self.segment.process(frame, self.segment.now_ns + step_ns)

    def to(self, state):
        for station in self.station:
            self.master.request(station, state)
        for station in self.station:
            await_now(self.master, station, state)

    def exchange(self, outputs):
        _, wkc = self.master.access(11, OUTPUTS_AT & 0xFFFF, OUTPUTS_AT >> 16, outputs)
        assert wkc == 1
        # what the outputs did is seen by the next frame
        data, wkc = self.master.access(
            10, INPUTS_AT & 0xFFFF, INPUTS_AT >> 16, bytes(self.n_inputs)
        )
        assert wkc == 1
        return data


@pytest.fixture
def rack():
    return Rack
