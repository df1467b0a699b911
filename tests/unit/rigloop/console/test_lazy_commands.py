"""Commands of a table: listed without being imported, imported when they are called."""

import subprocess
import sys
from typing import ClassVar

import pytest
import typer
from typer.testing import CliRunner

from rigloop.console.lazy_commands import ANY_COMMAND, LazyGroup, Place

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


def test_the_list_needs_neither_schemas_nor_a_reader_of_markdown():
    code = (
        "import sys; sys.argv = ['rigloop', '--help']\n"
        "from rigloop.cli import main\n"
        "try: main()\n"
        "finally: print({'pydantic', 'markdown_it', 'numpy'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "rigloop serve has started" in done.stdout
    assert done.stdout.endswith("set()\n")


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
