"""The judgement of a run whose folder, records and signals are there: manifest, outcome and files that it leaves."""

import json
import os
import re
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from io_bridge.recording.record import RecordWriter, open_record
from rigloop.compose.blocks import find_guards
from rigloop.host.disk_reserve import RESERVE, reserve
from rigloop.inject.judge import judge as judge_run
from rigloop.inject.request import again
from rigloop.judge import verdict
from rigloop.judge.verdict import CutShort, conclude, roles
from rigloop.report import report
from rigloop.run_folder import messages
from rigloop.run_folder.last_state import LAST
from rigloop.run_folder.late import late_file
from rigloop.run_folder.limited import Limited
from rigloop.run_folder.manifest import (
    REPORT,
    DataFault,
    Manifest,
    Named,
    Process,
    read_manifest,
    read_timing,
)
from rigloop.run_folder.run_end import Ended, Final
from rt_core.lateness.histogram import Histogram
from rt_core.lateness.trace import RECORD

CYCLES = 10_000
HISTOGRAMS = ("late", "step", "bus", "total", "spin", "hole", "untold", "explain")


@pytest.fixture
def judge(good_run, tmp_path):
    """Give the run, and what judges it once its parts are as a test wants them; `times`: with some, which are drawn."""

    def make(rig="steering_wheel", times=False):
        run = good_run(rig)
        (tmp_path / "rig.toml").write_text(run.loaded.text)
        (tmp_path / "recorder.json").write_text(json.dumps(run.records))
        histograms = {}
        for task, config in run.loaded.rig.tasks.items():
            with RecordWriter(tmp_path / f"{task}.npy", [f"loop/{task}/cycle"]) as writer:
                rows = np.zeros(CYCLES, writer.dtype)
                rows["t_ns"] = np.arange(CYCLES) * config.period_us * 1000
                rows[f"loop/{task}/cycle"] = np.arange(CYCLES) + 1
                writer.append(rows)
            histograms[task] = {name: Histogram() for name in HISTOGRAMS}
            if times:
                histograms[task] |= {
                    "late": Histogram.of([1000, 2000, 3000]),
                    "step": Histogram.of([50_000] * 100),
                }
        late = {task: (0, []) for task in run.loaded.rig.tasks}
        before = Manifest(
            kind="live",
            rig=Named(run.loaded.name, run.loaded.sha256),
            kernels=(Named("steering", "1" * 64),),
            mode="degraded",
            started="2026-01-02T03:04:05Z",
            duration_s=0.0,
            verdict="bad",
            reasons=(),
            tasks={},
            versions={},
            host={},
            state="running",
            boot="a boot",
            table="/a/table",
            processes={"supervisor": Process(1, 2)},
        )

        def conclude_it(word=True, said_before=None, was=None, **more):
            if word:
                messages.write(tmp_path, "cycle.json", run.report)
            final = Final(run.signals, run.histograms, late, run.rings)
            ended = Ended(run.seen, final, run.code, said_before)
            kept = msgspec.structs.replace(before, asked_s=run.seconds, **(was or {}))
            return conclude(tmp_path, run.loaded, ended, kept, **more)

        run.late, run.histograms = late, histograms
        return run, conclude_it

    return make


def test_a_good_run_leaves_a_good_manifest_and_a_report(judge, tmp_path):
    run, conclude_it = judge(times=True)
    outcome = conclude_it()
    assert outcome.good
    assert outcome.reasons == []
    found = read_manifest(tmp_path)
    assert (found.verdict, found.state, found.reasons) == ("good", "ended", ())
    assert (found.kind, found.mode, found.real_time) == ("live", "degraded", True)
    assert found.rig == Named(run.loaded.name, run.loaded.sha256)
    assert found.kernels == (Named("steering", "1" * 64),)
    # what was known before the end stays
    assert (found.started, found.boot, found.table) == (
        "2026-01-02T03:04:05Z",
        "a boot",
        "/a/table",
    )
    assert found.processes == {"supervisor": Process(1, 2)}
    assert (found.duration_s, found.asked_s) == (5.0, 5.0)
    assert "verdict" in (tmp_path / "report.html").read_text().lower()
    assert (tmp_path / "estimation_late.npy").exists()
    assert set(read_timing(tmp_path)["estimation"]) == {"late", "step", "total", "explain"}
    assert read_timing(tmp_path)["estimation"]["step"].max_ns == 50_000


def test_a_complaint_makes_it_bad_and_stands_in_manifest_and_outcome(judge, tmp_path):
    run, conclude_it = judge()
    run.seen.alarms.append("the telemetry port was taken")
    outcome = conclude_it()
    assert not outcome.good
    assert outcome.reasons == ["the telemetry port was taken"]
    found = read_manifest(tmp_path)
    assert (found.verdict, found.reasons) == ("bad", ("the telemetry port was taken",))


def test_a_run_that_was_cut_short_is_never_good(judge, tmp_path):
    _, conclude_it = judge()
    outcome = conclude_it(cut=CutShort(["a file"], ["it was cut short"]))
    assert outcome.reasons == ["it was cut short"]
    found = read_manifest(tmp_path)
    assert (found.verdict, found.state, found.missing) == ("bad", "interrupted", ("a file",))


@pytest.mark.parametrize(
    ("module", "reader"), [(verdict, "distrust"), (report, "write_report")], ids=["rows", "page"]
)
def test_a_record_that_is_cut_while_it_is_judged_makes_the_run_bad(
    judge, tmp_path, monkeypatch, module, reader
):
    _, conclude_it = judge()
    record = tmp_path / "estimation.npy"
    read = getattr(module, reader)

    def cut_meanwhile(*arguments, **options):
        opened = open_record(record)
        os.truncate(record, 0)
        opened["t_ns"].sum()
        return read(*arguments, **options)

    monkeypatch.setattr(module, reader, cut_meanwhile)
    outcome = conclude_it()
    words = f"{record}: was truncated by another program while it was read"
    assert not outcome.good
    assert outcome.reasons == [words]
    assert (read_manifest(tmp_path).verdict, read_manifest(tmp_path).reasons) == ("bad", (words,))


def test_a_run_without_real_time_rights_says_so_and_is_not_bad_for_it(judge, tmp_path):
    run, conclude_it = judge()
    run.report.real_time = False
    outcome = conclude_it()
    assert outcome.good
    assert outcome.reasons == [
        "not real-time: lateness and overruns are only reported and do not affect the verdict"
    ]
    assert not read_manifest(tmp_path).real_time


def test_a_run_that_was_demoted_meanwhile_was_not_real_time(judge, tmp_path):
    run, conclude_it = judge()
    run.seen.demoted = True
    conclude_it()
    assert not read_manifest(tmp_path).real_time


def test_samples_that_a_live_wire_lost_are_judged_by_the_hand_alone(judge, tmp_path):
    run, conclude_it = judge()
    rig = run.loaded.rig
    valid = next(b for b in rig.blocks.values() if b.kind == "encoder_filter").reads["valid"]
    path, cycle = tmp_path / "estimation.npy", "loop/estimation/cycle"
    path.unlink()
    with RecordWriter(path, [cycle, valid]) as writer:
        rows = np.zeros(CYCLES, writer.dtype)
        rows["t_ns"] = np.arange(CYCLES) * rig.tasks["estimation"].period_us * 1000
        rows[cycle] = np.arange(CYCLES) + 1
        rows[valid] = np.random.default_rng(1).random(CYCLES) > 0.3
        writer.append(rows)
    outcome = conclude_it()
    assert outcome.good, outcome.reasons
    assert any(f"{valid}: 2" in note or f"{valid}: 3" in note for note in outcome.notes)


@pytest.mark.parametrize("text", [None, "{", "[1]"])
def test_a_cycle_process_that_left_no_word_is_a_complaint(judge, tmp_path, text):
    _, conclude_it = judge()
    if text is not None:
        (tmp_path / "cycle.json").write_text(text)
    outcome = conclude_it(word=False)
    assert "the cycle process left no report" in outcome.reasons
    assert not outcome.good


@pytest.mark.slow
def test_counts_of_each_task_are_those_of_its_signals_and_record(judge, tmp_path):
    run, conclude_it = judge(times=True)
    run.signals |= {
        "loop/simulation/overruns": 5.0,
        "loop/simulation/skipped": 7.0,
        "loop/simulation/overruns_stolen": 4.0,
        "loop/simulation/overruns_bus": 1.0,
        "loop/simulation/cycle": CYCLES + 3.0,
        "bus/late": 6.0,
        "loop/simulation/torn": 2.0,
    }
    run.late["simulation"] = (9, [(0, np.zeros(3, RECORD))])
    outcome = conclude_it()
    assert outcome.reasons == [
        f"simulation: the record has {CYCLES} of {CYCLES + 3} cycles: 3 cycles are not in the record"
    ]
    found = read_manifest(tmp_path)
    task = found.tasks["simulation"]
    assert (task.cycles, task.overruns, task.skipped, task.dropped) == (CYCLES + 3, 5, 7, 3)
    assert task.causes == {"stolen": 4, "bus": 1}
    assert (task.late_events, task.period_ns) == (9, 1_000_000)
    assert (found.counters["bus/late"], found.counters["loop/simulation/torn"]) == (6, 2)
    assert found.timing["estimation"]["step"].max == 50_000
    assert "bus" not in found.timing["estimation"]
    assert (tmp_path / "simulation_late.npy").stat().st_size > 128
    rows = {label: (value, remark) for label, value, remark in outcome.figures}
    assert rows["simulation cycles"] == (
        f"{CYCLES + 3}",
        f"period {task.period_ns // 1000} µs, 5 overruns: 4 stolen, 1 bus, 7 skipped",
    )
    assert rows["armed for"][0] == "5.0 s"
    assert rows["rights"][0] == "real-time"


def test_the_first_cycle_is_told_from_the_start_of_the_command(judge):
    run, conclude_it = judge()
    assert "first cycle after" not in {row[0] for row in conclude_it().figures}
    run.seen.process_began_ns, run.report.first_cycle_ns = 1_000_000_000, 2_500_000_000
    first = ("first cycle after", "1.50 s", "from the start of the command")
    assert conclude_it().figures[0] == first
    # it never came
    run.report.first_cycle_ns = 0
    assert conclude_it().figures[0][1] == "0.00 s"


def test_rights_that_were_not_held_are_notes_with_their_remedy(judge):
    run, conclude_it = judge()
    right = {"held": False, "needed": True, "why": "refused", "remedy": "allow it"}
    held = {"name": "cores", "held": True, "needed": True, "why": "", "remedy": ""}
    run.report.rights = [{"name": "SCHED_FIFO", **right}, held]
    run.seen.notes.append("worth knowing")
    assert conclude_it().notes[:2] == ["SCHED_FIFO: refused; allow it", "worth knowing"]


def test_what_the_report_draws_names_task_and_signal(rigs):
    found = roles(rigs("steering_wheel"))
    assert found["angle"] == ("estimation", "wheel/angle_rad")
    assert {task for task, _ in found.values()} <= {"estimation", "simulation"}
    assert "guard/state" in {path for _, path in found.values()}


def test_what_the_report_draws_may_be_of_the_loop_or_of_the_supervisor(rigs):
    loaded = rigs("steering_wheel")
    shown = ("loop/simulation/late_ns", "supervisor/arm", "guard/torque_nm")
    show = loaded.rig.show.model_copy(update={"signals": list(shown)})
    found = roles(replace(loaded, rig=loaded.rig.model_copy(update={"show": show})))
    assert found["loop/simulation/late_ns"] == ("simulation", "loop/simulation/late_ns")
    # the guard reads it, and so it is in the record of its task
    assert found["supervisor/arm"] == ("estimation", "supervisor/arm")
    assert found["guard/torque_nm"] == ("estimation", "guard/torque_nm")


@pytest.mark.parametrize("text", ["{", "[1]"])
def test_a_damaged_summary_of_the_recorder_is_none(judge, tmp_path, text):
    _, conclude_it = judge()
    (tmp_path / "recorder.json").write_text(text)
    assert conclude_it().reasons == ["the recorder left no summary: see recorder.log"]


def test_losses_before_op_are_in_manifest_and_report_and_decide_nothing(judge, tmp_path):
    run, conclude_it = judge()
    run.report.to_op_s = 8.25
    run.report.bringup = {"cycles": 8000, "lost": 211, "late": 3, "duplicated": 0, "foreign": 0}
    outcome = conclude_it()
    assert outcome.good
    found = read_manifest(tmp_path).bringup
    assert (found.to_op_s, found.lost, found.late) == (8.25, 211, 3)
    said = "211 frames lost, 3 replies late before OP, not part of the verdict"
    assert ("bus in OP after", "8.25 s", said) in outcome.figures
    assert said in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_what_the_cycle_process_said_before_stands_in_for_what_it_did_not_say_last(judge):
    run, conclude_it = judge()
    outcome = conclude_it(word=False, said_before=messages.Report(at_rest=True, real_time=True))
    assert outcome.good
    run.report.error = "said last"
    outcome = conclude_it(said_before=messages.Report(at_rest=True, error="said before"))
    assert outcome.reasons == ["said last"]


def test_room_and_last_word_are_gone_when_the_verdict_is_there(judge, tmp_path):
    _, conclude_it = judge()
    reserve(tmp_path)
    (tmp_path / LAST).write_text("{}")
    assert conclude_it().good
    assert not (tmp_path / RESERVE).exists()
    assert not (tmp_path / LAST).exists()


def test_a_report_that_cannot_be_written_makes_the_run_bad_in_manifest_and_outcome(judge, tmp_path):
    _, conclude_it = judge()
    (tmp_path / REPORT).mkdir()
    (words,) = conclude_it().reasons
    assert words == f"{tmp_path / REPORT}: cannot be written: Is a directory"
    found = read_manifest(tmp_path)
    assert (found.verdict, found.reasons) == ("bad", (words,))


@pytest.mark.parametrize(("cut_short", "kept"), [((), False), (("cut short",), True)])
def test_late_cycles_that_a_cut_short_run_left_itself_are_kept(judge, tmp_path, cut_short, kept):
    run, conclude_it = judge()
    left = tmp_path / late_file("estimation")
    left.write_bytes(b"left by the cycle process")
    run.late["simulation"] = (1, [(0, np.zeros(3, RECORD))])
    conclude_it(cut=CutShort([], cut_short) if cut_short else None)
    assert (left.read_bytes() == b"left by the cycle process") == kept
    assert (tmp_path / late_file("simulation")).exists()


def test_times_of_blocks_and_holes_are_not_those_of_the_task(judge, tmp_path):
    run, conclude_it = judge()
    run.histograms["estimation"] |= {
        "bus": Histogram.of([1]),
        "step/guard": Histogram.of([1000]),
        "hole": Histogram.of([1000]),
    }
    outcome = conclude_it()
    assert set(read_timing(tmp_path)["estimation"]) == {"late", "step", "total", "explain", "bus"}
    found = read_manifest(tmp_path)
    assert found.tasks["estimation"].exposure.holes == 1
    assert [row[0] for row in outcome.figures].count("  untold holes") == 2


def test_holes_are_large_that_outlast_what_the_usual_cycle_leaves_of_the_period(judge, tmp_path):
    run, conclude_it = judge()
    holes = {"hole": Histogram.of([10_000, 300_000, 2_000_000])}
    run.histograms["estimation"] |= holes
    run.histograms["simulation"] |= holes
    conclude_it()
    tasks = read_manifest(tmp_path).tasks
    # periods of 200 µs and 1 ms
    assert tasks["estimation"].exposure.large == 2
    assert tasks["simulation"].exposure.large == 1


def test_a_task_whose_times_are_lost_has_no_figures_of_its_own(judge):
    run, conclude_it = judge()
    run.histograms["estimation"] = {}
    labels = [row[0] for row in conclude_it().figures]
    assert "estimation cycles" not in labels
    assert "simulation cycles" in labels


def test_what_a_hand_felt_is_kept_and_shown(judge, tmp_path):
    run, conclude_it = judge()
    assert read_manifest_after(conclude_it, tmp_path).felt is None
    run.signals |= {"guard/longest_gap_ms": 2.5, "guard/active_ms": 5000.0}
    run.seen.trips.append(DataFault("time gap", 1, 7, "a gap"))
    outcome = conclude_it()
    found = read_manifest(tmp_path)
    assert (found.felt.longest_gap_ms, found.felt.active_s, found.felt.rearmed) == (2.5, 5.0, 1)
    assert found.faults[0].words == "a gap"
    labels = [row[0] for row in outcome.figures]
    assert "longest without a fresh command" in labels


@pytest.mark.parametrize("said", ["by the cycle process", "before the start"])
def test_a_run_of_limited_torque_is_judged_by_the_limits_that_it_had(judge, said):
    run, conclude_it = judge()
    run.signals |= {
        "guard/longest_gap_ms": 1.0,
        "guard/active_ms": 5000.0,
        "guard/saturated_ms": 5000.0,
        "guard/longest_saturated_ms": 5000.0,
    }
    limited = Limited({"guard": 0.25}, ("guard is not signed off",), 5.0)
    if said == "before the start":
        outcome = conclude_it(was={"limited": limited})
    else:
        run.report.limited = limited
        outcome = conclude_it()
    assert any("larger than limit_nm = 0.25" in reason for reason in outcome.reasons)
    assert "5 %" in outcome.limited


@pytest.mark.parametrize(("rig", "named"), [("steering_wheel", False), ("two_lines", True)])
def test_only_a_rig_of_several_axes_names_them_in_its_figures(judge, rig, named):
    run, conclude_it = judge(rig)
    for guard in find_guards(run.loaded.rig):
        run.signals |= {f"{guard}/longest_gap_ms": 1.0, f"{guard}/active_ms": 5000.0}
    gaps = [row[0] for row in conclude_it().figures if "without a fresh command" in row[0]]
    guards = list(find_guards(run.loaded.rig))
    assert len(guards) == len(gaps) == (2 if named else 1)
    assert all((guard in gap) == named for guard, gap in zip(guards, gaps, strict=True))


def read_manifest_after(conclude_it, folder):
    conclude_it()
    return read_manifest(folder)


def test_the_status_of_a_kernel_is_shown_in_words(judge):
    run, conclude_it = judge()
    run.signals |= {"steering/status": 3.0}
    (shown,) = [row for row in conclude_it().figures if row[0] == "steering/status"]
    assert re.fullmatch(r"3 [a-z_]+", shown[1])
    assert " " in shown[2]


@pytest.mark.parametrize(
    ("alarm", "good"), [("guard: the wheel sang at 38.3 Hz", True), ("a", False)]
)
def test_a_fault_that_no_cycle_finds_is_judged_by_the_lines_of_the_verdict(
    judge, monkeypatch, alarm, good
):
    run, conclude_it = judge("fault_bench")
    injections = again(["gain-too-high@0.25"], run.loaded.rig)

    def began(*given):
        return [msgspec.structs.replace(w, began=1, good=True, why=()) for w in judge_run(*given)]

    monkeypatch.setattr("rigloop.inject.judge.judge", began)
    run.seen.alarms.append(alarm)
    outcome = conclude_it(injections=injections)
    assert outcome.good is good
    assert outcome.injections[0].good is good


def test_a_fault_on_purpose_is_judged_by_what_it_states_and_not_by_what_it_did(judge, tmp_path):
    run, conclude_it = judge("fault_bench")
    injections = again(["request-nan@0.25"], run.loaded.rig)
    run.seen.alarms.append("what the fault did")
    (tmp_path / "estimation.npy").unlink()
    outcome = conclude_it(injections=injections)
    (verdict,) = outcome.injections
    assert not verdict.good
    assert not outcome.good
    assert outcome.reasons[:2] == [verdict.line(), "what the fault did"]
    found = read_manifest(tmp_path)
    assert found.injections == (verdict,)
    # its block is one of the task's now
    assert set(found.tasks["estimation"].blocks) > set(run.loaded.rig.tasks["estimation"].blocks)
