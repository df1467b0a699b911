"""Scenarios on a veth pair, each run inside a network namespace of its own by test_veth.py; the
result is one JSON line."""

import ctypes
import json
import subprocess
import sys
import threading
import time

from io_bridge.bringup import BringUpError
from io_bridge.drive_config import DrivePlant
from io_bridge.ethercat_bus import EthercatBus
from io_bridge.sii import Identity
from io_bridge.simulated_bus import simulated_drive
from rt_core.load import BusyBlock
from rt_core.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.table import RingReader, SignalTable

# generous, so that a busy machine does not decide the outcome
BUDGET_US = 20_000.0
PERIOD_S = 0.001


class Cells:
    """A signal table for one block: cells by port."""

    def __init__(self, block):
        self.reads = dict.fromkeys(block.reads)
        self.writes = dict.fromkeys(block.writes)
        for group in (self.reads, self.writes):
            for port in group:
                group[port] = ctypes.c_double()
        block.bind(*([ctypes.addressof(c) for c in g.values()] for g in (self.reads, self.writes)))

    def __getitem__(self, port):
        return self.writes[port].value

    def __setitem__(self, port, value):
        self.reads[port].value = value


def start_segment(tmp, plants=({"hands": "free"},)):
    arguments = [sys.executable, "-P", "-m", "io_bridge.sim_segment", "--interface", "veth1"]
    for i, plant in enumerate(plants):
        path = f"{tmp}/plant{i}.json"
        with open(path, "w") as file:
            json.dump(plant, file)
        arguments += ["--plant", path]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert "serving" in process.stdout.readline()
    return process


def end_segment(process):
    process.terminate()
    return process.communicate(timeout=10)[0].splitlines()


def make_bus(n=1, **changes):
    drives = [simulated_drive(DrivePlant(), i, n) for i in range(n)]
    return EthercatBus("veth0", drives, budget_us=BUDGET_US, **changes)


def cycle(block, n, start=0):
    codes = []
    for k in range(start, start + n):
        codes.append(block.step(k * 1_000_000))
        time.sleep(PERIOD_S)
    return codes


def torque_turns_the_wheel(tmp):
    segment = start_segment(tmp)
    bus = make_bus()
    cells = Cells(bus.block())
    bus.open()
    begin = time.monotonic()
    bus.to_op(5.0)
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
        bus.to_op(5.0)
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
        bus.to_op(5.0)
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
        bus.to_op(5.0)
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


def nobody_answers(tmp):
    with make_bus() as bus:
        begin = time.monotonic()
        try:
            bus.to_op(5.0)
        except BringUpError as error:
            return {"error": str(error), "s": time.monotonic() - begin}
    return {}


def wrong_drive(tmp):
    segment = start_segment(tmp)
    drive = simulated_drive(DrivePlant())
    changed = type(drive)(**{**vars(drive), "identity": Identity(0x83, 0xAB, 2)})
    with EthercatBus("veth0", [changed]) as bus:
        try:
            bus.to_op(5.0)
        except BringUpError as error:
            return {"error": str(error), "segment": end_segment(segment)}
    return {}


def sdo_beside_the_cycle(tmp):
    segment = start_segment(tmp)
    with make_bus() as bus:
        cells = Cells(bus.block())
        bus.to_op(5.0)
        block = bus.block()
        cycle(block, 1)
        block.stop_keeping(False)
        thread = threading.Thread(target=block.keep, args=(1000.0,))
        before = block.counters
        thread.start()
        answers = set()
        for _ in range(300):
            answers.add(bus._master.slaves[0].sdo_read(0x6076, 0))
        name = bus._master.slaves[0].sdo_read(0x1008, 0).decode()
        time.sleep(0.1)
        block.stop_keeping()
        thread.join()
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
        bus.to_op(5.0)
        cycle(bus.block(), 20)
        return {"seen": {port: cell.value for port, cell in cells.writes.items()}}


def a_cycle_that_stands_still(tmp):
    segment = start_segment(tmp)
    cells = {f"drive/{port}": f"supervisor/{port}" for port in ("torque_nm", "enable", "reset")}
    with make_bus(paths=cells) as bus:
        bus.to_op(5.0)
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


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](sys.argv[2])))
