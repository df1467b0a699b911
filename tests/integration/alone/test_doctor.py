"""The doctor, strict and degraded, from the command line; rights are taken away for real."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest
import zmq

from rigloop.run_folder import messages
from rigloop.run_folder.manifest import read_manifest
from rt_core.doctor.check import Level

pytestmark = pytest.mark.slow

# neither a limit nor a capability to be on time with
LIMITS = ("prlimit", "--rtprio=0", "--memlock=65536")
CAPABILITIES = ("setpriv", "--bounding-set=-sys_nice,-ipc_lock", "--inh-caps=-all")
WITHOUT_RIGHTS = LIMITS + (CAPABILITIES if os.geteuid() == 0 else ())
MISSING = {"fifo priority", "memory lock"}


def rigloop(*arguments, wrapper=(), **changes):
    return subprocess.run(
        [*wrapper, sys.executable, "-m", "rigloop", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=180,
        env=os.environ | changes,
    )


def red(checks):
    return {check["name"] for check in checks if check["level"] == "red"}


def tables():
    return set(Path("/dev/shm").glob("rigloop-*"))


def test_json_has_every_check_worst_first_and_the_exit_code_follows():
    done = rigloop("doctor", "steering_wheel", "--json")
    message = json.loads(done.stdout)
    levels = [check["level"] for check in message["checks"]]
    assert levels == sorted(levels, key=list(Level).index)
    assert len(levels) >= 14
    assert message["good"] is not bool(red(message["checks"]))
    assert done.returncode == (0 if message["good"] else 1)


def test_lost_rights_are_red_with_remedies_on_whole_lines():
    done = rigloop("doctor", wrapper=WITHOUT_RIGHTS, COLUMNS="80")
    assert done.returncode == 1, done
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[0].split()[:3] == ["red", "fifo", "priority"]
    (remedy,) = [line for line in lines if "- rtprio 99" in line]
    assert "sudo tee -a /etc/security/limits.d/realtime.conf" in remedy
    assert "usermod -aG realtime" in remedy


def test_a_card_that_is_not_there_is_red():
    done = rigloop("doctor", "steering_wheel", "--bus", "nowhere0", "--json")
    found = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 1
    assert (found["network card"]["level"], found["network card"]["found"]) == (
        "red",
        "no nowhere0",
    )


def test_a_wrong_rig_is_wrong_input():
    assert rigloop("doctor", "no_such_rig").returncode == 2


def test_strict_refuses_before_anything_is_started(make_rig, tmp_path):
    before = tables()
    done = rigloop(
        "run", make_rig(), "--mode", "strict", "--for", 1, "--runs", tmp_path / "runs", "--json",
        wrapper=WITHOUT_RIGHTS,
    )  # fmt: skip
    assert done.returncode == 3, done
    first, *lines = json.loads(done.stdout)["mistakes"]
    assert "strict" in first
    assert {line.partition(":")[0] for line in lines} >= MISSING
    assert all("sudo" in line for line in lines if line.partition(":")[0] in MISSING)
    assert not (tmp_path / "runs").exists()
    assert tables() <= before


def test_the_cycle_process_refuses_too_whatever_the_doctor_said(make_rig, tmp_path):
    table = tmp_path / "table"
    (tmp_path / "rig.toml").write_text(make_rig().read_text())
    wanted = messages.Order("steering", str(table), mode=messages.Mode.STRICT)
    messages.write(tmp_path, "order.json", wanted)
    done = subprocess.run(
        [*WITHOUT_RIGHTS, sys.executable, "-P", "-m", "rigloop.live.cycle", str(tmp_path)],
        timeout=180,
    )
    assert done.returncode == 3
    report = messages.read_report(tmp_path)
    assert report.error.startswith("not real-time: fifo priority")
    assert report.first_cycle_ns == 0
    assert not table.exists()


def test_strict_runs_where_nothing_is_red(make_rig, tmp_path):
    rig = make_rig()
    found = json.loads(rigloop("doctor", rig, "--json").stdout)
    if red(found["checks"]) - {"hypervisor steal"}:
        pytest.skip(found["banner"])
    done = rigloop("run", rig, "--mode", "strict", "--for", 1, "--runs", tmp_path, "--json")
    outcome = json.loads(done.stdout)
    if done.returncode == 3 and outcome["mistakes"][1].startswith("hypervisor steal"):
        pytest.skip("the hypervisor takes time, now and then")
    manifest = read_manifest(outcome["folder"])
    assert (manifest.mode, manifest.real_time) == ("strict", True)
    # what the hypervisor does during the run is told as well
    assert outcome["banner"] in ("", "degraded: hypervisor steal")


@pytest.fixture(scope="module")
def degraded(make_rig, tmp_path_factory):
    """A run without rights: what it printed, its manifest, and what a telemetry subscriber heard."""
    folder = tmp_path_factory.mktemp("degraded")
    endpoint = f"ipc://{folder}/telemetry"
    heard, over = [], threading.Event()

    def listen():
        with zmq.Context() as context, context.socket(zmq.SUB) as socket:
            socket.setsockopt(zmq.LINGER, 0)
            socket.subscribe(b"supervisor")
            socket.connect(endpoint)
            while not over.is_set():
                if socket.poll(50):
                    heard.append(msgspec.msgpack.decode(socket.recv_multipart()[1]))

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        done = rigloop(
            "run", make_rig(), "--for", 2, "--runs", folder, "--telemetry", endpoint, "--json",
            wrapper=WITHOUT_RIGHTS,
        )  # fmt: skip
    finally:
        over.set()
        listener.join()
    assert done.stdout, done
    outcome = json.loads(done.stdout)
    return done, outcome, read_manifest(outcome["folder"]), heard


def test_a_degraded_run_runs_and_says_so_in_each_line(degraded):
    done, outcome, _, _ = degraded
    assert done.returncode == 0, done
    assert set(outcome["banner"].removeprefix("degraded: ").split(", ")) >= MISSING
    lines = [line for line in done.stderr.splitlines() if "RUNNING" in line]
    assert lines
    assert all("degraded: fifo priority, memory lock" in line for line in lines)


def test_a_degraded_run_keeps_what_was_found(degraded):
    _, outcome, manifest, _ = degraded
    found = {check.name: check for check in manifest.checks}
    assert manifest.mode == "degraded"
    assert {name for name in found if found[name].level is Level.RED} >= MISSING
    # also what takes longer than the start
    assert "% of 1 s" in found["hypervisor steal"].found
    assert {"package names", "compiler"} <= set(found)
    page = (Path(outcome["folder"]) / "report.html").read_text()
    assert f'<p class="band">{outcome["banner"]}</p>' in page


def test_telemetry_tells_how_many_checks_are_red(degraded):
    _, _, manifest, heard = degraded
    at_start = [
        check.name
        for check in manifest.checks
        if check.level is Level.RED and check.name != "hypervisor steal"
    ]
    assert heard
    assert heard[-1]["supervisor/degraded"] == len(at_start) >= 2


def test_a_run_with_its_rights_has_no_banner(good_run):
    manifest = read_manifest(good_run.folder)
    assert len(manifest.checks) >= 14
    reds = [check.name for check in manifest.checks if check.level is Level.RED]
    assert good_run.outcome["banner"] == (f"degraded: {', '.join(reds)}" if reds else "")


@pytest.mark.parametrize("bad", ["lax", "STRICT"])
def test_another_mode_is_wrong_input(bad):
    assert rigloop("run", "steering_wheel", "--mode", bad).returncode == 2
