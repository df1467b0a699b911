"""An interface has one owner among our processes, and a foreign master is heard before anything is sent."""

import json
from pathlib import Path

import pytest

from io_bridge.host import namespace
from io_bridge.host.namespace import PAIR, SECOND_PAIR

pytest.importorskip("pysoem")
pytestmark = [
    pytest.mark.netns,
    pytest.mark.skipif(namespace.why_not() is not None, reason=str(namespace.why_not())),
]
SCENARIOS = Path(__file__).with_name("wire_scenarios.py")
PAIRS = (PAIR, SECOND_PAIR)


@pytest.mark.slow
def test_an_interface_has_one_owner_which_is_named_and_gone_with_its_process(scenario):
    found = scenario("names")
    assert f"(process {found['pid']}) has it" in found["taken"]
    assert "interface 'veth0'" in found["taken"]
    # a long path keeps its end
    assert "steering-1 (process" in found["taken"]
    assert found["free"] == ""
    assert found["one_of_two"]
    assert found["after_one_of_two"] == ""
    assert "rigloop soak ?[2J" in found["other_end_of_ring"]
    assert found["after_kill"] == ""


@pytest.mark.slow
def test_a_foreign_master_is_heard_and_refused_by_name(scenario):
    found = scenario("foreign")
    assert found["silent"] == []
    (heard,) = found["heard"]
    assert "EtherCAT frames in 0.20 s from 00:03:04:05:06:07 (BRD)" in heard
    assert len(found["to_one"]) == 1
    command = found["command"]
    assert command["code"] == 3, command
    assert "Traceback" not in command["err"]
    for said in (command["err"], found["scan"], found["run"]):
        assert "interface 'veth0': another EtherCAT master speaks on this wire: " in said
        assert "00:03:04:05:06:07 (BRD)" in said
    assert found["free"] == ""
    assert found["forced"]["in_use"]
    assert len(found["forced"]["heard"]) == 1
    assert (
        found["forced"]["notes"]
        == ["it has no station address, and beside another master none is given"] * 2
    )
    assert not found["after"]
    assert [line for line in found["segment"] if "INIT" in line]


@pytest.mark.slow
def test_a_foreign_master_in_mid_run_is_a_warning_also_where_it_only_reads(scenario):
    found = scenario("foreign_in_mid_run")
    assert found["alone"] == []
    (reads,) = found["reads"]
    assert reads["warns"]
    assert (
        "another EtherCAT master (00:03:04:05:06:07) sends on interface 'veth0'" in reads["words"]
    )
    assert "(BRD): it has only read so far" in reads["words"]
    (_, writes) = found["writes"]
    assert "it writes" in writes["words"]


@pytest.mark.slow
def test_a_second_run_is_refused_before_its_first_frame_and_the_first_goes_on(scenario):
    found = scenario("two_runs")
    said = found["second"]["err"] + found["second"]["out"]
    assert found["second"]["code"] == 3, said
    assert "'veth0'" in said
    assert "rigloop run" in said
    assert found["folders"][0] in said.replace("\n", "")
    assert found["frames"] == 0
    first = found["first"]
    assert found["alive"]
    assert first["code"] == 0, first


@pytest.mark.slow
def test_a_second_segment_on_one_end_is_refused(scenario):
    said = scenario("segments")
    assert said["code"] == 3
    assert "a rig's emulated segment (process" in said["err"]


@pytest.mark.slow
def test_a_whole_master_of_a_stranger_in_mid_run_ends_the_torque_and_is_named(scenario):
    found = scenario("stranger_in_mid_run")
    assert found["stranger"][0] == 0, found["stranger"]
    assert found["code"] == 1, found["err"]
    assert "Traceback" not in found["err"]
    outcome = json.loads(found["out"])
    assert any("slave left OP" in words for words in outcome["reasons"]), outcome["reasons"]
    # it ended the run before the watch had its next look
    assert any(
        "another EtherCAT master (01:01:01:01:01:01) sends on interface 'veth0'" in words
        for words in outcome["notes"]
    ), outcome["notes"]
    assert "drive 0: INIT, 0.000 Nm" in found["segment"]
