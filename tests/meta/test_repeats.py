"""Tests that fail while the host takes a processor away are tried again; all others fail at once."""

import subprocess
import sys
from pathlib import Path

import repeated

PARTS = Path(repeated.__file__).parent
CONFTEST = """
import pytest
import repeated

def pytest_addoption(parser):
    repeated.add_option(parser)

@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    repeated.configure(config)
"""
# a witness that is stopped sees what it would see of a host that takes its processor away
STOPS_THE_WITNESS = """
import os, signal, time
from pathlib import Path
import pytest

TRIES = Path(__file__).with_suffix(".tries")

def witnesses():
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                line = (entry / "cmdline").read_text()
            except OSError:
                continue
            if parent == os.getpid() and "stolen_s" in line:
                yield int(entry.name)

@pytest.fixture(scope="module")
def shared():
    with TRIES.open("a") as tries:
        tries.write("x")
    return len(TRIES.read_text())

def test_it(shared, tmp_path_factory):
    seen = tmp_path_factory.getbasetemp() / "witness0" / "stolen.jsonl"
    before = seen.stat().st_size if seen.exists() else 0
    for _ in range(200 * (shared <= FAILS)):
        for kind in (signal.SIGSTOP, signal.SIGCONT):
            for pid in witnesses():
                os.kill(pid, kind)
            time.sleep(0.02)
        if not seen.exists() or seen.stat().st_size > before:
            assert False, "the rig was late"
"""


def run(folder, fails, *options):
    """Run a test that fails so often, together with what it shares with others; return exit code, words and tries."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {PARTS}\n")
    (folder / "test_live.py").write_text(STOPS_THE_WITNESS.replace("FAILS", str(fails)))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *options, folder],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=folder,
    )
    return done.returncode, done.stdout, len((folder / "test_live.tries").read_text())


def test_a_test_that_fails_while_a_processor_stands_still_is_tried_again_and_named(tmp_path):
    code, words, tries = run(tmp_path, fails=1)
    assert (code, tries) == (0, 2), words
    assert "tried again, for the host took a processor away" in words
    assert "test_live.py::test_it: processor " in words
    assert "the rig was late" in words


def test_it_is_tried_three_times_at_most(tmp_path):
    code, words, tries = run(tmp_path, fails=9)
    assert (code, tries) == (1, 3), words


def test_with_no_repeats_the_first_failure_counts(tmp_path):
    code, words, tries = run(tmp_path, 1, "--no-repeats")
    assert (code, tries) == (1, 1), words
