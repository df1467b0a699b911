"""All checks together: what a rig asks for, the order of severity, the banner, and the page about them."""

import re
from pathlib import Path

import pytest

from rigloop.compose.blocks import bus_of
from rigloop.compose.wiring import load
from rigloop.doctor import checks as doctor
from rt_core.doctor.check import Check, Demands, Level, banner, by_severity, is_good
from rt_core.host.facts import Host

PAGE = (Path(__file__).parents[4] / "docs" / "doctor.md").read_text()
RED = Check("swap", Level.RED, "on", "because", "swapoff")
AMBER, GREEN = Check("b", Level.AMBER, "x", "y", "z"), Check("c", Level.GREEN, "x", "y")


@pytest.fixture(scope="module")
def all_checks():
    return doctor.examine(doctor.demands_of(load("steering_wheel").rig), host=Host(sample_s=0.05))


def test_there_are_many_checks_and_none_twice(all_checks):
    names = [check.name for check in all_checks]
    assert len(names) >= 14
    assert len(set(names)) == len(names)


def test_every_check_says_what_why_and_what_to_do(all_checks):
    for check in all_checks:
        assert check.found
        assert check.cause
        assert (check.remedy == "") == (check.level is Level.GREEN)


def test_the_worst_comes_first():
    assert by_severity([GREEN, AMBER, RED, GREEN]) == [RED, AMBER, GREEN, GREEN]


def test_the_banner_names_what_is_red_and_nothing_else():
    assert banner([GREEN, RED, AMBER]) == "degraded: swap"
    assert banner([GREEN, AMBER]) == ""
    assert is_good([GREEN, AMBER])
    assert not is_good([GREEN, RED])


def test_the_demands_of_a_rig_are_those_of_its_file():
    demands = doctor.demands_of(load("steering_wheel").rig)
    assert [(t.name, t.period_us, t.priority, t.core, t.spin_us) for t in demands.tasks] == [
        ("estimation", 200, 90, 0, 40),
        ("simulation", 1000, 80, 1, 200),
    ]
    assert (demands.bus_tasks, demands.cards, demands.veth) == (("estimation",), (), False)
    assert (demands.cores, demands.priority) == (frozenset({0, 1}), 90)


@pytest.mark.parametrize(
    ("bus", "cards", "veth"),
    [("veth", (), True), ("eth7", ("eth7",), False), ("simulated", (), False)],
)
def test_the_bus_of_the_command_line_wins(bus, cards, veth):
    for demands in (
        doctor.demands_of(load("steering_wheel").rig, bus),
        doctor.demands_without_rig(bus),
    ):
        assert (demands.cards, demands.veth) == (cards, veth)


def test_a_ring_demands_two_cards_where_the_bus_has_cards():
    rig = load("steering_wheel").rig
    name, bus = bus_of(rig)
    ring = bus.model_copy(update={"backend": "eth1", "second_interface": "eth2"})
    rig = rig.model_copy(update={"blocks": rig.blocks | {name: ring}})
    assert doctor.demands_of(rig).cards == ("eth1", "eth2")
    assert doctor.demands_of(rig, "eth7").cards == ("eth7", "eth2")
    for bus_option in ("simulated", "veth"):
        assert doctor.demands_of(rig, bus_option).cards == ()


def test_a_check_that_meets_the_unforeseen_is_amber(make_host):
    def strange(host, demands):
        """Read a number."""
        raise ValueError("invalid literal")

    (check,) = doctor.examine(Demands(), [strange], make_host())
    assert (check.level, check.cause) == (Level.AMBER, "Read a number.")
    assert "invalid literal" in check.found


def test_an_empty_machine_ends_no_check(make_host):
    # no proc, no sys, no dev: everything that reads files is unknown or red, and says so
    for check in doctor.examine(Demands(cards=("eth7",)), doctor.QUICK, make_host()):
        assert check.level is not Level.RED or check.remedy


@pytest.mark.slow
def test_needed_rights_are_checks_by_the_same_name(all_checks):
    from rt_core.host.rights import acquire_rights

    rights = acquire_rights()
    rights.release()
    assert {right.name for right in rights.rights if right.needed} <= {
        check.name for check in all_checks
    }


def test_the_page_has_one_line_for_each_check(all_checks):
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.+?) \|", PAGE, re.MULTILINE)
    assert dict(rows) == {check.name: check.cause for check in all_checks}
    assert len(rows) == len(all_checks)
