"""A viewer of another program on a recorded run: channels, schemas, every cycle that it subscribes to, no commands."""

import json
import struct

import numpy as np
import pytest
from recorded_runs import ANGLE, write_recorded_run

from rigloop.monitor.foxglove.channels import channels_of, log_of, scene_of
from rigloop.monitor.foxglove.door import secret_of
from rigloop.monitor.foxglove.viewer import Viewer
from rigloop.monitor.sources.moving import Moving
from rigloop.monitor.sources.recorded_source import RecordedSource
from rigloop.monitor.sources.source import SourceGoneError

CDR = 4  # bytes before the numbers of a message


@pytest.fixture
def viewer(tmp_path, clock):
    folder = write_recorded_run(tmp_path)
    made = Viewer(lambda: RecordedSource(folder))
    yield made
    made.close()


def texts(frames):
    return [json.loads(one) for one in frames if isinstance(one, str)]


def subscribed(viewer, *topics):
    """Subscribe to topics, the first as 1; return the frames of that turn."""
    info, advertised = texts(viewer.turn([]))[:2]
    assert info["op"] == "serverInfo"
    numbers = {channel["topic"]: channel["id"] for channel in advertised["channels"]}
    wanted = [{"id": k, "channelId": numbers[topic]} for k, topic in enumerate(topics, 1)]
    return viewer.turn([json.dumps({"op": "subscribe", "subscriptions": wanted})])


def messages(frames, number=1):
    """Return times and bytes of the messages of one subscription."""
    found = []
    for one in frames:
        if isinstance(one, bytes):
            code, subscription, t_ns = struct.unpack_from("<BIQ", one)
            assert code == 1
            if subscription == number:
                found.append((t_ns, one[13:]))
    return found


def test_every_cycle_comes_once_in_order(viewer, clock):
    frames = subscribed(viewer, "/wheel")
    for now_s in (0.001, 0.0055, 0.02, 0.03):
        clock.now_s = now_s
        frames += viewer.turn([])
    found = messages(frames)
    values = [np.frombuffer(data[CDR:], "<f8")[0] for _, data in found]
    assert values == list(range(50))
    assert set(np.diff([t_ns for t_ns, _ in found])) == {200_000}


def test_channels_have_a_topic_a_block_and_names_without_it(viewer):
    _, advertised = texts(viewer.turn([]))[:2]
    channels = {channel["topic"]: channel for channel in advertised["channels"]}
    assert {"/wheel", "/guard", "/mechanism/steering", "/events"} <= set(channels)
    assert channels["/wheel"]["encoding"] == "cdr"
    assert channels["/wheel"]["schemaEncoding"] == "ros2msg"
    assert "float64 angle_rad" in channels["/wheel"]["schema"]
    assert channels["/mechanism/steering"]["schemaName"] == "foxglove.SceneUpdate"
    assert json.loads(channels["/events"]["schema"])["type"] == "object"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("nonsense", "malformed"),
        ('{"op": "setParameters", "parameters": []}', "only shows"),
        ('{"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 999}]}', "no channel 999"),
        ('{"op": "subscribe", "subscriptions": [{"id": -1, "channelId": 1}]}', "id"),
        ("[" * 70_000, "at most"),
    ],
)
def test_a_message_that_is_refused_is_told_and_changes_nothing(viewer, clock, raw, words):
    viewer.turn([])
    clock.now_s = 0.005
    frames = viewer.turn([raw])
    (status,) = [one for one in texts(frames) if one["op"] == "status"]
    assert words in status["message"]
    assert not [one for one in frames if isinstance(one, bytes)]


def test_whoever_unsubscribes_gets_nothing_more(viewer, clock):
    subscribed(viewer, "/wheel")
    clock.now_s = 0.002
    assert messages(viewer.turn([]))
    viewer.turn([json.dumps({"op": "unsubscribe", "subscriptionIds": [1]})])
    clock.now_s = 0.004
    assert not messages(viewer.turn([]))


def test_a_source_that_is_gone_takes_its_channels_along(tmp_path, clock):
    folder = write_recorded_run(tmp_path)
    made = Viewer(lambda: RecordedSource(folder))
    subscribed(made, "/wheel")

    def gone(*_):
        raise SourceGoneError("the service is gone")

    made._source.capture = gone
    clock.now_s = 0.004
    found = texts(made.turn([]))
    assert [one["op"] for one in found] == ["status", "unadvertise"]
    made.close()


def test_a_mechanism_is_lines_and_an_event_a_log(tmp_path):
    source = RecordedSource(write_recorded_run(tmp_path))
    (mechanism,) = source.description.mechanisms
    moving = Moving(mechanism, 1000)
    scene = json.loads(scene_of(moving, 3_000_000_005))
    (entity,) = scene["entities"]
    assert entity["timestamp"] == {"sec": 3, "nsec": 5}
    assert len(entity["lines"]) > 10
    assert all(len(one["points"]) >= 2 for one in entity["lines"])
    topics = [channel.topic for channel in channels_of(source, [moving])]
    assert len(set(topics)) == len(topics)
    assert json.loads(log_of("it tripped", 4, 7))["message"] == "it tripped"
    assert ANGLE in source.signals
    moving.close()


def test_the_secret_of_the_door_does_not_show_that_of_the_page():
    assert secret_of("a" * 43) != "a" * 43
    assert secret_of("a" * 43) != secret_of("b" * 43)
    assert len(secret_of("a" * 43)) == 43
