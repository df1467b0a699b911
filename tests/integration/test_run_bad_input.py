"""Wrong rigs, buses and options: every mistake is told, the exit code says which kind, nothing starts."""

import ctypes
import json
import os
import re
import subprocess
import sys

import pytest

MANY_MISTAKES = {
    "period_us = 1000": "period_us = 1100",
    "limit_nm = 12.0": 'limit_nm = "twelve"\nlimitt_nm = 3',
    'heartbeat = "supervisor/heartbeat"': 'heartbeat = "supervisor/hartbeat"\nheart = "x/y"',
}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "check", "replay"])
def test_all_mistakes_come_at_once_and_nothing_starts(
    rigloop, rigloop_here, bad_rig, tmp_path, command
):
    rig = bad_rig(MANY_MISTAKES)
    runs = tmp_path / "runs"
    log = "tests/data/logs/phobos_limtoc_k10_wrap.csv"
    arguments = {
        "run": ["run", rig, "--runs", runs],
        "check": ["check", rig],
        "replay": ["replay", log, "--rig", rig, "--runs", runs],
    }[command]
    done = rigloop(*arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 5, done.stderr
    for words in ("1100", "twelve", "limitt_nm", "hartbeat", "heart:"):
        assert words in done.stderr
    assert not runs.exists()

    told = json.loads(rigloop_here(*arguments, "--json").stdout)
    assert told["exit_code"] == 2
    assert told["mistakes"] == done.stderr.splitlines()
    assert not runs.exists()


@pytest.mark.slow
def test_an_unknown_interface_could_not_start(make_rig, run_to_end, tmp_path):
    done = run_to_end(make_rig(), tmp_path / "runs", "--bus", "nosuch0", "--for", "1")
    assert done.code == 3
    (line,) = done.outcome["mistakes"]
    assert "'nosuch0'" in line


def drop_raw_sockets():
    # of root; who has no such right keeps none
    PR_CAPBSET_DROP, CAP_NET_RAW = 24, 13
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_NET_RAW, 0, 0, 0)


@pytest.mark.slow
def test_a_missing_right_to_raw_sockets_is_named_with_its_remedy(make_rig, tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "rigloop",
            "run",
            make_rig(),
            "--bus",
            "lo",
            "--runs",
            tmp_path / "runs",
            "--json",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=drop_raw_sockets,
    )
    assert done.returncode == 3, done.stderr
    (line,) = json.loads(done.stdout)["mistakes"]
    assert "interface 'lo'" in line
    assert "CAP_NET_RAW" in line
    assert "setcap" in line


@pytest.mark.slow
def test_a_wheel_that_would_sing_is_given_to_nobody_s_hands(rigloop, make_rig, tmp_path):
    rig = make_rig({"blocks.guard.request_gain": "5.0"})
    done = rigloop("run", rig, "--bus", "lo", "--runs", tmp_path / "runs")
    assert done.returncode == 2, done.stderr
    assert "the wheel would sing" in done.stderr
    assert "would do, half of the limit" in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_real_drives_get_no_times_that_nobody_has_chosen(rigloop, rigloop_here, make_rig, tmp_path):
    text = make_rig({}).read_text()
    rig = tmp_path / "unsaid.toml"
    rig.write_text(re.sub(r"(?m)^(max_gap|sensor_hold)_ms = .*\n", "", text))
    done = rigloop("run", rig, "--bus", "lo", "--runs", tmp_path / "runs")
    assert done.returncode == 2, done.stderr
    said = " ".join(done.stderr.split())
    assert "blocks.guard.preset: is not given, and sensor_hold_ms, max_gap_ms neither" in said
    assert "real drives on 'lo'" in said
    assert 'choose preset = "rig"' in said
    assert not (tmp_path / "runs").exists()
    assert rigloop_here("check", rig).returncode == 0
    rig.write_text(rig.read_text().replace('backend = "simulated"', 'backend = "lo"'))
    assert "blocks.guard.preset: is not given" in " ".join(
        rigloop_here("check", rig).stderr.split()
    )


@pytest.mark.slow
def test_a_rig_that_asks_for_pysoem_says_how_to_get_it(make_rig, tmp_path):
    # the cycle process is a process of its own: the blocker has to reach it too
    blocker = tmp_path / "blocked"
    blocker.mkdir()
    (blocker / "pysoem.py").write_text("raise ModuleNotFoundError('No module named pysoem')\n")
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from rigloop.cli import main; main()"
    arguments = [
        "run",
        make_rig({"blocks.bus.bringup": '"pysoem"'}),
        "--bus",
        "lo",
        "--for",
        "1",
        "--runs",
        tmp_path / "runs",
        "--json",
    ]
    done = subprocess.run(
        [sys.executable, "-c", code, str(blocker), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(blocker)},
    )
    assert done.returncode == 3, done.stderr
    (line,) = json.loads(done.stdout)["mistakes"]
    assert "pip install pysoem" in line
    assert 'bringup = "rigloop"' in line


@pytest.mark.slow
def test_a_runs_folder_that_cannot_be_made_is_told(make_rig, run_to_end, tmp_path):
    (tmp_path / "file").touch()
    done = run_to_end(make_rig(), tmp_path / "file" / "runs", "--for", "1")
    assert done.code == 3
    assert "give --runs" in done.outcome["mistakes"][0]


@pytest.mark.slow
def test_without_a_compiler_a_new_kernel_is_refused_with_the_reason(rigloop, tmp_path):
    done = rigloop(
        *("run", "steering_wheel", "--for", "1", "--runs", tmp_path / "runs", "--json"),
        env={"CC": "/no/such/compiler", "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert done.returncode == 3, done.stderr
    assert "/no/such/compiler" in json.loads(done.stdout)["mistakes"][0]
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_a_run_folder_may_have_any_name(make_rig, rigloop, rigloop_here, tmp_path):
    # of the folder that somebody chose, and of the rig that is in its name
    name = ' a\nb\x1b[31m é\udcff "quoted"\\'
    rig = tmp_path / f"{name}.toml"
    rig.write_text(make_rig().read_text())
    done = rigloop("run", rig, "--for", "0.2", "--runs", tmp_path / f"runs {name}", "--json")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr
    (folder,) = (tmp_path / f"runs {name}").iterdir()
    assert (folder / "report.html").exists()
    assert json.loads(rigloop_here("report", folder, "--json").stdout)["good"]
