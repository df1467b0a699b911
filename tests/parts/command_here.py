"""A command of rigloop in the process of the test: most take less time than an interpreter and its imports."""

from dataclasses import dataclass

from typer.testing import CliRunner

from rigloop.cli import app


@dataclass(frozen=True)
class Done:
    """What a command leaves, named as `subprocess.run` does."""

    returncode: int
    stdout: str
    stderr: str


def rigloop_here(*arguments):
    """Run a command that reads, or refuses what it is given; an error that it did not expect is the test's."""
    done = CliRunner().invoke(app, [*map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)
