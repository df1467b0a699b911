import io

import pytest
from rich.console import Console

from rigloop.display.tables import (
    Row,
    Table,
    Tone,
    Toned,
    facts,
    figures,
    markdown,
    show,
    show_filled,
    words,
)

TABLE = Table([*words("name"), *figures("value")], [["one", "1"], [], ["[red]two[/]", "22"]])


def printed(table, width=80, **settings):
    file = io.StringIO()
    show(table, Console(file=file, width=width, **settings))
    return file.getvalue()


def test_figures_end_at_the_right_and_words_begin_at_the_left():
    lines = printed(TABLE).splitlines()
    assert lines[0].split() == ["name", "value"]
    assert lines[1].rstrip().endswith("    1")
    assert lines[1].startswith("one ")


def test_a_cell_is_never_markup():
    assert "[red]two[/]" in printed(TABLE)
    assert "\x1b[31m" not in printed(TABLE, force_terminal=True)


def test_a_tone_is_a_colour_on_a_terminal_and_nothing_in_a_document():
    table = Table(words("", "is"), [["rate", [Toned("fine", Tone.GOOD), Toned("!", Tone.PLAIN)]]])
    assert "\x1b[32mfine" in printed(table, force_terminal=True, color_system="standard")
    assert markdown(table)[-1] == "| rate | fine! |"


def test_a_row_has_a_tone_of_its_own():
    table = Table(words("a"), [Row(["x"], Tone.STRONG)])
    assert "\x1b[1mx" in printed(table, force_terminal=True, color_system="standard")


def test_a_table_without_heads_has_no_line_for_them():
    assert printed(facts([("mass", "2 kg", "of all")])).split() == ["mass", "2", "kg", "of", "all"]


@pytest.mark.parametrize("width", [40, 80])
def test_title_and_note_are_as_wide_as_the_terminal(width):
    table = Table(words("a"), [["1"]], title="as wide as the terminal is", note="told below it")
    lines = [line.strip() for line in printed(table, width).splitlines()]
    assert lines == ["as wide as the terminal is", "a", "1", "told below it"]


def test_rows_beyond_the_most_are_counted():
    text = printed(Table(words("a"), [[str(n)] for n in range(9)], most=7))
    assert "… and 2 more: --json has all" in text
    assert "8" not in text


def test_what_folds_is_whole_at_any_width():
    found = "/dev/disk" * 9
    text = printed(Table(words("", folds=True), [[found]]), 40)
    assert "".join(text.split()) == found


def test_only_tables_with_rows_are_shown_where_some_may_be_empty():
    file = io.StringIO()
    show_filled([Table(words("a"), [], "none"), Table(words("b"), [["1"]])], Console(file=file))
    assert file.getvalue().split() == ["b", "1"]


def test_an_empty_row_parts_groups():
    assert [[list(row.cells) for row in group] for group in TABLE.groups] == [
        [["one", "1"]],
        [["[red]two[/]", "22"]],
    ]


def test_a_document_marks_columns_of_figures():
    assert markdown(TABLE) == [
        "| name | value |",
        "| --- | ---: |",
        "| one | 1 |",
        "| [red]two[/] | 22 |",
    ]
