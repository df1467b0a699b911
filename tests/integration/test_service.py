"""A service as its users meet it: a real process, clients that come, are killed, and take over; doors and keys."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from io_bridge.doorway import keys
from io_bridge.doorway.caller import Caller
from rig_configs.load import find_rig
from rigloop import Rig, open_run
from rigloop.protocol import requests as asked
from rigloop.protocol.answers import Phase, Why
from rigloop.protocol.client import ServiceClient, ServiceError
from rigloop.protocol.limits import MOST_BYTES, MOST_WIRE_BYTES
from rigloop.run_folder.manifest import read_manifest
from rigloop.run_folder.process_state import Process
from rigloop.service import journal

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "service.md").read_text()
START_TIMEOUT_S = 60
SIGNALS = ("wheel/angle_rad", "guard/torque_nm")


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """Give sockets, logs and keys places of this test."""
    before = dict(os.environ)
    folder = tmp_path_factory.mktemp("s", numbered=True)
    for kind in ("RUNTIME_DIR", "STATE_HOME", "CONFIG_HOME"):
        (folder / kind).mkdir()
        os.environ[f"XDG_{kind}"] = str(folder / kind)
    yield folder
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def serve(homes, make_rig, wait_for):
    """Start `rigloop serve` with a rig that tolerates a busy machine; return the process and the first client."""
    core = min(os.sched_getaffinity(0))
    usual, started = make_rig({"tasks.estimation.core": str(core)}), []

    def start(*options, rig=usual, name="steering"):
        command = [sys.executable, "-m", "rigloop", "serve", rig, "--runs", homes / "runs"]
        process = subprocess.Popen(
            [str(part) for part in (*command, "--no-report", *options)], stdout=subprocess.DEVNULL
        )
        started.append(process)

        def answers():
            assert process.poll() is None
            with contextlib.suppress(ServiceError):
                return ServiceClient(name, "first")

        return process, wait_for(answers, START_TIMEOUT_S, "an answer of the service")

    yield start
    for process in started:
        process.kill()
        process.wait()


def refusal(client, command, **given):
    with pytest.raises(ServiceError) as caught:
        client.ask(command, **given)
    return caught.value


def raw_answer(endpoint, raw, timeout_s=10.0):
    with Caller(endpoint) as caller:
        caller.send(raw)
        while (found := caller.receive(timeout_s)) == b"":
            pass
        return msgspec.msgpack.decode(found) if found else None


def test_a_session_of_two_clients_and_the_end_of_the_service(serve, homes, wait_for):
    pair = keys.new_pair(keys.key_folder())
    keys.authorise(keys.key_folder(), "me", pair.public)
    process, first = serve("--tcp", "tcp://127.0.0.1:*")
    (tcp,) = [one for one in first.hello.endpoints if one.startswith("tcp")]

    # nothing is armed by itself, and nothing that is no request changes that
    assert first.status().phase == Phase.IDLE
    raw = {"protocol": 2, "id": 7, "command": "arm"}
    old = raw_answer(first.endpoint, msgspec.msgpack.encode(raw))
    assert (old["why"], old["id"]) == ("protocol", 7)
    assert raw_answer(first.endpoint, b"\0" * (MOST_BYTES + 1))["why"] == "size"
    assert raw_answer(first.endpoint, b"\0" * (MOST_WIRE_BYTES + 1), 0.2) is None  # it hangs up
    assert refusal(first, asked.Arm).why == Why.CONTROL

    # one controls, the other looks on
    token = first.ask(asked.Take).token
    second = ServiceClient("steering", "second")
    assert "first (local) is in control" in str(refusal(second, asked.Take))
    assert refusal(second, asked.Arm, token="guessed").why == Why.CONTROL
    first.ask(asked.Arm, token=token)
    wait_for(lambda: second.status().phase == Phase.ARMED, START_TIMEOUT_S, "torque")

    # the service keeps off the processors of the rig's tasks; its runs start on all that it was given
    given = os.sched_getaffinity(0)
    assert os.sched_getaffinity(process.pid) == (given - {min(given)} or given)
    supervisor = read_manifest(Path(second.status().folder)).processes["supervisor"].pid
    assert os.sched_getaffinity(supervisor) == given

    # the one in control is killed, and the run goes on; another takes over, and the token is worth nothing
    first._caller._context.destroy(linger=0)
    run = Rig.attach("steering")
    run.wait_until("abs(guard/torque_nm) > 0.2", timeout_s=20)
    run.take_control(over=True)
    assert refusal(second, asked.Stop, token=token).why == Why.CONTROL

    # a third one over TCP: the same object, the same rig
    far = Rig.attach(tcp)
    far.wait_until("abs(guard/torque_nm) > 0.0 and guard/state == 2", timeout_s=20)
    assert far.state == run.state
    assert far.units["guard/torque_nm"] == "Nm"
    seen = far.capture(*SIGNALS, seconds=0.05, before_s=0.05)
    assert (seen.t_s[1:] > seen.t_s[:-1]).all()
    assert seen["guard/torque_nm"].shape == seen.t_s.shape
    far.take_control(over=True)
    # there may be others before it
    (lost,) = wait_for(lambda: notices_of(run, "control"), 20, "notice of a take-over")
    assert "taken over control" in lost.words

    # a key that was revoked is worth nothing, also on a connection that is there
    keys.revoke(keys.key_folder(), "me")
    wait_for(lambda: is_refused(far), 10, "end of a revoked key")
    with pytest.raises(ServiceError):
        ServiceClient(tcp, "stranger")

    # the service is killed: the loop ends at zero torque, and the run is judged
    folder = run.folder
    loop = Process.of(open_run(folder).manifest.processes["cycle"].pid)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_for(lambda: not loop.lives, 20, "end of the loop")
    wait_for(lambda: open_run(folder).manifest.state == "ended", 20, "verdict")
    recorded = open_run(folder)
    assert recorded["guard/torque_nm"][-1] == 0.0
    assert recorded.good, recorded.manifest.reasons

    # whoever looks into the run folder finds who did what
    entries = journal.read(folder / journal.NAME)
    done = [(one.author, one.command) for one in entries if one.done and one.author != "service"]
    assert done[:2] == [("first (local)", "take"), ("first (local)", "arm")]
    assert "second (local)" in {one.author for one in entries if not one.done}
    assert done[-1][1] == "take"
    assert "(me)" in done[-1][0]

    # one that is started again under the same name is not armed
    again, client = serve()
    assert client.status().phase == Phase.IDLE
    assert client.status().n_runs == 0
    client.ask(asked.Shutdown)
    assert again.wait(20) == 0


@pytest.fixture(scope="module")
def live(homes, serve):
    """Return a client of a service whose rig has live values."""
    (homes / "live.toml").write_text(find_rig("live_bench").read_text())
    return serve(rig=homes / "live.toml", name="live")[1]


def test_the_client_in_control_changes_live_values_and_the_journals_have_its_name(
    live, rigloop_here
):
    with Rig.attach("live") as run:
        with pytest.raises(ServiceError, match="needs control"):
            run.write(stiffness=20.0, preload=0.0)
        run.take_control().start()
        live.ask(asked.Write, values={"assistance": 0.9})  # anyone may
        with pytest.raises(ServiceError, match="50") as caught:
            run.write(stiffness=50.0, preload=0.0)
        assert caught.value.why == Why.VALUE
        assert run.signals["live/changes"] == 1
        assert run.write({"stiffness": 20.0, "preload": (1.5, "Nm")}) == 2
        run.wait_until("stiffness/value == 20 and preload/value == 1.5", timeout_s=10)
        run.stimulate("shake")
        run.wait_until("shake/state == 2", timeout_s=10)
        folder = run.folder
        terminal(run, rigloop_here)
        run.take_control()
        run.stop()
    written = [msgspec.json.decode(line) for line in (folder / "live.jsonl").open("rb")]
    assert [one["author"] for one in written[:2]] == ["first (local)", run._seat.client.hello.you]
    entries = journal.read(folder / journal.NAME)
    writes = [one.author for one in entries if one.command == "write" and one.done]
    assert writes == [one["author"] for one in written if "refused" not in one]


def terminal(run, rigloop_here):
    """Read and change live values at a terminal, beside the client in control, and after it."""

    def asked_for(*words):
        done = rigloop_here("service", *words, "--json")
        return json.loads(done.stdout) if not done.returncode else done.stderr + done.stdout

    rows = {row["name"]: row for row in asked_for("live")}
    assert (rows["stiffness"]["now"], rows["stiffness"]["upper"]) == (20.0, 40.0)
    assert rows["shake"]["kind"] == "stimulus"
    assert asked_for("read", "preload/value", "live/changes")[0]["value"] == 1.5
    unknown = asked_for("read", "preload/valeu")
    assert "live: no signal 'preload/valeu': did you mean 'preload/value'" in unknown

    # what the rig file leaves to anyone needs no control, all else does
    assert asked_for("live", "assistance=0.7")["change"] == 4
    assert "is in control" in asked_for("live", "stiffness=10", "preload=0")
    run.give_control()
    changed = asked_for("live", "stiffness=10", "preload=-1.25 Nm")
    assert changed["values"] == {"stiffness": 10.0, "preload": [-1.25, "Nm"]}
    run.wait_until("stiffness/value == 10 and preload/value == -1.25", timeout_s=10)
    assert asked_for("stimulate", "shake", "--end")["change"] == 6
    run.wait_until("shake/state == 0", timeout_s=10)
    wrong = {
        ("live", "stiffnes=10"): "mean 'stiffness'",
        ("live", "stiffness=10"): "group",
        ("live", "assistance=7"): "assistance = 7.0",
        ("live", "assistance=nan"): "NAME=VALUE",
        ("live", "assistance=0.5 Nm"): "Nm",
        ("live", "assistance=1", "assistance=2"): "twice",
        ("stimulate", "shak"): "mean 'shake'",
    }
    for words, told in wrong.items():
        assert told in asked_for(*words), words
    assert run.signals["live/changes"] == 6
    assert "nobody" in rigloop_here("service", "status").stdout
    assert "Nm/rad" in rigloop_here("service", "live").stdout


def test_the_session_of_the_page_prints_what_the_page_says(live, capsys):
    (text,) = re.findall(r"<!-- session -->\n```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    names = {}
    capsys.readouterr()
    exec(text.replace("live_bench", "live"), names)
    told = [line.replace("live_bench", "live") for line in re.findall(r"# -> (.*)", text)]
    assert capsys.readouterr().out.splitlines() == told
    assert len(told) == 3
    assert names["verdict"].folder == live.status().folder


def test_a_name_that_is_taken_is_refused_and_no_endpoint_is_announced(live, rigloop_here):
    done = rigloop_here("serve", "live_bench", "--name", "live")
    assert (done.returncode, done.stdout) == (3, "")
    assert "another service has this name; give --name" in done.stderr


def notices_of(rig, what):
    return [one for one in rig._seat.client.notices(0.2) if one.what == what]


def is_refused(rig):
    try:
        rig._seat.client.status()
    except ServiceError as error:
        return error.why == Why.CONTROL
    except TimeoutError:
        return True
    return False
