"""Whatever comes out of a mailbox: the SDO client ends within its limits, with an object or its own error."""

import struct

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from io_bridge.master.coe_client import MOST_OBJECT, CoeClient
from io_bridge.master.emergency import EmergencyLog
from io_bridge.master.mailbox import FPRD, FPWR, Areas, Mailbox, Postage
from io_bridge.slaves.errors import BringUpError, NoReplyError

OUT, BACK, SIZE = 0x1000, 0x1400, 32
INDEX, SUB = 0x6072, 0
POLLS = 60

mutated = st.tuples(st.integers(0, 20), st.integers(0, 255))
"""A byte of a message, and what becomes of it."""
commands = st.integers(0, 255)


@st.composite
def messages(draw):
    """Noise, or nearly what the client waits for."""
    if draw(st.booleans()):
        return draw(st.binary(max_size=SIZE))
    body = struct.pack(
        "<HBHB", draw(st.sampled_from([0x1000, 0x2000, 0x3000])), draw(commands), INDEX, SUB
    )
    body += draw(st.binary(max_size=24))
    size = draw(st.one_of(st.just(len(body)), st.integers(0, 0xFFFF)))
    message = bytearray(struct.pack("<HHBB", size, 0, 0, draw(st.integers(0, 7)) << 4 | 3) + body)
    for at, value in draw(st.lists(mutated, max_size=2)):
        if at < len(message):
            message[at] = value
    return bytes(message)


looks = st.lists(st.one_of(messages(), st.just(b""), st.none()), max_size=40)
"""What each look brings: a message, nothing, or a lost frame."""


class Wire:
    """Datagrams to one slave; once all looks are over the last of them comes for ever."""

    def __init__(self, brought, full):
        self.brought = list(brought)
        self.full = full
        self.n = 0

    def access(self, command, station, register, data):
        self.n += 1
        if command == FPWR:
            return data, int(self.n % self.full != 0)
        if command == FPRD and register == BACK:
            found = self.brought[min(self.n, len(self.brought) - 1)] if self.brought else b""
            if found is None:
                raise NoReplyError("no reply")
            return found[: len(data)], int(bool(found))
        return data, 1


def client_of(wire, taken_over):
    mailbox = Mailbox(
        Postage(wire.access, EmergencyLog(), polls=POLLS),
        0x1001,
        Areas(OUT, SIZE, BACK, SIZE),
        taken_over=taken_over,
    )
    return CoeClient(mailbox)


segment = struct.pack("<HHBBHB", 10, 0, 0, 3, 0x3000, 0) + b"1234567"
started = struct.pack("<HHBBHBHBI", 10, 0, 0, 3, 0x3000, 0x41, INDEX, SUB, 1 << 31)


@settings(deadline=None)
@given(looks, st.integers(2, 9), st.booleans())
@example([started, segment], 2, False)
@example([segment], 9, True)
@pytest.mark.slow
def test_an_upload_ends_with_an_object_or_its_own_error(brought, full, taken_over):
    wire = Wire(brought, full)
    try:
        data = client_of(wire, taken_over).upload(INDEX, SUB)
    except BringUpError:
        pass
    else:
        assert len(data) <= MOST_OBJECT
    # every segment brings a byte, and costs no more looks than the time of an answer has
    assert wire.n < POLLS * (POLLS + 4) * 4


@pytest.mark.slow
@settings(deadline=None)
@given(looks, st.integers(2, 9), st.binary(min_size=1, max_size=90))
def test_a_write_is_confirmed_by_an_answer_that_names_the_object_or_fails(brought, full, data):
    wire = Wire(brought, full)
    try:
        client_of(wire, False).download(INDEX, SUB, data)
    except BringUpError:
        return
    confirmed = struct.pack("<HB", INDEX, SUB)
    assert any(
        found
        and len(found) >= 12
        and found[7] >> 4 == 3
        and found[8] >> 5 == 3
        and found[9:12] == confirmed
        for found in brought
    )
