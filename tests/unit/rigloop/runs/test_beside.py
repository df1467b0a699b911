"""Two runs on one page: what differs, both verdicts, the signals of both; and what cannot be compared."""

import json
import re

import pytest
from command_here import rigloop_here
from recorded_runs import write_recorded_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    base = tmp_path_factory.mktemp("runs")
    (base / "one").mkdir()
    (base / "two").mkdir()
    roles = {"angle": ("estimation", "wheel/angle_rad")}
    one = write_recorded_run(base / "one", signals=roles, verdict="good", reasons=())
    two = write_recorded_run(base / "two", signals=roles, reasons=("it <tripped>",))
    text = (two / "rig.toml").read_text()
    (two / "rig.toml").write_text(text.replace('title = "', 'title = "Other <b> '))
    return one, two


def test_the_page_has_both_verdicts_and_what_differs(runs, tmp_path):
    page = tmp_path / "both.html"
    done = rigloop_here("report", *runs, "--out", page, "--json")
    assert done.returncode == 1  # one of them is not good
    found = json.loads(done.stdout)
    assert (found["verdicts"], found["is_equal"]) == (["good", "bad"], False)
    text = page.read_text()
    assert "it &lt;tripped&gt;" in text
    assert "Other &lt;b&gt; " in text
    assert text.count("<svg") == 1
    assert re.findall(r'(?:src|href)="(?!data:|#)', text) == []
    (words,) = re.findall(r'role="img" aria-label="([^"]*)"', text)
    assert "wheel/angle_rad, A: 0 to 49; wheel/angle_rad, B: 0 to 49" in words


def test_the_same_run_twice_is_equal(runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = rigloop_here("report", runs[0], runs[0])
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "one_beside_one.html"
    text = (tmp_path / "one_beside_one.html").read_text()
    assert "are the same" in text


def test_what_is_no_run_is_one_line(runs, tmp_path):
    done = rigloop_here("report", runs[0], tmp_path)
    assert done.returncode == 2
    assert "manifest.json" in done.stderr
    assert "cannot be written" not in done.stderr
    done = rigloop_here("report", *runs, "--out", tmp_path / "none" / "page.html")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
