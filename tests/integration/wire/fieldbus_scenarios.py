"""The commands that look at a bus, on a veth pair in a namespace of its own; run by test_fieldbus.py,
the result is one JSON line."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from command_here import rigloop_here
from veth_scenarios import PATIENT_US, end_segment, kept, link_up, make_bus, start_segment

from io_bridge.emulator.catalogue.device_file import drive_text
from io_bridge.emulator.drive.objects import drive_description
from io_bridge.esi.write import esi_text
from io_bridge.slaves.drive_config import SIMULATED_IDENTITY, DrivePlant

TRIES = 3
TWO = [{"hands": "free"}] * 2


def rigloop(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "rigloop", *map(str, arguments)], capture_output=True, text=True
    )
    return {"code": done.returncode, "out": done.stdout, "err": done.stderr}


def here(*arguments):
    """The same in this process, which has no bus of its own meanwhile."""
    done = rigloop_here(*arguments)
    return {"code": done.returncode, "out": done.stdout, "err": done.stderr}


def written(*arguments):
    """The same until it has written its file: a busy host may lose the frames of one scan."""
    for _ in range(TRIES):
        done = here(*arguments)
        if done["code"] == 0:
            break
    return done


def described(tmp):
    """A folder with an ESI of the drive, older and with another PDO than it has, and a broken file."""
    folder = Path(tmp) / "esi"
    if not folder.exists():
        folder.mkdir()
        plain = drive_description(DrivePlant(), SIMULATED_IDENTITY)
        older = replace(
            plain,
            name="the drive of the ESI",
            identity=replace(SIMULATED_IDENTITY, revision=0),
            tx_pdos=(replace(plain.tx_pdos[0], entries=plain.tx_pdos[0].entries[:4]),),
        )
        (folder / "drive.xml").write_bytes(esi_text([older]))
        (folder / "broken.xml").write_text("<EtherCATInfo>")
    return folder


def nobody_runs_it(tmp):
    segment = start_segment(tmp, TWO)
    found = {
        "scan": rigloop("scan", "veth0", "--json"),
        "esi": here("scan", "veth0", "--esi", described(tmp), "--json"),
        "esi_table": here(
            "scan", "veth0", "--esi", described(tmp), "--skeleton", f"{tmp}/named.toml"
        ),
        "no_esi": here("scan", "veth0", "--esi", f"{tmp}/nothing.xml"),
        "table": written("scan", "veth0", "--skeleton", f"{tmp}/rig.toml"),
        "again": here("scan", "veth0", "--skeleton", f"{tmp}/rig.toml"),
        "read": rigloop("sdo", "veth0", 1, "0x6076", "--json"),
        "name": here("sdo", "veth0", 0, "0x1008"),
        "write": here("sdo", "veth0", 1, "0x6072", 77),
        "written": here("sdo", "veth0", 1, "0x6072", "--json"),
        "refused": here("sdo", "veth0", 1, "0x6076", 5),
        "large": here("sdo", "veth0", 1, "0x6072", 70000),
        "nobody": here("sdo", "veth0", 2, "0x6076"),
        "no_object": here("sdo", "veth0", 0, "6076"),
        "no_interface": here("scan", "nothing0"),
    }
    for key, name in (("skeleton", "rig"), ("named", "named")):
        with open(f"{tmp}/{name}.toml") as file:
            found[key] = file.read()
    found["segment"] = end_segment(segment)
    link_up(False)
    found["down"] = here("scan", "veth0", "--json")
    return found


def beside_a_loop(tmp):
    segment = start_segment(tmp, TWO)
    with make_bus(2, PATIENT_US) as bus:
        bus.to_op()
        bus.attend()
        with kept(bus) as block:
            before = block.counters
            found = {
                "scan": rigloop("scan", "veth0", "--json"),
                "read": rigloop("sdo", "veth0", 1, "0x6076", "--json"),
                "write": rigloop("sdo", "veth0", 1, "0x6072", 77, "--json"),
            }
        after = block.counters
        found["lost"] = after["lost"] - before["lost"]
        found["foreign"] = after["foreign"]
        found["al"] = [block.slave_status(i)[0] for i in range(2)]
    found["segment"] = end_segment(segment)
    return found


def a_slow_mailbox(tmp):
    path, esi = Path(tmp) / "slow.toml", Path(tmp) / "impatient.xml"
    path.write_text(drive_text(DrivePlant()))
    text = esi_text([drive_description(DrivePlant(), SIMULATED_IDENTITY)])
    limits = (
        b"<Info><Mailbox><Timeout><ResponseTimeout>60</ResponseTimeout></Timeout></Mailbox></Info>"
    )
    esi.write_bytes(text.replace(b"</Device>", limits + b"</Device>"))
    segment = start_segment(tmp, (), f"{path}+late_reply:ms=300")
    found = {
        "by_the_standard": here("sdo", "veth0", 0, "0x6076"),
        "by_the_esi": here("sdo", "veth0", 0, "0x6076", "--esi", esi),
        "no_esi": here("sdo", "veth0", 0, "0x6076", "--esi", f"{tmp}/nothing.xml"),
    }
    end_segment(segment)
    return found


def beside_a_foreign_master(tmp):
    segment = start_segment(tmp, TWO)
    with make_bus(2) as bus:
        bus.to_op()
        found = {"ours": rigloop("scan", "veth0")}
        # from here on it is nobody's that we know
        bus._owner.close()
        found |= {
            "scan": rigloop("scan", "veth0", "--force", "--json"),
            "read": rigloop("sdo", "veth0", 1, "0x6076"),
        }
        found["al"] = [bus.block().slave_status(i)[0] for i in range(2)]
    end_segment(segment)
    return found


def after_a_killed_master(tmp):
    segment = start_segment(tmp, TWO)
    code = "import veth_scenarios as v, os; b = v.make_bus(2); b.to_op(); v.cycle(b.block(), 20); os._exit(9)"
    subprocess.run([sys.executable, "-c", code], check=False)
    time.sleep(1.0)
    found = {
        "read": rigloop("sdo", "veth0", 1, "0x6076"),
        "scan": rigloop("scan", "veth0", "--json"),
    }
    end_segment(segment)
    return found


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](sys.argv[2])))
