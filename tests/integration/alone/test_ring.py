"""Cable redundancy on real frames: a master with two interfaces, three emulated drives between them."""

import json
import math
from pathlib import Path

import pytest

from io_bridge.host import namespace

pytest.importorskip("pysoem")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.netns,
    pytest.mark.skipif(namespace.why_not() is not None, reason=str(namespace.why_not())),
]
SCENARIOS = Path(__file__).parents[1] / "wire" / "ring_scenarios.py"
PAIRS = (namespace.PAIR, namespace.SECOND_PAIR)
N = 3
PLACES = ["the first interface", "drive0", "drive1", "drive2", "the second interface"]


def between(cable):
    return f"the ring is open between {PLACES[cable]} and {PLACES[cable + 1]}: cable or power"


def test_torque_flows_on_wherever_a_cable_is_pulled_and_put_back(scenario):
    found = scenario("every_cable_is_pulled")
    assert found["closed"]["codes"] == [0]
    assert found["closed"]["bad"] == 0
    assert found["closed"]["ring"] == [0, 0, 0]
    for cable, pull in enumerate(found["pulls"]):
        for part in (pull["pulled"], pull["plugged"]):
            assert part["bad"] <= 1, (cable, part)
            assert part["codes"] == [0]
            # of every drive, in every cycle
            assert part["least_nm"] == pytest.approx(1.0, abs=0.00637)
        assert pull["pulled"]["ring"] == [1, cable, cable + 1]
        assert pull["words"] == [between(cable)]
        assert pull["plugged"]["ring"] == [0, cable, cable + 1]
    assert found["faults"] == []
    assert found["counters"]["lost"] <= 2 * (N + 1)
    for counter in ("duplicated", "foreign", "fault", "held"):
        assert found["counters"][counter] == 0
    assert [line for line in found["segment"] if line.startswith("drive")] == [
        f"drive {i}: INIT, 0.000 Nm" for i in range(N)
    ]


def test_without_a_second_interface_a_pulled_cable_ends_the_torque_as_ever(scenario):
    found = scenario("the_same_without_a_second_interface")
    assert found["pulled"]["codes"] == [0, 3]
    assert found["pulled"]["bad"] > 10
    assert all(math.isnan(value) for value in found["pulled"]["ring"])
    assert "working counter wrong beyond the limit (drive2)" in found["faults"]
    assert not any("ring" in fault for fault in found["faults"])


def test_a_card_of_the_master_that_goes_down_costs_a_cycle_at_most(scenario):
    found = scenario("a_card_of_the_master_goes_down")
    for part, cable in zip(found["found"], (0, N), strict=True):
        assert part["pulled"]["bad"] <= 1
        assert part["pulled"]["codes"] == [0]
        assert part["pulled"]["ring"][:2] == [1, cable]
        assert part["pulled"]["least_nm"] == pytest.approx(1.0, abs=0.00637)
        assert part["asked"]["found"] == {"data": "e2180000"}
        assert part["asked"]["bad"] == 0
        assert part["plugged"]["bad"] <= 1
        assert part["plugged"]["ring"][0] == 0
    assert found["counters"]["held"] == 0


def test_objects_are_read_and_written_in_a_closed_and_in_an_open_ring(scenario):
    found = scenario("objects_in_an_open_ring")
    assert len(found["asked"]) == N + 2
    for part in found["asked"]:
        assert part["bad"] == 0
        for i, (written, read, name) in enumerate(part["found"]):
            value = (700 + i).to_bytes(2, "little").hex()
            assert written == read == {"data": value}
            assert bytes.fromhex(name["data"]) == b"rigloop simulated CiA 402 drive"


def test_a_slave_that_loses_its_power_takes_no_other_with_it_and_comes_back(scenario):
    found = scenario("a_slave_loses_its_power")
    assert found["others"] == [1, 0, 1]
    assert between(1) in found["faults"]
    assert any("drive1" in fault and "cable or power" in fault for fault in found["faults"])
    assert found["back"]["bad"] == 0
    assert found["back"]["codes"] == [0]
    assert found["back"]["ring"][0] == 0
    assert found["back"]["least_nm"] == pytest.approx(1.0, abs=0.00637)


def test_positions_and_counts_are_right_wherever_the_ring_is_open(scenario):
    found = scenario("frames_beside_the_cycle")["found"]
    assert found == [[N, [0x1001, 0x1002, 0x1003]]] * (N + 2)


def test_the_cycle_keeps_step_with_the_reference_clock_in_an_open_ring(scenario):
    found = scenario("clocks")
    for name, is_open in (
        ("closed", 0), ("middle", 1), ("closed again", 0), ("first", 1), ("plugged", 0),
    ):  # fmt: skip
        part = found[name]
        assert part["open"] == is_open, name
        assert part["locked"] > 450, name
        assert part["moved"] or part["locked"] == 500, name
        # unsteered the phase would be anywhere within the millisecond; jitter is this machine's
        assert part["phase_us"] == pytest.approx(300.0, abs=50.0), name
        # slaves that are told no time keep theirs, and are not told a wrong one
        assert max(part["off_ns"]) < 100_000, name
        assert not any("clock" in fault for fault in part["faults"]), name


def test_a_bus_is_brought_up_with_a_cable_out_between_slaves(scenario):
    found = scenario("brought_up_with_a_cable_out")
    for cable in range(1, N):
        part = found[str(cable)]
        assert part["codes"] == [0]
        assert part["least_nm"] == pytest.approx(1.0, abs=0.00637)
        assert part["ring"][:2] == [1, cable]
    assert found["0"].startswith("veth0: no frame comes back from this end of the ring")
    assert found[str(N)].startswith("veth2: no frame comes back from this end of the ring")
    # the clocks behind the gap cannot be set by those before it
    assert f"{between(1)}; the clocks behind it cannot be set" in found["clock"]


def test_interfaces_that_make_no_ring_are_named(scenario):
    found = scenario("wrong_interfaces")
    assert "interface 'nosuch0'" in found["missing"]
    assert "second_interface = 'veth0': the first one is the same" in found["same"]
    assert "interface 'veth2': no link" in found["down"]


def test_a_scan_of_a_ring_needs_both_interfaces(scenario):
    found = scenario("scanned")
    for part in (found["closed"], found["open"]):
        assert part["code"] == 0
        assert [s["position"] for s in json.loads(part["out"])["slaves"]] == [0, 1, 2]
    assert found["half"]["code"] == 1
    assert "--second-interface" in found["half"]["out"] + found["half"]["err"]
