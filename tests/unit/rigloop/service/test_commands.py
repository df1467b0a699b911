"""Requests to a service whose runs are played: each is done or refused, what is refused changes nothing."""

import errno
import json
import os
import time
from unittest.mock import Mock

import pytest

from io_bridge.doorway.door import Client
from rig_configs.load import find_rig
from rigloop.live_values.refused import LiveMistake, LiveOwnedError, LiveRefusedError
from rigloop.protocol import requests as asked
from rigloop.protocol.answers import Phase, Refused, Why
from rigloop.run_folder.not_started import NotStartedError
from rigloop.run_folder.outcome import Outcome
from rigloop.service import sessions
from rigloop.service.clients import Visitor, Visitors
from rigloop.service.commands import Commands
from rigloop.service.control import Control
from rigloop.service.journal import ServiceLog
from rigloop.service.kept_reset import KeptReset
from rigloop.service.sessions import RunChoices, Session
from rigloop.service.subscriptions import Subscriptions

GOOD = Outcome(True, [], "runs/1", [], [])
BAD = Outcome(False, ["guard: rate"], "runs/1", [], [])


class PlayedSupervisor:
    """A run without processes."""

    def __init__(self, arguments):
        self.arguments, self.outcome = arguments, None
        self.armed = self.ended = self.let = False
        self.table = "/nowhere"
        self.process = type("P", (), {"pid": 1})
        self.asked, self.error = [], None

    def ask(self, *change):
        if self.error is not None:
            raise self.error
        self.asked.append(change)
        return len(self.asked)

    def arm(self, within_s):
        self.armed = True

    def let_go(self):
        self.let = True

    def wait(self, timeout_s):
        return self.outcome


class Played:
    """A service without a door."""

    def __init__(self, rigs, tmp_path):
        self.sent, self.told = [], []
        self.log, self.gone = ServiceLog(tmp_path, "log"), set()
        self.sessions = {
            rig.name: Session(
                rig,
                RunChoices(tmp_path / "runs", "simulated"),
                Control(lambda client: client not in self.gone),
                KeptReset(tmp_path, rig.name),
            )
            for rig in rigs
        }
        self.commands = Commands(
            "played",
            self.sessions,
            self.log,
            Subscriptions(self),
            tmp_path / "runs",
            lambda *said: self.told.append(said),
            [],
        )
        self._n = 0

    def send(self, client, raw):
        self.sent.append((client, raw))
        return True

    def ask(self, who, command, **keys):
        self._n += 1
        request = command(protocol=1, id=self._n, **keys)
        try:
            return self.commands.do(request, who)
        except Refused as refused:
            self.commands.refuse(who.author, command.__name__.lower(), refused, keys.get("rig", ""))
            raise

    def refused(self, who, command, why, **keys):
        before = {name: state_of(one) for name, one in self.sessions.items()}
        with pytest.raises(Refused) as caught:
            self.ask(who, command, **keys)
        assert caught.value.why == why
        assert {name: state_of(one) for name, one in self.sessions.items()} == before
        return str(caught.value)


def state_of(session):
    # a played run has no table
    session._watched, watched = None, session._watched
    status = session.status()
    session._watched = watched
    return status, session.control._token, session._resets_drives


@pytest.fixture
def played(rigs, tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "Supervisor", PlayedSupervisor)
    made = Played([rigs("steering_wheel")], tmp_path)
    yield made
    made.commands.close()
    made.log.close()


@pytest.fixture
def ann():
    return Visitor(Client("local", b"1"), "local", "Ann")


@pytest.fixture
def bob():
    return Visitor(Client("local", b"2"), "local", "Bob")


def end(session, outcome):
    session._supervisor.outcome = outcome
    session._supervisor.ended = True
    assert session.look()


def test_only_who_is_in_control_changes_something(played, ann, bob):
    for command in (asked.Arm, asked.Start, asked.Stop, asked.Give, asked.Reset):
        assert "`take` it first" in played.refused(ann, command, Why.CONTROL)
    token = played.ask(ann, asked.Take).token
    assert "Ann (local) is in control" in played.refused(bob, asked.Take, Why.CONTROL)
    assert "none was given" in played.refused(bob, asked.Arm, Why.CONTROL)
    played.refused(bob, asked.Arm, Why.CONTROL, token="x" * 22)
    taken = played.ask(bob, asked.Take, over=True)
    assert taken.before == "Ann (local)"
    assert played.told == [
        ("steering_wheel", "control", "Bob (local) has taken over control of steering_wheel", ann)
    ]
    played.refused(ann, asked.Arm, Why.CONTROL, token=token)
    played.ask(bob, asked.Give, token=taken.token)
    played.refused(bob, asked.Arm, Why.CONTROL, token=taken.token)


def test_a_token_of_another_client_is_worth_nothing_until_that_one_has_gone(played, ann, bob):
    far = Visitor(Client("tcp", b"2", "key"), "local", "Ann")
    token = played.ask(ann, asked.Take).token
    for thief in (bob, far):
        words = played.refused(thief, asked.Start, Why.CONTROL, token=token)
        assert "yours was given to another client" in words
    played.gone.add(ann.client)
    played.refused(far, asked.Start, Why.CONTROL, token=token)
    # a client that has connected again
    again = Visitor(Client("local", b"3"), "local", "Ann")
    played.ask(again, asked.Start, token=token)
    played.refused(bob, asked.Stop, Why.CONTROL, token=token)
    played.ask(again, asked.Stop, token=token)


def test_what_comes_too_late_is_not_done_but_a_stop(played, ann):
    token = played.ask(ann, asked.Take).token
    past_ns = time.monotonic_ns() - 1_500_000_000
    words = played.refused(ann, asked.Arm, Why.LATE, token=token, until_ns=past_ns)
    assert "came 1.5 s after" in words
    played.ask(ann, asked.Arm, token=token, until_ns=time.monotonic_ns() + 10_000_000_000)
    played.ask(ann, asked.Stop, token=token, until_ns=past_ns)


def test_a_journal_that_takes_nothing_is_told_from_time_to_time(played, ann, bob, monkeypatch):
    monkeypatch.setattr(os, "write", Mock(side_effect=OSError(errno.ENOSPC, "full")))
    token = played.ask(ann, asked.Take).token
    played.refused(bob, asked.Stop, Why.CONTROL)
    assert [(what, whom) for _, what, _, whom in played.told] == [("journal", None)]
    # for whoever has come since
    played.commands._tell_at = 0.0
    played.refused(bob, asked.Stop, Why.CONTROL)
    assert len(played.told) == 2
    monkeypatch.undo()
    played.ask(ann, asked.Give, token=token)
    assert [one.command for one in played.log.read()] == ["give"]


def test_a_run_is_held_armed_stopped_and_another_one_may_follow(played, ann):
    (session,) = played.sessions.values()
    token = played.ask(ann, asked.Take).token
    played.ask(ann, asked.Inject, token=token, faults=["sensor-stuck@2"])
    played.ask(ann, asked.Start, token=token, seconds=3.0)
    run = session._supervisor
    assert "--hold" in run.arguments
    assert run.arguments[run.arguments.index("--for") + 1] == "3"
    assert run.arguments[run.arguments.index("--inject") + 1] == "sensor-stuck@2"
    assert not run.armed
    assert session.phase == Phase.STARTING
    assert "a run is active" in played.refused(ann, asked.Start, Why.STATE, token=token)
    assert "before the start" in played.refused(
        ann, asked.Inject, Why.STATE, token=token, faults=[]
    )
    played.refused(ann, asked.Reset, Why.STATE, token=token)
    played.refused(ann, asked.Arm, Why.STATE, token=token, seconds=1.0)
    played.ask(ann, asked.Arm, token=token)
    assert run.armed
    played.refused(ann, asked.Arm, Why.STATE, token=token)
    played.ask(ann, asked.Stop, token=token)
    assert run.let
    assert session.phase == Phase.STOPPING
    end(session, GOOD)
    assert session.phase == Phase.IDLE
    assert played.ask(ann, asked.Verdict).outcome["good"]
    played.ask(ann, asked.Arm, token=token)
    assert session._supervisor is not run
    assert "--inject" not in session._supervisor.arguments


def test_after_a_trip_nothing_is_armed_before_a_reset(played, ann):
    (session,) = played.sessions.values()
    token = played.ask(ann, asked.Take).token
    played.ask(ann, asked.Arm, token=token)
    end(session, BAD)
    assert "guard: rate" in played.refused(ann, asked.Arm, Why.STATE, token=token)
    played.ask(ann, asked.Reset, token=token, drives=True)
    played.ask(ann, asked.Arm, token=token)
    assert "--reset-drives" in session._supervisor.arguments


def test_a_fault_that_a_rig_without_a_guard_cannot_have_is_refused(rigs, tmp_path, ann):
    played = Played([rigs("live_bench")], tmp_path)
    token = played.ask(ann, asked.Take).token
    words = played.refused(ann, asked.Inject, Why.VALUE, token=token, faults=["cycle-hang@0.5"])
    assert "cycle-hang@0.5: this rig has no guard" in words
    played.commands.close()
    played.log.close()


def test_a_service_that_is_started_again_still_wants_the_reset(played, ann, rigs, tmp_path):
    (session,) = played.sessions.values()
    token = played.ask(ann, asked.Take).token
    played.ask(ann, asked.Arm, token=token)
    end(session, BAD)

    again = Played([rigs("steering_wheel")], tmp_path)
    (session,) = again.sessions.values()
    assert "guard: rate" in session.status().needs_reset
    token = again.ask(ann, asked.Take).token
    assert "guard: rate" in again.refused(ann, asked.Arm, Why.STATE, token=token)
    again.ask(ann, asked.Reset, token=token)

    third = Played([rigs("steering_wheel")], tmp_path)
    (session,) = third.sessions.values()
    assert session.status().needs_reset == ""
    token = third.ask(ann, asked.Take).token
    third.ask(ann, asked.Arm, token=token)
    end(session, GOOD)
    assert KeptReset(tmp_path, "steering_wheel").found() == ""
    for one in (again, third):
        one.commands.close()
        one.log.close()


def test_a_rig_file_that_has_changed_is_not_started(played, ann, rigs, tmp_path):
    import dataclasses

    (session,) = played.sessions.values()
    path = tmp_path / "rig.toml"
    path.write_text(find_rig("steering_wheel").read_text() + "# changed\n")
    session.loaded = dataclasses.replace(session.loaded, path=path)
    token = played.ask(ann, asked.Take).token
    assert "has changed" in played.refused(ann, asked.Arm, Why.STATE, token=token)


@pytest.mark.parametrize(
    ("command", "keys", "why", "words"),
    [
        (asked.Read, {"paths": ["wheel/angle_rad"]}, Why.STATE, "does not run"),
        (asked.Subscribe, {"paths": ["wheel/angle_red"]}, Why.UNKNOWN, "wheel/angle_rad"),
        (asked.Unsubscribe, {"subscription": 9}, Why.UNKNOWN, "9"),
        (asked.Capture, {"paths": ["a"], "from_s": 0.0, "to_s": 1.0}, Why.STATE, "no run"),
        (asked.Capture, {"paths": ["a"], "from_s": 2.0, "to_s": 1.0}, Why.VALUE, "to_s = 1"),
        (asked.Verdict, {}, Why.STATE, "no run has ended"),
        (asked.Signals, {"rig": "steering_whel"}, Why.UNKNOWN, "'steering_wheel'"),
    ],
)
def test_what_a_rig_does_not_have_is_refused_by_name(played, ann, command, keys, why, words):
    assert words in played.refused(ann, command, why, **keys)


def test_faults_that_do_not_exist_are_refused(played, ann):
    token = played.ask(ann, asked.Take).token
    assert "no fault 'melt'" in played.refused(
        ann, asked.Inject, Why.VALUE, token=token, faults=["melt@1"]
    )


def test_only_who_is_in_control_changes_live_values_of_a_run_that_goes_on(played, ann, bob):
    session = played.sessions["steering_wheel"]
    token = played.ask(ann, asked.Take).token
    change = {"token": token, "values": {"gain": 0.5}}
    assert "no run to change" in played.refused(ann, asked.Write, Why.STATE, **change)
    played.ask(ann, asked.Arm, token=token)
    session._watched = "a table"
    played.refused(bob, asked.Write, Why.CONTROL, **change | {"token": "guessed"})
    for both in ({}, {"values": {"gain": 1.0}, "begin": ["sweep"]}, {"begin": ["a"], "end": ["a"]}):
        words = played.refused(ann, asked.Write, Why.VALUE, token=token, **both)
        assert "one of `values`, `begin` and `end`" in words
    supervisor = session._supervisor
    assert supervisor.asked == []
    assert played.ask(ann, asked.Write, **change).sequence == 1
    assert played.ask(ann, asked.Write, token=token, begin=["sweep"]).sequence == 2
    assert supervisor.asked == [
        ({"gain": 0.5}, [], [], ann.author, sessions.ANSWER_S),
        ({}, ["sweep"], [], ann.author, sessions.ANSWER_S),
    ]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (LiveRefusedError([LiveMistake("gain", 9.0, "above 1", "give less")]), Why.VALUE),
        (LiveOwnedError("another process writes"), Why.STATE),
        (NotStartedError("the run has ended"), Why.STATE),
        (TimeoutError("no answer"), Why.STATE),
    ],
)
def test_a_change_that_the_run_refuses_is_refused_with_its_words(played, ann, error, why):
    session = played.sessions["steering_wheel"]
    token = played.ask(ann, asked.Take).token
    played.ask(ann, asked.Arm, token=token)
    session._watched = "a table"
    session._supervisor.error = error
    words = played.refused(ann, asked.Write, why, token=token, values={"gain": 9.0})
    assert str(error) in words


def test_a_shutdown_is_refused_while_another_one_is_in_control(played, ann, bob):
    token = played.ask(ann, asked.Take).token
    played.refused(bob, asked.Shutdown, Why.CONTROL)
    played.refused(bob, asked.Shutdown, Why.CONTROL, tokens={"steering_wheel": token})
    assert not played.commands.is_over
    played.ask(ann, asked.Shutdown, tokens={"steering_wheel": token})
    assert played.commands.is_over


def test_changes_and_refusals_are_logged_with_who_and_when(played, ann, bob, tmp_path):
    before = time.monotonic_ns(), time.time_ns()
    token = played.ask(ann, asked.Take).token
    played.refused(bob, asked.Stop, Why.CONTROL)
    played.ask(ann, asked.Arm, token=token)
    entries = played.log.read()
    assert [(one.author, one.command, one.done) for one in entries] == [
        ("Ann (local)", "take", True),
        ("Bob (local)", "stop", False),
        ("Ann (local)", "arm", True),
    ]
    assert all(one.monotonic_ns >= before[0] and one.utc_ns >= before[1] for one in entries)
    texts = [path.read_text() for path in sorted(tmp_path.rglob("log.jsonl"))]
    assert [len(text.splitlines()) for text in texts] == [2, 1]
    assert token not in "".join(texts)
    assert json.loads(texts[0].splitlines()[0])["rig"] == "steering_wheel"


def test_what_may_be_changed_is_listed_with_its_limits(rigs, played, ann):
    assert played.ask(ann, asked.Live) == []
    session = played.sessions["steering_wheel"]
    session.loaded = rigs("live_bench")
    rows = {row.name: row for row in played.ask(ann, asked.Live)}
    found = rows["preload"]
    assert (found.kind, found.unit, found.lower, found.upper) == ("value", "Nm", -5.0, 5.0)
    assert (found.who, found.group, found.now) == ("control", "spring", None)
    assert (rows["shake"].kind, rows["shake"].lower) == ("stimulus", -rows["shake"].upper)


def test_an_unknown_signal_is_refused_with_its_neighbour(played, ann):
    words = played.refused(ann, asked.Subscribe, Why.UNKNOWN, paths=["wheel/angel_rad"])
    assert words.startswith("steering_wheel: no signal 'wheel/angel_rad': did you mean 'wheel/a")


def test_a_client_pays_for_what_it_asks(ann):
    ann._credit = 1.5
    ann.pay(10.0)
    with pytest.raises(Refused, match="more than 10 requests"):
        ann.pay(10.0)


def test_clients_that_have_gone_make_room():
    there = {b"1", b"2"}
    visitors = Visitors(lambda client: client.name in there, most=2)
    for name in (b"1", b"2"):
        visitors.of(Client("local", name), "local")
    with pytest.raises(Refused, match="at most 2"):
        visitors.of(Client("local", b"3"), "local")
    there.remove(b"1")
    visitors._swept_at = 0.0
    visitors.of(Client("local", b"3"), "local")
    assert len(visitors) == 2
