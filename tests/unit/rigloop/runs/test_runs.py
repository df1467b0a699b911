"""Run folders as a list, tagged, pruned, shown and compared: nothing but an old run folder is ever removed."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from recorded_runs import ANGLE, write_recorded_run
from typer.testing import CliRunner

from io_bridge.recording.record import open_record
from rigloop.cli import app
from rigloop.run_folder.process_state import Process, boot
from rigloop.runs.found import find_runs
from rigloop.runs.prune import carry_out, plan_pruning


@pytest.fixture
def runs(tmp_path):
    """Three runs, the newest `c`; a folder of somebody else; a damaged one; a link to a run elsewhere."""
    base = tmp_path / "runs"
    for day, name in enumerate("abc", 1):
        (base / name).mkdir(parents=True)
        write_recorded_run(base / name, started=f"2026-01-0{day}T03:04:05Z")
    (base / "mine").mkdir()
    (base / "mine" / "thesis.txt").write_text("years")
    (base / "damaged").mkdir()
    (base / "damaged" / "manifest.json").write_text("{}")
    (tmp_path / "elsewhere").mkdir()
    write_recorded_run(tmp_path / "elsewhere")
    (base / "link").symlink_to(tmp_path / "elsewhere")
    return base


def call(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done


def listed(*arguments):
    found = json.loads(call("runs", *arguments, "--json").stdout)
    return [run["folder"].rpartition("/")[2] for run in found["runs"]], found


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_runs_are_listed_newest_first_and_the_damaged_one_is_named(runs):
    order, found = listed(runs)
    assert order == ["c", "b", "a"]
    assert found["runs"][0]["bytes"] > 1000
    (damaged,) = found["unreadable"]
    assert damaged["folder"].endswith("damaged")
    assert "steering" in call("runs", runs).stdout
    assert "cannot be read" in call("runs", runs / "no", code=2).stderr


def test_tags_are_kept_beside_the_manifest(runs):
    before = (runs / "a" / "manifest.json").read_bytes()
    call("runs", "tag", runs / "a", "stiff", "good-one")
    call("runs", "tag", runs / "a", "--remove", "stiff", "late")
    assert listed(runs, "--tag", "late")[0] == ["a"]
    assert listed(runs, "--tag", "stiff")[0] == []
    assert (runs / "a" / "manifest.json").read_bytes() == before
    assert "a tag is" in call("runs", "tag", runs / "a", "../x", code=2).stderr
    assert "cannot be read" in call("runs", "tag", runs / "mine", "x", code=2).stderr


def test_prune_only_says_what_would_go_until_it_is_told_to(runs):
    everything = names(runs)
    done = json.loads(call("runs", "prune", runs, "--keep", 1, "--json").stdout)
    assert [run["folder"].rpartition("/")[2] for run in done["go"]] == ["b", "a"]
    assert not done["removed"]
    assert names(runs) == everything
    call("runs", "prune", runs, code=2)  # how many stay is never guessed


def test_prune_removes_nothing_but_old_run_folders(runs, tmp_path):
    call("runs", "prune", runs, "--keep", 1, "--yes")
    assert names(runs) == ["c", "damaged", "link", "mine"]
    assert names(tmp_path / "elsewhere") == names(runs / "c")


def living(folder):
    here = Process.of(os.getpid())
    write_again(folder, state="running", boot=boot(), processes={"cycle": here})


def ended_just_now(folder):
    here = Process.of(os.getpid())
    write_again(folder, boot=boot(), processes={"supervisor": here})


def write_again(folder, **facts):
    for path in folder.iterdir():
        path.unlink()
    write_recorded_run(folder, started="2026-01-01T03:04:05Z", **facts)


@pytest.mark.parametrize(
    ("spare", "why"),
    [
        (lambda folder: call("runs", "tag", folder, "x"), "tagged x"),
        (lambda folder: (folder / "notes.txt").write_text("mine"), "notes.txt"),
        (lambda folder: (folder / "more").mkdir(), "more"),
        (lambda folder: (folder / "x.json").symlink_to("/etc/passwd"), "x.json"),
        (living, "it goes on"),
        (ended_just_now, "may still write the report"),
    ],
    ids=["tagged", "a file of others", "a folder of others", "a link", "goes on", "reports"],
)
def test_a_run_that_somebody_needs_stays(runs, spare, why):
    spare(runs / "a")
    done = json.loads(call("runs", "prune", runs, "--keep", 0, "--yes", "--json").stdout)
    (kept,) = done["stay"]
    assert kept[0]["folder"].endswith("/a")
    assert why in kept[1]
    assert (runs / "a" / "manifest.json").exists()
    assert not (runs / "b").exists()


def test_a_run_that_ended_long_ago_goes_though_its_process_serves_on(runs):
    ended_just_now(runs / "a")
    os.utime(runs / "a" / "manifest.json", (1e9, 1e9))
    call("runs", "prune", runs, "--keep", 1, "--yes")
    assert "a" not in names(runs)


def test_a_run_that_was_killed_goes(runs):
    write_again(runs / "a", state="running", boot="another", processes={"cycle": Process(1, 1)})
    call("runs", "prune", runs, "--keep", 1, "--older-than", 1, "--yes")
    assert "a" not in names(runs)


def pruning(runs, keep=1):
    found, _ = find_runs(runs)
    return plan_pruning(found, keep=keep)


def test_a_prune_that_another_one_overtakes_is_no_failure(runs):
    plan = pruning(runs)
    call("runs", "prune", runs, "--keep", 1, "--yes")
    assert carry_out(plan) == plan
    assert names(runs) == ["c", "damaged", "link", "mine"]


def test_a_run_that_is_tagged_after_it_was_chosen_stays(runs):
    plan = pruning(runs)
    call("runs", "tag", runs / "a", "late")
    done = carry_out(plan)
    assert [(run.folder[-2:], why) for run, why in done.stay[1:]] == [("/a", "tagged late")]
    assert names(runs) == ["a", "c", "damaged", "link", "mine"]


def test_a_run_that_cannot_be_removed_keeps_no_other_one(runs, monkeypatch):
    remove = Path.unlink

    def unlink(path, missing_ok=False):
        if path.parent.name == "b":
            raise PermissionError(13, "Permission denied")
        remove(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)
    arguments = ("runs", "prune", runs, "--keep", 0, "--yes", "--json")
    done = json.loads(call(*arguments, code=1).stdout)
    ((kept, why),) = done["failed"]
    assert kept["folder"].endswith("/b")
    assert "cannot be removed: Permission denied" in why
    assert names(runs) == ["b", "damaged", "link", "mine"]
    assert "failed" in call(*arguments[:-1], code=1).stdout


def test_an_age_before_the_calendar_removes_nothing(runs):
    everything = names(runs)
    for days in ("1e6", "1e300"):
        call("runs", "prune", runs, "--keep", 0, "--older-than", days, "--yes")
    assert names(runs) == everything


def test_a_manifest_that_is_no_file_is_told(runs):
    (runs / "mine" / "manifest.json").mkdir()
    assert any("mine/manifest.json" in one["why"] for one in listed(runs)[1]["unreadable"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_told(runs):
    (runs / "b").chmod(0)
    order, found = listed(runs)
    (runs / "b").chmod(0o700)
    assert order == ["c", "a"]
    assert any("Permission denied" in one["why"] for one in found["unreadable"])


def test_show_has_events_and_tasks(runs):
    shown = json.loads(call("show", runs / "a", "--json").stdout)
    assert shown["tasks"]["estimation"]["rows"] == 50
    assert [event["words"] for event in shown["events"]][-1] == "too fast"
    text = call("show", runs / "a").stdout
    assert "guard: RUNNING" in text
    assert "it tripped" in text


def test_equal_runs_are_equal_bit_for_bit(runs):
    found = json.loads(call("diff", runs / "a", runs / "b", "--json").stdout)
    assert found["equal"]
    assert found["words"].startswith("equal bit for bit: ")


def test_a_bit_and_a_key_that_differ_are_found(runs):
    rig = runs / "b" / "rig.toml"
    rig.write_text(rig.read_text().replace("limit_nm = 12.0", "limit_nm = 11.0"))
    path = runs / "b" / "estimation.npy"
    record = open_record(path)
    changed = np.array(record)
    changed[ANGLE][7] += 1.0
    start = record.offset
    path.write_bytes(path.read_bytes()[:start] + changed.tobytes())
    found = json.loads(call("diff", runs / "a", runs / "b", "--json", code=1).stdout)
    (key,) = found["diff"]["changed"]
    assert (key["key"], key["before"], key["after"]) == ("blocks.guard.limit_nm", "12.0", "11.0")
    (signal,) = found["diff"]["signals"]["differences"]
    assert (signal["path"], signal["first_row"], signal["largest"]) == (ANGLE, 7, 1)
    assert "blocks.guard.limit_nm" in call("diff", runs / "a", runs / "b", code=1).stdout


def test_a_run_that_lost_cycles_or_a_rig_is_not_the_same(runs):
    whole = call("diff", runs / "a", runs / "b").stdout
    record = runs / "b" / "estimation.npy"
    os.truncate(record, record.stat().st_size - 3 * 32)
    found = json.loads(call("diff", runs / "a", runs / "b", "--json", code=1).stdout)
    assert not found["equal"]
    assert found["words"].endswith("; only before: 3 cycles of estimation")
    assert "only before" not in whole
    (runs / "b" / "rig.toml").unlink()
    found = json.loads(call("diff", runs / "a", runs / "b", "--json", code=1).stdout)
    keys = {change["key"]: change["after"] for change in found["diff"]["changed"]}
    assert keys["rig.toml"] == "is missing"
