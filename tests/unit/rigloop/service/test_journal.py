"""Journals: bounded, for their owner, and those of a run begin once it has a folder."""

from rigloop.service.journal import NAME, Journal, RunJournal, entry, read


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
    assert journal.unwritten > 0


def test_a_foreign_name_is_one_harmless_line(tmp_path):
    journal = Journal(tmp_path / NAME, 2000, again=False)
    journal.add(entry('Ann\n"\x1b[2J', "take", done=True))
    journal.close()
    assert len((tmp_path / NAME).read_text().splitlines()) == 1
    assert "\x1b" not in read(tmp_path / NAME)[0].author
