"""Packed messages by their definition: numbers, nested messages, texts, lists, both orders of bytes, damage."""

import struct

import numpy as np
import pytest

from io_bridge.logs.formats.cdr import decoded_columns, leaves_of
from io_bridge.logs.formats.table import LogError

JOINT = """std_msgs/Header header
uint8 FLAG=3
string[] name  # of each joint
float64[] position
float32[2] pair
bool good
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
"""


def joint(k, order="<"):
    flag = b"\x00\x01\x00\x00" if order == "<" else b"\x00\x00\x00\x00"
    body = b""

    def put(code, *values):
        nonlocal body
        for value in values:
            size = struct.calcsize(code)
            body += bytes(-len(body) % size) + struct.pack(order + code, value)

    def text(word):
        nonlocal body
        put("I", len(word) + 1)
        body += word.encode() + b"\0"

    put("i", 100 + k)
    put("I", 5)
    text("base" + "x" * (k % 3))
    put("I", 2)
    text("left")
    text("r")
    put("I", 2)
    put("d", 0.5 * k, -1.0)
    put("f", 1.0, 2.0)
    put("?", k % 2)
    return flag + body


@pytest.mark.parametrize("order", ["<", ">"])
def test_texts_and_lists_move_what_follows_them(order):
    columns, damaged = decoded_columns(leaves_of(JOINT), [joint(k, order) for k in range(7)])
    assert not damaged
    assert columns["position.0"].tolist() == [0.5 * k for k in range(7)]
    assert columns["position.1"].tolist() == [-1.0] * 7
    assert columns["pair.1"].tolist() == [2.0] * 7
    assert columns["header.stamp.sec"].tolist() == [100 + k for k in range(7)]
    assert columns["good"].tolist() == [0, 1, 0, 1, 0, 1, 0]


def test_messages_of_numbers_are_read_at_once_and_named_by_our_comments():
    definition = "int8 a\nfloat64 angle # wheel/angle_rad [rad]\nuint16 n # how many\n"
    messages = [b"\x00\x01\x00\x00" + struct.pack("<b7xdH", k, 0.1 * k, k * k) for k in range(5)]
    leaves = leaves_of(definition)
    columns, damaged = decoded_columns(leaves, messages)
    assert not damaged
    assert [*columns] == ["a", "wheel/angle_rad", "n"]
    assert np.array_equal(columns["wheel/angle_rad"], 0.1 * np.arange(5))
    assert columns["n"].tolist() == [0, 1, 4, 9, 16]
    assert leaves[1].unit == "rad"


def test_a_message_that_does_not_fit_is_counted_and_has_no_values():
    messages = [joint(1), joint(2)[:20], b"", b"\x00\x01\x00\x00" + b"\xff" * 60, joint(3)]
    columns, damaged = decoded_columns(leaves_of(JOINT), messages)
    assert damaged == 3
    assert np.isfinite(columns["position.0"]).tolist() == [True, False, False, False, True]


@pytest.mark.parametrize(
    "definition",
    ["there/Is_not one", "A a\n====\nMSG: A\nA[4] again\n", "A a\n===\nMSG: A\nA a\n"],
)
def test_a_definition_without_its_parts_or_without_an_end_is_refused(definition):
    with pytest.raises(LogError, match="mcap"):
        leaves_of(definition)
