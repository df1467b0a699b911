from importlib import import_module
from pathlib import Path

import pytest
import typer

from rigloop.console.answers import IN_LINES, WHOLE, Exit, errors_as_lines


def error_of(name):
    module, _, attribute = name.rpartition(".")
    found = getattr(import_module(module), attribute)
    assert issubclass(found, Exception)
    assert f"{found.__module__}.{found.__qualname__}" == name
    return found


def made(kind, said):
    error = kind.__new__(kind)
    Exception.__init__(error, said)
    return error


@pytest.mark.parametrize("name", [*WHOLE, *IN_LINES])
@pytest.mark.parametrize("is_derived", [False, True])
def test_an_error_that_a_user_can_mend_is_lines_and_a_code(capsys, name, is_derived):
    kind = error_of(name)
    if is_derived:
        kind = type("Derived", (kind,), {"__str__": Exception.__str__})
    with pytest.raises(typer.Exit) as ended, errors_as_lines(json=False):
        raise made(kind, "first line\nsecond line")
    assert ended.value.exit_code == {**WHOLE, **IN_LINES}[name]
    said = capsys.readouterr().err
    assert "first line" in said
    assert "second line" in said


@pytest.mark.parametrize("kind", [ValueError, RuntimeError, OSError, KeyError])
def test_any_other_error_shows(kind):
    with pytest.raises(kind, match="a bug"), errors_as_lines(json=False):
        raise kind("a bug")


def test_a_path_that_no_file_can_have_is_a_line(capsys):
    with pytest.raises(typer.Exit) as ended, errors_as_lines(json=False):
        Path("x" * 5000).read_bytes()
    assert ended.value.exit_code == Exit.WRONG_INPUT
    assert "give the path of a file" in capsys.readouterr().err
