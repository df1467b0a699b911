"""Newest values by path: those of the table, one or many at once, and what is refused."""

import numpy as np
import pytest

from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.layout import TableError
from rt_core.signals.reading import SignalReader
from rt_core.signals.table import SignalTable

SUPERVISOR_SIGNALS = ("supervisor/heartbeat", "supervisor/arm")
CYCLE = "loop/fast/cycle"


@pytest.fixture
def plan():
    return plan_table([Task("fast", [BusyBlock("busy", 0)], 1_000_000)], SUPERVISOR_SIGNALS)


@pytest.fixture
def table(plan, tmp_path):
    with SignalTable.create(tmp_path / "table", plan) as table:
        yield table


@pytest.fixture
def reader(table):
    with SignalReader(table) as reader:
        yield reader


def test_before_the_first_cycle_all_is_zero(reader):
    assert reader[CYCLE] == 0.0
    assert not reader.read(tuple(reader)).any()
    assert reader.read(()).shape == (0,)


def test_values_are_those_of_the_table(plan, table):
    with SignalReader(table) as reader, Loop(plan, table) as loop:
        while reader[CYCLE] < 3:
            loop.wait(0.001)
        loop.stop()
        assert reader[CYCLE] == table.value(CYCLE) >= 3.0
        paths = ["supervisor/arm", CYCLE, "loop/fast/elapsed", "supervisor/heartbeat"]
        table.publish({"supervisor/arm": 1.0, "supervisor/heartbeat": 7.0})
        for _ in range(2):
            assert reader.read(paths).tolist() == [
                1.0,
                table.value(CYCLE),
                table.value("loop/fast/elapsed"),
                7.0,
            ]
        assert np.array_equal(reader.read(tuple(reader)), [table.value(path) for path in reader])


def test_it_knows_its_signals(reader):
    assert CYCLE in reader
    assert "x" not in reader
    assert len(reader) == len(list(reader)) == len(set(reader.keys()))
    assert dict(reader)[CYCLE] == 0.0


def test_many_selections_are_not_kept_for_ever(reader):
    paths = list(reader)
    for i in range(300):
        assert reader.read(paths[i % 10 : i % 7 + 12]).shape == (i % 7 + 12 - i % 10,)


@pytest.mark.parametrize("ask", [lambda r, p: r[p], lambda r, p: r.read((CYCLE, p))])
def test_an_unknown_signal_is_named_with_its_neighbours(reader, ask):
    with pytest.raises(
        KeyError, match=r"nothing writes 'loop/fast/cycles'; did you mean .*loop/fast/cycle"
    ):
        ask(reader, "loop/fast/cycles")


@pytest.mark.parametrize(
    "ask", [lambda r, t: r["x/y"], lambda r, t: r.read(("x/y",)), lambda r, t: t.value("x/y")]
)
def test_of_an_unknown_signal_without_neighbours_it_says_where_all_are(reader, table, ask):
    with pytest.raises(KeyError, match=r"nothing writes 'x/y'; `rigloop signals RIG` lists them"):
        ask(reader, table)


def test_a_table_stays_as_long_as_it_is_read(table, reader):
    with pytest.raises(RuntimeError, match="in use"):
        table.close()
    reader.close()
    reader.close()
    with pytest.raises(TableError, match="the reader is closed"):
        reader[CYCLE]
    with pytest.raises(TableError, match="the reader is closed"):
        reader.read((CYCLE,))
