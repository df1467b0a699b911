"""The judgement of a run whose folder, records and signals are there: manifest, outcome and files that it leaves."""

import json

import numpy as np
import pytest

from io_bridge.record import RecordWriter
from rigloop import order
from rigloop.ended import Ended, Final
from rigloop.manifest import Manifest, Named, Process, read_manifest, read_timing
from rigloop.order import Mode
from rigloop.verdict import conclude, roles
from rt_core.histogram import Histogram
from rt_core.trace import RECORD

CYCLES = 10_000
HISTOGRAMS = ("late", "step", "bus", "total", "spin", "hole", "untold", "explain")


@pytest.fixture
def judge(good_run, tmp_path):
    """Give the run, and what judges it once its parts are as a test wants them."""

    def make(rig="steering_wheel"):
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
            histograms[task] = {name: Histogram() for name in HISTOGRAMS} | {
                "late": Histogram.of([1000, 2000, 3000]),
                "step": Histogram.of([50_000] * 100),
            }
        late = {task: (0, []) for task in run.loaded.rig.tasks}
        before = Manifest(
            kind="live",
            rig=Named(run.loaded.name, run.loaded.sha256),
            kernels=(),
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

        def conclude_it(word=True, **more):
            if word:
                order.write(tmp_path, "cycle.json", run.report)
            final = Final(run.signals, histograms, late, run.rings)
            ended = Ended(run.seen, final, run.code)
            return conclude(
                tmp_path, run.loaded, {"steering": "1" * 64}, ended, run.seconds, Mode.DEGRADED, [],
                before=before, **more,
            )  # fmt: skip

        run.late = late
        return run, conclude_it

    return make


def test_a_good_run_leaves_a_good_manifest_and_a_report(judge, tmp_path):
    run, conclude_it = judge()
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
    outcome = conclude_it(cut_short=["it was cut short"], missing=["a file"])
    assert outcome.reasons == ["it was cut short"]
    found = read_manifest(tmp_path)
    assert (found.verdict, found.state, found.missing) == ("bad", "interrupted", ("a file",))


def test_a_run_without_real_time_rights_says_so_and_is_not_bad_for_it(judge, tmp_path):
    run, conclude_it = judge()
    run.report.real_time = False
    outcome = conclude_it()
    assert outcome.good
    assert outcome.reasons == ["not real-time: lateness and overruns are reported, not judged"]
    assert not read_manifest(tmp_path).real_time


def test_a_run_that_was_demoted_meanwhile_was_not_real_time(judge, tmp_path):
    run, conclude_it = judge()
    run.seen.demoted = True
    conclude_it()
    assert not read_manifest(tmp_path).real_time


@pytest.mark.parametrize("text", [None, "{", "[1]"])
def test_a_cycle_process_that_left_no_word_is_a_complaint(judge, tmp_path, text):
    _, conclude_it = judge()
    if text is not None:
        (tmp_path / "cycle.json").write_text(text)
    outcome = conclude_it(word=False)
    assert "the cycle process left no report" in outcome.reasons
    assert not outcome.good


def test_counts_of_each_task_are_those_of_its_signals_and_record(judge, tmp_path):
    run, conclude_it = judge()
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
    assert ("first cycle after", "1.50 s", "from the start of the command") in conclude_it().figures


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
    said = "211 frames lost, 3 replies late before OP, which no verdict counts"
    assert ("bus in OP after", "8.25 s", said) in outcome.figures
    assert said in (tmp_path / "report.html").read_text()
