"""The writer of live values: a change is good as a whole, or changes nothing and says every mistake."""

import math

import numpy as np
import pytest

from rigloop.compose.blocks import plan_blocks
from rigloop.live_values.journal import JOURNAL, read_journal
from rigloop.live_values.refused import LiveOwnedError, LiveRefusedError
from rigloop.live_values.writer import LiveWriter
from rt_core.signals.table import SignalTable

LIVE = "live"


@pytest.fixture
def bench(bench_table, tmp_path):
    """Give the rig, a table of it, and a writer."""
    rig, table = bench_table
    with LiveWriter(table, rig, tmp_path) as writer:
        yield rig, table, writer


def image(table):
    return dict(zip(table.paths(LIVE), table.latest(LIVE), strict=True))


def refused(call):
    with pytest.raises(LiveRefusedError) as caught:
        call()
    return caught.value.lines


def test_a_group_is_one_image_and_the_journal_has_it(bench, tmp_path):
    _, table, writer = bench
    assert writer.write({"stiffness": 12.0, "preload": (0.5, "N m")}, "anna", in_control=True) == 1
    assert image(table) == {
        "live/changes": 1.0, "live/stiffness": 12.0, "live/preload": 0.5, "live/assistance": 1.0,
        "live/shake": 0.0, "live/push": 0.0, "live/noise": 0.0,
    }  # fmt: skip
    (entry,) = read_journal(tmp_path)
    assert (entry.sequence, entry.author, entry.values) == (
        1,
        "anna",
        {"stiffness": 12.0, "preload": 0.5},
    )
    assert entry.cycles == {"fast": 0, "slow": 0}
    assert entry.utc_ns > 0 < entry.monotonic_ns


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"assistence": 1.0}, "no live value of this rig; did you mean 'assistance'?"),
        ({"shake": 1.0}, "is a stimulus"),
        ({"assistance": 2.1}, "is above upper = 2; limits 0 to 2"),
        ({"assistance": -0.1}, "is below lower = 0"),
        ({"assistance": math.nan}, "is not a finite number"),
        ({"assistance": math.inf}, "is not a finite number"),
        ({"assistance": 10**400}, "is not a finite number"),
        ({"assistance": 10**5000}, "is not a finite number"),
        ({"assistance": True}, "is not a number"),
        ({"assistance": "1"}, "is not a number"),
        ({"assistance": None}, "is not a number"),
        ({"assistance": (1.0, "Nm")}, "is given in 'Nm', and it takes 1"),
        ({"assistance": (1.0, "furlong")}, "is given in 'furlong', and it takes 1"),
        ({"assistance": (1.0,)}, "is not a number with its unit"),
        ({"stiffness": 1.0}, "preload: is missing: it is written together with the others of group 'spring'"),
        ({}, "no value is given"),
    ],
)  # fmt: skip
def test_a_refused_value_changes_nothing_and_is_told(bench, tmp_path, values, words):
    _, table, writer = bench
    number = table.latest_with_number(LIVE)[0]
    assert any(
        words in line for line in refused(lambda: writer.write(values, "x", in_control=True))
    )
    assert table.latest_with_number(LIVE)[0] == number
    (entry,) = read_journal(tmp_path)
    assert entry.sequence == 0
    assert entry.author == "x"
    assert any(words in w for w in entry.refused)


def test_every_mistake_is_said_at_once(bench):
    writer = bench[2]
    values = {"assistance": 9.0, "stiffness": -1.0, "nothing": 1.0}
    lines = refused(lambda: writer.write(values, "x", in_control=True))
    assert [line.split(" ")[0].rstrip(":") for line in lines] == [
        "assistance", "stiffness", "nothing", "preload",
    ]  # fmt: skip


def test_only_who_is_in_control_changes_what_says_so(bench):
    writer = bench[2]
    assert writer.write({"assistance": 1.5}, "anyone") == 1
    (line,) = refused(lambda: writer.begin(["shake"], "anyone"))
    assert "take control first" in line
    lines = refused(lambda: writer.write({"stiffness": 1.0, "preload": 0.0}, "anyone"))
    assert len(lines) == 2
    assert writer.sequence == 1


@pytest.mark.parametrize("author", ["", "two\nlines", "a" * 201, "\x1b[2J", 7])
def test_an_author_is_one_line(bench, author, tmp_path):
    lines = refused(lambda: bench[2].write({"assistance": 1.0}, author))
    assert lines[0].startswith("author")
    assert read_journal(tmp_path)[0].author == "(refused)"


def test_stimuli_begin_again_and_end(bench):
    _, table, writer = bench
    numbers = []
    for act in (writer.begin, writer.begin, writer.end, writer.end, writer.begin):
        act(["shake"], "x", in_control=True)
        numbers.append(image(table)["live/shake"])
    assert numbers == [1.0, 2.0, -2.0, -2.0, 3.0]
    (line,) = refused(lambda: writer.begin(["shaek"], "x", in_control=True))
    assert "did you mean 'shake'?" in line
    assert "no list of names" in refused(lambda: writer.end("shake", "x"))[0]


def test_one_process_writes_and_the_next_one_goes_on(bench, tmp_path):
    rig, table, writer = bench
    writer.write({"assistance": 1.5}, "x")
    writer.begin(["shake"], "x", in_control=True)
    with pytest.raises(LiveOwnedError, match="another process writes the live values"):
        LiveWriter(table, rig, tmp_path)
    writer.close()
    with LiveWriter(table, rig, tmp_path) as other:
        assert other.wanted == {"stiffness": 10.0, "preload": 0.0, "assistance": 1.5}
        assert other.end(["shake"], "y", in_control=True) == 3
        assert image(table)["live/shake"] == -1.0


def test_a_writer_does_not_go_on_with_what_is_broken(bench, tmp_path):
    rig, table, writer = bench
    writer.close()
    broken = {
        "live/changes": 4.0,
        "live/assistance": np.nan,
        "live/stiffness": 1e9,
        "live/shake": np.inf,
    }
    table.publish(broken, LIVE)
    with LiveWriter(table, rig, tmp_path) as other:
        assert other.wanted == {"stiffness": 10.0, "preload": 0.0, "assistance": 1.0}
        assert other.begin(["shake"], "y", in_control=True) == 5
        assert image(table)["live/shake"] == 1.0


def test_a_rig_without_live_values_has_no_producer_and_no_writer(rigs, tmp_path):
    loaded = rigs("fault_bench")
    plan = plan_blocks(loaded.rig, {})
    assert [p.name for p in plan.producers if p.name == LIVE] == []
    with SignalTable.create(tmp_path / "table", plan) as table, pytest.raises(LiveRefusedError):
        LiveWriter(table, loaded.rig, tmp_path)
    assert not (tmp_path / JOURNAL).exists()
