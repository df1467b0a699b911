"""The loop of a service behind a played door: what it hears, what it keeps going through."""

from concurrent.futures import Future

import msgspec
import pytest

from io_bridge.doorway.door import Client, Letter
from rigloop.protocol.codec import encoded
from rigloop.protocol.requests import Arm, Capture, Hello, Status
from rigloop.service.journal import Journal, read
from rigloop.service.process import MOST_PENDING, Service, ServiceOptions
from rigloop.service.sessions import RunChoices

ANN = Client("local", b"1")
FAR = Client("tcp", b"2", "key of Bob")


class PlayedDoor:
    """Letters in, answers out."""

    def __init__(self):
        self.letters_in, self.sent = [], []

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
    log = Journal(tmp_path / "log.jsonl", 1 << 20, again=True)
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
    assert {one.author for one in read(service.log.path) if not one.done} == {"Ann (local)"}


def test_a_key_that_is_revoked_and_one_that_is_unknown_are_refused_by_name(service):
    assert say(service, FAR, Hello(protocol=1, id=1, name="B"))[0]["answer"]["you"] == "B (bob)"
    service._gatekeeper.names.clear()
    assert say(service, FAR, Status(protocol=1, id=2))[0]["why"] == "control"
    service._gatekeeper.refused.append("a stranger's")
    service._look_at = 0.0
    service.step()
    assert read(service.log.path)[-1].author == "nameless (a stranger's)"


def test_a_mistake_of_ours_ends_no_service(service, monkeypatch):
    monkeypatch.setitem(service.commands._doers, Status, lambda request, who: 1 / 0)
    (answer,) = say(service, ANN, Status(protocol=1, id=9))
    assert (answer["why"], answer["id"]) == ("failed", 9)
    assert "ZeroDivisionError" in answer["words"]
    assert say(service, ANN, Hello(protocol=1, id=10, name="Ann"))[0]["kind"] == "answer"


def test_a_client_waits_for_some_answers_at_a_time(service, monkeypatch):
    futures = []

    def asked_for(request, who):
        futures.append(Future())
        return futures[-1]

    monkeypatch.setitem(service.commands._doers, Capture, asked_for)
    request = Capture(protocol=1, id=1, paths=["a"], from_s=0.0, to_s=1.0)
    (answer,) = say(service, ANN, *[request] * (MOST_PENDING + 1))
    assert answer["why"] == "rate"
    for one in futures:
        one.set_result(None)
    assert len(say(service, ANN)) == MOST_PENDING


def test_a_service_that_ends_arms_nothing(service):
    token = say(service, ANN, {"command": "take", "protocol": 1, "id": 1})[0]["answer"]["token"]
    service.run([15])
    (answer,) = say(service, ANN, Arm(protocol=1, id=2, token=token))
    assert "the service ends" in answer["words"]
    assert not service.sessions["steering_wheel"].goes_on
