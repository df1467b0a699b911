import io

import pytest
from rich.console import Console

from rigloop.display.verdict import line, paragraph, remark, show_places, show_verdict


def printed(say, *arguments, **settings):
    file = io.StringIO()
    say(*arguments, Console(file=file, width=40), **settings)
    return file.getvalue()


@pytest.mark.parametrize(
    ("is_good", "reasons", "otherwise", "said"),
    [
        (True, [], "ran as asked", "GOOD  ran as asked\n"),
        (False, ["one [red]", "two"], "ran as asked", "BAD  one [red]; two\n"),
        (True, [], "", "GOOD\n"),
    ],
)
def test_the_verdict_is_one_line_with_its_reasons(is_good, reasons, otherwise, said):
    assert printed(show_verdict, is_good, reasons, otherwise=otherwise) == said


def test_a_verdict_on_too_little_is_neither_good_nor_bad():
    said = printed(show_verdict, False, ["not tried: two"], incomplete=True)
    assert said == "INCOMPLETE  not tried: two\n"


def test_a_paragraph_is_broken_between_words():
    said = printed(paragraph, "words [red]and words " * 5)
    assert all(len(part) <= 40 for part in said.splitlines())
    assert said.split() == ("words [red]and words " * 5).split()


def test_sentences_and_paths_are_one_line_each_and_never_markup():
    long = "/a/[bold]path " * 9
    assert printed(line, long).rstrip("\n") == long
    assert printed(remark, long).rstrip("\n") == f"• {long}"
    assert printed(show_places, [long]).rstrip("\n") == long
