"""The scope of a page on a recorded run: it finds its trigger, is looked into, stored and compared."""

import json

import numpy as np
import pytest
from recorded_runs import ANGLE, STATE, TORQUE, write_recorded_run

from rigloop.monitor.capturing import page_scope
from rigloop.monitor.session import Session
from rigloop.monitor.sources import onlooker
from rigloop.monitor.sources.recorded_source import RecordedSource
from rigloop.monitor.sources.source import SourceGoneError


@pytest.fixture
def session(tmp_path, clock):
    folder = write_recorded_run(tmp_path)
    made = Session(lambda: RecordedSource(folder), lambda of: tmp_path / "x.page.json")
    made.turn([])
    yield made
    made.close()


def ask(session, do, **keys):
    """Send a message; return all that comes back: texts, and headers with what follows them."""
    found = {}
    for one in session.turn([json.dumps({"do": do, **keys})] if do else []):
        if isinstance(one, str):
            message = json.loads(one)
            found.setdefault(message["kind"], []).append(message)
        else:
            length = int.from_bytes(one[:4], "little")
            header = json.loads(one[4 : 4 + length])
            found.setdefault(header["kind"], []).append((header, one[4 + length :]))
    return found


def values_of(capture, n):
    """Return times and values of the first signal of the first group, in full."""
    _, raw = capture
    return np.frombuffer(raw[: 8 * n], "<f8"), np.frombuffer(raw[8 * n : 12 * n], "<f4")


def test_a_single_trigger_of_a_record_is_found_at_once(session):
    # cycle 20 of the fast task is 4 ms in; the page has played to 0 s
    setup = {"signals": [ANGLE], "pre_s": 0.001, "post_s": 0.002}
    answered = [ask(session, "capture", trigger=f"{ANGLE} > 19.5 rising", **setup)]
    answered += [ask(session, "") for _ in range(3)]
    ((header, raw),) = [one for a in answered for one in a.get("capture", [])]
    assert header["why"] == "trigger"
    assert header["trigger_s"] == pytest.approx(0.004)
    (group,) = header["groups"]
    t_s, values = values_of((header, raw), group["n"])
    assert values.tolist() == list(range(15, 30))  # 5 cycles before it, 10 from it on
    assert t_s[5] == 0.0
    assert group["signals"][0]["measured"]["maximum"] == 29.0
    states = [one["state"] for a in answered for one in a.get("scope", [])]
    assert states[-1] == "done"


def test_a_normal_scope_waits_until_the_record_has_played_so_far(session, clock):
    ask(session, "capture", signals=[TORQUE, ANGLE], trigger=f"{ANGLE} > 19.5 rising", mode="normal",
        pre_s=0.001, post_s=0.001)  # fmt: skip
    clock.now_s = 0.003
    assert "capture" not in ask(session, "")
    clock.now_s = 0.008
    found = ask(session, "")
    ((header, _),) = found["capture"]
    assert {g["task"] for g in header["groups"]} == {"estimation", "simulation"}
    assert found["scope"][-1] == {"kind": "scope", "state": "armed", "captures": 1, "unsent": 0}
    # going back in the record arms it again, at the new place
    assert "capture" not in ask(session, "play", at_s=0.0)
    clock.now_s = 0.016
    assert len(ask(session, "")["capture"]) == 1


def capture(session):
    ask(
        session,
        "capture",
        signals=[ANGLE],
        trigger=f"{ANGLE} > 19.5 rising",
        pre_s=0.001,
        post_s=0.002,
    )
    for _ in range(3):
        ask(session, "")


def test_a_part_is_sent_at_full_rate_with_its_own_figures(session):
    capture(session)
    found = ask(
        session, "look", from_s=0.0, to_s=0.001, pixels=400, delay=[ANGLE, ANGLE], spectra=True
    )
    ((header, raw),) = found["capture"]
    assert header["view"] == [0.0, 0.001]
    assert header["extent"] == [-0.001, 0.002]
    (group,) = header["groups"]
    assert values_of((header, raw), group["n"])[1].tolist() == [20, 21, 22, 23, 24]
    assert group["signals"][0]["measured"]["minimum"] == 20.0
    assert header["delay"] == [ANGLE, ANGLE, 0.0]
    assert found["spectra"][0][0]["signals"] == []  # too short
    whole = ask(session, "look", pixels=400, spectra=True)
    ((header, raw),) = whole["spectra"]
    (line,) = header["signals"]
    assert (line["path"], line["samples"]) == (ANGLE, 15)


def test_a_capture_is_still_there_when_its_source_comes_back(tmp_path, clock, monkeypatch):
    folder, opened = write_recorded_run(tmp_path), []

    def open_source():
        opened.append(RecordedSource(folder))
        return opened[-1]

    def gone():
        raise SourceGoneError("it has gone")

    monkeypatch.setattr(onlooker, "AGAIN_S", 0.0)
    session = Session(open_source, lambda of: tmp_path / "x.page.json")
    ask(session, "")
    capture(session)
    monkeypatch.setattr(opened[-1], "moment", gone)
    session._status_at = 0.0  # the state is asked for at once
    assert ask(session, "")["gone"]
    assert ask(session, "")["rig"]
    assert ask(session, "save", name="after")["captures"][-1]["names"] == ["after"]
    session.close()


def test_captures_are_saved_listed_loaded_compared_and_written(session, tmp_path):
    capture(session)
    saved = ask(session, "save", name="a/../b")
    assert saved["captures"][-1]["names"] == ["a_.._b"]
    assert (tmp_path / "x.captures" / "a_.._b.npz").is_file()
    assert ask(session, "save", name="a/../b")["captures"][-1]["names"][0] == "a_.._b-2"
    ((header, _),) = ask(session, "load", name="a_.._b")["capture"]
    assert header["trigger_s"] == pytest.approx(0.004)
    assert ask(session, "compare", name="a_.._b")["said"][0]["good"]
    beside, own = ask(session, "look", pixels=400)["capture"]
    assert beside[0]["beside"]
    assert own[0]["apart"] == {ANGLE: {"largest": 0.0, "rms": 0.0}}
    (said,) = ask(session, "export", to="csv", name="for others")["said"]
    assert said["good"]
    assert (tmp_path / "x.captures" / "for_others.csv").is_file()


@pytest.mark.parametrize(
    ("do", "keys", "words"),
    [
        ("capture", {"signals": ["no/such"]}, "no recorded signal no/such"),
        ("capture", {"signals": [ANGLE], "trigger": "__import__('os')"}, "trigger"),
        ("capture", {"signals": [ANGLE], "trigger": "no/such > 1"}, "no signal 'no/such'"),
        ("capture", {"signals": [ANGLE], "pre_s": 0, "post_s": 0}, "both 0"),
        ("capture", {"signals": [ANGLE, ANGLE]}, "twice"),
        ("capture", {"signals": [ANGLE], "pre_s": 1e9}, "pre_s"),
        ("look", {"pixels": 400}, "no capture yet"),
        ("save", {"name": "x"}, "no capture yet"),
        ("load", {"name": "../x"}, "no such capture"),
        ("compare", {"name": "x"}, "no such capture"),
        ("export", {"to": "exe"}, "exe"),
    ],
)
def test_a_message_that_is_refused_leaves_the_scope_as_it_was(session, do, keys, words):
    found = ask(session, do, **keys)
    assert words in found["said"][0]["words"]
    assert not found["said"][0]["good"]
    assert all(one["state"] == "off" for one in found.get("scope", []))


def test_a_capture_that_no_memory_holds_is_refused(session, monkeypatch):
    monkeypatch.setattr(page_scope, "MOST_VALUES", 1000)
    assert "at most" in ask(session, "capture", signals=[ANGLE], post_s=0.3)["said"][0]["words"]


def test_the_end_of_a_record_ends_the_scope(session, clock):
    ask(session, "capture", signals=[STATE], trigger=f"{STATE} > 5 rising", mode="auto", auto_after_s=0.002,
        pre_s=0.0, post_s=0.001)  # fmt: skip
    clock.now_s = 1.0
    found = [ask(session, "") for _ in range(3)]
    whys = [header["why"] for a in found for header, _ in a.get("capture", [])]
    assert set(whys) == {"auto"}
    assert [s["state"] for a in found for s in a.get("scope", [])][-1] == "ended"
