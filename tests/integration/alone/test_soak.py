"""A soak of a few seconds: every figure has its line, and what grows, stops or is lost is told."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from io_bridge.recording.record import open_record
from rigloop.blocks.checked import read_checked
from rigloop.run_folder.manifest import read_manifest
from rigloop.soak.judge import is_good, judge, reasons
from rigloop.soak.processes import ProcessSample
from rigloop.soak.watch import Sample
from rt_core.lateness.cause import Cause

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def soaked(rigloop, make_rig, tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    done = rigloop("soak", make_rig(), "--for", "3", "--runs", runs, "--json")
    assert done.stdout, done.stderr
    answer = json.loads(done.stdout)
    assert "folder" in answer, answer
    folder = Path(answer["folder"])
    return SimpleNamespace(
        code=done.returncode,
        answer=answer,
        said=done.stderr,
        folder=folder,
        manifest=read_manifest(folder),
        loaded=read_checked(folder / "rig.toml"),
    )


def test_the_verdict_is_that_of_its_lines_and_the_exit_code(soaked):
    rows = soaked.answer["rows"]
    good = all(row["good"] is not False for row in rows)
    assert soaked.answer["good"] is good
    assert soaked.code == (0 if good else 1)
    assert bool(soaked.answer["reasons"]) is not good


def test_every_figure_has_a_line(soaked):
    named = [row["what"] for row in soaked.answer["rows"]]
    assert {"run", "armed for", "loop against clock", "wall clock against it"} <= set(named)
    for task in ("estimation", "simulation"):
        assert {f"overruns, {task}", f"record, {task}", f"page faults, {task}"} <= set(named)
    for role in ("supervisor", "cycle", "recorder"):
        assert f"memory, {role}" in named
    assert named.count("  without a cause") == 2


def test_overruns_have_causes_and_records_are_counted(soaked):
    rows = soaked.answer["rows"]
    assert all(row["good"] for row in rows if row["what"] == "  without a cause")
    lost = [row for row in rows if row["what"] == "  cycles that are not in it"]
    for row, facts in zip(lost, soaked.manifest.tasks.values(), strict=True):
        # a machine that is too busy loses cycles of the record: told then, and not good
        missing = facts.cycles - len(open_record(soaked.folder / facts.record))
        assert row["found"] == str(missing)
        assert row["good"] is (missing == 0)


def test_samples_are_kept_and_go_on_through_the_run(soaked):
    with (soaked.folder / "soak.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == soaked.answer["samples"] >= 5
    t_s = [float(row["t_s"]) for row in rows]
    loop_s = [float(row["loop_s"]) for row in rows]
    assert t_s == sorted(t_s)
    assert loop_s == sorted(loop_s)
    assert t_s[-1] > 1.0
    assert int(rows[-1]["record_bytes"]) > int(rows[0]["record_bytes"]) > 0
    assert int(rows[-1]["cycle_resident_kib"]) > int(rows[-1]["cycle_own_kib"]) > 0


def test_the_page_and_the_progress_are_there(soaked):
    page = (soaked.folder / "soak.html").read_text()
    assert page.rstrip().endswith("</html>")
    assert "<svg" in page
    assert "loop against clock" in page
    assert (soaked.folder / "report.html").exists()
    assert "soak " in soaked.said
    assert "memory, MiB" in soaked.said


def samples(**change):
    """Twenty minutes of a run without a blemish, with changes: minute → fields of the cycle process or the sample."""
    found = []
    for minute in range(21):
        t_s = 60.0 * minute
        cycle = ProcessSample(150_000, 90_000, 4, 6, {"estimation": 20, "simulation": 9})
        sample = Sample(
            t_s=t_s,
            wall_s=1e9,
            loop_s=t_s,
            overruns={cause: 0 for cause in Cause if cause},
            processes={"supervisor": replace(cycle, faults={}), "cycle": cycle},
            record_bytes=int(1e6 * minute),
        )
        found.append(change["make"](sample) if "make" in change else sample)
    return found


def in_cycle(sample, **fields):
    cycle = replace(sample.processes["cycle"], **fields)
    return replace(sample, processes=sample.processes | {"cycle": cycle})


BLEMISHES = {
    # a hundred KiB a minute
    "memory, cycle": lambda s: in_cycle(s, own_kib=90_000 + int(s.t_s / 60 * 200)),
    "memory, cycle: threads": lambda s: in_cycle(s, threads=4 + (s.t_s > 600)),
    "memory, cycle: files": lambda s: in_cycle(s, files=6 + int(s.t_s / 60)),
    "cycle lived": lambda s: (
        s if s.t_s < 600 else replace(s, processes={"supervisor": s.processes["supervisor"]})
    ),
    # the loop counts fewer periods than there were
    "loop against clock": lambda s: replace(s, loop_s=s.t_s * (1 - 1e-4)),
}


@pytest.mark.parametrize("blemish", BLEMISHES)
def test_what_grows_stops_or_drifts_is_told(soaked, blemish):
    clean = judge(soaked.loaded, samples(), soaked.manifest, soaked.folder)
    rows = judge(soaked.loaded, samples(make=BLEMISHES[blemish]), soaked.manifest, soaked.folder)
    new = set(reasons(rows)) - set(reasons(clean))
    assert len(new) == 1
    assert new.pop().startswith(f"{blemish}: ")
    assert not is_good(rows)


def test_a_loop_may_keep_the_pace_of_a_real_bus_and_not_of_a_simulated_one(soaked):
    def paced(s):
        return replace(s, loop_s=s.t_s * (1 + 5e-5))

    def row(**options):
        found = judge(soaked.loaded, samples(make=paced), soaked.manifest, soaked.folder, **options)
        return next(row for row in found if row.what == "loop against clock")

    assert row(follows_bus=True).good is True
    assert row().good is False


def test_a_page_fault_counts_where_memory_is_locked(soaked):
    def faulted(s):
        faults = {"estimation": 20 + (s.t_s > 900), "simulation": 9}
        return in_cycle(s, faults=faults)

    rows = judge(soaked.loaded, samples(make=faulted), soaked.manifest, soaked.folder)
    row = next(row for row in rows if row.what == "page faults, estimation")
    assert row.found == "1"
    locked = any(r.name == "memory lock" and r.held for r in soaked.manifest.rights)
    assert row.good is (False if locked else None)


def test_a_run_that_was_hardly_watched_is_not_good(soaked):
    whole = samples()
    lasted = msgspec.structs.replace(soaked.manifest, duration_s=whole[-1].t_s)
    assert "watched" not in " ".join(reasons(judge(soaked.loaded, whole, lasted, soaked.folder)))
    half = judge(soaked.loaded, whole[: len(whole) // 2], lasted, soaked.folder)
    assert any(reason.startswith("watched: ") for reason in reasons(half))
    few = judge(soaked.loaded, whole[:4], soaked.manifest, soaked.folder)
    assert any(reason.startswith("samples: ") for reason in reasons(few))
    assert not is_good(judge(soaked.loaded, [], soaked.manifest, soaked.folder))
