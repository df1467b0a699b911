"""A slave whose mailbox says what a script wants, on real frames; everything else of it is plain registers."""

from __future__ import annotations

import struct

from io_bridge.wire.frame import WireDatagram, build, parse

FPRD, FPWR = 4, 5
STATION = 0x1001
OUT, BACK = 0x1000, 0x1400


def message(body, kind=3, counter=0, size=None):
    """Bytes of a mailbox message; `size` is what its header says."""
    return (
        struct.pack("<HHBB", len(body) if size is None else size, 0, 0, counter << 4 | kind) + body
    )


def sdo(body, service=3, **options):
    """A CoE message."""
    return message(struct.pack("<H", service << 12) + body, **options)


def emergency(code=0x8611, register=0x20, data=bytes(5), **options):
    return sdo(struct.pack("<HB5s", code, register, data), service=1, **options)


def uploaded(index, sub, data, **options):
    """An expedited answer of at most four bytes."""
    command = 0x43 | (4 - len(data)) << 2
    return sdo(struct.pack("<BHB", command, index, sub) + data.ljust(4, b"\0"), **options)


def downloaded(index, sub, **options):
    return sdo(struct.pack("<BHBI", 0x60, index, sub, 0), **options)


def refused(index, sub, code=0x06010002, **options):
    return sdo(struct.pack("<BHBI", 0x80, index, sub, code), service=2, **options)


class ScriptedSlave:
    """Frame in, frame out.

    Parameters
    ----------
    script : callable
        From the request (from its SDO command on) to a list: bytes are a message, an int is so many looks at an empty
        mailbox, None loses the frame of the next look.
    size : int
        Bytes of the mailbox.
    """

    def __init__(self, script, size=128):
        self.script = script
        self.size = size
        self.waiting = []
        self.requests = []
        self.aborts = []
        self.looks = 0

    @property
    def managers(self):
        return struct.pack(
            "<HHBBBBHHBBBB", OUT, self.size, 0x26, 0, 1, 0, BACK, self.size, 0x22, 0, 1, 0
        )

    def transact(self, frame):
        answers = []
        for asked in parse(frame):
            register = asked.address >> 16
            data, wkc = asked.data, 0
            if asked.command == FPWR and register == OUT:
                self._take(data)
                wkc = 1
            elif asked.command == FPRD and register == BACK:
                self.looks += 1
                found = self._look()
                if found is None:
                    return None
                data, wkc = (found.ljust(len(data), b"\0")[: len(data)], 1) if found else (data, 0)
            elif asked.command in (FPRD, FPWR):
                wkc = 1
            answers.append(WireDatagram(asked.command, asked.index, asked.address, data, wkc))
        return build(answers)

    def _take(self, data):
        size = int.from_bytes(data[:2], "little")
        body = data[8 : 6 + size]
        self.requests.append(data[: 6 + size])
        if body[:1] == b"\x80":
            self.aborts.append(int.from_bytes(body[4:8], "little"))
            return
        self.waiting += self.script(body)

    def _look(self):
        if not self.waiting:
            return b""
        if isinstance(self.waiting[0], int):
            self.waiting[0] -= 1
            if self.waiting[0] <= 0:
                self.waiting.pop(0)
            return b""
        return self.waiting.pop(0)
