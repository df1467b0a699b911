"""A page on a recorded run: it plays, is followed without a hole, zoomed, and nothing that it is sent changes it."""

import json
from pathlib import Path

import numpy as np
import pytest
from recorded_runs import ANGLE, STATE, TORQUE, write_recorded_run

from rigloop.monitor.session import Session
from rigloop.monitor.sources.envelope import ROWS
from rigloop.monitor.sources.recorded_source import RecordedSource
from rigloop.monitor.sources.source import SourceGoneError, SourceRefusedError
from rigloop.monitor.sources.wire import frame


@pytest.fixture
def folder(tmp_path):
    return write_recorded_run(tmp_path)


@pytest.fixture
def session(folder, tmp_path):
    made = Session(lambda: RecordedSource(folder), lambda of: tmp_path / "x.page.json")
    yield made
    made.close()


def unframed(raw):
    """Return header and numbers of a frame."""
    length = int.from_bytes(raw[:4], "little")
    return json.loads(raw[4 : 4 + length]), np.frombuffer(raw[4 + length :], "<f8")


def sent(frames, kind):
    """Return the messages of a kind: JSON, or header and numbers."""
    texts = [json.loads(one) for one in frames if isinstance(one, str)]
    binary = [unframed(one) for one in frames if isinstance(one, bytes)]
    return [one for one in texts if one["kind"] == kind] + [
        one for one in binary if one[0]["kind"] == kind
    ]


def follow(*signals, number=1):
    return json.dumps(
        {"do": "follow", "id": number, "signals": signals, "span_s": 0.1, "pixels": 500}
    )


def buckets(frames):
    """Return bucket number → least, greatest, last of the first signal of each group, by its number."""
    found = {}
    for header, numbers in sent(frames, "cycles"):
        at = 0
        for group in header["groups"]:
            shape = (len(group["signals"]), ROWS, group["n"])
            size = int(np.prod(shape))
            values = numbers[at : at + size].reshape(shape)
            at += size
            for row, signal in enumerate(group["signals"]):
                for k in range(group["n"]):
                    key = (signal, group["first"] + k)
                    assert key not in found  # nothing twice
                    found[key] = values[row, :, k].tolist()
    return found


def since_it_began(frames):
    """Return the frames from the last one on that has the first cycle of the first signal: once the drawing's kernel
    is built, in a thread, all begins again."""
    for at in range(len(frames) - 1, -1, -1):
        cycles = sent(frames[at : at + 1], "cycles")
        groups = [group for header, _ in cycles for group in header["groups"]]
        if any(group["first"] == 0 and 0 in group["signals"] for group in groups):
            return frames[at:]
    return frames


def test_a_page_learns_of_the_rig_first(session):
    rig, *rest = [json.loads(one) for one in session.turn([])]
    assert rig["kind"] == "rig"
    assert rig["source"] == "record"
    assert [ANGLE, "rad", "estimation"] in rig["signals"]
    assert [one["kind"] for one in rest[:3]] == ["drawing", "captures", "status"]
    assert rest[0]["block"] == "steering"
    assert {m["name"] for m in rest[0]["moments"] if m["tyre"]} == {
        "tyre_left/torque_nm", "tyre_right/torque_nm",
    }  # fmt: skip


def test_a_record_plays_without_a_hole(session, clock):
    session.turn([follow(ANGLE, TORQUE)])
    frames = []
    for k in range(30):
        clock.now_s = 0.0004 * k
        frames += session.turn([])
    found = buckets(since_it_began(frames))
    # one cycle a bucket: 200 µs, and 1 ms
    angle = {k: v for (signal, k), v in found.items() if signal == 0}
    assert sorted(angle) == list(range(len(angle)))
    assert len(angle) == 49
    assert all(v == [k] * 3 for k, v in angle.items())
    torque = {k: v[2] for (signal, k), v in found.items() if signal == 1}
    assert np.isnan(torque[0])  # the first cycle of the slow task is that of 1 ms
    assert torque[5] == pytest.approx(0.4)


def test_a_page_that_follows_something_else_begins_again(session, clock):
    session.turn([])
    clock.now_s = 1.0
    assert {signal for signal, _ in buckets(session.turn([follow(ANGLE)]))} == {0}
    again = session.turn([follow(STATE, ANGLE, number=2)])
    assert {signal for signal, _ in buckets(again)} == {0, 1}
    assert sent(again, "cycles")[0][0]["id"] == 2


def test_a_range_is_sent_at_full_rate(session, clock):
    session.turn([])
    clock.now_s = 1.0
    asked = {"do": "range", "id": 7, "signals": [ANGLE], "from_s": 0.002, "to_s": 0.004}
    ((header, numbers),) = sent(session.turn([json.dumps(asked | {"pixels": 1000})]), "range")
    (group,) = header["groups"]
    assert (header["id"], group["bucket_ns"], group["first"], group["n"]) == (7, 200_000, 10, 10)
    assert numbers[:10].tolist() == list(range(10, 20))


def test_a_record_goes_back_and_stands_still(session, clock):
    clock.now_s = 1.0
    session.turn([follow(ANGLE)])
    session.turn([json.dumps({"do": "play", "speed": 0.0, "at_s": 0.004})])
    clock.now_s = 5.0
    (status,) = sent(session.turn([json.dumps({"do": "play", "speed": 0.0})]), "status")
    assert status["t_s"] == pytest.approx(0.004)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("nonsense", "malformed"),
        ('{"do": "arm"}', "only looks on"),
        ('{"do": "write", "values": {"a": 1}}', "only looks on"),
        ('{"do": "range", "id": 1, "signals": [], "from_s": 1, "to_s": 1, "pixels": 100}', "after"),
    ],
)
def test_a_message_that_is_refused_changes_nothing(session, message, words):
    session.turn([])
    (said,) = sent(session.turn([message]), "said")
    assert not said["good"]
    assert words in said["words"]


def test_signals_that_nobody_records_are_passed_over(session, clock):
    session.turn([])
    clock.now_s = 1.0
    found = buckets(session.turn([follow("no/such", "supervisor/arm", ANGLE)]))
    assert {signal for signal, _ in found} == {2}


def test_a_layout_comes_back(session, tmp_path, folder):
    session.turn([])
    layout = {"strips": [[ANGLE, STATE]], "span_s": 5.0, "theme": "dark"}
    (said,) = sent(session.turn([json.dumps({"do": "keep", "layout": layout})]), "said")
    assert said["good"]
    again = Session(lambda: RecordedSource(folder), lambda of: tmp_path / "x.page.json")
    (rig,) = sent(again.turn([]), "rig")
    assert {key: rig["layout"][key] for key in layout} == layout
    again.close()


def test_a_layout_that_cannot_be_kept_is_said(folder):
    made = Session(lambda: RecordedSource(folder), lambda of: Path("/proc/none/x.page.json"))
    made.turn([])
    (said,) = sent(made.turn([json.dumps({"do": "keep", "layout": {}})]), "said")
    assert "not kept" in said["words"]
    made.close()


def test_a_source_that_is_gone_is_looked_for_again(folder, tmp_path):
    is_there = [False]

    def opened():
        if not is_there[0]:
            raise SourceGoneError("no service has this socket")
        return RecordedSource(folder)

    made = Session(opened, lambda of: tmp_path / "x.page.json")
    (gone,) = sent(made.turn([]), "gone")
    assert gone["words"] == "no service has this socket"
    assert made.turn([]) == []  # said once
    is_there[0] = True
    made._again_at = 0.0
    assert sent(made.turn([]), "rig")
    made.close()


def test_a_source_that_only_looks_refuses_commands(folder):
    with pytest.raises(SourceRefusedError, match="rigloop serve"):
        RecordedSource(folder).command("arm")


def test_a_frame_is_read_in_place():
    raw = frame({"kind": "x", "words": "é"}, [np.arange(6.0).reshape(2, 3), np.array([np.nan])])
    header, numbers = unframed(raw)
    assert header == {"kind": "x", "words": "é"}
    assert (4 + int.from_bytes(raw[:4], "little")) % 8 == 0
    assert numbers[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert np.isnan(numbers[6])
