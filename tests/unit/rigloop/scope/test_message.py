"""Captures as messages for a page: header, places of the arrays, gaps, envelopes."""

import json

import numpy as np
from given_cycles import MS, rows_of

from io_bridge.exports.measured import Group
from rigloop.scope.capture import Capture
from rigloop.scope.message import message


def taken_apart(data):
    """Return header and arrays, read as `docs/scope.md` says."""
    size = int.from_bytes(data[:4], "little")
    header, at = json.loads(data[4 : 4 + size]), 4 + size
    groups = []
    for group in header["groups"]:
        assert at % 8 == 0
        n, rows = group["n"], len(group["signals"]) * (2 if group["envelope"] else 1)
        times = np.frombuffer(data, "<f8", n, at)
        values = np.frombuffer(data, "<f4", n * rows, at + 8 * n).reshape(rows, n)
        at += 8 * n + -(-4 * n * rows // 8) * 8
        groups.append((times, values))
    assert at == len(data)
    return header, groups


def captured(values, keep=None):
    group = Group("a", rows_of("a", values, keep=keep), ("a/x",), ("rad",), MS)
    other = Group("b", rows_of("b", [1.0]), ("b/x",), ("",), MS)
    return Capture("rig", "run", "a/x > 0", "trigger", 2 * MS, 0.1, 0.2, (group, other))


def test_every_cycle_is_in_it_with_a_point_without_value_in_each_gap():
    header, ((t_s, values), _) = taken_apart(
        message(captured([0, 1, 2, 3, 4, 5], [1, 1, 0, 0, 1, 1]))
    )
    assert np.allclose(t_s, [-2e-3, -1e-3, 0.5e-3, 2e-3, 3e-3])
    assert np.array_equal(values[0], [0, 1, np.nan, 4, 5], equal_nan=True)
    (group, _) = header["groups"]
    assert group["gaps"] == [{"t_s": -1e-3, "lost": 2, "skipped": 0}]
    assert group["signals"][0]["measured"]["maximum"] == 5.0
    assert header["groups"][1]["signals"][0]["measured"]["frequency_hz"] is None


def test_of_many_cycles_an_envelope_keeps_every_peak():
    values = np.zeros(1000)
    values[[333, 777]] = 5.0, -7.0
    header, ((t_s, (low, high)), _) = taken_apart(message(captured(values), most=100))
    assert header["groups"][0]["envelope"] is True
    assert len(t_s) == 50
    assert (low.min(), high.max()) == (-7.0, 5.0)
    assert abs(t_s[np.argmax(high)] - 0.331) <= 0.02
