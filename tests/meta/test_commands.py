"""Every command and option is documented where a user looks for it."""

import re
from pathlib import Path

import pytest
import typer

from rigloop.cli import PLACES, app
from rigloop.console.answers import Exit

README = (Path(__file__).parents[2] / "README.md").read_text()
COMMANDS = typer.main.get_command(app).commands


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_command_says_what_it_does_with_an_example(name):
    command = COMMANDS[name]
    assert len(command.help.split()) > 3
    example = re.search(r"`rigloop (\S+) [^`]*`", command.epilog)
    assert example
    assert example[1] == name


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_and_argument_has_a_help_text(name):
    bare = [
        parameter.name
        for parameter in COMMANDS[name].params
        if parameter.name != "help" and not getattr(parameter, "help", None)
    ]
    assert not bare


def test_readme_names_every_command():
    assert not [name for name in COMMANDS if f"`rigloop {name}" not in README]


def test_readme_names_only_what_there_is():
    for line in re.findall(r"rigloop ((?:run|replay|check) [^`\n]*)", README):
        name, *words = line.split()
        known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known | {"--help"}, line


def test_readme_names_every_exit_code():
    (sentence,) = re.findall(r"Exit codes: ([^.]*)\.", README)
    assert [int(code) for code in re.findall(r"\b\d\b", sentence)] == [int(code) for code in Exit]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_list_of_commands_says_what_the_command_itself_does(name):
    assert PLACES[name].about == " ".join(COMMANDS[name].help.split("\n\n")[0].split())
