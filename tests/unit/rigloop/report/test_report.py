import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from run_manifests import run_manifest

from io_bridge.recording.record import RecordWriter
from rigloop.plots import figures as report_plots
from rigloop.plots.figures import thinned
from rigloop.report.report import kinds_of_fault, write_report
from rigloop.run_folder.late import write_events
from rigloop.run_folder.manifest import (
    DataFault,
    HistogramBins,
    ManifestError,
    Named,
    Replay,
    Right,
    TaskFacts,
    write_manifest,
    write_timing,
)
from rt_core.doctor.check import Check, Level
from rt_core.lateness.cause import Cause
from rt_core.lateness.trace import RECORD

N, PERIOD_NS = 40_000, 250_000
ANGLE, TORQUE = "wheel/angle_rad", "drive/torque_nm"
LATE_AT, SPIKE_AT = 12_345, 20_001


def facts(**changes):
    return {
        "rig": Named("steering_wheel", "0" * 64),
        "kernels": (Named("steering", "1" * 64),),
        "duration_s": N * PERIOD_NS * 1e-9,
        "tasks": {"estimation": TaskFacts(PERIOD_NS, "estimation.npy", N, 3, 4)},
        "versions": {"python": "3.11"},
        "host": {"cpu": "two <cores> & more", "isolated": None, "load": (0.5, 1.25)},
        "rights": (Right("SCHED_FIFO", False, True, "RLIMIT_RTPRIO is 0", "allow rtprio 95"),),
        "signals": {"angle": ("estimation", ANGLE), "torque": ("estimation", TORQUE)},
    } | changes


@pytest.fixture
def folder(tmp_path):
    late = "loop/estimation/late_ns"
    step = "loop/estimation/step_ns"
    with RecordWriter(tmp_path / "estimation.npy", [late, step, ANGLE, TORQUE]) as writer:
        rows = np.zeros(N, writer.dtype)
        rows["t_ns"] = np.arange(N) * PERIOD_NS
        t = rows["t_ns"] * 1e-9
        rows[late] = np.random.default_rng(1).uniform(100, 900, N)
        rows[late][LATE_AT] = 456_789.0
        rows[step] = 3000.0
        rows[ANGLE] = np.sin(2 * t)
        rows[TORQUE] = 2 * np.cos(2 * t)
        rows[TORQUE][SPIKE_AT] = -17.25
        writer.append(rows)
    edges = np.geomspace(50, 1e7, 400)
    for_late, _ = np.histogram(rows[late], edges)
    write_timing(tmp_path, {"estimation": {"late": HistogramBins.of(edges, for_late, 456_789.0)}})
    write_manifest(tmp_path, run_manifest(**facts()))
    return tmp_path


class Page(HTMLParser):
    """Text, references and tag balance of a page."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self, text):
        super().__init__()
        self.text, self.links, self.tags, self.open = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self.links += [value for key, value in attrs if key in ("href", "src", "xlink:href")]

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for key, value in attrs if key in ("href", "src", "xlink:href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    @property
    def words(self):
        return re.sub(r"\s+", " ", " ".join(self.text))


def page_of(folder):
    return Page(write_report(folder).read_text(encoding="utf-8"))


def test_report_is_one_well_formed_file_without_links_out(folder):
    path = write_report(folder)
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert path.stat().st_size < 3_000_000
    assert [link for link in page.links if not link.startswith("#")] == []
    # of the theme, the signals, uPlot and the page's own; none is fetched
    assert page.tags.count("script") == 4
    assert re.findall(r"url\((?!#)", text) == []
    assert page.tags.count("svg") == 3


def test_every_figure_has_words_for_those_who_do_not_see_it(folder):
    text = write_report(folder).read_text(encoding="utf-8")
    figures = re.findall(r'<figure[^>]*role="img" aria-label="([^"]*)"', text)
    assert len(figures) == text.count("<figure") == 3
    assert "angle (deg): -57.3 to 57.3" in figures[0]
    assert "late: half below" in figures[2]


def test_figures_have_the_colours_of_the_theme_and_the_rig_its_title(folder):
    (folder / "rig.toml").write_text('title = "Wheel <one>"\n')
    text = write_report(folder).read_text(encoding="utf-8")
    assert "<h1>Wheel &lt;one&gt;</h1>" in text
    svgs = "".join(re.findall(r"<svg.*?</svg>", text, re.DOTALL))
    assert re.findall(r": #[0-9a-f]{6}", svgs) == []
    assert "var(--line-1, #1d5fa6)" in svgs
    assert ":root[data-theme=dark]" in text


def test_ids_of_the_figures_do_not_collide(folder):
    text = write_report(folder).read_text(encoding="utf-8")
    clips = re.findall(r'<clipPath id="([^"]+)"', text)
    assert len(clips) == len(set(clips)) > 0


def test_good_run_says_so_with_its_figures(folder):
    words = page_of(folder).words
    assert "Good" in words
    assert "Not good" not in words
    assert "10.00 s" in words
    assert "17.25 N m" in words  # the peak, of one sample
    assert "4 periods skipped" in words
    assert "allow rtprio 95" in words
    assert "two <cores> & more" in words
    assert "0.5, 1.25" in words
    assert "0" * 64 in words


def test_bad_run_gives_its_reasons(folder):
    write_manifest(
        folder, run_manifest(**facts(verdict="bad", reasons=("the bus <lost> 3 frames",)))
    )
    words = page_of(folder).words
    assert "Not good" in words
    assert "the bus <lost> 3 frames" in words


def test_latest_cycle_stands_between_its_neighbours(folder):
    words = page_of(folder).words
    times = [f"{k * PERIOD_NS * 1e-9:.4f}" for k in (LATE_AT - 1, LATE_AT, LATE_AT + 1)]
    assert re.search(rf"{times[0]} .* estimation {times[1]} 457 .* {times[2]} ", words)


def test_replay_lists_the_faults_of_its_log(folder):
    replay = Replay(Named("wheel.csv", "2" * 64), "plain", 1234, 321.0)
    fault = DataFault("step", 1, 9053, "the angle jumps")
    write_manifest(folder, run_manifest(**facts(kind="replay", replay=replay, faults=(fault,))))
    words = page_of(folder).words
    for part in ("wheel.csv", "321 ×", "1,234", "9,053", "the angle jumps", "keeps no deadlines"):
        assert part in words


def test_missing_record_and_signals_leave_a_report_that_says_so(folder):
    (folder / "estimation.npy").unlink()
    (folder / "timing.json").unlink()
    page = page_of(folder)
    assert "No record of estimation" in page.words
    assert "svg" not in page.tags


def test_unknown_signal_is_left_out(folder):
    signals = {"angle": ("estimation", "no/such_rad"), "torque": ("nowhere", TORQUE)}
    write_manifest(folder, run_manifest(**facts(signals=signals)))
    assert "Angle and torque" not in page_of(folder).words


def test_cut_record_is_reported_and_plotted(folder):
    path = folder / "estimation.npy"
    os.truncate(path, path.stat().st_size - 5)
    words = page_of(folder).words
    assert "the last row is cut" in words
    assert "Angle and torque" in words


@pytest.mark.slow
def test_signal_that_is_not_finite_is_plotted_as_far_as_it_is(folder):
    with RecordWriter(folder / "simulation.npy", ["model/torque_nm"]) as writer:
        rows = np.zeros(100, writer.dtype)
        rows["model/torque_nm"] = np.where(np.arange(100) < 50, 1.0, np.nan)
        writer.append(rows)
    tasks = facts()["tasks"] | {"simulation": TaskFacts(1_000_000, "simulation.npy")}
    signals = {"torque": ("simulation", "model/torque_nm"), "angle": ("estimation", ANGLE)}
    write_manifest(folder, run_manifest(**facts(tasks=tasks, signals=signals)))
    assert "1.00 N m" in page_of(folder).words


def test_plotting_loads_with_the_report_and_not_before():
    program = (
        "import sys, rigloop.report.report; print({'matplotlib', 'jinja2'} & set(sys.modules))"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert out.stdout == "set()\n"


@pytest.mark.slow
def test_same_run_gives_the_same_report(folder):
    first = write_report(folder).read_bytes()
    assert write_report(folder).read_bytes() == first


def test_report_needs_a_manifest(tmp_path):
    with pytest.raises(ManifestError, match=r"manifest\.json"):
        write_report(tmp_path)


def test_thinning_keeps_every_peak_and_the_ends():
    rng = np.random.default_rng(2)
    t, value = np.arange(100_000.0), rng.normal(size=100_000)
    value[[31, 77_777]] = 50.0, -60.0
    few_t, few = thinned(t, value, bins=500)
    assert len(few) <= 1002
    assert {50.0, -60.0} <= set(few)
    assert (few_t[0], few_t[-1]) == (0.0, 99_999.0)
    assert (np.diff(few_t) > 0).all()
    np.testing.assert_array_equal(few, value[few_t.astype(int)])


def test_short_signal_is_not_thinned():
    t, value = np.arange(5.0), np.array([1.0, np.nan, 3.0, 4.0, 5.0])
    few_t, few = thinned(t, value)
    assert few_t.tolist() == [0, 2, 3, 4]
    assert few.tolist() == [1, 3, 4, 5]


@pytest.mark.slow
def test_a_degraded_run_says_so_above_everything_with_each_remedy(folder):
    checks = (
        Check("fifo priority", Level.RED, "refused", "others first", "one line\nanother <line>"),
        Check("swap", Level.AMBER, "on", "paged out", "swapoff -a"),
        Check("clock source", Level.GREEN, "tsc", "slow"),
    )
    write_manifest(folder, run_manifest(**facts(checks=checks, mode="degraded")))
    page = page_of(folder)
    words = page.words
    assert words.index("degraded: fifo priority") < words.index("Duration")
    assert words.index("others first") < words.index("paged out") < words.index("1 green")
    assert "one line another <line>" in words


def test_a_run_with_nothing_red_has_no_band(folder):
    checks = (Check("clock source", Level.GREEN, "tsc", "slow"),)
    write_manifest(folder, run_manifest(**facts(checks=checks, mode="strict")))
    assert "degraded" not in page_of(folder).words


def test_a_run_without_checks_has_no_doctor(folder):
    assert "Doctor" not in page_of(folder).words


def test_what_is_drawn_of_a_filter_has_the_unit_that_stands_beside_it(tmp_path, monkeypatch):
    # innovations of half a milliradian
    names = [
        f"wheel/{port}" for port in ("nis", "innovation_rad", "trusted", "rejected", "angle_rad")
    ]
    with RecordWriter(tmp_path / "estimation.npy", names) as writer:
        rows = np.zeros(2000, writer.dtype)
        rows["t_ns"] = np.arange(2000) * PERIOD_NS
        rows["wheel/nis"] = rows["wheel/trusted"] = 1.0
        rows["wheel/innovation_rad"] = 5e-4 * np.sign(np.sin(np.arange(2000.0)))
        writer.append(rows)
    write_manifest(tmp_path, run_manifest(**facts(signals={})))
    drawn = {}
    real = report_plots.time_plot

    def time_plot(panels, *marks):
        drawn.update({label: lines[0][2] for label, lines in panels})
        return real(panels, *marks)

    monkeypatch.setattr(report_plots, "time_plot", time_plot)
    page = page_of(tmp_path)
    (label,) = (label for label in drawn if "innovation" in label)
    per_rad = {"(rad)": 1.0, "(mrad)": 1e3, "(µrad)": 1e6}[label.split()[-1]]
    assert np.max(np.abs(drawn[label])) == pytest.approx(5e-4 * per_rad)
    assert label in page.text


@pytest.mark.slow
def test_a_run_with_late_cycles_draws_the_worst_of_them(folder):
    records = np.zeros(33, RECORD)
    records["cycle"] = np.arange(1000, 1033)
    records["wall_ns"] = 3000
    records["stage_ns"][:, 0] = 2500
    records["cause"][16] = Cause.STOLEN
    records["wall_ns"][16] = 4_200_000
    records["cpu_ns"][16] = 3000
    write_events(folder, "estimation", [(16, records)])
    task = TaskFacts(
        PERIOD_NS,
        "estimation.npy",
        N,
        78,
        90,
        causes={"stolen": 60, "late wake": 15, "own work": 3},
        late_events=70,
        blocks=("bus", "wheel"),
    )
    write_manifest(folder, run_manifest(**facts(tasks={"estimation": task})))
    page = page_of(folder)
    assert (
        "70 late, 1 kept: of each cause the first, the worst and the newest; 78 overruns: 60 stolen, "
        "15 late wake, 3 own work" in page.words
    )
    assert "estimation, cycle 1,016" in page.words
    assert "its core was taken" in page.words
    assert "4.20 ms from begin to end" in page.words
    assert page.tags.count("svg") == 4


def test_a_long_stretch_without_numbers_is_a_gap_and_a_slow_sensor_has_none():
    t = np.arange(1000.0)
    value = np.sin(t)
    value[400:500] = np.nan
    times, values = thinned(t, value)
    (gap,) = np.flatnonzero(np.isnan(values))
    assert (times[gap - 1], times[gap], times[gap + 1]) == (399.0, 499.0, 500.0)
    slow = np.where(t % 10 == 0, np.sin(t), np.nan)
    assert np.array_equal(thinned(t, slow)[1], slow[::10])


@pytest.mark.parametrize(("n", "words"), [(0, "0 kinds"), (1, "1 kind"), (2, "2 kinds")])
def test_one_kind_is_one(n, words):
    assert kinds_of_fault(n) == f"{words} of data fault"
