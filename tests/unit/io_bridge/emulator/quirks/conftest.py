"""An emulated slave with quirks, and its registers and mailbox as frames reach them: no master's manners between."""

import struct

import pytest

from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.emulator.segment import Segment
from io_bridge.wire.frame import WireDatagram, build, parse

FPRD, FPWR, LWR, APWR = 4, 5, 11, 2
STATION = 0x1001
MS = 1_000_000
OUT, BACK, MAILBOX = 0x1000, 0x1100, 128
INIT, PREOP, SAFEOP, OP = 1, 2, 4, 8


class Wire:
    """One slave, station 0x1001, whose segment's time moves by what the test says."""

    def __init__(self, name):
        self.device = make_device(name)
        self.segment = Segment([self.device])
        self.counter = 0
        assert self.access(APWR, 0, 0x0010, struct.pack("<H", STATION))[1] == 1

    def access(self, command, address, register, data, after_ns=1000):
        frame = build([WireDatagram(command, 1, register << 16 | address & 0xFFFF, data)])
        (reply,) = parse(self.segment.process(frame, self.segment.now_ns + after_ns))
        return reply.data, reply.wkc

    def read(self, register, size, after_ns=1000):
        data, wkc = self.access(FPRD, STATION, register, bytes(size), after_ns)
        return data if wkc else None

    def write(self, register, data):
        return self.access(FPWR, STATION, register, data)[1]

    def wait(self, ms):
        self.segment.advance(self.segment.now_ns + int(ms * MS))

    def state(self):
        """AL status and code."""
        return struct.unpack("<HxxH", self.read(0x0130, 6))

    def ask(self, state):
        """Ask for an AL state with acknowledge; return status and code right after."""
        self.write(0x0120, struct.pack("<H", state | 0x10))
        return self.state()

    def mailboxes(self):
        for number, (start, control) in enumerate(((OUT, 0x26), (BACK, 0x22))):
            row = struct.pack("<HHBBBB", start, MAILBOX, control, 0, 1, 0)
            self.write(0x0800 + 8 * number, row)

    def preop(self):
        """Open the mailbox and go to PREOP."""
        self.mailboxes()
        return self.ask(PREOP)

    def process_data(self, n_outputs, n_inputs, watchdog_100us=None):
        """Sync managers, FMMU of the outputs at logical 0, and the watchdog."""
        for number, (start, size, control) in enumerate(
            ((0x1200, n_outputs, 0x64), (0x1800, n_inputs, 0x20)), 2
        ):
            row = struct.pack("<HHBBBB", start, size, control, 0, 1 if size else 0, 0)
            self.write(0x0800 + 8 * number, row)
        self.write(0x0600, struct.pack("<IHBBHBBBxxx", 0, n_outputs, 0, 7, 0x1200, 0, 2, 1))
        if watchdog_100us is not None:
            self.watchdog(watchdog_100us)

    def watchdog(self, steps_100us):
        self.write(0x0400, struct.pack("<H", 2498))
        self.write(0x0420, struct.pack("<H", steps_100us))

    def outputs(self, data):
        return self.access(LWR, 0, 0, data)[1]

    def operate(self):
        """Bring a drive to OP, by outputs of zero."""
        self.preop()
        self.process_data(5, 13)
        self.ask(SAFEOP)
        self.outputs(bytes(5))
        assert self.ask(OP) == (OP, 0)

    def control(self, word):
        """Give a drive its controlword, no torque, and the mode for torques."""
        self.outputs(struct.pack("<HhB", word, 0, 10))

    def send(self, body, service=2):
        """Put a CoE message into the mailbox; return the counter, 0 when it is refused."""
        self.counter = self.counter % 7 + 1
        payload = struct.pack("<H", service << 12) + body
        message = struct.pack("<HHBB", len(payload), 0, 0, self.counter << 4 | 3) + payload
        return self.counter if self.write(OUT, message.ljust(MAILBOX, b"\0")) else 0

    def fetch(self):
        """Take one message out of the mailbox; None when it is empty."""
        data = self.read(BACK, MAILBOX)
        return None if data is None else data[: 6 + int.from_bytes(data[:2], "little")]

    def upload(self, index, sub=0, command=0x40):
        assert self.send(struct.pack("<BHBI", command, index, sub, 0))

    def download(self, index, sub, value, size):
        assert self.send(struct.pack("<BHBI", 0x23 | 4 - size << 2, index, sub, value))

    def messages(self):
        found = []
        while (message := self.fetch()) is not None:
            found.append(message)
            assert len(found) < 20
        return found


def abort_code(message):
    """The code of an SDO abort; 0 when it is none."""
    return int.from_bytes(message[12:16], "little") if message[8] == 0x80 else 0


@pytest.fixture
def wire():
    return Wire
