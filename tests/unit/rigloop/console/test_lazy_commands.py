"""Commands of a table: listed without being imported, imported when they are called."""

import subprocess
import sys
from typing import ClassVar

import pytest
import typer
from typer.testing import CliRunner

from rigloop.cli import app as rigloop_app
from rigloop.console.command_list import FEWEST_COLUMNS, Place, print_list
from rigloop.console.lazy_commands import ANY_COMMAND, LazyGroup

MODULE = '''
import typer
app = typer.Typer(help="More of them.", no_args_is_help=True)
@app.command()
def one(): print("one")
@app.command()
def two(): print("two")
def alone(n: int = 1):
    """Do it alone.

    In full.
    """
    print(f"alone {n}")
'''


@pytest.fixture
def call(tmp_path, monkeypatch):
    (tmp_path / "made_commands.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "made_commands", raising=False)

    class Group(LazyGroup):
        places: ClassVar = {
            "alone": Place("made_commands", "alone", "Do it alone.", "Example: `x alone`"),
            "more": Place("made_commands", "app", "More of them."),
        }

    app = typer.Typer(cls=Group, **ANY_COMMAND)
    app.callback()(lambda: None)
    yield lambda *arguments: CliRunner().invoke(app, list(arguments))
    sys.modules.pop("made_commands", None)


def test_the_list_imports_nothing(call):
    done = call("--help")
    assert done.exit_code == 0
    assert "Do it alone." in done.output
    assert "More of them." in done.output
    assert "made_commands" not in sys.modules


def test_the_list_needs_nothing_that_reads_arguments_or_draws_and_is_that_of_the_group(monkeypatch):
    # the width that both wrap at
    monkeypatch.setenv("COLUMNS", "90")
    code = (
        "import sys; sys.argv = ['rigloop', '--help']\n"
        "from rigloop.__main__ import main\n"
        "main()\n"
        "print({'typer', 'click', 'rich', 'msgspec', 'dataclasses', 'numpy'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Ask a service that rigloop serve has started" in done.stdout
    *lines, imported = done.stdout.splitlines()
    assert imported == "set()"
    by_the_group = CliRunner().invoke(rigloop_app, ["--help"], prog_name="rigloop").output
    assert lines == by_the_group.rstrip("\n").splitlines()
    assert max(map(len, lines)) <= 90


def test_a_list_on_a_narrow_terminal_keeps_every_word(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "10")
    places = {"alone": Place("m", "a", "Do it, whatever `x` is, alone.")}
    print_list("Usage: x", "About.", [("--help", "Show.")], places, "The end.")
    said = capsys.readouterr().out
    words = (
        "Usage: x About. Options --help Show. Commands alone Do it, whatever x is, alone. The end."
    )
    assert said.split() == words.split()
    assert max(map(len, said.splitlines())) <= len("alone  ") + FEWEST_COLUMNS


def test_a_command_is_imported_when_it_is_called(call):
    assert call("alone", "--n", "3").output == "alone 3\n"
    assert call("more", "two").output == "two\n"


def test_its_own_help_is_whole(call):
    said = call("alone", "--help").output
    assert "In full." in said
    assert "x alone" in said


def test_an_unknown_command_is_named_with_its_neighbour(call):
    done = call("aloen")
    assert done.exit_code == 2
    assert "alone" in done.output
    assert "made_commands" not in sys.modules
