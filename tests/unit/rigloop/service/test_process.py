"""The loop of a service behind a played door: what it hears, what it keeps going through."""

from concurrent.futures import Future
from types import SimpleNamespace

import msgspec
import pytest

from io_bridge.doorway.door import Client, Letter
from rigloop.protocol.answers import Refused, Why
from rigloop.protocol.codec import encoded
from rigloop.protocol.requests import Arm, Capture, Hello, Status, Subscribe
from rigloop.service.archived_answers import MOST_PENDING
from rigloop.service.journal import ServiceLog
from rigloop.service.process import Service, ServiceOptions
from rigloop.service.sessions import RunChoices

ANN = Client("local", b"1")
FAR = Client("tcp", b"2", "key of Bob")


class PlayedDoor:
    """Letters in, answers out."""

    def __init__(self):
        self.letters_in, self.sent, self.large = [], [], []

    def endpoints(self):
        return ["ipc://played"]

    def wait(self, timeout_s):
        pass

    def letters(self, most):
        found, self.letters_in = self.letters_in[:most], self.letters_in[most:]
        return iter(found)

    def send(self, client, raw):
        if raw:
            self.sent.append((client, msgspec.msgpack.decode(raw)))
        return True

    def send_large(self, client, raw):
        self.send(client, raw)
        self.large.append(SimpleNamespace(done=False))
        return self.large[-1]


class PlayedGatekeeper:
    """Keys with names, and those that were not let in."""

    def __init__(self):
        self.names = {"key of Bob": "bob"}
        self.refused = []

    def name_of(self, key):
        return self.names.get(key)

    def strangers(self):
        found, self.refused = self.refused, []
        return found


@pytest.fixture
def service(rigs, tmp_path):
    log = ServiceLog(tmp_path, "log")
    options = ServiceOptions("played", "ipc://played", RunChoices(tmp_path / "runs", "simulated"))
    made = Service([rigs("steering_wheel")], options, PlayedDoor(), log, PlayedGatekeeper())
    made.log = log
    yield made
    made.close()
    log.close()


def say(service, client, *requests):
    before = len(service._door.sent)
    service._door.letters_in += [
        Letter(client, raw if raw is None or isinstance(raw, bytes) else encoded(raw))
        for raw in requests
    ]
    service.step()
    return [message for whom, message in service._door.sent[before:] if whom == client]


def test_each_letter_has_one_answer(service):
    answers = say(
        service, ANN, Hello(protocol=1, id=1, name="Ann"), b"\xc1", None, Status(protocol=1, id=4)
    )
    assert [(one["kind"], one["id"]) for one in answers] == [
        ("answer", 1),
        ("refusal", 0),
        ("refusal", 0),
        ("answer", 4),
    ]
    assert answers[0]["answer"]["you"] == "Ann (local)"
    assert {one.author for one in service.log.read() if not one.done} == {"Ann (local)"}


def test_a_key_that_is_revoked_and_one_that_is_unknown_are_refused_by_name(service):
    assert say(service, FAR, Hello(protocol=1, id=1, name="B"))[0]["answer"]["you"] == "B (bob)"
    service._gatekeeper.names.clear()
    assert say(service, FAR, Status(protocol=1, id=2))[0]["why"] == "control"
    service._gatekeeper.refused.append("a stranger's")
    service._look_at = 0.0
    service.step()
    assert service.log.read()[-1].author == "nameless (a stranger's)"


def test_a_mistake_of_ours_ends_no_service(service, monkeypatch):
    monkeypatch.setitem(service.commands._doers, Status, lambda request, who: 1 / 0)
    (answer,) = say(service, ANN, Status(protocol=1, id=9))
    assert (answer["why"], answer["id"]) == ("failed", 9)
    assert "ZeroDivisionError" in answer["words"]
    assert say(service, ANN, Hello(protocol=1, id=10, name="Ann"))[0]["kind"] == "answer"


@pytest.fixture
def captures(service, monkeypatch):
    """Requests that the archive has not answered yet."""
    futures = []

    def asked_for(request, who):
        futures.append(Future())
        return futures[-1]

    monkeypatch.setitem(service.commands._doers, Capture, asked_for)
    return futures


CAPTURE = Capture(protocol=1, id=1, paths=["a"], from_s=0.0, to_s=1.0)


def test_a_client_waits_for_some_answers_at_a_time_and_takes_them_before_it_gets_more(
    service, captures
):
    (answer,) = say(service, ANN, *[CAPTURE] * (MOST_PENDING + 1))
    assert answer["why"] == "rate"
    for one in captures:
        one.set_result(None)
    assert len(say(service, ANN)) == MOST_PENDING
    # it reads none of them
    (answer,) = say(service, ANN, CAPTURE)
    assert answer["why"] == "rate"
    assert "wait to be read" in answer["words"]
    service._door.large[0].done = True
    assert say(service, ANN, CAPTURE) == []


def test_a_refusal_of_the_archive_is_in_the_log(service, captures):
    say(service, ANN, Hello(protocol=1, id=1, name="Ann"), CAPTURE)
    captures[0].set_exception(Refused(Why.UNKNOWN, "no signal 'a'"))
    (answer,) = say(service, ANN)
    assert (answer["why"], answer["id"]) == ("unknown", 1)
    entry = service.log.read()[-1]
    assert (entry.author, entry.command, entry.words) == ("Ann (local)", "capture", "no signal 'a'")


def test_a_key_that_is_revoked_gets_no_more_values(service):
    say(service, FAR, Hello(protocol=1, id=1, name="B"))
    say(service, FAR, Subscribe(protocol=1, id=2, paths=["wheel/angle_rad"]))
    assert len(service.subscriptions) == 1
    service._gatekeeper.names.clear()
    service._look_at = 0.0
    service.step()
    assert len(service.subscriptions) == 0
    assert service.log.read()[-1].author == "B (bob)"


def test_a_service_that_ends_arms_nothing(service):
    token = say(service, ANN, {"command": "take", "protocol": 1, "id": 1})[0]["answer"]["token"]
    service.run([15])
    (answer,) = say(service, ANN, Arm(protocol=1, id=2, token=token))
    assert "the service ends" in answer["words"]
    assert not service.sessions["steering_wheel"].goes_on
