"""Files of a command, written into a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rig_configs.mistakes import ConfigError, Mistake


def write_files(files: Mapping[str, str], output: Path) -> list[str]:
    """Write texts by their names; returns their paths.

    Raises
    ------
    ConfigError
        The folder cannot be written.
    """
    written = []
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (output / name).write_text(text)
            written.append(str(output / name))
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise ConfigError([Mistake(str(output), "--output", problem, "give another")]) from None
    return written
