"""What makes a run bad: each sentence, and what it takes to be said."""

import errno

import msgspec
import numpy as np
import pytest

from rigloop.judge.felt import felt_reasons
from rigloop.judge.reasons import JudgedRun, how_it_ended, lost_cycles, reasons_against
from rigloop.judge.tripped import BUS_AT_THE_END, written_over
from rigloop.run_folder.last_state import record_of, rows_of
from rigloop.run_folder.manifest import Axis, DataFault, Felt
from rt_core.safety.trips import Trip

CYCLES = 10_000
FELT = Felt(2.0, 1.0, 0.1, 1.0, 5.0, 0.0, 0.0, 0.0)


def axes_of(rig, felt):
    reasons = felt_reasons(rig, "guard", felt) if "guard" in rig.blocks else []
    return {"guard": Axis("bus/wheel", "good", tuple(reasons), felt)}


def judged(run, faults=(), felt=FELT):
    blocks = {name: task.blocks for name, task in run.loaded.rig.tasks.items()}
    return reasons_against(
        JudgedRun(
            run.loaded,
            run.ended,
            run.report,
            run.seconds,
            run.records,
            run.rows,
            faults,
            axes_of(run.loaded.rig, felt),
            blocks,
        )
    )


@pytest.mark.parametrize("rig", ["steering_wheel", "steering_observer", "latency_bench"])
def test_a_good_run_has_no_complaint(good_run, rig):
    assert judged(good_run(rig)) == []


def test_what_was_seen_wrong_meanwhile_comes_first_and_as_it_was_said(good_run):
    run = good_run()
    run.seen.alarms += ["first alarm", "second alarm"]
    run.report = msgspec.structs.replace(
        run.report, error="an error", stall="a stall", unattended="nobody attends"
    )
    assert judged(run) == ["first alarm", "second alarm", "an error", "a stall", "nobody attends"]


@pytest.mark.parametrize("field", ["error", "stall", "unattended"])
def test_each_word_of_the_cycle_process_is_a_complaint_by_itself(good_run, field):
    run = good_run()
    run.report = msgspec.structs.replace(run.report, **{field: "said"})
    assert judged(run) == ["said"]


def test_the_overrun_policy_is_told_with_points_limit_cycle_and_causes(good_run):
    run = good_run()
    run.signals |= {
        "loop/simulation/overrun_trip": 1234.0,
        "loop/simulation/overrun_level": 4.0,
        "loop/simulation/overruns_own": 2.0,
    }
    assert judged(run) == [
        "loop/simulation/overrun_level: overruns worth 4 points within 10 cycles (2 own work in all), "
        "limit tasks.simulation.overrun_limit = 3, at cycle 1234 (SKIP)"
    ]


def test_faults_are_told_but_for_those_of_the_bus_at_the_end(good_run):
    faults = [DataFault("time gap", 1, 7, "a gap"), DataFault(BUS_AT_THE_END, 1, 0, "wheel: gone")]
    assert judged(good_run(), faults) == ["a gap"]


def test_a_run_that_was_not_armed_again_says_why(good_run):
    run = good_run()
    run.seen.not_rearmed = "twice is enough"
    assert judged(run) == ["twice is enough"]


@pytest.mark.parametrize(
    ("code", "how"),
    [
        (None, "killed"),
        (-9, "killed by SIGKILL"),
        (-8, "killed by SIGFPE"),
        (-99, "killed by signal 99"),
        (3, "exit 3"),
        (1, "exit 1"),
    ],
)
def test_an_output_that_was_not_seen_at_rest_is_told_with_the_end_of_the_process(
    good_run, code, how
):
    run = good_run()
    run.report = msgspec.structs.replace(run.report, at_rest=False)
    run.code = code
    assert judged(run) == [
        f"the output was not seen at rest at the end (cycle process: {how})",
    ]


@pytest.mark.parametrize(("at_rest", "code"), [(False, 0), (True, 1), (True, None)])
def test_the_exit_code_or_the_process_vouches_for_the_rest_of_the_output(good_run, at_rest, code):
    run = good_run()
    run.report = msgspec.structs.replace(run.report, at_rest=at_rest)
    run.code = code
    assert judged(run) == []


def test_a_run_that_ended_too_early_says_by_how_much(good_run):
    run = good_run()
    run.seen.armed_s = 4.75
    assert judged(run) == ["ran 4.8 of 5 s"]
    run.seen.interrupted = True
    assert judged(run) == []
    run.seen.interrupted, run.seconds = False, None
    assert judged(run) == []
    run.seconds = 4.75
    assert judged(run) == []


def test_overruns_beyond_the_share_are_told_with_causes_where_the_run_had_its_rights(good_run):
    run = good_run()
    run.set_verdict(max_overrun_percent=1.0)
    run.signals |= {"loop/estimation/overruns": 100.0, "loop/estimation/overruns_stolen": 100.0}
    assert judged(run) == []
    run.signals |= {"loop/estimation/overruns": 102.0, "loop/estimation/overruns_bus": 2.0}
    assert judged(run) == [
        "estimation: 1.02 % of cycles overran, limit verdict.max_overrun_percent = 1 (100 stolen, 2 bus)"
    ]
    run.report = msgspec.structs.replace(run.report, real_time=False)
    assert judged(run) == []


def test_overruns_without_a_cause_say_so(good_run):
    run = good_run()
    run.signals["loop/estimation/overruns"] = 5_000.0
    assert judged(run)[0].endswith("(no cause known)")


def test_overruns_and_lost_frames_of_a_run_without_cycles_divide_by_nothing(good_run):
    run = good_run()
    run.signals["loop/estimation/cycle"] = 0.0
    run.rows["estimation"] = 0
    assert judged(run) == []
    run.signals["bus/lost"] = 1.0
    assert judged(run) == ["1 frames lost, 100.00 %, limit verdict.max_lost_percent = 0"]


def test_the_share_of_a_run_of_one_cycle_is_that_of_one(good_run):
    run = good_run()
    run.signals |= {"loop/estimation/cycle": 1.0, "loop/estimation/overruns": 1.0, "bus/lost": 1.0}
    run.rows["estimation"] = 1
    lost, overran = judged(run)
    assert lost == "1 frames lost, 100.00 %, limit verdict.max_lost_percent = 0"
    assert overran.startswith("estimation: 100.00 % of cycles overran, limit")


def test_lost_frames_beyond_their_share_are_told(good_run):
    run = good_run()
    run.signals["bus/lost"] = 50.0
    assert judged(run) == ["50 frames lost, 0.50 %, limit verdict.max_lost_percent = 0"]
    run.set_verdict(max_lost_percent=0.5)
    assert judged(run) == []
    # of the cycles of the task that has the bus, not of another
    run.signals["loop/simulation/cycle"] = 1_000.0
    run.rows["simulation"] = 1_000
    assert judged(run) == []


@pytest.mark.parametrize(
    ("rows", "counters", "record", "words"),
    [
        (CYCLES - 1, {}, {}, None),
        (CYCLES, {}, {}, None),
        (CYCLES - 2, {}, {}, "2 cycles are not in the record"),
        (CYCLES, {"dropped": 3}, {}, "3 cycles are not in the record (3 dropped: the recorder was too slow)"),
        (
            CYCLES,
            {"unwritten": 1, "unwritten_errno": errno.ENOSPC},
            {},
            "1 cycles are not in the record (1 not written: No space left on device)",
        ),
        (
            CYCLES - 20,
            {"dropped": 3, "unwritten": 4, "unwritten_errno": errno.EIO},
            {"reason": "the disk is gone"},
            "20 cycles are not in the record (3 dropped: the recorder was too slow; "
            "4 not written: the disk is gone)",
        ),
        (
            CYCLES - 5,
            {"dropped": 3, "unwritten": 4, "unwritten_errno": errno.EIO},
            {},
            "7 cycles are not in the record (3 dropped: the recorder was too slow; "
            "4 not written: Input/output error)",
        ),
        (
            CYCLES - 1,
            {"unwritten": 1, "unwritten_errno": -(2**60)},  # of a table that was written over
            {},
            "1 cycles are not in the record (1 not written: error -1152921504606846976)",
        ),
    ],
)  # fmt: skip
def test_cycles_that_are_not_in_the_record_are_counted_with_what_is_known_of_them(
    good_run, rows, counters, record, words
):
    run = good_run()
    run.rows["simulation"] = rows
    run.rings["simulation"] |= counters
    run.records["simulation"] |= record
    said = [f"simulation: the record has {rows} of {CYCLES} cycles: {words}"] if words else []
    assert judged(run) == said


def test_a_ring_that_nobody_knows_is_judged_by_the_rows(good_run):
    run = good_run()
    run.rings = {}
    assert judged(run) == []
    run.rows["estimation"] = 4
    assert judged(run) == [
        f"estimation: the record has 4 of {CYCLES} cycles: {CYCLES - 4} cycles are not in the record"
    ]


def test_a_recorder_without_a_summary_is_told_unless_the_table_says_what_was_lost(good_run):
    run = good_run()
    run.records = {}
    assert judged(run) == ["the recorder left no summary: see recorder.log"]
    run.rings["estimation"] |= {"unwritten": 1, "unwritten_errno": errno.ENOSPC}
    (words,) = judged(run)
    assert "not written: No space left" in words


@pytest.mark.parametrize(
    ("rows", "lost"), [(CYCLES, 0), (CYCLES - 1, 0), (CYCLES - 2, 2), (0, CYCLES)]
)
def test_lost_cycles_forgive_the_one_that_a_kill_may_take(good_run, rows, lost):
    assert lost_cycles(good_run().ended.final, "estimation", rows) == lost


def never_armed(good_run, rig="steering_wheel", **signals):
    run = good_run(rig)
    run.seen.armed_s, run.seconds = 0.0, None
    run.signals |= {path.replace("__", "/"): value for path, value in signals.items()}
    return run


@pytest.mark.parametrize("code", [-3.1e230, 4.5, 99.0, np.nan, np.inf])
def test_a_wait_for_a_number_that_no_guard_writes_is_a_table_written_over(good_run, code):
    run = never_armed(good_run, guard__waits_for=code)
    assert judged(run) == [written_over("guard/waits_for", code)]


def test_a_guard_that_never_was_ready_says_what_it_waited_for_and_what_to_do(good_run):
    run = never_armed(good_run, guard__waits_for=float(Trip.HEARTBEAT_LOST))
    assert judged(run) == [
        "guard: never ready to be armed; it waited for heartbeat lost: supervisor/heartbeat: no sign of "
        "life of the supervisor; find out what kept its process from running, or raise the limit"
    ]
    run = never_armed(good_run, guard__waits_for=float(Trip.OWN_FAULT))
    assert judged(run) == [
        "guard: never ready to be armed; it waited for own fault: loop/estimation/fault: a block of this "
        "task failed"
    ]
    assert judged(never_armed(good_run)) == ["guard: never ready to be armed; nothing says why"]
    # a fault that is no task's own
    run = never_armed(good_run, guard__waits_for=float(Trip.OWN_FAULT))
    guard = run.loaded.rig.blocks["guard"]
    guard = guard.model_copy(update={"reads": guard.reads | {"own_fault": "wheel/nis"}})
    rig = run.loaded.rig.model_copy(update={"blocks": run.loaded.rig.blocks | {"guard": guard}})
    run.loaded = type(run.loaded)(run.loaded.name, run.loaded.path, run.loaded.text, rig)
    assert judged(run) == [
        "guard: never ready to be armed; it waited for own fault: wheel/nis: a block of this task failed"
    ]


def test_a_guard_that_waited_for_its_drive_says_what_the_bus_says(good_run):
    waits = {"guard__waits_for": float(Trip.ACTUATOR_LOST)}
    (words,) = judged(never_armed(good_run, bus__lost=0.0, **waits))
    assert "(the frame of this cycle did not come back (0 lost in all)); look at the drive" in words
    good = {
        "bus__valid": 1.0,
        "bus__wheel__al_state": 8.0,
        "bus__wheel__wkc": 2.0,
        "bus__wheel__wkc_expected": 2.0,
        "bus__wheel__valid": 1.0,
        "bus__wheel__statusword": 0x0027,
        "bus__wheel__operational": 1.0,
    }
    (words,) = judged(never_armed(good_run, **waits, **good))
    assert "actuator left its operating state; look at" in words
    (words,) = judged(never_armed(good_run, **waits, **good | {"bus__wheel__al_state": 4.0}))
    assert "(slave 'wheel': SAFEOP" in words


def test_a_run_that_was_armed_interrupted_or_tripped_was_not_never_ready(good_run):
    run = never_armed(good_run)
    run.seen.interrupted = True
    assert judged(run) == []
    run = never_armed(good_run, guard__trip=float(Trip.TIME_GAP))
    assert judged(run) == []
    run = never_armed(good_run)
    run.seen.armed_s = 0.001
    assert judged(run) == []


def test_a_rig_without_a_guard_says_what_its_bus_says(good_run, rigs):
    run = never_armed(good_run)
    rig = run.loaded.rig
    blocks = {name: block for name, block in rig.blocks.items() if block.kind != "guard"}
    without = rig.model_copy(update={"blocks": blocks})
    run.loaded = type(run.loaded)(run.loaded.name, run.loaded.path, run.loaded.text, without)
    (words,) = judged(run, felt=None)
    assert words == "never ready: the frame of this cycle did not come back (0 lost in all)"
    bare = rig.model_copy(update={"blocks": {n: b for n, b in blocks.items() if b.kind != "bus"}})
    run.loaded = type(run.loaded)(run.loaded.name, run.loaded.path, run.loaded.text, bare)
    # without a bus no frame is lost either
    run.signals["bus/lost"] = 99.0
    assert judged(run, felt=None) == ["never ready: the loop made no cycle"]


@pytest.mark.parametrize(
    ("felt", "words"),
    [
        ({"longest_gap_ms": 10.1}, "guard: for 10.1 ms no fresh command reached the drive, until 1.000 s, "
         "limit verdict.max_command_gap_ms = 10;"),
        ({"gap_step_nm": 1.01}, "guard: the torque had 1.01 Nm to catch up with at 1.000 s,"),
        ({"rearmed": 1}, "guard: the torque went and was armed again 1 times, after bus faults, limit "
         "verdict.max_rearmed = 0"),
        ({"most_given_j": 4.01}, "guard: the motor gave the hands 4.01 J more than it received, limit "),
        ({"saturated_percent": 10.1}, "guard: the request was at the limit for 10.1 % of the time, limit "
         "verdict.max_saturated_percent = 10;"),
        ({"longest_saturated_s": 1.01}, "guard: the request was at the limit for 1.01 s in one piece, "
         "limit verdict.max_saturated_s = 1;"),
    ],
)  # fmt: skip
def test_what_a_hand_should_not_have_felt_is_one_sentence_beyond_the_limit_only(
    good_run, felt, words
):
    run = good_run()
    limits = {
        "max_command_gap_ms": 10.0,
        "max_torque_step_nm": 1.0,
        "max_rearmed": 0,
        "max_given_j": 4.0,
        "max_saturated_percent": 10.0,
        "max_saturated_s": 1.0,
    }
    run.set_verdict(**limits)
    (said,) = judged(run, felt=msgspec.structs.replace(FELT, **felt))
    assert said.startswith(words)
    at_the_limit = Felt(10.0, 1.0, 1.0, 1.0, 5.0, 10.0, 1.0, 4.0)
    assert judged(run, felt=at_the_limit) == []


def test_a_share_of_a_moment_says_nothing(good_run):
    rig = good_run().loaded.rig
    for active_s, told in ((0.1, 0), (0.101, 1)):
        felt = msgspec.structs.replace(FELT, active_s=active_s, saturated_percent=100.0)
        assert len(felt_reasons(rig, "guard", felt)) == told


def test_what_nobody_felt_is_no_complaint(good_run):
    assert felt_reasons(good_run().loaded.rig, "guard", None) == []


@pytest.mark.parametrize("zeros", [0, 1, 40, 100])
def test_rows_that_a_cut_file_lost_are_not_counted_as_recorded(tmp_path, zeros):
    record = np.zeros(100, [("t_ns", "<i8"), ("loop/main/cycle", "<f8")])
    record["loop/main/cycle"] = np.arange(1, 101)
    record[:zeros] = 0
    np.save(tmp_path / "main.npy", record)
    assert rows_of(record_of(tmp_path / "main.npy"), "main") == 100 - zeros


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (None, "killed"),
        (0, "exit 0"),
        (1, "exit 1"),
        (-9, "killed by SIGKILL"),
        (-1, "killed by SIGHUP"),
        (-200, "killed by signal 200"),
    ],
)
def test_the_end_of_a_process_is_said_by_its_code_or_its_signal(code, words):
    assert how_it_ended(code) == words
