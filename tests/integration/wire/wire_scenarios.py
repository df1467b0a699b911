"""Who has a wire: on veth pairs in a namespace of its own; run by test_wire.py, the result is one JSON line."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from busy_machine import TOLERANT_STEERING, edited
from fieldbus_scenarios import TWO, rigloop
from veth_scenarios import end_segment, kept, make_bus, start_segment

from io_bridge.attendant.scan import scan
from io_bridge.wire.foreign_master import listen
from io_bridge.wire.frame import WireDatagram, build
from io_bridge.wire.owner import WireOwner, WireTakenError, introduce
from rig_configs.load import find_rig

RIG = """
import sys, time
from io_bridge.wire.owner import WireOwner, introduce
introduce(sys.argv[1])
with WireOwner(*sys.argv[2:]):
    print("held", flush=True)
    time.sleep(60)
"""


def holder(purpose, *interfaces):
    """A process that has interfaces until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", RIG, purpose, *interfaces], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def refusal(*interfaces):
    try:
        with WireOwner(*interfaces):
            return ""
    except WireTakenError as error:
        return str(error)


def names(tmp):
    first = holder("rigloop run, /runs/" + "long/" * 40 + "steering-1", "veth0")
    ring = holder("rigloop soak \x1b[2J", "veth3", "veth2")
    found = {
        "pid": first.pid,
        "taken": refusal("veth0"),
        "free": refusal("veth1"),
        "one_of_two": refusal("veth1", "veth0"),
        "after_one_of_two": refusal("veth1"),
        "other_end_of_ring": refusal("veth2", "veth1"),
    }
    first.send_signal(signal.SIGKILL)
    first.wait()
    ring.kill()
    ring.wait()
    found["after_kill"] = refusal("veth0", "veth2", "veth3")
    return found


class Master:
    """A foreign master: sends frames of its own on an interface at a period, until it is told to end."""

    def __init__(self, period_s, destination=b"\xff" * 6, command=7):
        code = (
            "import socket,sys,time\n"
            "s=socket.socket(socket.AF_PACKET,socket.SOCK_RAW,0); s.bind(('veth0',0x88A4))\n"
            f"f=bytes.fromhex('{self.frame(destination, command).hex()}')\n"
            f"while True: s.send(f); time.sleep({period_s})\n"
        )
        self.process = subprocess.Popen([sys.executable, "-c", code])
        time.sleep(0.3)

    @staticmethod
    def frame(destination, command):
        frame = build([WireDatagram(command, 0x10, 0x0200 << 16, bytes(2))])
        return destination + bytes.fromhex("000304050607") + frame[12:]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.kill()
        self.process.wait()


def refused(act):
    try:
        act()
    except OSError as error:
        return str(error)
    return ""


def foreign(tmp):
    segment = start_segment(tmp, TWO)
    found = {"silent": [str(one) for one in listen("veth0")]}
    with Master(0.01):
        found["heard"] = [str(one) for one in listen("veth0", "veth2")]
        found["command"] = rigloop("scan", "veth0")
        found["scan"] = refused(lambda: scan("veth0"))
        found["run"] = refused(make_bus(2).open)
        # what was refused is free again
        found["free"] = refusal("veth0")
        forced = scan("veth0", force=True)
        found["forced"] = {
            "in_use": forced.in_use,
            "heard": forced.heard,
            "notes": [slave.note for slave in forced.slaves],
        }
    with Master(0.01, bytes.fromhex("00aabbccddee")):
        found["to_one"] = [str(one) for one in listen("veth1")]
    found["after"] = scan("veth0").in_use
    found["segment"] = end_segment(segment)
    return found


def foreign_in_mid_run(tmp):
    """A master that only reads begins while a run of ours goes on, and then writes."""
    segment = start_segment(tmp, TWO)
    found = {}
    with make_bus(2) as bus:
        bus.to_op()
        bus.attend()
        with kept(bus):
            time.sleep(1.2)
            found["alone"] = [event.words for event in bus.events()]
            with Master(0.05):
                time.sleep(1.2)
            found["reads"] = [event._asdict() for event in bus.events()]
            with Master(0.05, command=8):
                time.sleep(1.2)
            found["writes"] = [event._asdict() for event in bus.events()]
    end_segment(segment)
    return found


def rig(tmp):
    """The steering rig, whose drive is what the segment has."""
    path = Path(tmp) / "steering.toml"
    if not path.exists():
        path.write_text(edited(find_rig("steering_wheel").read_text(), TOLERANT_STEERING))
    return path


class Tap:
    """Counts the frames that a process sends: everything that leaves veth0 and is not of the cycle of the first run."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.bind(("veth0", 3))
        self.socket.setblocking(False)

    def acyclic(self):
        """Return how many frames with indices below the cycle's were seen since the last look."""
        n = 0
        while True:
            try:
                frame = self.socket.recv(2048)
            except BlockingIOError:
                return n
            n += frame[12:14] == b"\x88\xa4" and frame[17] < 0x40


def started(command, runs):
    """Start a run, and wait until it records."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rigloop", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 40
    while not list(runs.glob("*/*.npy")) and time.monotonic() < until and process.poll() is None:
        time.sleep(0.1)
    return process


def two_runs(tmp):
    segment = start_segment(tmp, [{"hands": "free"}])
    runs = Path(tmp) / "runs"
    common = ["run", str(rig(tmp)), "--bus", "veth0", "--runs", str(runs)]
    first = started([*common, "--json"], runs)
    time.sleep(1.0)
    with contextlib.closing(Tap().socket) as raw:
        tap = Tap()
        raw.close()
        tap.acyclic()
        second = rigloop(*common, "--for", "2")
        found = {"second": second, "frames": tap.acyclic()}
        tap.socket.close()
    found["alive"] = first.poll() is None
    first.send_signal(signal.SIGINT)
    found["folders"] = sorted(path.name for path in runs.iterdir())
    out, err = first.communicate(timeout=60)
    found["first"] = {"code": first.returncode, "out": out, "err": err}
    found["segment"] = end_segment(segment)
    return found


STRANGER = """
import contextlib, time, pysoem
master = pysoem.Master()
master.open("veth0")
found = master.config_init()
with contextlib.suppress(pysoem.ConfigMapError):
    # the run's attendant brings the slave back meanwhile
    master.config_map()
time.sleep(0.5)
for state in (pysoem.PREOP_STATE, pysoem.SAFEOP_STATE, pysoem.INIT_STATE):
    master.state = state
    master.write_state()
    time.sleep(0.3)
master.close()
print(found, flush=True)
"""


def stranger_in_mid_run(tmp):
    """A whole master of somebody else brings the ring up again while a run pushes."""
    segment = start_segment(tmp, [{"hands": "spring"}])
    runs = Path(tmp) / "runs"
    command = ["run", str(rig(tmp)), "--bus", "veth0", "--runs", str(runs), "--for", "8", "--json"]
    first = started(command, runs)
    time.sleep(2.0)
    done = subprocess.run(
        [sys.executable, "-c", STRANGER], capture_output=True, text=True, timeout=60
    )
    out, err = first.communicate(timeout=60)
    return {
        "stranger": [done.returncode, done.stdout, done.stderr[-500:]],
        "code": first.returncode,
        "out": out,
        "err": err,
        "segment": end_segment(segment),
    }


def segments(tmp):
    first = start_segment(tmp, TWO)
    found = rigloop("sim-segment", "--interface", "veth1", "--for", "1")
    end_segment(first)
    return found


if __name__ == "__main__":
    introduce("a scenario")
    os.environ["PYTHONSAFEPATH"] = "1"  # what is installed, not the folder that this runs in
    print(json.dumps(globals()[sys.argv[1]](sys.argv[2])))
