"""What a terminal would obey is shown instead, whatever way it takes to the screen."""

import io
import json
import warnings

import pytest
from rich.markup import escape
from rich.table import Table

from io_bridge.attendant.scan import Found, FoundSlave
from io_bridge.slaves.sii import Identity
from rigloop import cli
from rigloop.console.answers import print_json
from rigloop.console.screen import Screen, say
from rigloop.fieldbus.show import print_scan
from rigloop.live.view import LiveView

HOSTILE = "a\x1b]0;owned\x07\x1b[2J\u202eb\x9b31mc\x00\x7f\u2028[red]d[/red]"
OBEYED = {"\x1b", "\x07", "\u202e", "\x9b", "\x00", "\x7f", "\u2028"}


def screen(**settings):
    return Screen(file=io.StringIO(), width=200, **settings)


@pytest.mark.parametrize("is_terminal", [False, True])
def test_no_control_character_passes_a_screen(is_terminal):
    console = screen(force_terminal=is_terminal, color_system=None)
    table = Table("head", title=escape(HOSTILE))
    table.add_row(escape(HOSTILE))
    console.print(table)
    console.print(HOSTILE, markup=False)
    console.print(escape(HOSTILE))
    console.log(HOSTILE)
    assert not set(console.file.getvalue()) & OBEYED
    assert "[red]d[/red]" in console.file.getvalue()


def test_a_table_keeps_its_columns():
    console = screen()
    table = Table("one", "two")
    table.add_row("\x1b\x07ab", "c")
    table.add_row("xxxx", "d")
    console.print(table)
    rows = [text.rstrip() for text in console.file.getvalue().splitlines()]
    assert len({len(row) for row in rows if "c" in row or "d" in row}) == 1


def test_a_screen_without_all_characters_replaces_them():
    raw = io.BytesIO()
    console = Screen(file=io.TextIOWrapper(raw, "ascii"), width=80)
    console.print("12 µs → ü\x1b")
    console.file.flush()
    assert raw.getvalue().startswith(b"12 ?s ? ??")


def test_lines_and_json_hold_nothing_that_a_terminal_obeys(capsys):
    say(HOSTILE)
    say(HOSTILE, err=True)
    print_json({"name": HOSTILE})
    out, err = capsys.readouterr()
    assert not (set(out) | set(err)) & OBEYED
    assert json.loads(out[out.index("{") :])["name"] == HOSTILE


def test_the_name_of_a_slave_is_one_row():
    slave = FoundSlave(
        0, 0x1001, al_status=1, al_code=0, identity=Identity(1, 2, 3), name=f"one\ntwo{HOSTILE}",
        has_clock=False, has_coe=False, outputs=[], inputs=[],
    )  # fmt: skip
    console = screen()
    print_scan(console, "eth1", Found([slave], 0), None)
    text = console.file.getvalue()
    assert not set(text) & OBEYED
    assert any("one" in row and "two" in row for row in text.splitlines())


def test_the_title_of_a_rig_is_no_markup():
    view = LiveView(screen(), "[link=http://x]click[/link]")
    console = screen()
    console.print(Table(title=view._title))
    console.print(view._title)
    assert "[link=http://x]" in console.file.getvalue()


@pytest.mark.parametrize(("columns", "is_cut"), [(None, False), ("80", True)])
def test_a_table_in_a_pipe_is_cut_only_where_somebody_says_its_width(monkeypatch, columns, is_cut):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    console = Screen(file=io.StringIO())
    table = Table("one", "two")
    table.add_row("a" * 60, "b" * 60)
    console.print(table)
    assert ("b" * 60 not in console.file.getvalue()) == is_cut


def test_a_warning_of_a_command_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(cli, "app", lambda: warnings.warn(f"cut\n{HOSTILE}", stacklevel=1))
    with warnings.catch_warnings():  # it brings back what the command replaces
        warnings.simplefilter("always")
        cli.main()
    said = capsys.readouterr().err
    assert said.startswith("warning: cut")
    assert "test_screen.py" not in said
    assert not OBEYED & set(said)
