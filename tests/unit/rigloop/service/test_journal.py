"""Journals: bounded, for their owner, and those of a run begin once it has a folder."""

import errno
import os

from rigloop.service.journal import NAME, Journal, RunJournal, ServiceLog, entry, read


def words(path):
    return [one.words for one in read(path)]


def test_a_log_begins_again_and_keeps_the_one_before(tmp_path):
    log = Journal(tmp_path / "log.jsonl", 2000, again=True)
    for number in range(100):
        log.add(entry("me", "take", done=False, words=str(number)))
    log.close()
    kept = words(tmp_path / "log.jsonl.1") + words(tmp_path / "log.jsonl")
    assert kept[-1] == "99"
    assert kept == [str(n) for n in range(100 - len(kept), 100)]
    assert (tmp_path / "log.jsonl").stat().st_size <= 2000
    assert (tmp_path / "log.jsonl").stat().st_mode & 0o077 == 0


def test_changes_wait_for_the_folder_of_their_run_and_refusals_do_not(tmp_path):
    journal = RunJournal()
    journal.add(entry("me", "arm", done=True, words="change"))
    journal.add(entry("me", "arm", done=False, words="refusal before"))
    journal.settle(tmp_path)
    journal.add(entry("me", "stop", done=False, words="refusal"))
    journal.end()
    journal.add(entry("me", "reset", done=True, words="next run"))
    assert words(tmp_path / NAME) == ["change", "refusal"]


def test_a_flood_of_refusals_does_not_fill_a_run_folder_and_loses_no_change(tmp_path):
    journal = Journal(tmp_path / NAME, 2000, again=False)
    for _ in range(100):
        journal.add(entry("me", "arm", done=False, words="refused"))
    journal.add(entry("me", "stop", done=True, words="change"))
    journal.close()
    assert words(tmp_path / NAME)[-1] == "change"
    assert (journal.unwritten, journal.left_out > 0) == (0, True)


def test_a_foreign_name_is_one_harmless_line(tmp_path):
    journal = Journal(tmp_path / NAME, 2000, again=False)
    journal.add(entry('Ann\n"\x1b[2J', "take", done=True))
    journal.close()
    assert len((tmp_path / NAME).read_text().splitlines()) == 1
    assert "\x1b" not in read(tmp_path / NAME)[0].author


def test_a_flood_of_refusals_pushes_no_change_out_of_the_log(tmp_path):
    log = ServiceLog(tmp_path, "rig", 2000)
    log.add(entry("me", "arm", done=True, words="change"))
    for number in range(100):
        log.add(entry("me", "arm", done=False, words=str(number)))
    found = [one.words for one in log.read()]
    log.close()
    assert found[0] == "change"
    assert found[-1] == "99"


def test_a_line_that_was_cut_off_costs_no_other_one(tmp_path, monkeypatch):
    journal, write = Journal(tmp_path / NAME, 2000, again=False), os.write
    # the disk takes a part of the first line, and nothing of the second
    parts = iter((20, 0))

    def full(file, raw):
        if not (most := next(parts)):
            raise OSError(errno.ENOSPC, "full")
        return write(file, raw[:most])

    monkeypatch.setattr(os, "write", full)
    journal.add(entry("me", "arm", done=True, words="cut"))
    journal.add(entry("me", "stop", done=True, words="lost"))
    monkeypatch.undo()
    journal.add(entry("me", "take", done=True, words="kept"))
    journal.close()
    assert words(tmp_path / NAME) == ["kept"]
    assert journal.unwritten == 2
    # a service that was killed in a line is followed by another one
    with (tmp_path / NAME).open("a") as file:
        file.write('{"utc_ns":1')
    again = Journal(tmp_path / NAME, 2000, again=False)
    again.add(entry("me", "give", done=True, words="after"))
    again.close()
    assert words(tmp_path / NAME) == ["kept", "after"]
