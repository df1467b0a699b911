"""Scenarios of a ring: a master on veth0 and veth2, three emulated drives between veth1 and veth3; run by
test_ring.py, the result is one JSON line."""

import contextlib
import dataclasses
import json
import subprocess
import sys
import threading
import time

import msgspec
from veth_scenarios import Cells, cycle, end_segment, link_up, start_segment

from io_bridge.attendant import mailbox_service
from io_bridge.attendant.mailbox_service import socket_path
from io_bridge.buses.ethercat_bus import EthercatBus
from io_bridge.buses.simulated_bus import simulated_drive
from io_bridge.master.bringup import BringUpError
from io_bridge.slaves.clock_config import ClockConfig
from io_bridge.slaves.drive_config import DrivePlant
from io_bridge.wire.acyclic import AcyclicLine
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import RingReader, SignalTable

N = 3
FREE = [{"hands": "free"}] * N
SECOND = ("--second-interface", "veth3", "--orders")


def start_ring(tmp):
    return start_segment(tmp, FREE, *SECOND)


def order(segment, text):
    """Have the segment obey; its answer says that it has."""
    segment.stdin.write(text + "\n")
    # between them it may say that a link is down, or up again
    assert any(line.strip() == text for line in iter(segment.stdout.readline, ""))


def make_line(**changes):
    drives = [simulated_drive(DrivePlant(), i, N) for i in range(N)]
    # a busy machine is no lost frame, and no silent master
    drives = [dataclasses.replace(drive, watchdog_ms=500.0) for drive in drives]
    return EthercatBus("veth0", drives, **{"budget_us": 100_000.0, **changes})


def make_ring(**changes):
    return make_line(second_interface="veth2", **changes)


def ask(*request):
    return msgspec.to_builtins(mailbox_service.ask(*request))


class Steps:
    """Steps a bus and remembers what was bad."""

    def __init__(self, bus):
        self.block = bus.block()
        self.cells = Cells(self.block)
        self.k = 0

    def run(self, n):
        """Return bad cycles, the least torque of any drive, and the codes."""
        bad, least, codes = 0, float("inf"), set()
        for _ in range(n):
            codes.update(cycle(self.block, 1, self.k))
            self.k += 1
            bad += self.cells["valid"] != 1
            least = min([least, *(self.cells[f"drive{i}/torque_actual_nm"] for i in range(N))])
        return {"bad": bad, "least_nm": least, "codes": sorted(codes), "ring": self.ring}

    @property
    def ring(self):
        return [self.cells[f"ring_{what}"] for what in ("open", "near", "breaks")]

    def push(self):
        for i in range(N):
            self.cells[f"drive{i}/enable"] = 1
            self.cells[f"drive{i}/torque_nm"] = 1.0
        self.run(50)

    def during(self, n, act):
        """Step while `act` runs in another thread."""
        found = []
        thread = threading.Thread(target=lambda: found.append(act()))
        thread.start()
        result = self.run(n)
        while thread.is_alive():
            self.run(1)
        thread.join()
        return result | {"found": found[0]}


@contextlib.contextmanager
def ring_in_op(tmp, *, attended=True):
    """Bring up a ring, and close it; its segment, the bus and its steps."""
    segment = start_ring(tmp)
    with make_ring() as bus:
        steps = Steps(bus)
        bus.to_op()
        if attended:
            bus.attend()
        yield segment, bus, steps
        bus.close()


def every_cable_is_pulled(tmp):
    with ring_in_op(tmp, attended=False) as (segment, bus, steps):
        steps.push()
        closed = steps.run(50)
        pulls = []
        for cable in range(N + 1):
            pulled = steps.during(100, lambda c=cable: order(segment, f"unplug {c}"))
            words = [fault.words for fault in bus.faults()]
            plugged = steps.during(100, lambda c=cable: order(segment, f"plug {c}"))
            pulls.append({"pulled": pulled, "words": words, "plugged": plugged})
        counters = bus.block().counters
        faults = [fault.words for fault in bus.faults()]
    said = end_segment(segment)
    return {
        "closed": closed,
        "pulls": pulls,
        "counters": counters,
        "faults": faults,
        "segment": said,
    }


def the_same_without_a_second_interface(tmp):
    segment = start_segment(tmp, FREE, "--orders")
    with make_line() as bus:
        steps = Steps(bus)
        bus.to_op()
        steps.push()
        pulled = steps.during(100, lambda: order(segment, "unplug 2"))
        faults = [fault.words for fault in bus.faults()]
        bus.close()
        said = end_segment(segment)
    return {"pulled": pulled, "faults": faults, "segment": said, "end": steps.run(1)}


def a_card_of_the_master_goes_down(tmp):
    with ring_in_op(tmp) as (segment, bus, steps):
        steps.push()
        found = []
        for interface, cable in (("veth0", 0), ("veth2", N)):

            def pull(interface=interface, cable=cable):
                # a slave that sees its link go closes the ring there
                order(segment, f"unplug {cable}")
                link_up(False, interface)

            def plug(interface=interface, cable=cable):
                link_up(True, interface)
                time.sleep(0.1)
                order(segment, f"plug {cable}")

            pulled = steps.during(150, pull)
            asked = steps.during(20, lambda: ask(socket_path("veth0"), 1, 0x6076, 0))
            found.append({"pulled": pulled, "asked": asked, "plugged": steps.during(150, plug)})
        counters = bus.block().counters
    return {"found": found, "counters": counters, "segment": end_segment(segment)}


def objects_in_an_open_ring(tmp):
    with ring_in_op(tmp) as (segment, _, steps):
        steps.push()

        def transfer():
            path = socket_path("veth0")
            return [
                [
                    ask(path, i, 0x6072, 0, (700 + i).to_bytes(2, "little")),
                    ask(path, i, 0x6072, 0),
                    ask(path, i, 0x1008, 0),
                ]
                for i in range(N)
            ]

        asked = [steps.during(20, transfer)]
        for cable in range(N + 1):
            steps.during(10, lambda c=cable: order(segment, f"unplug {c}"))
            asked.append(steps.during(20, transfer))
            steps.during(10, lambda c=cable: order(segment, f"plug {c}"))
    return {"asked": asked, "segment": end_segment(segment)}


def a_slave_loses_its_power(tmp):
    with ring_in_op(tmp) as (segment, bus, steps):
        steps.during(50, lambda: order(segment, "power-off 1"))
        others = [steps.cells[f"drive{i}/valid"] for i in range(N)]
        faults = [fault.words for fault in bus.faults()]
        steps.during(10, lambda: order(segment, "power-on 1"))
        until = time.monotonic() + 10.0
        while steps.cells["al_state"] != 8 or steps.cells["valid"] != 1:
            steps.run(1)
            if time.monotonic() > until:
                break
        for i in range(N):
            steps.cells[f"drive{i}/reset"] = 1
        steps.run(5)
        for i in range(N):
            steps.cells[f"drive{i}/reset"] = 0
        steps.push()
        back = steps.run(20)
    return {"others": others, "faults": faults, "back": back, "segment": end_segment(segment)}


def frames_beside_the_cycle(tmp):
    """Slaves by position, and all at once, with the ring open at every place, and nobody who runs it."""
    from io_bridge.master.master import Master

    segment = start_ring(tmp)
    line = AcyclicLine("veth0", second="veth2")
    master = Master(line.transact, first_index=0x40, pause_s=0.001)
    for i in range(N):
        master.address(i)
    found = []
    for cable in (None, *range(N + 1)):
        if cable is not None:
            order(segment, f"unplug {cable}")
            # the first frames find out that a line is silent
            for _ in range(3):
                master_or_none(lambda: master.access(1, 0, 0x0010, bytes(2)))
        stations = [
            int.from_bytes(master.access(1, -i, 0x0010, bytes(2))[0], "little") for i in range(N)
        ]
        found.append([master.count(), stations])
        if cable is not None:
            order(segment, f"plug {cable}")
            master_or_none(master.count)
    line.close()
    end_segment(segment)
    return {"found": found}


def master_or_none(call):
    try:
        return call()
    except BringUpError:
        return None


def clocks(tmp):
    """The cycle keeps step with the reference clock while the ring opens behind it, and when the first cable is
    out and the clock is reached from the other end alone."""
    segment = start_ring(tmp)
    clock = ClockConfig(1_000_000, shift_ns=300_000, tolerance_ns=200_000, bandwidth_hz=5.0)
    ports = ("torque_nm", "enable", "reset")
    cells = {f"drive{i}/{port}": f"supervisor/{port}" for i in range(N) for port in ports}
    with make_ring(clock=clock, paths=cells, budget_us=20_000.0) as bus:
        bus.to_op()
        task = Task("t", [bus.block()], 1_000_000, steer=bus.block().steer)
        plan = plan_table([task], sorted(set(cells.values())))
        parts = {}
        with SignalTable.create(f"{tmp}/table", plan) as table:
            loop = Loop(plan, table)
            reader = RingReader(table, "t")
            loop.start()
            loop.wait(2.0)
            reader.drain()
            for name, text in (
                ("closed", None),
                ("middle", "unplug 2"),
                ("closed again", "plug 2"),
                ("first", "unplug 0"),
                ("plugged", "plug 0"),
            ):
                if text:
                    order(segment, text)
                loop.wait(1.5)
                rows = reader.drain()
                late = rows[-500:]
                parts[name] = {
                    "open": late["bus/ring_open"].tolist()[-1],
                    "locked": int(late["bus/dc_locked"].sum()),
                    "phase_us": sorted(
                        (t % 1_000_000) / 1e3 for t in late["bus/dc_time_ns"].tolist()
                    )[250],
                    "moved": bool((late["bus/dc_time_ns"][1:] > late["bus/dc_time_ns"][:-1]).all()),
                    "off_ns": [
                        abs(late[f"bus/drive{i}/dc_difference_ns"].tolist()[-1]) for i in range(N)
                    ],
                    "faults": [fault.words for fault in bus.faults()],
                }
            loop.stop()
            reader.close()
        return parts


def brought_up_with_a_cable_out(tmp):
    segment = start_ring(tmp)
    found = {}
    for cable in range(N + 1):
        order(segment, f"unplug {cable}")
        with make_ring() as bus:
            steps = Steps(bus)
            try:
                bus.to_op()
                steps.push()
                found[cable] = steps.run(20)
            except BringUpError as error:
                found[cable] = str(error)
        order(segment, f"plug {cable}")
    order(segment, "unplug 1")
    clock = ClockConfig(1_000_000, tolerance_ns=200_000, bandwidth_hz=5.0)
    with make_ring(clock=clock) as bus:
        try:
            bus.to_op()
        except BringUpError as error:
            found["clock"] = str(error)
    end_segment(segment)
    return found


def wrong_interfaces(tmp):
    found = {}
    for name, second in (("missing", "nosuch0"), ("same", "veth0"), ("down", "veth2")):
        if name == "down":
            link_up(False, "veth2")
        try:
            make_line(second_interface=second).open()
        except (OSError, ValueError) as error:
            found[name] = str(error)
    return found


def scanned(tmp):
    segment = start_ring(tmp)

    def scan(*options):
        command = [sys.executable, "-m", "rigloop", "scan", "veth0", *options]
        done = subprocess.run(command, capture_output=True, text=True)
        return {"code": done.returncode, "out": done.stdout, "err": done.stderr}

    both = ("--second-interface", "veth2", "--json")
    found = {"closed": scan(*both), "half": scan("--json")}
    order(segment, "unplug 1")
    found["open"] = scan(*both)
    end_segment(segment)
    return found


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](sys.argv[2])))
