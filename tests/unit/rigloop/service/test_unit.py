"""The unit for systemd: what it says, and that systemd reads it."""

import shutil

import pytest
from typer.testing import CliRunner

from rigloop.cli import app
from rigloop.service.unit import doubts_of, unit_of


def keys_of(text):
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and line[0] != "#")


def test_a_unit_of_the_machine_has_rights_limits_and_a_watchdog():
    keys = keys_of(unit_of("lab", ["python", "-m", "rigloop"], False))
    assert keys["Type"] == "notify"
    assert int(keys["WatchdogSec"]) > 0
    assert "CAP_SYS_NICE" in keys["AmbientCapabilities"]
    assert keys["CapabilityBoundingSet"] == keys["AmbientCapabilities"]
    assert keys["LimitRTPRIO"] == "99"
    assert keys["LimitMEMLOCK"] == "infinity"
    assert keys["KillMode"] == "process"


def test_a_unit_of_a_user_asks_for_nothing_that_only_the_machine_has():
    keys = keys_of(unit_of("lab", ["python"], True))
    assert not {"User", "AmbientCapabilities", "CapabilityBoundingSet"} & set(keys)


def test_a_command_is_quoted_as_systemd_reads_it():
    keys = keys_of(unit_of("lab", ["py thon", "50%", 'a"b', "$HOME"], True))
    assert keys["ExecStart"] == r'"py thon" 50%% "a\"b" $$HOME'


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_has_no_doubts_and_finds_a_mistake():
    text = unit_of("lab", [shutil.which("sh")], False)
    doubts = doubts_of(text, "rigloop-lab.service", user=False)
    # it doubts the user `nobody`, whom a test may be run by
    assert [one for one in doubts if "Special user nobody" not in one] == []
    wrong = text.replace("Type=notify", "Type=notfy")
    assert "notfy" in " ".join(doubts_of(wrong, "rigloop-lab.service", user=False))


def test_a_dry_run_prints_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    asked = ["install-service", "steering_wheel", "--dry-run", "--user", "--name", "a b"]
    assert CliRunner().invoke(app, asked).exit_code == 2
    done = CliRunner().invoke(app, [*asked[:-1], "lab"])
    assert "serve steering_wheel --name lab" in done.output
    assert not list(tmp_path.iterdir())
    done = CliRunner().invoke(app, ["install-service", "steering_wheel", "--user"])
    (path,) = tmp_path.rglob("*.service")
    assert path.name == "rigloop-steering_wheel.service"


@pytest.mark.parametrize(
    "runs", ["runs\n[Service]\nExecStartPre=/bin/evil", "ru\x1b[2Jns", "ru\u202ens"]
)
def test_a_path_that_would_break_the_unit_is_refused(runs):
    asked = ["install-service", "steering_wheel", "--dry-run", "--user", "--runs", runs]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 2
    assert "rename it" in done.stderr
    assert "ExecStart=" not in done.output
