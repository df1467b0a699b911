"""`rigloop scan` and `rigloop sdo` on real frames, with and without a loop beside them."""

import json
import tomllib
from pathlib import Path

import pytest

from io_bridge.host import namespace
from io_bridge.slaves.drive_config import SIMULATED_IDENTITY
from rigloop.blocks.kinds.bus import BusBlock

pytest.importorskip("pysoem")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.netns,
    pytest.mark.skipif(namespace.why_not() is not None, reason=str(namespace.why_not())),
]
SCENARIOS = Path(__file__).with_name("fieldbus_scenarios.py")


@pytest.fixture(scope="module")
def alone(scenario):
    return scenario("nobody_runs_it")


def test_a_scan_names_every_slave_and_what_it_maps(alone):
    found = json.loads(alone["scan"]["out"])
    assert alone["scan"]["code"] == 0
    assert not found["in_use"]
    assert [slave["position"] for slave in found["slaves"]] == [0, 1]
    for slave in found["slaves"]:
        assert (slave["vendor"], slave["product"]) == (
            SIMULATED_IDENTITY.vendor,
            SIMULATED_IDENTITY.product,
        )
        assert "CiA 402 drive" in slave["name"]
        assert slave["al_state"] == "INIT"
        assert slave["has_clock"]
        assert slave["outputs"][0]["entries"][0] == "0x6040:0/16"
        assert slave["inputs"][0]["entries"][:2] == ["0x6041:0/16", "0x6064:0/32"]


def test_a_scan_leaves_the_slaves_as_they_were(alone):
    assert [line for line in alone["segment"] if line.startswith("drive")] == [
        "drive 0: INIT, 0.000 Nm",
        "drive 1: INIT, 0.000 Nm",
    ]


def test_a_skeleton_is_a_bus_block_and_is_never_written_over(alone):
    block = tomllib.loads(alone["skeleton"])["blocks"]["bus"]
    config = BusBlock.model_validate(block)
    assert [drive.position for drive in config.drives.values()] == [0, 1]
    assert all(
        drive.identity.product == SIMULATED_IDENTITY.product for drive in config.drives.values()
    )
    assert set(config.reads) >= {"drive0/torque_nm", "drive1/reset"}
    assert alone["skeleton"].count("CHECK") > 3
    assert alone["again"]["code"] == 2
    assert "is there already" in alone["again"]["err"]


def test_an_esi_names_what_is_mapped_and_where_the_slave_says_otherwise(alone):
    assert alone["esi"]["code"] == 0
    for slave in json.loads(alone["esi"]["out"])["slaves"]:
        (outputs,) = slave["outputs"]
        assert outputs["names"] == [
            "Controlword UINT",
            "Target torque INT",
            "Modes of operation SINT",
        ]
        assert slave["esi"]["name"] == "the drive of the ESI"
        revision, mapping = slave["esi"]["differs"]
        assert revision == "revision 0x00000001; the ESI has 0x00000000"
        assert mapping.startswith("inputs: PDO 0x1a00 maps 0x6041:0/16 ")
        assert mapping.endswith("; the ESI has 0x6041:0/16 0x6064:0/32 0x606c:0/32 0x6077:0/16")
    said = alone["esi_table"]
    assert "0 outputs 0x1600: 0x6040:0/16 Controlword UINT  0x6071:0/16" in said["out"]
    assert "1 differs from its ESI: revision" in said["out"]
    assert "left out: " in said["err"]
    assert "broken.xml:1: no XML" in said["err"]
    assert "[blocks.bus.drives.drive1] # the drive of the ESI" in alone["named"]
    assert alone["no_esi"]["code"] == 2
    assert "nothing.xml: no such file or folder" in alone["no_esi"]["err"]


def test_objects_are_read_and_written_where_no_loop_runs(alone):
    assert json.loads(alone["read"]["out"])["unsigned"] == 6370
    assert "CiA 402 drive" in alone["name"]["out"]
    assert alone["write"]["code"] == 0
    assert "written" in alone["write"]["out"]
    assert json.loads(alone["written"]["out"])["unsigned"] == 77


@pytest.mark.parametrize(
    ("case", "code", "words"),
    [
        ("refused", 1, "0x6076:0 aborted: 0x06010002 object is read-only"),
        ("large", 1, "70000 does not fit the 2 bytes"),
        ("nobody", 1, "no slave 2: 2 answer, from 0"),
        ("no_object", 2, "write the index in hexadecimal"),
        ("no_interface", 3, "'nothing0': No such device"),
        ("down", 3, "interface 'veth0': no link"),
    ],
)
def test_what_goes_wrong_is_one_line_and_an_exit_code(alone, case, code, words):
    said = alone[case]
    assert said["code"] == code, said
    assert words in said["err"] + said["out"]
    assert "Traceback" not in said["err"]


def test_beside_a_loop_the_loop_serves_and_loses_nothing(scenario):
    found = scenario("beside_a_loop")
    scan = json.loads(found["scan"]["out"])
    assert scan["in_use"]
    assert [slave["al_state"] for slave in scan["slaves"]] == ["OP", "OP"]
    assert "0x2077:0/32" in scan["slaves"][1]["inputs"][0]["entries"]
    assert json.loads(found["read"]["out"])["unsigned"] == 6370
    assert json.loads(found["write"]["out"])["written"]
    assert (found["lost"], found["foreign"]) == (0, 0)
    assert found["al"] == [8, 8]


def test_slaves_of_a_killed_master_are_not_said_to_be_run_by_one(scenario):
    found = scenario("after_a_killed_master")
    said = " ".join(found["read"]["err"].split())
    assert found["read"]["code"] == 1
    assert "slave 1 is in SAFEOP+ERROR, 0x001b process data watchdog" in said
    assert "no master is heard" in said
    assert "its master was killed" in said
    assert "no master is heard" in json.loads(found["scan"]["out"])["slaves"][0]["note"]


def test_a_master_that_serves_no_objects_is_not_disturbed(scenario):
    found = scenario("beside_a_foreign_master")
    scan = json.loads(found["scan"]["out"])
    assert scan["in_use"]
    assert "serves no SDOs" in scan["slaves"][0]["note"]
    assert len(scan["heard"]) == 1
    assert found["ours"]["code"] == found["read"]["code"] == 3
    assert "a process of this package (process" in found["ours"]["err"]
    assert "another EtherCAT master speaks on this wire" in found["read"]["err"]
    assert found["al"] == [8, 8]


def test_an_object_is_waited_for_as_long_as_the_esi_of_its_slave_says(scenario):
    found = scenario("a_slow_mailbox")
    assert found["by_the_standard"]["code"] == 0, found["by_the_standard"]
    assert found["by_the_esi"]["code"] == 1, found["by_the_esi"]
    said = found["by_the_esi"]["err"]
    assert "0.06 s" in said
    assert said.count("allows more") == 1
    assert found["no_esi"]["code"] == 2
    assert "nothing.xml: no such file or folder" in found["no_esi"]["err"]
