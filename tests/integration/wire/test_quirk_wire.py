"""Slaves with quirks on real frames: the bus of a run brings them up as a user's `rigloop run eth0` does."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from quirk_cases import CASES
from script_paths import where_parts_are

from io_bridge.host import namespace

pytest.importorskip("pysoem")
pytestmark = [
    pytest.mark.netns,
    pytest.mark.skipif(namespace.why_not() is not None, reason=str(namespace.why_not())),
]
SCENARIOS = Path(__file__).parent / "quirk_scenarios.py"
AT_ONCE = 6
"""Rows of cases beside each other, each row in a namespace of its own: much of their time they wait."""


def start(name, *arguments):
    return subprocess.run(
        namespace.wrap([sys.executable, str(SCENARIOS), name, *arguments]),
        capture_output=True,
        text=True,
        timeout=120,
        env=where_parts_are(SCENARIOS),
    )


def run(name, *arguments):
    done = start(name, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def outcomes(names):
    """What became of cases, one after the other."""
    done = start("several", *names)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {case.pop("case"): case for case in found}


def wrong(names):
    """Return what is wrong with cases, one line each."""
    found = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for some in pool.map(outcomes, (names[i::AT_ONCE] for i in range(AT_ONCE))):
            found |= some
    return [line for name in names if (line := judge(name, found[name]))]


def judge(name, found):
    """Return what is wrong with the outcome of a case, or nothing."""
    case = CASES[name]
    if case.refusal:
        said = found.get("refused")
        if said is None:
            return f"{name}: came to OP"
        right = re.search(case.refusal, said, re.IGNORECASE) and found["kind"] == "BringUpError"
        return "" if right else f"{name}: {found['kind']}: {said}"
    if "refused" in found:
        return f"{name}: {found['kind']}: {found['refused']}"
    n = len([slave for slave in case.slaves() if hasattr(slave, "mode")])
    pushed = [abs(torque - 1.0) < 0.004 for torque in found["pushed"][:n]]
    good = all(pushed) and found["operational"] == [1.0] * n
    # it came to OP; a drive that its master did not serve has ended the torque, as it should, each time it was tried
    ended = not found["served"] and not any(found["pushed"])
    return "" if good or ended else f"{name}: {found}"


@pytest.mark.slow
def test_every_slave_with_quirks_comes_to_op_or_is_refused_on_a_wire():
    mistakes = wrong(tuple(CASES))
    assert not mistakes, "\n".join(mistakes)


@pytest.mark.slow
def test_the_watchdog_of_the_rig_ends_the_torque_of_a_killed_master():
    found = run("killed_master", "direct_drive")
    assert found["pushed"] == pytest.approx(1.0, abs=0.004)
    assert found["outlived_ms"] == pytest.approx(50.0, abs=found["coarse_ms"] + 1.0)


@pytest.mark.slow
def test_the_watchdog_of_the_rig_ends_the_torque_where_it_is_latched():
    found = run("killed_master", "direct_drive+latched_watchdog")
    assert found["pushed"] == pytest.approx(1.0, abs=0.004)
    assert found["outlived_ms"] == pytest.approx(50.0, abs=found["coarse_ms"] + 1.0)


@pytest.mark.slow
def test_the_segment_waits_for_a_link_that_is_down_and_ends_when_the_interface_is_gone():
    found = run("link_goes_down")
    assert "interface 'veth1': link is down; waiting" in found["down"]
    assert found["alive"]
    assert "link is up again" in found["up"]
    assert found["al"] == 8
    assert "link is down" in found["down_there"]
    assert "interface 'veth1' is gone" in found["gone"]
    assert found["code"] == 3


@pytest.mark.slow
def test_the_segment_begins_although_its_link_is_down():
    assert run("starts_with_link_down")["al"] == 8
