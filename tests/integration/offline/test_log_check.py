"""`rigloop log check` as a new user has it: a strange log, its mapping, its replay."""

import json
import shlex
import tomllib

import numpy as np
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def strange(tmp_path_factory):
    """A German logger: banner, semicolons, decimal commas, milliseconds, a reset, a spike, a bad row."""
    t = np.arange(3000)
    count = np.rint(2000 + 1500 * np.sin(4e-3 * t)).astype(int)
    count[1000] += 700
    count[2000:] -= count[2000]
    lines = [
        f"{i},0;{c};{0.1 * np.sin(i / 100):.3f}".replace(".", ",")
        for i, c in zip(t, count, strict=True)
    ]
    lines.insert(500, "#### Pufferüberlauf ####")
    banner = "Messung 7\nGeber: 10000 counts/rev\n\nZeit [ms];Lenkwinkel [counts];Drehmoment [Nm]\n"
    path = tmp_path_factory.mktemp("logs") / "messung.csv"
    path.write_text(banner + "\n".join(lines) + "\n", encoding="cp1252")
    return path


def test_strange_log_is_checked_mapped_and_replayed_in_two_commands(rigloop, strange, tmp_path):
    before = strange.read_bytes()
    done = rigloop("log", "check", strange, "--write", tmp_path / "m.toml", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = json.loads(done.stdout)["logs"]
    assert [(f["kind"], f["row"], f["action"]) for f in log["faults"]] == [
        ("damaged row", 500, "drop"),
        ("spike", 1001, "drop"),
        ("reset to zero", 2001, "split"),
    ]
    assert log["faults"][1]["time_s"] == pytest.approx(1.0)
    assert (log["rate_hz"], log["mapping_from"]) == (pytest.approx(1000.0), "guessed")
    mapping = tomllib.loads((tmp_path / "m.toml").read_text())
    assert (mapping["time"]["unit"], mapping["angle"]["counts_per_rev"]) == ("ms", 10_000)
    assert "free_s" not in mapping
    assert strange.read_bytes() == before
    done = rigloop(
        "replay", strange, "--mapping", tmp_path / "m.toml", "--runs", tmp_path, "--json"
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_files_that_are_no_logs_are_each_named(rigloop, strange, tmp_path):
    (tmp_path / "empty.csv").write_bytes(b"")
    done = rigloop("log", "check", tmp_path / "empty.csv", tmp_path / "none.csv", strange)
    assert done.returncode == 2
    assert [line.rsplit(": ", 1)[1] for line in done.stderr.splitlines()] == [
        "is empty",
        "no such file",
    ]
    # the others are shown all the same
    assert "reset to zero" in done.stdout
    assert "GOOD" in done.stdout


def test_the_next_command_is_printed_as_a_shell_takes_it(rigloop, strange, tmp_path):
    log, mapping = tmp_path / "night drive.csv", tmp_path / "m.toml"
    log.write_bytes(strange.read_bytes())
    said = rigloop("log", "check", log, "--write", mapping).stdout.splitlines()
    assert shlex.split(said[-1]) == ["rigloop", "replay", str(log), "--mapping", str(mapping)]
    refused = rigloop("replay", log).stderr
    command = shlex.split(refused.split("`")[1])
    assert command == ["rigloop", "log", "check", str(log), "--write", "FILE"]
