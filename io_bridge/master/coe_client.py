"""SDO client: objects of a slave read and written through its mailbox (ETG.1000.6, section 5.6.2).

An answer must carry service, command, index, subindex and, in segments, the toggle bit of its request; see `mailbox`
for what else may come. Sizes and times are bounded, whatever a slave announces, and a transfer that is given up is
aborted.
"""

from __future__ import annotations

import functools
import struct

from io_bridge.master.mailbox import Mailbox, MailboxError, Message, Wait
from io_bridge.slaves.errors import BringUpError, SdoAbortError

MOST_OBJECT = 1 << 16
"""Bytes of an object that are read or written at most."""
TRANSFER_S = 10.0
"""For all segments of one object, or as long as `ANSWERS_LONG` answers may take where that is more."""
ANSWERS_LONG = 5

REQUEST, RESPONSE = 2, 3
UPLOADED, DOWNLOADED, UPLOADED_SEGMENT, DOWNLOADED_SEGMENT, ABORTED = 2, 3, 0, 1, 4
"""Command specifiers of a server, bits 5 to 7."""
EXPEDITED, SIZE_SAID = 0x02, 0x01
OUT_OF_MEMORY, TIMED_OUT, WRONG_SIZE = 0x05040005, 0x05040000, 0x06070010


class CoeClient:
    """Reads and writes objects of one slave.

    Parameters
    ----------
    mailbox : Mailbox
    """

    def __init__(self, mailbox: Mailbox) -> None:
        self.mailbox = mailbox

    def upload(self, index: int, sub: int) -> bytes:
        """Read an object.

        Raises
        ------
        SdoAbortError
            The slave refuses.
        MailboxError
            No answer within the limit, or an object that is larger than `MOST_OBJECT` or never ends.
        ValueError
            No such index or subindex can be.
        """
        _check_object(index, sub)
        body = self._ask(struct.pack("<BHBI", 0x40, index, sub, 0), UPLOADED, index, sub, 10)
        command = body[2]
        if command & EXPEDITED:
            return body[6 : 10 - (command >> 2 & 3) if command & SIZE_SAID else 10]
        size = int.from_bytes(body[6:10], "little") if command & SIZE_SAID else None
        most = MOST_OBJECT if size is None else size
        if most > MOST_OBJECT:
            self._give_up(
                index,
                sub,
                OUT_OF_MEMORY,
                f"it announces {size} bytes; {MOST_OBJECT} are taken at most",
            )
        data = bytearray(body[10:])
        if size is not None and len(data) >= size:
            return bytes(data[:size])
        self._segments(index, sub, data, most)
        return bytes(data)

    def _segments(self, index: int, sub: int, data: bytearray, most: int) -> None:
        """Fetch segments until the last one."""
        wait = self._transfer()
        toggle = 0
        while True:
            body = self._segment(struct.pack("<B7x", 0x60 | toggle), toggle, index, sub)
            part = body[3:]
            # the count of unused bytes is only meant of a segment that has the least size
            if len(part) == 7:
                part = part[: 7 - (body[2] >> 1 & 7)]
            data += part
            if len(data) > most:
                self._give_up(index, sub, OUT_OF_MEMORY, f"it sends more than {most} bytes")
            if body[2] & 1:
                return
            if not part:
                self._give_up(index, sub, WRONG_SIZE, "it sends a segment with nothing in it")
            toggle ^= 0x10
            self._go_on(wait, index, sub)

    def download(self, index: int, sub: int, data: bytes) -> None:
        """Write an object; returns only when the slave has confirmed this write.

        Raises
        ------
        SdoAbortError
            The slave refuses.
        MailboxError
            No answer within the limit.
        ValueError
            Nothing, or more than `MOST_OBJECT`, to write.
        """
        _check_object(index, sub)
        if not 0 < len(data) <= MOST_OBJECT:
            raise ValueError(f"{len(data)} bytes to write: 1 to {MOST_OBJECT}")
        if len(data) <= 4:
            command = 0x23 | (4 - len(data)) << 2
            request = struct.pack("<BHB", command, index, sub) + data.ljust(4, b"\0")
            self._ask(request, DOWNLOADED, index, sub, 6)
            return
        here = min(len(data), self.mailbox.room - 12)
        head = struct.pack("<BHBI", 0x21, index, sub, len(data))
        self._ask(head + data[:here], DOWNLOADED, index, sub, 6)
        wait = self._transfer()
        toggle = 0
        while here < len(data):
            part = data[here : here + self.mailbox.room - 3]
            here += len(part)
            command = toggle | max(0, 7 - len(part)) << 1 | (here == len(data))
            self._segment(
                bytes([command]) + part.ljust(7, b"\0"), toggle, index, sub, DOWNLOADED_SEGMENT
            )
            toggle ^= 0x10
            if here < len(data):
                self._go_on(wait, index, sub)

    def _ask(self, request: bytes, command: int, index: int, sub: int, least: int) -> bytes:
        """Exchange the first messages of a transfer; return the answer from its CoE header on."""
        matches = functools.partial(_is_answer, command, index, sub, least)
        answer = self.mailbox.ask(struct.pack("<H", REQUEST << 12) + request, matches).body
        self._check_abort(answer, index, sub)
        return answer

    def _segment(
        self, request: bytes, toggle: int, index: int, sub: int, command: int = UPLOADED_SEGMENT
    ) -> bytes:
        matches = functools.partial(_is_segment, command, toggle, index, sub)
        try:
            answer = self.mailbox.ask(struct.pack("<H", REQUEST << 12) + request, matches).body
        except MailboxError:
            self._abort(index, sub, TIMED_OUT)
            raise
        self._check_abort(answer, index, sub)
        return answer

    def _check_abort(self, answer: bytes, index: int, sub: int) -> None:
        if answer[2] >> 5 == ABORTED:
            raise SdoAbortError(
                self.mailbox.called, index, sub, int.from_bytes(answer[6:10], "little")
            )

    def _transfer(self) -> Wait:
        """Return the time that all segments of an object may take: more where one answer may take long."""
        return self.mailbox.wait(max(TRANSFER_S, ANSWERS_LONG * self.mailbox.answer_s))

    def _go_on(self, wait: Wait, index: int, sub: int) -> None:
        if not wait.left:
            limit_s = max(TRANSFER_S, ANSWERS_LONG * self.mailbox.answer_s)
            self._give_up(index, sub, TIMED_OUT, f"its segments do not end within {limit_s:g} s")

    def _give_up(self, index: int, sub: int, code: int, why: str) -> None:
        self._abort(index, sub, code)
        raise MailboxError(f"{self.mailbox.called}: SDO {index:#06x}:{sub} given up: {why}")

    def _abort(self, index: int, sub: int, code: int) -> None:
        """Say that the transfer is over; a slave that does not even take this is left alone."""
        body = struct.pack("<HBHBI", REQUEST << 12, 0x80, index, sub, code)
        try:
            self.mailbox.drain()
            self.mailbox.send(body)
        except BringUpError:
            return


def _check_object(index: int, sub: int) -> None:
    if not (0 <= index <= 0xFFFF and 0 <= sub <= 0xFF):
        raise ValueError(
            f"object {index:#x}:{sub}: an index has up to 0xffff, a subindex up to 255"
        )


def _is_abort(message: Message, index: int, sub: int) -> bool:
    if message.service not in (REQUEST, RESPONSE) or len(message.body) < 10:
        return False
    return message.body[2] >> 5 == ABORTED and message.body[3:6] == struct.pack("<HB", index, sub)


def _is_answer(command: int, index: int, sub: int, least: int, message: Message) -> bool:
    """Return whether a message answers the start of a transfer, or refuses it."""
    if _is_abort(message, index, sub):
        return True
    return _responds(message, command, least) and message.body[3:6] == struct.pack(
        "<HB", index, sub
    )


def _is_segment(command: int, toggle: int, index: int, sub: int, message: Message) -> bool:
    """Return whether a message answers a segment with this toggle bit, or ends the transfer."""
    if _is_abort(message, index, sub):
        return True
    return _responds(message, command, 3) and message.body[2] & 0x10 == toggle


def _responds(message: Message, command: int, least: int) -> bool:
    body = message.body
    return message.service == RESPONSE and len(body) >= least and body[2] >> 5 == command
