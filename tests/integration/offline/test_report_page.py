"""Reports in a real browser without a window: signals are unpacked and drawn, of one run and of two."""

import os
import re
import shutil
import subprocess

import pytest
from recorded_runs import write_recorded_run

from rigloop.report.report import write_report
from rigloop.runs.beside import beside

pytestmark = pytest.mark.slow

CHROMIUM = shutil.which("chromium")
ROLES = {
    "angle": ("estimation", "wheel/angle_rad"),
    "torque": ("simulation", "steering/guide/torque_nm"),
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Open a page; return the document as it is once its scripts have run."""
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    profile = tmp_path_factory.mktemp("profile")

    def dump(page):
        command = [
            CHROMIUM, "--headless=new", "--disable-gpu", "--no-first-run", "--virtual-time-budget=5000",
            f"--user-data-dir={profile}", "--dump-dom", page.as_uri(),
        ]  # fmt: skip
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr[-500:]
        return done.stdout

    return dump


def test_the_signals_that_a_run_shows_are_drawn_and_all_can_be_chosen(opened, tmp_path):
    write_recorded_run(tmp_path, signals=ROLES)
    text = opened(write_report(tmp_path))
    assert re.search(r'<section id="viewer"(?! hidden)', text)
    # one panel for rad, one for Nm
    assert text.count("<canvas") == 2
    (choice,) = re.findall(r'<div id="choice".*?</div>', text)
    for path in ("wheel/angle_rad", "guard/state", "steering/guide/torque_nm"):
        assert path in choice


def test_two_runs_share_their_panels(opened, tmp_path):
    folders = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        folders.append(write_recorded_run(tmp_path / name, signals=ROLES))
    page = tmp_path / "both.html"
    page.write_text(beside(tuple(folders))[1])
    text = opened(page)
    assert text.count("<canvas") == 2
    for label in ("A: wheel/angle_rad", "B: wheel/angle_rad"):
        assert label in text
