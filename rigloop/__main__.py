"""The `rigloop` command, also as `python -m rigloop`: takes the signals before it imports what takes time."""

from __future__ import annotations

import gc
import sys

from rigloop.console import interrupts
from rigloop.console.streams import give_up_stdout, open_closed, stdout_takes_nothing

NOT_STARTED = 3
COLLECT_AFTER = 50_000  # objects; at Python's 700 a tenth of the time of imports and reports is spent on looking


def main() -> None:
    """Entry point: an interrupted command ends with a line and the code of one that could not start."""
    open_closed()
    gc.set_threshold(COLLECT_AFTER)
    try:
        interrupts.arm()
        if sys.argv[1:] == ["--help"]:
            # without what parses the arguments of a command, and draws its answers
            from rigloop.command_table import print_commands as command
        else:
            from rigloop.cli import main as command

        command()
    except interrupts.Interrupted as interrupted:
        interrupts.disarm()
        sys.stderr.write(f"{interrupts.line(interrupted)}\n")
        sys.exit(NOT_STARTED)
    except SystemExit:
        interrupts.disarm()
        raise
    except OSError as error:
        if not stdout_takes_nothing():
            raise
        interrupts.disarm()
        give_up_stdout(error)
        sys.exit(NOT_STARTED)


if __name__ == "__main__":
    main()
