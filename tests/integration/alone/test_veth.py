"""Real frames on a veth pair: pysoem brings the emulated drive to OP, our own frame runs beside
it."""

from pathlib import Path

import pytest

from io_bridge.host import namespace

pytest.importorskip("pysoem")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.netns,
    pytest.mark.skipif(namespace.why_not() is not None, reason=str(namespace.why_not())),
]
SCENARIOS = Path(__file__).parents[1] / "wire" / "veth_scenarios.py"
TURN = 2**20


def test_torque_turns_the_wheel_and_close_leaves_none(scenario):
    found = scenario("torque_turns_the_wheel")
    seen = found["seen"]
    assert found["codes"] == [0]
    assert found["faults"] == []
    assert found["valid"] == 1.0
    assert seen["wkc"] == seen["wkc_expected"] == 3.0
    assert seen["drive/al_state"] == 8
    assert seen["drive/operational"] == 1
    assert seen["drive/torque_actual_nm"] == pytest.approx(0.5, abs=0.00637)
    # 0.5 Nm on 0.06 kg m2 for some 0.4 s against 0.1 Nm of friction: well over a tenth of a turn,
    # at rest before
    assert found["rest"] == 0
    assert seen["drive/position_count"] > 0.05 * TURN
    assert seen["drive/velocity_count_s"] > 0
    assert found["segment"][-1] == "drive 0: INIT, 0.000 Nm"


def test_a_dead_segment_makes_inputs_invalid_but_never_zero(scenario):
    found = scenario("segment_dies")
    assert found["before"] != 0
    assert found["after"] == found["before"]
    assert found["valid"] == found["wkc"] == 0
    assert found["lost"] == 6
    assert found["codes"] == [0, 0, 2, 2, 2, 2]
    assert "frames lost or late beyond the limit" in found["faults"]


def test_a_silent_master_is_answered_by_the_slave_watchdog(scenario):
    found = scenario("master_falls_silent")
    assert found["enabled"] == 1
    assert found["silent"] == {
        "al_state": 0x14,
        "al_code": 0x1B,
        "operational": 0,
        "torque_actual_nm": 0,
        "statusword": 0x08,
    }
    assert found["codes"][-1] == 5
    assert any("0x001b process data watchdog" in text for text in found["faults"])
    # brought up and reset again it works as before
    assert found["again"] == 1
    assert found["codes_after"][-1] == 0
    assert found["segment"][-1] == "drive 0: INIT, 0.000 Nm"


def test_an_empty_wire_is_named_at_once(scenario):
    found = scenario("nobody_answers")
    assert (
        found["error"]
        == "veth0: no slave answers, the rig has 1: cable, power, or another kind of network"
    )
    assert found["s"] < 3.0


def test_a_bus_that_is_opened_again_leaves_no_descriptors(scenario):
    found = scenario("opened_again")
    assert len(set(found["open"])) == 1
    assert found["closed"] < found["open"][0]


def test_a_foreign_drive_is_refused_with_every_difference(scenario):
    found = scenario("wrong_drive")
    for field in ("vendor", "product", "revision"):
        assert field in found["error"]
    assert found["segment"][-1] == "drive 0: INIT, 0.000 Nm"


def test_sdo_traffic_does_not_disturb_the_cycle(scenario):
    found = scenario("sdo_beside_the_cycle")
    assert found["answers"] == [6370]
    assert found["name"] == "rigloop simulated CiA 402 drive"
    assert found["cycles"] > 50
    assert found["lost"] == 0
    assert found["valid"] == 1


def test_two_drives_keep_their_own_data(scenario):
    seen = scenario("two_drives")["seen"]
    assert seen["drive0/position_count"] / TURN == pytest.approx(0.1 / 6.283185307, abs=1 / TURN)
    assert seen["drive1/position_count"] / TURN == pytest.approx(-0.2 / 6.283185307, abs=1 / TURN)
    assert seen["wkc"] == seen["wkc_expected"] == 6


def test_a_cycle_that_stands_still_is_replaced_by_the_watchdog(scenario):
    found = scenario("a_cycle_that_stands_still")
    assert found["pushed"] > 0.9
    assert found["stall"]["sent"] >= 20
    # not the drive's own watchdog, which would have taken it out of OP
    assert found["segment"][-1] == "drive 0: OP, 0.000 Nm"


def test_a_killed_master_leaves_the_drive_to_its_watchdog(scenario):
    found = scenario("a_killed_master")
    assert found["said"] == "pushes"
    assert found["pushed"] == pytest.approx(1.0, abs=0.00637)
    # it still pushed when its last frame was gone: nothing but the watchdog ended that
    assert found["outlived_ms"] == pytest.approx(found["watchdog_ms"], abs=found["coarse_ms"] + 1.0)
    assert found["al"] == [0x14, 0x1B]
    assert found["statusword"] == 0x08


@pytest.mark.parametrize("drive", ["that_latches", "that_does_not"])
def test_the_watchdog_that_the_rig_asks_for_holds_whenever_the_drive_takes_it_over(scenario, drive):
    found = scenario(f"a_killed_master_of_a_drive_{drive}")
    assert found["pushed"] == pytest.approx(1.0, abs=0.00637)
    # 100 ms, what a slave has by itself, is not what was asked for
    assert found["watchdog_ms"] == 50.0
    assert found["outlived_ms"] == pytest.approx(50.0, abs=found["coarse_ms"] + 1.0)
    assert found["al"] == [0x14, 0x1B]


def test_pysoem_and_our_own_way_set_the_same(scenario):
    found = scenario("each_way_of_bringing_up")
    assert [found[way]["by"] for way in ("pysoem", "rigloop", "auto")] == [
        "PysoemMaster",
        None,
        "PysoemMaster",
    ]
    assert found["pysoem"]["codes"] == found["rigloop"]["codes"] == found["auto"]["codes"] == [0]
    assert found["pysoem"]["managers"] == found["auto"]["managers"] == found["rigloop"]["managers"]


def test_a_pulled_cable_ends_the_torque_and_a_replugged_one_brings_the_slaves_back(scenario):
    found = scenario("cable_pulled")
    assert found["before"] == pytest.approx(1.0, abs=0.00637)
    # three bad cycles fill the bucket
    assert found["pulled"][:4] == [0, 0, 2, 2]
    assert set(found["pulled"][2:]) == {2}
    assert "frames lost or late beyond the limit" in found["faults"]
    assert found["back_s"] < 2.0
    # their watchdogs made the drives fault, and that waits for a reset
    assert found["codes"] == [6]
    assert found["state"] == 0x08
    assert found["held"] == 0
    assert found["armed"] == pytest.approx(1.0, abs=0.00637)


def test_an_interface_without_a_link_is_named(scenario):
    assert "interface 'veth0': no link" in scenario("link_down_at_start")["error"]


def test_eight_drives_keep_their_own_data(scenario):
    found = scenario("eight_drives")
    assert found["codes"] == [0]
    assert found["wkc"] == [24, 24]
    expected = [0.1 * i / 6.283185307 * TURN for i in range(8)]
    assert found["counts"] == pytest.approx(expected, abs=1.0)


def test_the_loop_is_steered_to_the_reference_clock(scenario):
    found = scenario("clock_lock")
    phases = sorted(found["phase_us"])
    # unsteered the phase would be anywhere within the millisecond; jitter is this machine's
    assert phases[len(phases) // 2] == pytest.approx(300.0, abs=50.0)
    assert sum(found["locked"]) > 900


def test_another_process_reads_and_writes_objects_beside_the_cycle(scenario):
    found = scenario("sdo_of_another_process")
    answers = found["answers"]
    assert "[{'data': 'e2180000'}, {'data': '6400'}, {'data': '6400'}, " in answers
    assert "0x2fff:0 aborted: 0x06020000 object does not exist" in answers
    assert "'abort_code': 100794368" in answers
    assert "no slave 7: there are 1, from 0" in answers
    assert found["sdos"] > 20
    assert found["lost"] == 0
    assert found["al"] == 8
    assert not found["served"]


def test_couplers_and_terminals_run_beside_a_drive(scenario):
    pytest.importorskip("io_bridge.emulator.catalogue")
    found = scenario("coupler_and_terminals")
    seen = found["seen"]
    assert found["codes"] == [0]
    # four states; inputs and outputs of three slaves
    assert seen["wkc"] == seen["wkc_expected"] == 4 + 6
    assert [seen[f"{name}/al_state"] for name in ("coupler", "digital", "encoder", "drive")] == [
        8
    ] * 4
    assert seen["drive/torque_actual_nm"] == pytest.approx(0.5, abs=0.00637)


def test_replies_that_come_twice_or_from_elsewhere_are_counted_and_change_nothing(scenario):
    found = scenario("replies_that_come_twice")
    assert found["codes"] == [0, 0, 0]
    # twice the same again, once with another command, and one that is no frame
    assert found["changed"]["duplicated"] == 3
    assert found["changed"]["foreign"] == 1
    assert found["changed"]["lost"] == found["changed"]["late"] == found["changed"]["bad"] == 0
    assert found["seen"] == [1, 3]
