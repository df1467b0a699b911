"""A drive at the other end of a wire: the torque of its rig before and after somebody has walked through it."""

import json
from pathlib import Path

import numpy as np
import pytest

from io_bridge.host import namespace
from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest

pytest.importorskip("pysoem")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.netns,
    pytest.mark.skipif(namespace.why_not() is not None, reason=str(namespace.why_not())),
]
SCENARIOS = Path(__file__).with_name("commission_scenarios.py")
LIMITED = "torque limited to 5 % (guard 0.2 Nm): not commissioned"


@pytest.fixture(scope="module")
def unsigned(scenario):
    done = scenario("a_run_without_a_signature")
    assert done["out"], done["err"]
    return json.loads(done["out"]), done["err"]


def test_a_run_without_a_signature_says_so_everywhere(unsigned):
    outcome, said = unsigned
    folder = Path(outcome["folder"])
    manifest = read_manifest(folder)
    # 0.6 Nm of the rig file, at a drive that gives three times what the file means
    assert manifest.limited.limits_nm == {"guard": pytest.approx(0.2)}
    assert outcome["limited"].startswith(LIMITED)
    assert LIMITED in said
    assert LIMITED in manifest.notes[0]
    assert LIMITED in (folder / "report.html").read_text()


def test_its_torque_never_passes_a_twentieth(unsigned):
    record = open_record(Path(unsigned[0]["folder"]) / "fast.npy")
    torque = np.abs(record["guard/torque_nm"])
    assert 0.0 < torque.max() <= 0.2 * (1 + 1e-12)


def test_its_record_replays_with_the_same_limit(unsigned, rigloop, tmp_path):
    done = rigloop("replay", unsigned[0]["folder"], "--runs", tmp_path, "--json")
    assert json.loads(done.stdout)["reasons"][0].startswith("bit-equal to the live run"), (
        done.stdout
    )


def test_an_interrupt_in_the_middle_of_a_take_is_no_wait_for_its_end(scenario):
    found = scenario("an_interrupt")
    assert abs(found["acting_nm"]) == pytest.approx(0.3, abs=0.01)
    # the take would go on for 7.8 s; 7 ms and 0.17 s were measured, and a host may be late
    assert found["zero"] - found["pressed"] < 1.0
    assert found["closed"] - found["pressed"] < 3.0
    assert found["code"] == 0


def test_a_walk_on_a_wire_kills_its_cycle_and_ends_in_a_signature(scenario):
    found = scenario("a_walk")
    bad = [result["words"] for result in found["results"] if not result["good"]]
    assert not bad
    assert [result["step"] for result in found["results"]][-1] == "watchdog"
    # an object of the drive that is there, and one that is not
    assert found["limit"] == [2998, None]
    signed = json.loads(Path(found["signed"]).read_text())
    assert int(signed["axes"]["guard"]["identity"]["vendor"], 16) == found["who"]["vendor"]
    # the error code is that of the moment, not a later one of the same take
    good, words, code = found["stop"]
    assert (good, code) == (True, 0x5441), words
