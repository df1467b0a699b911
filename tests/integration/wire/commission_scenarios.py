"""A drive on a veth pair in a namespace of its own, walked and run, as test_commission.py asks; the result is one
JSON line."""

import contextlib
import json
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path

import msgspec
import numpy as np
from rich.console import Console
from walked_rig import write_rig

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.emulator.serving.sim_segment import Beside, serve_until
from io_bridge.slaves.drive_config import DrivePlant
from io_bridge.wire.packet_socket import PacketSocket
from rigloop.commission.axis import axis_of
from rigloop.commission.commission import sign
from rigloop.commission.hands import Act
from rigloop.commission.live_stand import LiveStand
from rigloop.commission.progress import Kept
from rigloop.commission.step import Bench
from rigloop.commission.steps import emergency_stop
from rigloop.commission.talk import TerminalTalk
from rigloop.commission.walk import Walked, find_steps, measured, walk
from rigloop.compose.parts import backends_of
from rigloop.console.interrupts import Interrupted
from rigloop.sign_off.signed_file import rig_hash

# a busy machine decides nothing of this
TOLERANT = (
    ("period_us = 200", "period_us = 1000\nstall_cycles = 10000"),
    ("priority = 70", "priority = 70\nstall_cycles = 10000"),
    ('backend = "eth9"', 'backend = "eth9"\nexchange_budget_us = 50000\nbad_limit = 1000'),
    ("watchdog_ms = 100.0", "watchdog_ms = 300.0"),
    (
        "max_rate_rad_s = 40.0",
        "max_rate_rad_s = 400.0\nmax_gap_ms = 2000.0\nmax_request_age_ms = 2000.0\nsensor_hold_ms = 1e5\n"
        "heartbeat_timeout_ms = 2000.0\nskip_bucket_ms = 1e6\nsensor_bucket_ms = 1e6",
    ),
)
# in simulated time all of them are walked: here the loop, the objects and the kill are real
WALKED = ("identity", "torque_direction", "watchdog")


@contextlib.contextmanager
def served(**plant):
    """Serve one drive at the other end of the pair."""
    device = DriveDevice(DrivePlant(hands="free", **plant))
    segment = Segment([device])
    wire = PacketSocket("veth1", 0x00, 0xFF)
    over = threading.Event()
    ends = (wire, None)
    begin_ns = time.monotonic_ns()
    thread = threading.Thread(
        target=serve_until, args=(segment, ends, begin_ns, over.is_set, Beside(None))
    )
    thread.start()
    try:
        yield device
    finally:
        over.set()
        thread.join()
        wire.close()


class NoHands:
    """Hands that are off the wheel already."""

    def do(self, act):
        assert act is Act.LET_GO


class LateHands:
    """Hands that press the stop of a drive which loses its master later, in the same take."""

    def __init__(self, device):
        self._device = device

    def do(self, act):
        if act is Act.PRESS_STOP:
            time.sleep(0.3)
            self._device.press_stop()
            time.sleep(0.3)
            self._device.trip(0x8130)


def a_walk(tmp):
    loaded = write_rig(Path(tmp), "eth9", *TOLERANT)
    axis = axis_of(loaded, None, backends_of(loaded.rig, "veth0"))
    found = {}
    with served() as device, LiveStand(loaded, axis, "veth0", rig_hash(loaded)) as stand:
        found["who"] = asdict(stand.identity())
        kept = Kept(None, "0" * 64, "guard", stand.identity())
        steps = [step for step in find_steps() if step.name in WALKED]
        talk = TerminalTalk(Console(quiet=True))
        walked = walk(stand, NoHands(), talk, kept, steps=steps)
        found["limit"] = [stand.read(0x6072), stand.read(0x7072)]
        found["results"] = msgspec.to_builtins(walked.results)
        if walked.good:
            began = {"sha256": rig_hash(loaded), "identity": stand.identity()}
            found["signed"] = str(sign(loaded, stand, Walked(walked.results, ()), "Ada", **began))
        stand.patience_s = 1.0
        stopped = measured(emergency_stop.STEP, Bench(stand, LateHands(device)))
        found["stop"] = [stopped.good, stopped.words, stand.fault_code()]
    return found


def an_interrupt(tmp):
    loaded = write_rig(Path(tmp), "eth9", *TOLERANT)
    axis = axis_of(loaded, None, backends_of(loaded.rig, "veth0"))
    found = {}
    with served() as device:
        over = threading.Event()

        def look():
            # until it is over: the last moment with torque
            while not over.wait(0.002):
                if abs(device.wanted_torque_nm) > 1e-3:
                    found["zero"] = time.monotonic()

        def interrupted():
            time.sleep(0.2)
            found["acting_nm"] = device.wanted_torque_nm
            found["pressed"] = time.monotonic()
            raise Interrupted("SIGINT")

        looks = threading.Thread(target=look)
        looks.start()
        # back and forth, and longer than the cycle process is waited for
        torque = np.tile(np.repeat([0.3, -0.3], 50), 80)
        try:
            with LiveStand(loaded, axis, "veth0", rig_hash(loaded)) as stand:
                stand.play(torque, during=interrupted)
        except Interrupted:
            found["code"] = stand._child.returncode
        found["closed"] = time.monotonic()
        time.sleep(0.1)
        over.set()
        looks.join()
    return found


def a_run_without_a_signature(tmp):
    loaded = write_rig(Path(tmp), "eth9", *TOLERANT)
    command = [sys.executable, "-m", "rigloop", "run", str(loaded.path), "--bus", "veth0"]
    command += ["--for", "0.5", "--json", "--runs", f"{tmp}/runs"]
    # three times the torque that the rig means
    with served(rated_torque_nm=19.11):
        done = subprocess.run(command, capture_output=True, text=True)
    return {"code": done.returncode, "out": done.stdout, "err": done.stderr}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](sys.argv[2])))
