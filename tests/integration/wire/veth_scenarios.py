"""Scenarios on a veth pair, each run inside a network namespace of its own by test_veth.py; the
result is one JSON line."""

import contextlib
import dataclasses
import json
import os
import socket
import subprocess
import sys
import threading
import time

from block_cells import Cells
from watched_segment import WatchedSegment

from io_bridge.attendant.mailbox_service import ask, socket_path
from io_bridge.buses.ethercat_bus import EthercatBus
from io_bridge.buses.simulated_bus import simulated_drive
from io_bridge.emulator.catalogue.device_file import drive_text
from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.master.bringup import BringUpError
from io_bridge.slaves.clock_config import ClockConfig
from io_bridge.slaves.drive_config import DriveConfig, DrivePlant
from io_bridge.slaves.sii import Identity
from io_bridge.slaves.terminal_config import ChannelConfig, TerminalConfig
from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import RingReader, SignalTable

# generous, so that a busy machine does not decide the outcome
BUDGET_US = 20_000.0
# where no frame may be lost: one that the master mixes up never comes, one that the host holds back does
PATIENT_US = 500_000.0
PERIOD_S = 0.001


def start_segment(tmp, plants=({"hands": "free"},), *options):
    arguments = [
        sys.executable,
        "-P",
        "-m",
        "io_bridge.emulator.serving.sim_segment",
        "--interface",
        "veth1",
    ]
    arguments += options
    for i, plant in enumerate(plants):
        path = f"{tmp}/drive{i}.toml"
        with open(path, "w") as file:
            file.write(drive_text(DrivePlant(**plant)))
        arguments.append(path)
    process = subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert "serving" in process.stdout.readline()
    return process


def end_segment(process):
    process.terminate()
    return process.communicate(timeout=10)[0].splitlines()


def make_bus(n=1, budget_us=BUDGET_US, **changes):
    drives = [simulated_drive(DrivePlant(), i, n) for i in range(n)]
    return EthercatBus("veth0", drives, budget_us=budget_us, **changes)


def cycle(block, n, start=0):
    codes = []
    for k in range(start, start + n):
        codes.append(block.step(k * 1_000_000))
        time.sleep(PERIOD_S)
    return codes


@contextlib.contextmanager
def kept(bus, cycles=5):
    """Step a bus that is in OP, and then have a thread keep it at 1 ms; the block."""
    block = bus.block()
    cycle(block, cycles)
    block.stop_keeping(False)
    thread = threading.Thread(target=block.keep, args=(1000.0,))
    thread.start()
    try:
        yield block
    finally:
        block.stop_keeping()
        thread.join()


def torque_turns_the_wheel(tmp):
    segment = start_segment(tmp)
    bus = make_bus()
    cells = Cells(bus.block())
    bus.open()
    begin = time.monotonic()
    bus.to_op()
    to_op_s = time.monotonic() - begin
    block = bus.block()
    codes = cycle(block, 100)
    rest = cells["drive/position_count"]
    cells["drive/enable"] = 1
    cells["drive/torque_nm"] = 0.5
    valid, exchange_us = [], []
    for k in range(100, 500):
        codes += cycle(block, 1, k)
        valid.append(cells["drive/valid"])
        exchange_us.append(cells["exchange_ns"] / 1e3)
    seen = {port: cell.value for port, cell in cells.writes.items()}
    faults = [fault.words for fault in bus.faults()]
    bus.close()
    exchange_us.sort()
    return {
        "to_op_s": to_op_s,
        "codes": sorted(set(codes)),
        "rest": rest,
        "valid": sum(valid) / len(valid),
        "seen": seen,
        "faults": faults,
        "exchange_us": [exchange_us[len(exchange_us) // 2], exchange_us[-len(exchange_us) // 100]],
        "segment": end_segment(segment),
    }


def segment_dies(tmp):
    segment = start_segment(tmp, [{"amplitude_rad": 1.0, "frequency_hz": 2.0}])
    with make_bus() as bus:
        cells = Cells(bus.block())
        bus.to_op()
        cycle(bus.block(), 300)
        before = cells["drive/position_count"]
        segment.kill()
        segment.wait()
        codes = cycle(bus.block(), 6, 300)
        return {
            "before": before,
            "after": cells["drive/position_count"],
            "codes": codes,
            "valid": cells["drive/valid"],
            "wkc": cells["drive/wkc"],
            "lost": cells["lost"],
            "faults": [fault.words for fault in bus.faults()],
        }


def master_falls_silent(tmp):
    segment = start_segment(tmp)
    with make_bus() as bus:
        cells = Cells(bus.block())
        bus.to_op()
        cells["drive/enable"] = 1
        cells["drive/torque_nm"] = 0.2
        cycle(bus.block(), 50)
        enabled = cells["drive/operational"]
        time.sleep(0.3)
        codes = cycle(bus.block(), 20, 400)
        silent = {
            port: cells[f"drive/{port}"]
            for port in ("al_state", "al_code", "operational", "torque_actual_nm", "statusword")
        }
        faults = [fault.words for fault in bus.faults()]
        cells["drive/enable"] = 0
        bus.close()
        bus.open()
        bus.to_op()
        cells["drive/reset"] = 1
        cycle(bus.block(), 5)
        cells["drive/reset"] = 0
        cells["drive/enable"] = 1
        codes_after = cycle(bus.block(), 20, 5)
        again = cells["drive/operational"]
    return {
        "enabled": enabled,
        "codes": codes,
        "silent": silent,
        "faults": faults,
        "again": again,
        "codes_after": codes_after,
        "segment": end_segment(segment),
    }


def each_way_of_bringing_up(tmp):
    """The same ring by pysoem alone, by ours alone, and by both: what they have set, read from the slaves."""
    found = {}
    for way in ("pysoem", "rigloop", "auto"):
        segment = start_segment(tmp, ({"hands": "free"}, {"hands": "free"}))
        with make_bus(2, bringup=way) as bus:
            bus.to_op()
            codes = sorted(set(cycle(bus.block(), 20)))
            managers = [bus._master.read(0x1001 + i, 0x0800, 32).hex() for i in range(2)]
            loaded = type(bus._pysoem).__name__ if bus._pysoem else None
            found[way] = {"codes": codes, "managers": managers, "by": loaded}
        end_segment(segment)
    return found


def nobody_answers(tmp):
    with make_bus() as bus:
        begin = time.monotonic()
        try:
            bus.to_op()
        except BringUpError as error:
            return {"error": str(error), "s": time.monotonic() - begin}
    return {}


def opened_again(tmp):
    found = []
    for _ in range(4):
        with make_bus():
            found.append(len(os.listdir("/proc/self/fd")))
    return {"open": found, "closed": len(os.listdir("/proc/self/fd"))}


def wrong_drive(tmp):
    segment = start_segment(tmp)
    drive = simulated_drive(DrivePlant())
    changed = type(drive)(**{**vars(drive), "identity": Identity(0x83, 0xAB, 2)})
    with EthercatBus("veth0", [changed]) as bus:
        try:
            bus.to_op()
        except BringUpError as error:
            return {"error": str(error), "segment": end_segment(segment)}
    return {}


def sdo_beside_the_cycle(tmp):
    segment = start_segment(tmp)
    with make_bus(budget_us=PATIENT_US) as bus:
        cells = Cells(bus.block())
        bus.to_op()
        with kept(bus, 1) as block:
            before = block.counters
            answers = set()
            for _ in range(300):
                answers.add(bus._pysoem._master.slaves[0].sdo_read(0x6076, 0))
            name = bus._pysoem._master.slaves[0].sdo_read(0x1008, 0).decode()
            time.sleep(0.1)
        after = block.counters
        return {
            "answers": [int.from_bytes(a, "little") for a in answers],
            "name": name,
            "cycles": after["cycles"] - before["cycles"],
            "lost": after["lost"] - before["lost"],
            "valid": cells["drive/valid"],
            "segment": end_segment(segment),
        }


def two_drives(tmp):
    start_segment(
        tmp, [{"offset_rad": 0.1, "hands": "free"}, {"offset_rad": -0.2, "hands": "free"}]
    )
    with make_bus(2) as bus:
        cells = Cells(bus.block())
        bus.to_op()
        cycle(bus.block(), 20)
        return {"seen": {port: cell.value for port, cell in cells.writes.items()}}


def a_cycle_that_stands_still(tmp):
    segment = start_segment(tmp)
    cells = {f"drive/{port}": f"supervisor/{port}" for port in ("torque_nm", "enable", "reset")}
    with make_bus(paths=cells) as bus:
        bus.to_op()
        hang = BusyBlock("hang", 2_000_000_000, every=1 << 60, first=400)
        task = Task("t", [bus.block(), hang], 2_000_000, stall_cycles=30)
        plan = plan_table([task], cells.values())
        with SignalTable.create(f"{tmp}/table", plan) as table:
            reader = RingReader(table, "t")
            loop = Loop(plan, table, stop_timeout_s=0.1)
            loop.start()
            table.publish({"supervisor/torque_nm": 1.0, "supervisor/enable": 1.0})
            loop.wait(10.0)
            until = time.monotonic() + 1.0
            while loop.stall and loop.stall.sent < 20 and time.monotonic() < until:
                time.sleep(0.001)
            stall = loop.stall
            # the cycle still hangs: what the drive does now is what the watchdog told it
            said = end_segment(segment)
            loop.request_stop()
            loop.finish(10.0)
            rows = reader.drain()
            reader.close()
        pushed = float(rows["bus/drive/torque_actual_nm"].max())
        return {"stall": stall and stall._asdict(), "segment": said, "pushed": pushed}


def a_killed_master_of_a_drive_that_latches(tmp):
    """The drive takes its watchdog over on the way to SAFEOP, and what is written later is in vain."""
    return a_killed_master(tmp, 50.0, make_device("direct_drive+latched_watchdog"))


def a_killed_master_of_a_drive_that_does_not(tmp):
    return a_killed_master(tmp, 50.0)


def a_killed_master(tmp, watchdog_ms=200.0, device=None):
    """SIGKILL of the process that has the bus: what the drive does then is its watchdog's doing alone."""
    device = device or DriveDevice(DrivePlant(hands="free"))
    with WatchedSegment(device) as watched:
        code = f"import veth_scenarios as s; s.push({watchdog_ms})"
        master = subprocess.Popen(
            [sys.executable, "-c", code],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]),
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        said = master.stdout.readline()
        pushed = device.wanted_torque_nm
        master.kill()
        master.wait()
        outlived_ms, coarse_ms = watched.outlived_ms()
        return {
            "said": said.strip(),
            "pushed": pushed,
            "outlived_ms": outlived_ms,
            "coarse_ms": coarse_ms,
            "watchdog_ms": watchdog_ms,
            "al": [device.al_status, device.al_code],
            "statusword": device.statusword & 0x6F,
        }


def push(watchdog_ms):
    """Torque without end, for `a_killed_master`."""
    drive = dataclasses.replace(simulated_drive(DrivePlant()), watchdog_ms=watchdog_ms)
    bus = EthercatBus("veth0", [drive], budget_us=BUDGET_US)
    cells = Cells(bus.block())
    bus.to_op()
    cells["drive/enable"] = 1
    cells["drive/torque_nm"] = 1.0
    for k in range(1 << 30):
        bus.block().step(k * 1_000_000)
        if k == 100:
            print("pushes", flush=True)
        time.sleep(PERIOD_S)


def link_up(up, interface="veth0"):
    subprocess.run(["ip", "link", "set", interface, "up" if up else "down"], check=True)


def cable_pulled(tmp):
    segment = start_segment(tmp, [{"hands": "free"}] * 2)
    with make_bus(2) as bus:
        cells = Cells(bus.block())
        bus.to_op()
        bus.attend()
        cells["drive0/enable"] = 1
        cells["drive0/torque_nm"] = 1.0
        cycle(bus.block(), 50)
        before = cells["drive0/torque_actual_nm"]
        link_up(False)
        pulled = cycle(bus.block(), 200, 50)
        faults = [fault.words for fault in bus.faults()]
        link_up(True)
        begin = time.monotonic()
        codes, k = [], 250
        while time.monotonic() - begin < 10.0:
            codes += cycle(bus.block(), 1, k)
            k += 1
            if cells["al_state"] == 8 and cells["valid"]:
                break
        back_s = time.monotonic() - begin
        codes = cycle(bus.block(), 50, k)
        held = cells["drive0/torque_actual_nm"]
        state = int(cells["drive0/statusword"]) & 0x6F
        cells["drive0/reset"] = cells["drive1/reset"] = 1
        cycle(bus.block(), 50, k + 50)
        return {
            "before": before,
            "pulled": pulled,
            "faults": faults,
            "back_s": back_s,
            "codes": sorted(set(codes)),
            "held": held,
            "state": state,
            "armed": cells["drive0/torque_actual_nm"],
            "segment": end_segment(segment),
        }


def link_down_at_start(tmp):
    link_up(False)
    try:
        make_bus().open()
    except OSError as error:
        return {"error": str(error)}
    return {}


def eight_drives(tmp):
    segment = start_segment(tmp, [{"hands": "free", "offset_rad": 0.1 * i} for i in range(8)])
    with make_bus(8) as bus:
        cells = Cells(bus.block())
        bus.to_op()
        codes = cycle(bus.block(), 50)
        counts = [cells[f"drive{i}/position_count"] for i in range(8)]
        return {
            "codes": sorted(set(codes)),
            "counts": counts,
            "wkc": [cells["wkc"], cells["wkc_expected"]],
            "lost": cells["lost"],
            "segment": end_segment(segment),
        }


def clock_lock(tmp):
    """A loop of its own period against the segment's clock, which the bus block steers."""
    start_segment(tmp)
    clock = ClockConfig(1_000_000, shift_ns=300_000, tolerance_ns=200_000, bandwidth_hz=5.0)
    cells = {f"drive/{port}": f"supervisor/{port}" for port in ("torque_nm", "enable", "reset")}
    with make_bus(clock=clock, paths=cells) as bus:
        bus.to_op()
        task = Task("t", [bus.block()], 1_000_000, steer=bus.block().steer)
        plan = plan_table([task], cells.values())
        with SignalTable.create(f"{tmp}/table", plan) as table:
            loop = Loop(plan, table)
            reader = RingReader(table, "t")
            loop.start()
            loop.wait(3.0)
            rows = reader.drain()
            loop.stop()
            reader.close()
        return {
            "phase_us": [(t % 1_000_000) / 1e3 for t in rows["bus/dc_time_ns"][-1000:].tolist()],
            "locked": rows["bus/dc_locked"][-1000:].tolist(),
        }


def sdo_of_another_process(tmp):
    segment = start_segment(tmp)
    with make_bus(budget_us=PATIENT_US) as bus:
        bus.to_op()
        bus.attend()
        code = (
            "from msgspec import to_builtins\n"
            "from io_bridge.attendant import mailbox_service; p = mailbox_service.socket_path('veth0')\n"
            "def ask(*a): return to_builtins(mailbox_service.ask(*a))\n"
            "print([ask(p, 0, 0x6076, 0), ask(p, 0, 0x6072, 0, b'\\x64\\0'), ask(p, 0, 0x6072, 0),"
            " ask(p, 0, 0x2FFF, 0), ask(p, 7, 0, 0)])"
        )
        with kept(bus) as block:
            asked = subprocess.run(
                [sys.executable, "-P", "-c", code], capture_output=True, text=True
            )
            before = block.counters
            begin = time.monotonic()
            path, n = socket_path("veth0"), 0
            while time.monotonic() - begin < 1.0:
                ask(path, 0, 0x6076, 0)
                n += 1
            after = block.counters
        status = block.drive_status(0)
    return {
        "answers": asked.stdout.strip() or asked.stderr,
        "sdos": n,
        "lost": after["lost"] - before["lost"],
        "al": status[0],
        "served": socket_path("veth0").exists(),
        "segment": end_segment(segment),
    }


def coupler_and_terminals(tmp):
    command = [sys.executable, "-m", "rigloop", "sim-segment", "--interface", "veth1"]
    segment = subprocess.Popen(
        [*command, "ek_coupler", "digital_io", "encoder_input", "direct_drive"],
        stdout=subprocess.PIPE,
        text=True,
    )
    # its first lines say what is there; it serves once a slave answers
    slaves = [
        TerminalConfig("coupler"),
        TerminalConfig(
            "digital",
            inputs=(ChannelConfig("all", 0, bits=8),),
            outputs=(ChannelConfig("lamp", 5),),
        ),
        TerminalConfig("encoder", inputs=(ChannelConfig("count", 16, bits=32),)),
        DriveConfig("drive"),
    ]
    try:
        with EthercatBus("veth0", slaves, budget_us=BUDGET_US) as bus:
            cells = Cells(bus.block())
            until = time.monotonic() + 20.0
            while True:
                try:
                    bus.to_op()
                    break
                except BringUpError:
                    if time.monotonic() > until:
                        raise
            cells["digital/lamp"] = 1
            cells["drive/enable"] = 1
            cells["drive/torque_nm"] = 0.5
            codes = cycle(bus.block(), 100)
            records = [list(record.layout[:6]) for record in bus._records]
            return {
                "codes": sorted(set(codes)),
                "seen": {port: cell.value for port, cell in cells.writes.items()},
                "layouts": records,
            }
    finally:
        segment.terminate()
        segment.communicate(timeout=10)


def replies_that_come_twice(tmp):
    segment = start_segment(tmp)
    with make_bus() as bus, socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as wire:
        cells = Cells(bus.block())
        bus.to_op()
        cycle(bus.block(), 5)
        wire.bind(("veth1", 0x0003))  # all kinds: what leaves is seen too
        wire.settimeout(5.0)
        cycle(bus.block(), 1, 5)
        while True:
            reply, address = wire.recvfrom(2048)
            if address[2] == socket.PACKET_OUTGOING and reply[17] >= 0x80:
                break
        before = bus.block().counters
        wire.send(reply)
        wire.send(reply)
        # another one's frames with our indices: nothing that was sent, or no EtherCAT inside
        wire.send(reply[:16] + b"\x01" + reply[17:])
        wire.send(reply[:14] + b"\xff\xff" + reply[16:])
        time.sleep(0.05)
        codes = cycle(bus.block(), 3, 6)
        after = bus.block().counters
        changed = {key: after[key] - before[key] for key in after if key != "cycles"}
        seen = [cells["drive/valid"], cells["duplicated"]]
    end_segment(segment)
    return {"codes": codes, "changed": changed, "seen": seen}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](sys.argv[2])))
