"""What makes a run bad is said with the block that is behind it, and with figures that differ from their limit."""

from collections import defaultdict

import pytest

from rig_configs.load import find_rig
from rigloop.compose.blocks import find_guard, paths
from rigloop.compose.wiring import load
from rigloop.judge.felt import felt_reasons
from rigloop.judge.reasons import JudgedRun, reasons_against
from rigloop.judge.tripped import trip_of
from rigloop.run_folder.manifest import Felt
from rigloop.run_folder.messages import Report
from rigloop.run_folder.run_end import Ended, Final, Supervision
from rt_core.safety.trips import Trip

FELT = Felt(
    longest_gap_ms=2.0,
    longest_gap_at_s=0.1,
    gap_step_nm=0.0,
    gap_step_at_s=0.1,
    active_s=1.0,
    saturated_percent=0.0,
    longest_saturated_s=0.0,
    most_given_j=0.0,
    rearmed=0,
)


@pytest.fixture(scope="module")
def loaded():
    return load("steering_wheel")


def told(loaded, signals, blocks):
    final = Final(defaultdict(float, signals), {}, {})
    ended = Ended(Supervision(), final, 0)
    report = Report(rights=[], real_time=True, host={}, at_rest=True)
    rows = dict.fromkeys(loaded.rig.tasks, 0)
    run = JudgedRun(loaded, ended, report, None, {"x": {}}, rows, (), {}, blocks)
    return reasons_against(run)


@pytest.mark.parametrize(
    ("trip", "task", "blocks"),
    [
        (Trip.REQUEST_FAULT, "simulation", {}),
        (Trip.REQUEST_FAULT, "simulation", {"simulation": ["stolen", "steering"]}),
    ],
)
def test_a_run_that_was_never_ready_says_which_block_failed_and_why(loaded, trip, task, blocks):
    guard, config = find_guard(loaded.rig)
    place = len(blocks.get(task, ["steering"]))
    words = "\n".join(
        told(
            loaded,
            {
                paths(guard, config)[1]["waits_for"]: float(trip),
                f"loop/{task}/fault": 3.0,
                f"loop/{task}/fault_block": float(place),
            },
            blocks,
        )
    )
    assert "never ready to be armed" in words
    assert "block 'steering' (mechanism): fault 3:" in words
    assert "parameters" in words


def test_small_work_is_told_as_it_is(loaded):
    verdict = loaded.rig.verdict.model_copy(update={"max_given_j": 5e-7})
    rig = loaded.rig.model_copy(update={"verdict": verdict})
    words = "\n".join(felt_reasons(rig, "guard", replace_felt(most_given_j=1.25e-4)))
    assert "0.000125 J" in words
    assert "0.0 J" not in words


def replace_felt(**values):
    import msgspec

    return msgspec.structs.replace(FELT, **values)


def test_a_trip_on_a_signal_of_a_block_is_told_without_a_task(tmp_path):
    text = find_rig("steering_wheel").read_text()
    path = tmp_path / "rig.toml"
    path.write_text(text.replace('own_fault = "loop/estimation/fault"', 'own_fault = "wheel/nis"'))
    rig = load(str(path)).rig
    guard, config = find_guard(rig)
    writes = paths(guard, config)[1]
    signals = {writes["trip"]: float(Trip.OWN_FAULT), writes["trip_cycle"]: 7.0}
    assert "wheel/nis" in trip_of(rig, "guard", signals, tmp_path).words
