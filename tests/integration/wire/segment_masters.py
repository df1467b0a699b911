"""Masters that are not ours, each on a segment of emulated slaves at the other end of a veth pair; run
inside a network namespace of its own by test_segment_masters.py. The result is one JSON line."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time

MASTER, SEGMENT = "veth0", "veth1"


def in_time(pid, priority):
    """Ahead of whatever else runs, where that is allowed: these masters give up within milliseconds."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(priority))


@contextlib.contextmanager
def serving(*devices, **options):
    """`rigloop sim-segment` at the other end."""
    command = [sys.executable, "-P", "-m", "rigloop", "sim-segment", "--interface", SEGMENT]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    process = subprocess.Popen([*command, *devices], stdout=subprocess.PIPE, text=True)
    lines = []
    while not lines or not lines[-1].startswith("serving"):
        lines.append(process.stdout.readline())
        assert lines[-1], lines
    in_time(process.pid, 50)
    in_time(0, 40)
    said = []
    try:
        yield said
    finally:
        process.terminate()
        said += process.communicate(timeout=20)[0].splitlines()


@contextlib.contextmanager
def soem(n, dc=False):
    """A pysoem master that has found n slaves."""
    import pysoem

    timeouts = pysoem.settings.timeouts
    timeouts.ret, timeouts.safe, timeouts.eeprom = 50_000, 200_000, 1_000_000
    master = pysoem.Master()
    master.open(MASTER)
    try:
        assert master.config_init() == n
        yield master
    finally:
        master.state = pysoem.INIT_STATE
        master.write_state()
        master.close()


def to_op(master, cycles=200):
    """SAFEOP and OP the usual way; return the working counter in the end."""
    import pysoem

    master.config_map()
    if master.state_check(pysoem.SAFEOP_STATE, 2_000_000) != pysoem.SAFEOP_STATE:
        master.read_state()
        raise AssertionError(
            [(slave.name, slave.state, slave.al_status) for slave in master.slaves]
        )
    master.send_processdata()
    master.receive_processdata(20_000)
    master.state = pysoem.OP_STATE
    master.write_state()
    for _ in range(cycles):
        master.send_processdata()
        master.receive_processdata(20_000)
        if master.state_check(pysoem.OP_STATE, 1_000) == pysoem.OP_STATE:
            break
    master.send_processdata()
    return master.receive_processdata(20_000)


def soem_drives(n):
    with serving(*["direct_drive"] * n), soem(n) as master:
        begin = time.monotonic()
        wkc = to_op(master)
        op_s = time.monotonic() - begin
        master.read_state()
        return {
            "states": [slave.state for slave in master.slaves],
            "wkc": wkc,
            "expected": master.expected_wkc,
            "to_op_s": op_s,
        }


def pysoem_two_drives():
    return soem_drives(2)


def pysoem_eight_drives():
    return soem_drives(8)


def pysoem_rack():
    """A coupler with terminals and, behind its second port, a drive."""
    names = ("ek_coupler", "digital_io", "analog_io", "encoder_input", "direct_drive")
    with serving(*names), soem(len(names)) as master:
        has_clock = master.config_dc()
        wkc = to_op(master)
        master.read_state()
        slaves = master.slaves
        master.slaves[1].output = b"\x5a"
        for _ in range(3):
            master.send_processdata()
            master.receive_processdata(20_000)
        return {
            "clock": bool(has_clock),
            "names": [slave.name for slave in slaves],
            "states": [slave.state for slave in slaves],
            "bytes": [[len(slave.output), len(slave.input)] for slave in slaves],
            "wkc": wkc,
            "expected": master.expected_wkc,
            "delays": [int.from_bytes(slave._fprd(0x0928, 4), "little") for slave in slaves],
        }


def pysoem_objects():
    """The dictionary as the information service tells it, and an object in segments both ways."""
    with serving("direct_drive"), soem(1) as master:
        slave = master.slaves[0]
        slave.sdo_write(0x2010, 0, bytes(range(128)))
        found = {}
        for item in slave.od:
            found[f"{item.index:04x}"] = [item.name.decode(), len(item.entries)]
        aborted = ""
        try:
            slave.sdo_read(0x5555, 0)
        except Exception as error:
            aborted = str(error)
        return {
            "objects": found,
            "notes": slave.sdo_read(0x2010, 0).hex(),
            "whole_mapping": slave.sdo_read(0x1A00, 0, ca=True).hex(),
            "aborted": aborted,
        }


def kickcat_drives():
    """The master of the KickCAT wheel: two drives to OP, CiA 402 enable, an object read."""
    import kickcat

    with serving("direct_drive", "direct_drive"):
        link = kickcat.create_link(MASTER, "")
        # its own 2 ms are too short for a busy machine; but it waits this long after every broadcast,
        # also after the one that asks for OP, and the drives' watchdog has 100 ms
        link.set_timeout(0.025)
        bus = kickcat.Bus(link)
        bus.init(0.1)
        slaves = bus.slaves()
        name = bus.read_sdo(slaves[0], 0x1008, 0, kickcat.Access.PARTIAL, 64, 1.0)
        object_name = bus.read_object_description(slaves[0], 0x6071)[0]
        bus.create_mapping(4096)
        bus.request_state(kickcat.State.SAFE_OP)
        bus.wait_for_state(kickcat.State.SAFE_OP, 2.0)
        sizes = [[slave.output_size, slave.input_size] for slave in slaves]
        for slave in slaves:
            slave.set_output_bytes(bytes(slave.output_size))
        for _ in range(5):
            bus.process_data()
        bus.request_state(kickcat.State.OPERATIONAL)
        bus.wait_for_state(kickcat.State.OPERATIONAL, 2.0, bus.process_data)
        status = []
        for control in (0x06, 0x07, 0x0F, 0x0F):
            for slave in slaves:
                slave.set_output_bytes(control.to_bytes(2, "little") + b"\0\0\x0a")
            for _ in range(2):
                bus.process_data()
            status.append([int.from_bytes(slave.input_data[:2], "little") for slave in slaves])
        states = [bus.get_state(slave).name for slave in slaves]
        return {
            "name": name.decode(),
            "object": object_name,
            "sizes": sizes,
            "states": states,
            "status": status,
        }


def ebpfcat_drives():
    """The asyncio master of ebpfcat: count, EEPROM, mailbox, dictionary, PDOs, OP."""
    from ebpfcat.ethercat import EtherCat, MachineState, Terminal

    async def work():
        bus = EtherCat(MASTER)
        await bus.connect()
        count = await bus.count()
        terminals = [Terminal(bus) for _ in range(count)]
        seen = []
        for position, terminal in enumerate(terminals):
            await terminal.initialize(-position, 10 + position)
            await terminal.to_operational(MachineState.PRE_OPERATIONAL)
            bits = await terminal.parse_pdos()
            terminal.pdo_out_sz, terminal.pdo_in_sz = ((n + 7) // 8 for n in bits)
            name = await terminal.sdo_read(0x1008, 0)
            objects = await terminal.read_ODlist()
            seen.append(
                {
                    "name": name.decode(),
                    "objects": len(objects),
                    "pdos": sorted(f"{index:04x}:{sub}" for index, sub in terminal.pdos),
                    "sizes": [terminal.pdo_out_sz, terminal.pdo_in_sz],
                }
            )
            await terminal.write_pdo_sm()
        states = []
        for terminal in terminals:
            await terminal.to_operational(MachineState.SAFE_OPERATIONAL)
            # the first outputs, by the station address
            await terminal.write(terminal.pdo_out_off, f"{terminal.pdo_out_sz}x")
            await terminal.to_operational(MachineState.OPERATIONAL)
            states.append(str(await terminal.get_state()))
        return {"count": count, "seen": seen, "states": states}

    with serving("direct_drive", "direct_drive"):
        return asyncio.run(asyncio.wait_for(work(), 40))


def capture():
    """A capture of pysoem on a rack, of all that is said, as a file for tshark."""
    path = sys.argv[2]
    names = ("ek_coupler", "digital_io", "analog_io", "direct_drive")
    dump = subprocess.Popen(
        ["tshark", "-q", "-i", MASTER, "-w", path], stderr=subprocess.PIPE, text=True
    )
    while "Capturing" not in dump.stderr.readline():
        assert dump.poll() is None
    time.sleep(0.5)
    with serving(*names), soem(len(names)) as master:
        to_op(master)
        master.config_dc()
        slave = master.slaves[3]
        objects = len([(item.name, item.entries) for item in slave.od])
        slave.sdo_write(0x2010, 0, bytes(range(128)))
        slave.sdo_read(0x2010, 0)
        slave.sdo_read(0x1A00, 0, ca=True)
        with contextlib.suppress(Exception):
            slave.sdo_read(0x5555, 0)
        for _ in range(20):
            master.send_processdata()
            master.receive_processdata(20_000)
    time.sleep(0.5)
    dump.terminate()
    dump.communicate(timeout=20)
    return {"objects": objects, "bytes": os.path.getsize(path)}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()))
