"""Slaves with quirks at the other end of a veth pair, and the bus of a run at this one; run inside a network
namespace of its own by test_quirk_wire.py. The result is one JSON line."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import traceback

from quirk_cases import CASES, drive
from veth_scenarios import PATIENT_US, Cells, cycle, link_up
from watched_segment import WatchedSegment

from io_bridge.buses.ethercat_bus import EthercatBus
from io_bridge.emulator.serving import sim_segment
from io_bridge.slaves.drive_config import DriveConfig

BUDGET_US = 20_000.0
TORQUE_NM = 1.0
LONG_CYCLES = 5000
FOLLOWED_CYCLES = 5
SHORTEST_WATCHDOG_S = 0.045  # of all cases, less the time of a cycle


class ForkedSegment:
    """A segment at the other end of the pair: a process of its own, which has imported already what it needs."""

    def __init__(self, devices):
        reading, writing = os.pipe()
        self._status = None
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                for number in (1, 2):
                    os.dup2(writing, number)
                os.close(reading)
                code = sim_segment.main(["--interface", "veth1", *devices])
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(code)
        os.close(writing)
        self.stdout = os.fdopen(reading)
        # slaves answer in time: these too, where that is allowed
        with contextlib.suppress(OSError):
            os.sched_setscheduler(self.pid, os.SCHED_FIFO, os.sched_param(50))
        until(self, "serving")

    def terminate(self):
        os.kill(self.pid, signal.SIGTERM)

    def poll(self, options=os.WNOHANG):
        if self._status is None:
            pid, status = os.waitpid(self.pid, options)
            self._status = os.waitstatus_to_exitcode(status) if pid else None
        return self._status

    def close(self):
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.poll(0)
        self.stdout.close()


def start(*devices):
    """`rigloop sim-segment` as a user starts it."""
    command = [sys.executable, "-P", "-m", "rigloop", "sim-segment"]
    process = subprocess.Popen(
        [*command, "--interface", "veth1", *devices],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1,
    )  # fmt: skip
    until(process, "serving")
    return process


def until(process, words):
    lines = []
    while not lines or words not in lines[-1]:
        lines.append(process.stdout.readline())
        assert lines[-1], lines
    return lines


def end(process):
    process.terminate()
    return process.communicate(timeout=10)[0].splitlines()


def torques(lines):
    """What each motor was asked for when the segment ended: Nm."""
    (said,) = (line for line in lines if line.startswith("drive 0:"))
    return [float(value) for value in re.findall(r"(-?\d+\.\d+) Nm", said)]


def brought_up(case):
    """What became of one case: OP with torque, or a sentence, and how long it took."""
    segment = ForkedSegment(case.devices)
    slaves = case.slaves()
    drives = [slave.name for slave in slaves if isinstance(slave, DriveConfig)]
    begin = time.monotonic()
    found = {"pushed": []}
    try:
        with EthercatBus("veth0", slaves, budget_us=BUDGET_US) as bus:
            cells = Cells(bus.block())
            bus.to_op()
            found["to_op_s"] = time.monotonic() - begin
            cycle(bus.block(), 5)
            for name in drives:
                cells[f"{name}/enable"] = 1
                cells[f"{name}/torque_nm"] = TORQUE_NM
            k, at = 5, time.monotonic()
            found["unserved_s"], found["bus_fault"] = 0.0, 0

            def serve():
                # the slave has waited no longer than from before its last good frame to the end of this one
                nonlocal k, at
                begin, lost = time.monotonic(), bus.block().counters["lost"]
                cycle(bus.block(), 1, k)
                k += 1
                if (
                    bus.block().counters["lost"] == lost
                ):  # the slave is there, and has read this frame
                    found["bus_fault"] = bus.block().counters["fault"]
                found["unserved_s"] = max(found["unserved_s"], time.monotonic() - at)
                if all(cells[f"{name}/valid"] for name in drives):
                    at = begin

            # a busy machine loses frames; the torque leaves with the frame after that which says "operational"
            followed = 0
            while k < LONG_CYCLES and followed < FOLLOWED_CYCLES:
                serve()
                followed += all(
                    cells[f"{name}/operational"] * cells[f"{name}/valid"] for name in drives
                )
            found["operational"] = [cells[f"{name}/operational"] for name in drives]
            # the slave ends first, and until then its watchdog is served
            segment.terminate()
            while segment.poll() is None:
                serve()
            if drives:
                found["pushed"] = torques(segment.stdout.read().splitlines())
    except Exception as error:
        found["refused"] = str(error)
        found["kind"] = type(error).__name__
        found["to_op_s"] = time.monotonic() - begin
    finally:
        segment.close()
    return found


def several():
    """What became of the cases of these names, a JSON line each; a case is a process of its own, which may crash."""
    for name in sys.argv[2:]:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for _ in range(3):
                    found = brought_up(CASES[name])
                    # a host that stops master or segment for so long shows the drive's watchdog alone, or the
                    # bus fault of a few frames that were late, which is no answer; any other outcome is one,
                    # and is not asked for twice
                    is_in_time = found.get("unserved_s", 0.0) < SHORTEST_WATCHDOG_S
                    found["served"] = is_in_time and not found.get("bus_fault")
                    if found["served"]:
                        break
                print(json.dumps({"case": name} | found), flush=True)
                code = 0
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if status:
            kind = f"exit code {os.waitstatus_to_exitcode(status)}"
            print(json.dumps({"case": name, "refused": "", "kind": kind}), flush=True)


def killed_master():
    """How long torque goes on at a slave that latches its watchdog when the master is killed, in ms."""
    from io_bridge.emulator.catalogue.devices import make_device

    (name,) = sys.argv[2:]
    device = make_device(name)
    with WatchedSegment(device) as watched:
        command = [sys.executable, __file__, "push"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as master:
            try:
                assert master.stdout.readline().strip() == "pushing"
                pushed = device.wanted_torque_nm
            finally:
                master.kill()
        outlived_ms, coarse_ms = watched.outlived_ms()
        return {"pushed": pushed, "outlived_ms": outlived_ms, "coarse_ms": coarse_ms}


def push():
    """Torque without end, for `killed_master`, with a watchdog of 50 ms."""
    bus = EthercatBus("veth0", drive(watchdog_ms=50.0), budget_us=BUDGET_US)
    cells = Cells(bus.block())
    bus.to_op()
    cells["drive/enable"] = 1
    cells["drive/torque_nm"] = TORQUE_NM
    k = 0
    while True:
        cycle(bus.block(), 1, k)
        k += 1
        if k == 100:
            print("pushing", flush=True)


def link_goes_down():
    """`rigloop sim-segment` while its link is down, is up again, and is taken away."""
    segment = start("direct_drive")
    found = {}
    link_up(False, "veth1")
    found["down"] = until(segment, "link is down")[-1]
    time.sleep(0.2)
    found["alive"] = segment.poll() is None
    link_up(True, "veth1")
    found["up"] = until(segment, "link is up again")[-1]
    with EthercatBus("veth0", drive(), budget_us=BUDGET_US) as bus:
        bus.to_op()
        cycle(bus.block(), 5)
        found["al"] = bus.block().slave_status(0)[0]
    # the other end of the cable
    link_up(False, "veth0")
    found["down_there"] = until(segment, "link is down")[-1]
    link_up(True, "veth0")
    until(segment, "link is up again")
    subprocess.run(["ip", "link", "del", "veth1"], check=True)
    found["gone"] = segment.communicate(timeout=10)[0]
    found["code"] = segment.returncode
    return found


def starts_with_link_down():
    """`rigloop sim-segment` begins although its link is down."""
    link_up(False, "veth1")
    segment = start("direct_drive")
    until(segment, "link is down")
    link_up(True, "veth1")
    until(segment, "link is up again")
    with EthercatBus("veth0", drive(), budget_us=PATIENT_US) as bus:
        bus.to_op()
        cycle(bus.block(), 5)
        found = {"al": bus.block().slave_status(0)[0]}
    end(segment)
    return found


if __name__ == "__main__":
    if sys.argv[1] == "several":
        several()
    else:
        print(json.dumps(globals()[sys.argv[1]]()))
