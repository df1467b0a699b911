"""Masters that are not ours bring emulated slaves to OP over real frames; tshark reads what was said."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from io_bridge.host import namespace

pytestmark = [
    pytest.mark.slow,
    pytest.mark.netns,
    pytest.mark.skipif(namespace.why_not() is not None, reason=str(namespace.why_not())),
]
MASTERS = Path(__file__).with_name("segment_masters.py")
OP = 8
EXPERT_ERROR = 0x00800000
DRIVE = "rigloop simulated CiA 402 drive"


def needs(package):
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"pip install {package}")


def run(name, *arguments):
    command = namespace.wrap([sys.executable, str(MASTERS), name, *map(str, arguments)])
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, env=os.environ)
    assert done.returncode == 0, done.stderr
    # a library may print its own lines, before or after
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))


@needs("pysoem")
@pytest.mark.parametrize("n", [2, 8])
def test_pysoem_brings_drives_to_op(n):
    found = run(f"pysoem_{'two' if n == 2 else 'eight'}_drives")
    assert found["states"] == [OP] * n
    assert found["wkc"] == found["expected"] == 3 * n


@needs("pysoem")
def test_pysoem_brings_a_coupler_with_terminals_and_a_drive_to_op():
    found = run("pysoem_rack")
    assert found["states"] == [OP] * 5
    # one byte each way without mailbox, 2 x 16 bits out and 2 x 32 in, 48 and 80 bits, the drive
    assert found["bytes"] == [[0, 0], [1, 1], [4, 8], [6, 10], [5, 13]]
    assert found["wkc"] == found["expected"] == 12
    assert found["names"][0] == "rigloop bus coupler"
    # pysoem measures the cables from the arrival times: 100 ns each and 300 ns in every slave; the
    # drive hangs at the coupler's second port, which the frame reaches after all terminals
    assert found["clock"]
    assert found["delays"] == [0, 400, 800, 1200, 2800]


@needs("pysoem")
def test_pysoem_reads_the_dictionary_and_values_in_segments():
    found = run("pysoem_objects")
    assert found["objects"]["6071"] == ["Target torque", 0]
    assert found["objects"]["1018"] == ["Identity", 5]
    assert len(found["objects"]) == 30
    assert found["notes"] == bytes(range(128)).hex()
    assert found["whole_mapping"].startswith("0500" + "10004160" + "20006460")
    assert "does not exist" in found["aborted"]


@needs("kickcat")
def test_kickcat_brings_two_drives_to_op_and_enables_them():
    found = run("kickcat_drives")
    assert found["name"] == DRIVE
    assert "Target torque" in found["object"]
    assert found["sizes"] == [[5, 13]] * 2
    assert found["states"] == ["OPERATIONAL"] * 2
    assert found["status"] == [[0x31] * 2, [0x33] * 2, [0x37] * 2, [0x37] * 2]


@needs("ebpfcat")
def test_ebpfcat_reads_two_drives_and_brings_them_to_op():
    found = run("ebpfcat_drives")
    assert found["count"] == 2
    for seen in found["seen"]:
        assert seen["name"] == DRIVE
        assert seen["objects"] == 30
        assert seen["sizes"] == [5, 13]
        assert {"6040:0", "6041:0", "6064:0", "6071:0"} <= set(seen["pdos"])
    assert found["states"] == ["(<MachineState.OPERATIONAL: 8>, False, 0)"] * 2


@needs("pysoem")
@pytest.mark.skipif(not namespace.has_tool("tshark"), reason="tshark is missing (package tshark)")
def test_tshark_finds_no_malformed_frame_in_a_whole_bring_up(tmp_path):
    path = tmp_path / "frames.pcapng"
    run("capture", path)

    fields = (
        "eth.src",
        "_ws.malformed",
        "_ws.short",
        "_ws.expert.severity",
        "ecat_mailbox.coe.sdoidx",
        "ecat_mailbox.coe.abortcode",
        "ecat_mailbox.coe.sdoinfoname",
    )
    wanted = [part for name in fields for part in ("-e", name)]
    command = ["tshark", "-r", path, "-Y", "ecat", "-T", "fields", "-E", "separator=|", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    rows = [dict(zip(fields, line.split("|"), strict=True)) for line in done.stdout.splitlines()]
    # bit 1 of the source address, which the first slave sets, tells a reply
    replies = [row for row in rows if int(row["eth.src"][:2], 16) & 2]
    assert len(replies) == len(rows) - len(replies) > 500
    assert not [row for row in rows if row["_ws.malformed"] or row["_ws.short"]]
    severities = {
        int(part, 0) for row in rows for part in row["_ws.expert.severity"].split(",") if part
    }
    # warnings: pysoem's own source address has the group bit
    assert max(severities, default=0) < EXPERT_ERROR

    def values(field):
        return [part for row in rows for part in row[field].split(",") if part]

    # what tshark understood: a transfer that was refused and why, and the dictionary
    assert values("ecat_mailbox.coe.sdoidx").count("0x5555") == 2
    assert values("ecat_mailbox.coe.abortcode") == ["0x06020000"]
    described = set(values("ecat_mailbox.coe.sdoinfoname"))
    assert {"Target torque", "Statusword", "Identity"} <= described
