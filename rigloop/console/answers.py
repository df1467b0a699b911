"""The answers of a command: exit codes, one JSON object, and the errors that a user can mend as lines."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Annotated, NoReturn

import msgspec
import typer

from rig_configs.plain import json_text, line
from rigloop.console.screen import say

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of tables.")
]

NO_PATH = (errno.ENAMETOOLONG, errno.ELOOP)


class Exit(IntEnum):
    """Exit codes of every command."""

    GOOD = 0
    BAD_VERDICT = 1
    WRONG_INPUT = 2
    NOT_STARTED = 3


# errors that a user can mend; by name, so that no command imports what never raises in it
WHOLE = {
    "io_bridge.logs.formats.table.LogError": Exit.WRONG_INPUT,
    "rigloop.run_folder.manifest.ManifestError": Exit.WRONG_INPUT,
    "io_bridge.exports.refused.ExportError": Exit.WRONG_INPUT,
    "rigloop.scope.setup.SetupError": Exit.WRONG_INPUT,
    "rigloop.scope.trigger.TriggerError": Exit.WRONG_INPUT,
    "rigloop.scope.capture_file.CaptureFileError": Exit.WRONG_INPUT,
    "codegen.kernels.toolchain.BuildError": Exit.NOT_STARTED,
    "codegen.kernels.verify.VerificationError": Exit.NOT_STARTED,
}
IN_LINES = {
    "rigloop.run_folder.not_started.NotStartedError": Exit.NOT_STARTED,
    "rigloop.blocks.compiled.trust.NotTrustedError": Exit.NOT_STARTED,
    "rigloop.blocks.compiled.trust.TrustError": Exit.NOT_STARTED,
}


@contextmanager
def errors_as_lines(json: bool) -> Iterator[None]:
    """Turn the errors that a user can mend into lines and an exit code; any other one is a bug and shows."""
    from rig_configs.mistakes import ConfigError

    try:
        yield
        _refuse_cut_records(json)
    except ConfigError as error:
        fail([str(mistake) for mistake in error.mistakes], Exit.WRONG_INPUT, json)
    except Exception as error:
        names = [f"{one.__module__}.{one.__qualname__}" for one in type(error).__mro__]
        for name in names:
            if name in WHOLE:
                fail([str(error)], WHOLE[name], json)
            if name in IN_LINES:
                fail(str(error).splitlines(), IN_LINES[name], json)
        _refuse_unreadable(error, json)
        raise


def _refuse_unreadable(error: Exception, json: bool) -> None:
    if isinstance(error, OSError):
        _refuse_cut_records(json)
        # of a path that no file can have, wherever it is looked at first
        if error.errno in NO_PATH:
            name = line(str(error.filename), 120)
            fail([f"{name}: {error.strerror}; give the path of a file"], Exit.WRONG_INPUT, json)
    elif isinstance(error, ValueError | LookupError | ArithmeticError | AssertionError):
        # nobody can calculate with rows that are gone
        _refuse_cut_records(json)


def _refuse_cut_records(json: bool) -> None:
    from io_bridge.recording.record import take_cut_records

    # the reason of the run itself, if it has judged already
    if cut := take_cut_records():
        fail(cut, Exit.WRONG_INPUT, json)


@contextmanager
def writing(path: Path, json: bool) -> Iterator[None]:
    """Turn the error of a picture that cannot be written into a line: its folder, or its ending."""
    try:
        yield
    except (OSError, ValueError) as error:
        fail([f"{path}: cannot be written: {error}"], Exit.WRONG_INPUT, json)


def fail(lines: list[str], code: Exit, json: bool) -> NoReturn:
    """End the command with lines, or their JSON."""
    if json:
        print_json({"mistakes": lines, "exit_code": int(code)})
    else:
        for line in lines:
            say(line, err=True)
    raise typer.Exit(int(code))


def answer(
    message: object, show: Callable[[], object], json: bool, *, good: bool = True
) -> NoReturn:
    """End the command with its answer: one JSON object, or what a person is shown; and with the code of its verdict."""
    if json:
        print_json(message)
    else:
        show()
    raise typer.Exit(int(Exit.GOOD if good else Exit.BAD_VERDICT))


def print_json(message: object) -> None:
    """Print one message, indented."""
    try:
        text = msgspec.json.format(msgspec.json.encode(message)).decode()
    except UnicodeEncodeError:
        # a path whose bytes are no UTF-8: escaped, so that whoever reads it has the path
        text = json.dumps(msgspec.to_builtins(message), indent=2)
    say(json_text(text))
