"""A live rig from Python: the page's own examples, the plugin in a session of its own, and what cannot be started."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import rigloop
from rigloop.api.rig import NotRunningError, Rig
from rigloop.run_folder.not_started import NotStartedError

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
RECORDS = (Path(__file__).parents[2] / "docs" / "records.md").read_text()


def block(page, mark):
    (found,) = re.findall(
        rf"<!-- {mark} -->\n```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE
    )
    return found


def test_the_live_example_of_the_page_runs(make_rig, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("pandas")
    text = block(PAGE, "live").replace('"steering_wheel"', repr(str(make_rig())))
    names = {"rigloop": rigloop}
    exec(text, names)
    rig, seen = names["rig"], names["seen"]
    # every cycle of the stretch: consecutive but for periods that were skipped
    assert seen.t_s[-1] - seen.t_s[0] == pytest.approx(0.3, abs=0.2)
    assert (tmp_path / "runs") in rig.folder.parents
    assert rig.verdict.good
    assert all("not real-time" in reason for reason in rig.verdict.reasons)
    with pytest.raises(NotRunningError, match="does not run; open_run"):
        rig.read(("wheel/angle_rad",))
    with pytest.raises(NotRunningError, match="is not active"):
        Rig.attach(rig.folder)


def test_the_page_of_records_runs_on_a_run(good_run):
    pytest.importorskip("xarray")
    names = {"folder": good_run.folder}
    for text in re.findall(r"^```python\n(.*?)^```$", RECORDS, re.DOTALL | re.MULTILINE):
        exec(text, names)
    run = names["run"]
    states = [event.words for event in run.events if event.kind == "state"]
    assert states[:3] == ["guard: INIT", "guard: READY", "guard: RUNNING"]
    began, ended = run.manifest.clocks
    spent_s = run.t_s("estimation")[-1]
    # the loop counts nominal periods, the clocks are read beside it
    assert (ended.monotonic_ns - began.monotonic_ns) * 1e-9 == pytest.approx(spent_s, abs=1.0)
    assert abs(began.monotonic_ns - run.manifest.first_cycle_ns) < 1e9


def test_the_test_of_the_page_passes_and_a_failing_one_keeps_its_evidence(make_rig, tmp_path):
    text = block(PAGE, "test").replace('"steering_wheel"', repr(str(make_rig())))
    assert len(text.splitlines()) <= 20
    text += (
        '    if "fails" in __import__("os").environ:\n'
        "        assert_within(seen, ASKED, 90.0, 100.0)\n"
        '@pytest.mark.rig("steering_wheel", verdict="goood")\n'
        "def test_that_starts_nothing(rig): ...\n"
    )
    (tmp_path / "test_wheel.py").write_text(text)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--junitxml=j.xml",
            "test_wheel.py",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"fails": "1"},
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "outside of the band" in done.stdout
    assert "verdict = 'goood': must be one of good, bad, any" in done.stdout
    (run,) = (tmp_path / "runs").iterdir()
    assert f"run folder: {run}" in done.stdout
    assert [path.suffix for path in run.glob("failed-*")] == [".png"]
    assert rigloop.open_run(run).good
    properties = {
        p.get("name"): p.get("value")
        for p in ElementTree.parse(tmp_path / "j.xml").iter("property")
    }
    assert properties["rigloop.run"] == str(run)
    assert properties["rigloop.verdict"] == "good"
    assert properties["rigloop.kernel.steering"] == rigloop.open_run(run).manifest.kernels[0].sha256


def test_what_cannot_be_started_says_why(make_rig, tmp_path):
    rig = Rig(make_rig()).inject("no_such_fault@1")
    with pytest.raises(NotStartedError, match="no_such_fault"):
        rig.start(runs=tmp_path)
    for ask in (lambda: rig.signals, rig.stop, lambda: rig.verdict):
        with pytest.raises(NotRunningError):
            ask()
