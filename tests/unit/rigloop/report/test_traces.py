"""Signals on a page: unpacked as the page does, every cycle or the ends of every stretch."""

import base64
import json
import zlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from io_bridge.recording.record import record_dtype
from rigloop.report.traces import MOST_BYTES, packed, traces_of

MS = 1_000_000
SIZES = st.integers(1, 60_000)


def record_of(n, **signals):
    rows = np.zeros(n, record_dtype([name.replace("__", "/") for name in signals]))
    rows["t_ns"] = np.arange(n) * MS
    for name, values in signals.items():
        rows[name.replace("__", "/")] = values
    return rows


def unpacked(text):
    data = zlib.decompress(base64.b64decode(text))
    size = int.from_bytes(data[:4], "little")
    header, at = json.loads(data[4 : 4 + size]), 4 + size
    groups = []
    for group in header["groups"]:
        n, rows = group["n"], len(group["signals"]) * (2 if group["envelope"] else 1)
        times = np.frombuffer(data, "<f8", n, at)
        values = np.frombuffer(data, "<f4", n * rows, at + 8 * n).reshape(rows, n)
        at += -(-(8 * n + 4 * n * rows) // 8) * 8
        groups.append((group, times, values))
    assert at == len(data)
    return groups


@given(SIZES, st.integers(0, 2**32))
def test_no_value_is_beyond_the_ends_of_its_stretch_and_each_end_is_a_value(n, seed):
    x = np.random.default_rng(seed).normal(size=n).astype(np.float32)
    records = {"a": record_of(n, b__x=x, b__y=0.0)}
    (one,) = traces_of(records, {"b/x": "a", "b/y": "a"}, share=0.001)
    assert one.is_envelope == (n > 400)
    if not one.is_envelope:
        assert np.array_equal(one.low[0], x)
        return
    edges = np.append(np.searchsorted(np.arange(n) * 1e-3, one.t_s - 1e-9), n)
    assert np.array_equal(one.low[0], np.minimum.reduceat(x, edges[:-1]))
    assert np.array_equal(one.high[0], np.maximum.reduceat(x, edges[:-1]))


def test_a_page_has_each_signal_with_its_unit_and_nothing_where_there_is_no_number():
    fast = record_of(3, a__x_rad=[1.0, np.nan, 1e300], a__n=[0.0, 1.0, 2.0])
    slow = record_of(2, b__y=[5.0, 6.0])
    found = traces_of({"f": fast, "s": slow}, {"a/x_rad": "f", "a/n": "f", "b/y": "s"})
    (first, times, values), (second, _, others) = unpacked(
        packed(found, {"a/x_rad": "rad"}, {"b/y"})
    )
    assert [signal["unit"] for signal in first["signals"]] == ["rad", ""]
    assert [signal["shown"] for signal in second["signals"]] == [True]
    assert np.array_equal(values, [[1.0, np.nan, np.nan], [0.0, 1.0, 2.0]], equal_nan=True)
    assert times.tolist() == [0.0, 1e-3, 2e-3]
    assert others.tolist() == [[5.0, 6.0]]


def test_a_page_of_many_signals_is_bounded_whatever_they_are():
    rng = np.random.default_rng(1)
    names = {f"a__x{i}": rng.normal(size=60_000) for i in range(40)}
    record = record_of(60_000, **names)
    homes = {name.replace("__", "/"): "f" for name in names}
    text = packed(traces_of({"f": record}, homes), {}, ())
    # Base64 of what hardly compresses
    assert len(text) < 1.4 * MOST_BYTES
